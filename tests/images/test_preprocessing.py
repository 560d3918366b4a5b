import numpy as np
import pytest
import torch
from PIL import Image

from vit_str.images.preprocessing import Preprocessing


def test_pixels_are_resized_with_height_before_width(word_image):
    preprocessing = Preprocessing(height=16, width=48)
    pixels = preprocessing.pixels(word_image("abc", size=(200, 50)))
    assert pixels.shape == (3, 16, 48)
    assert pixels.dtype == torch.uint8
    resized = word_image("abc", size=(200, 50)).resize(
        (48, 16), Image.Resampling.BICUBIC
    )
    assert np.array_equal(pixels.permute(1, 2, 0).numpy(), np.asarray(resized))


def test_tall_images_are_turned_to_the_left_if_asked():
    image = Image.new("RGB", (20, 60), "black")
    image.paste("white", (0, 0, 20, 10))  # above
    plain = Preprocessing(30, 90)
    turning = Preprocessing(30, 90, turn_above=1.5)
    assert plain.pixels(image)[0, :4].float().mean() > 200
    pixels = turning.pixels(image)[0].float()
    assert pixels[:, :10].mean() > 200  # what was above is to the left
    assert pixels[:, 30:].mean() < 50
    assert turning.turns(31, 20)
    assert not turning.turns(30, 20)
    assert torch.equal(
        turning.pixels(image.resize((60, 60))), plain.pixels(image.resize((60, 60)))
    )


def test_pixels_want_rgb(word_image):
    with pytest.raises(
        ValueError, match="expected an RGB image, found L: open it with load_image"
    ):
        Preprocessing().pixels(word_image("x").convert("L"))


def test_normalize():
    preprocessing = Preprocessing(mean=(0.5, 0.25, 0.0), std=(0.5, 1.0, 2.0))
    images = (
        torch.tensor([0, 255], dtype=torch.uint8).view(1, 1, 1, 2).expand(2, 3, 1, 2)
    )
    expected = torch.tensor([[-1, 1], [-0.25, 0.75], [0, 0.5]]).view(3, 1, 2)
    for normalized in (
        preprocessing.normalize(images)[1],
        preprocessing.normalize(images[0]),
    ):
        assert normalized.dtype == torch.float32
        assert torch.equal(normalized, expected)
    assert np.array_equal(
        preprocessing.normalize_array(images.numpy())[1], expected.numpy()
    )


def test_preprocessing_as_plain_values():
    preprocessing = Preprocessing(64, 256, (0.4, 0.5, 0.6), (0.2, 0.3, 0.4))
    assert Preprocessing.from_dict(preprocessing.to_dict()) == preprocessing
    values = Preprocessing().to_dict()
    for wrong in (
        {**values, "height": 0},
        {**values, "std": [1, 0, 1]},
        {**values, "mean": [1, 1]},
        {**values, "mean": [1, 1, float("nan")]},
        {**values, "mean": 5},
        {**values, "mean": [1e300, 0, 0]},
        {**values, "std": [1, 1e-300, 1]},
        {**values, "height": None},
        {**values, "depth": 1},
        {"height": 32},
    ):
        with pytest.raises(ValueError, match=r"."):
            Preprocessing.from_dict(wrong)
