from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from vit_str.evaluation.temperature.fit import (
    TEMPERATURES,
    Graded,
    GradedWords,
    at,
    fit,
    grade,
    log_confidences,
)
from vit_str.runtime import Reader
from vit_str.runtime.images import UnreadableImage
from vit_str.weights import WeightsFile


def drawn_words(temperature: float, count: int = 3000, seed: int = 0) -> GradedWords:
    """Words whose true symbols are drawn at a temperature, read greedily."""
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(1, 7, (count,), generator=generator)
    words = torch.arange(count).repeat_interleave(lengths)
    hardness = torch.rand(count, generator=generator)[words, None]
    scores = torch.randn(len(words), 12, generator=generator) * (1 + 8 * hardness)
    symbols = scores.argmax(1)
    truth = (scores / temperature).softmax(1).multinomial(1, generator=generator)[:, 0]
    right = torch.ones(count).index_put((words[truth != symbols],), torch.tensor(0.0)).bool()
    parts = (part.split(lengths.tolist()) for part in (scores.double(), symbols))
    sure = [log_confidences(each.numpy(), ids.tolist()) for each, ids in zip(*parts, strict=True)]
    return GradedWords(np.stack(sure), right.numpy())


@pytest.mark.parametrize("temperature", [0.6, 1.0, 4.0])
def test_the_temperature_of_drawn_words_is_found(temperature: float) -> None:
    result = fit(drawn_words(temperature))
    assert result.interval[0] <= temperature <= result.interval[1]
    assert result.temperature == pytest.approx(temperature, rel=0.1)
    assert not result.is_at_edge
    others = drawn_words(temperature, seed=1)
    before, after = others.judge(1.0), others.judge(result.temperature)
    assert after["error"] < 0.03
    if temperature != 1:
        assert before["error"] > 2 * after["error"]
        assert before["loss"] > after["loss"]


def test_a_temperature_beyond_those_tried_is_at_the_edge() -> None:
    assert fit(drawn_words(16)).is_at_edge


def test_words_that_say_nothing_are_refused() -> None:
    words = drawn_words(1.0, 60)
    for right in (np.ones(60, bool), np.zeros(60, bool)):
        with pytest.raises(ValueError, match="some read right and some wrong, found 60"):
            fit(GradedWords(words.log_confidences, right))
    with pytest.raises(ValueError, match="needs 50 words or more"):
        fit(words.select(np.arange(20)))


def test_between_the_temperatures_that_were_tried() -> None:
    words = drawn_words(1.0, 50).log_confidences
    np.testing.assert_allclose(at(words, float(TEMPERATURES[7])), words[:, 7])
    middle = float(np.sqrt(TEMPERATURES[7] * TEMPERATURES[8]))
    np.testing.assert_allclose(at(words, middle), words[:, 7:9].mean(1))
    np.testing.assert_allclose(at(words, 100), words[:, -1])


def test_grades_are_the_confidences_of_reading(
    weights: WeightsFile, word_image: Callable[..., Image.Image], tmp_path: Path
) -> None:
    preprocessing = replace(weights.preprocessing, turn_above=1.5)
    file = replace(weights, preprocessing=preprocessing)
    images = [word_image(text) for text in ("one", "Two", "3", "four!")]
    images.append(word_image("tall").transpose(Image.Transpose.ROTATE_270))
    sources = [*images[:2], tmp_path / "missing.png", *images[2:]]
    done: list[int] = []
    reader = Reader(file, "cpu", torch.float32)
    graded = list(grade(reader, sources, 3, lambda: done.append(1)))
    assert len(done) == len(sources)
    assert isinstance(graded.pop(2), UnreadableImage)
    place = int(np.abs(TEMPERATURES - 1).argmin())
    for tried in (place, place + 40):
        hotter = replace(file, temperature=float(TEMPERATURES[tried]))
        readings = Reader(hotter, "cpu", torch.float32).read(images)
        for reading, each in zip(readings, graded, strict=True):
            assert isinstance(each, Graded)
            assert each.text == reading.text
            sure = np.exp(each.log_confidences[tried])
            assert sure == pytest.approx(reading.confidence, rel=1e-3)
