import numpy as np
import pytest
import torch
from PIL import Image

from vit_str.synthesis.random_numbers import Random, noise_bank
from vit_str.synthesis.resolution import Resolution, sample_resolution

SIZE = (32, 128)


def resolution_of(columns: float, rows: float) -> Resolution:
    return Resolution(torch.tensor([0]), torch.tensor([columns]), torch.tensor([rows]))


def pixels_of(image: torch.Tensor) -> np.ndarray:
    """Of the first channel of the first picture, as PIL has them."""
    return image[0, 0].numpy()


def sampled(
    aspect: float, letters: int, strength: float = 1.0, count: int = 500
) -> Resolution:
    random = Random(1, count, noise_bank("cpu"))
    aspects = torch.full((count,), aspect)
    lengths = torch.full((count,), letters)
    return sample_resolution(aspects, lengths, SIZE, strength, random)


@pytest.mark.parametrize(("columns", "rows"), [(41, 17), (128, 20), (24, 32), (13, 12)])
def test_enlarging_is_what_readers_do_to_a_small_crop(columns, rows):
    torch.manual_seed(0)
    small = torch.rand(1, 3, rows, columns)
    image = torch.zeros(1, 3, *SIZE)
    image[..., :rows, :columns] = small
    resolution_of(columns, rows).enlarge(image)
    theirs = Image.fromarray(pixels_of(small)).resize(
        (128, 32), Image.Resampling.BICUBIC
    )
    np.testing.assert_allclose(pixels_of(image), np.asarray(theirs), atol=1e-5)


@pytest.mark.parametrize(("columns", "rows"), [(41, 17), (128, 20), (24, 32), (13, 12)])
def test_shrinking_averages_as_pixels_do(columns, rows):
    torch.manual_seed(0)
    image = torch.rand(1, 3, *SIZE)
    theirs = Image.fromarray(pixels_of(image)).resize(
        (columns, rows), Image.Resampling.BILINEAR
    )
    resolution_of(columns, rows).shrink(image)
    np.testing.assert_allclose(
        pixels_of(image)[:rows, :columns], np.asarray(theirs), atol=1e-5
    )
    # What lies beside the small picture is its edge, so that blur finds nothing foreign there.
    assert (image[..., columns:] == image[..., columns - 1 : columns]).all()
    assert (image[..., rows:, :] == image[..., rows - 1 : rows, :]).all()


def test_short_words_have_few_columns_and_long_ones_few_rows():
    short = sampled(1.5, 3)
    long = sampled(8.0, 12)
    assert (short.columns / 128).median() < 0.5 * (short.rows / 32).median()
    assert (long.columns / 128).median() > (long.rows / 32).median()


def test_what_nobody_could_read_does_not_occur():
    for aspect, letters in ((0.7, 5), (1.5, 3), (4.0, 25)):
        found = sampled(aspect, letters)
        assert (found.rows >= 12).all()
        assert (found.columns >= min(128, 6 * letters) - 1).all()


def test_the_strength_is_how_often():
    assert len(sampled(3.0, 5, strength=0.0).chosen) == 0
    half = sampled(3.0, 5, strength=0.5)
    full = sampled(3.0, 5)
    assert set(half.chosen.tolist()) < set(full.chosen.tolist())
    inside = torch.isin(full.chosen, half.chosen)
    assert torch.equal(full.rows[inside], half.rows)


def test_blur_reaches_as_far_over_a_letter():
    softness = resolution_of(64, 16).softness(torch.zeros(2, 3, *SIZE)).flatten()
    assert softness.tolist() == [0.5, 1.0]
