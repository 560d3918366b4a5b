from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from vit_str.models import Recognizer
from vit_str.runtime import Reader
from vit_str.runtime.charset import Charset
from vit_str.runtime.images import UnreadableImage
from vit_str.weights import WeightsFile
from vit_str.weights.doctor import (
    TOLERANCES,
    Difference,
    difference,
    fitting,
    make_golden,
    tolerance,
)

WordImage = Callable[..., Image.Image]

WORDS = ("one", "Two", "3", "vier", "5:00", "SIX")


@pytest.fixture
def checked(weights: WeightsFile, word_image: WordImage) -> WeightsFile:
    """A model with a temperature and golden images."""
    file = replace(weights, temperature=1.5)
    return replace(file, golden=make_golden(file, [word_image(word) for word in WORDS]))


def reader_of(file: WeightsFile, dtype: torch.dtype = torch.float32) -> Reader:
    return Reader(file, "cpu", dtype)


def test_golden_images_say_what_reading_says(checked: WeightsFile, word_image: WordImage) -> None:
    golden = checked.golden
    assert golden is not None
    readings = reader_of(checked).read([word_image(word) for word in WORDS])
    assert golden.texts == tuple(reading.text for reading in readings)
    assert golden.confidences == pytest.approx(
        [reading.confidence for reading in readings], rel=1e-3
    )
    for text, steps in zip(golden.texts, golden.scores, strict=True):
        assert len(steps) in (len(text), len(text) + 1)  # a text that is cut has no end
        assert all(best >= second for best, second in steps)


@pytest.mark.parametrize("threads", [1, 2])
def test_the_model_that_made_them_agrees(checked: WeightsFile, threads: int) -> None:
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(threads)
        found = difference(reader_of(checked), checked.golden)
    finally:
        torch.set_num_threads(before)
    assert found.is_explained
    assert not found.texts
    assert found.score < 0.0001
    assert found.confidence < 0.0001


def test_one_tensor_changed_by_a_percent_is_found(checked: WeightsFile) -> None:
    names = [
        name
        for name, tensor in checked.recognizer.named_parameters()
        if name.endswith("weight")  # biases of a model that is not trained are too small
    ]
    assert len(names) > 20
    for name in names[::3]:
        parameter = checked.recognizer.get_parameter(name)
        kept = parameter.detach().clone()
        parameter.data.mul_(1.01)
        found = difference(reader_of(checked), checked.golden)
        parameter.data.copy_(kept)
        assert not found.is_explained, name
        assert found.score > found.allowed or found.texts


def test_what_else_is_changed_is_found(checked: WeightsFile) -> None:
    def found(**changes: object) -> Difference:
        result = difference(reader_of(replace(checked, **changes)), checked.golden)
        assert not result.is_explained
        return result

    reversed_charset = Charset(checked.charset.characters[::-1])
    assert len(found(charset=reversed_charset).texts) == len(WORDS)
    found(preprocessing=replace(checked.preprocessing, mean=(0.5, 0.5, 0.52)))
    hotter = found(temperature=1.0)
    assert hotter.score < 0.0001
    assert hotter.confidence > 0.01
    hangul = Charset("".join(chr(0xAC00 + number) for number in range(94)))
    with pytest.raises(ValueError, match="which the charset of 94 characters lacks"):
        found(charset=hangul)
    checked.recognizer.decoder.norm.weight.data[0] = float("nan")
    assert found().score == float("inf")


def test_half_precision_is_held_to_what_rounding_explains(checked: WeightsFile) -> None:
    found = difference(reader_of(checked, torch.bfloat16), checked.golden)
    assert found.allowed == TOLERANCES["bfloat16"] == tolerance("cuda", "bfloat16")
    assert tolerance("cpu", "float32") < tolerance("cuda", "float32")
    assert found.score > 0.0001
    checked.recognizer.decoder.classify.weight.data.mul_(1.3)
    assert not difference(reader_of(checked, torch.bfloat16), checked.golden).is_explained


def test_a_close_call_may_go_the_other_way(checked: WeightsFile) -> None:
    golden = checked.golden
    assert golden is not None
    close = tuple(tuple((b, b - 1e-5) for b, _ in word) for word in golden.scores)
    swapped = replace(golden, texts=(golden.texts[0][::-1], *golden.texts[1:]), scores=close)
    found = difference(reader_of(checked), swapped)
    assert len(found.texts) == found.close == 1


def test_golden_images_that_cannot_be(weights: WeightsFile, tmp_path: Path) -> None:
    with pytest.raises(UnreadableImage, match="no such file"):
        make_golden(weights, [tmp_path / "missing.png"])
    with pytest.raises(ValueError, match="1 to 16"):
        make_golden(weights, [])


def test_a_model_without_text_has_golden_images_too(
    weights: WeightsFile, small_recognizer: Callable[..., Recognizer], word_image: WordImage
) -> None:
    recognizer = small_recognizer()
    recognizer.decoder.classify.bias.data[94] = 100.0  # always the end
    silent = replace(weights, recognizer=recognizer)
    golden = make_golden(silent, [word_image("a")] * 2)
    assert golden.texts == ("", "")
    assert difference(reader_of(silent), golden).is_explained


def test_as_many_images_as_fit(weights: WeightsFile) -> None:
    noise = torch.Generator().manual_seed(0)
    images = torch.randint(256, (20, 3, 32, 128), dtype=torch.uint8, generator=noise)
    files = fitting(images)
    assert len(files) == 8  # of 12 KB each, which nothing compresses
    assert len(fitting(images[:3])) == 3
    assert len(fitting(torch.zeros_like(images))) == 16
    golden = make_golden(weights, files)
    assert golden.images == tuple(files)
    stored = reader_of(weights).pixels(golden.images[7])
    assert np.array_equal(stored, images[7])
