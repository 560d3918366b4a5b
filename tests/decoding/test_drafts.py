"""Drafts that the decoder checks: the texts are those of writing step by step."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from vit_str.characters.charset import PADDING
from vit_str.decoding.beam_search import beam_search
from vit_str.decoding.drafts import greedy_from_drafts
from vit_str.engines.interface import Steps

END = 4
LONGEST = 6


class Script(Steps):
    """Scores that are random, but the same for the same beginning of the same image."""

    def __init__(self, images: Sequence[int]) -> None:
        self.texts: list[tuple[int, ...]] = [(image,) for image in images]

    def step(self, symbols: np.ndarray, position: int) -> np.ndarray:
        self.texts = [(*t, int(s)) for t, s in zip(self.texts, symbols, strict=True)]
        return np.stack([after(text) for text in self.texts])

    def keep(self, rows: np.ndarray) -> None:
        self.texts = [self.texts[row] for row in rows]


def after(text: tuple[int, ...]) -> np.ndarray:
    """Scores of the next symbol; ends come with the length."""
    scores = np.random.default_rng(abs(hash(text))).normal(size=END + 1)
    scores[END] += len(text) - 4
    return scores


class Scorer:
    """A decoder of `Script` with drafts that are given."""

    def __init__(self, drafts: Sequence[Sequence[int]]) -> None:
        self.drafts = drafts
        self.checked = 0
        self.written = 0

    def scores(self, encoded: Any) -> np.ndarray:
        """Columns that spell the drafts, with a blank after each character."""
        columns = np.full((len(self.drafts), 2 * LONGEST + 2), END)
        for row, draft in zip(columns, self.drafts, strict=True):
            row[: 2 * len(draft) : 2] = draft
        return np.eye(END + 1)[columns]

    def verify(self, encoded: Sequence[int], labels: np.ndarray) -> np.ndarray:
        self.checked += 1
        assert labels.shape[1] < LONGEST
        steps = Script(encoded)
        inputs = np.pad(labels, ((0, 0), (1, 0)), constant_values=END)
        inputs[inputs == PADDING] = END
        return np.stack([steps.step(column, i) for i, column in enumerate(inputs.T)], 1)

    def refine(self, encoded: Any, labels: np.ndarray) -> np.ndarray:
        raise AssertionError("no model of this kind")

    def begin(self, encoded: Sequence[int]) -> Script:
        self.written += len(encoded)
        return Script(encoded)

    def select(self, encoded: Sequence[int], rows: Sequence[int]) -> list[int]:
        return [encoded[row] for row in rows]


@pytest.fixture(scope="module")
def images() -> list[int]:
    return list(range(40))


def greedy(images: Sequence[int], temperature: float = 1.0) -> list[Any]:
    return beam_search(Script(images), len(images), END, LONGEST, temperature)


def assert_same(found: list[Any], expected: list[Any]) -> None:
    for (one,), (other,) in zip(found, expected, strict=True):
        assert one.ids == other.ids
        assert one.confidences == pytest.approx(other.confidences)
        assert (one.confidence, one.probability) == pytest.approx(
            (other.confidence, other.probability)
        )


def test_right_drafts_are_checked_in_one_call(images):
    expected = greedy(images, 1.5)
    short = [i for i in images if len(expected[i][0].ids) < LONGEST - 1]
    assert len(short) > 20
    scorer = Scorer([expected[i][0].ids for i in short])
    found = greedy_from_drafts(scorer, short, len(short), END, LONGEST, 1.5)
    assert_same(found, [expected[i] for i in short])
    assert (scorer.checked, scorer.written) == (1, 0)


@pytest.mark.parametrize("kind", ["empty", "random", "one wrong", "too long"])
def test_wrong_drafts_change_nothing(images, kind):
    expected = greedy(images)
    random = np.random.default_rng(0)
    drafts = {
        "empty": [()] * len(images),
        "random": [
            random.integers(0, END, random.integers(1, LONGEST)) for _ in images
        ],
        "one wrong": [
            ((e.ids[0] + 1) % END, *e.ids[1:]) if e.ids else () for (e,) in expected
        ],
        "too long": [random.integers(0, END, LONGEST) for _ in images],
    }[kind]
    scorer = Scorer(drafts)
    assert_same(greedy_from_drafts(scorer, images, len(images), END, LONGEST), expected)
    assert scorer.checked > 1


def test_texts_of_the_greatest_length_are_cut_alike():
    images = [i for i in range(400) if len(greedy([i])[0][0].ids) == LONGEST]
    assert images
    scorer = Scorer([greedy([i])[0][0].ids for i in images])
    assert_same(
        greedy_from_drafts(scorer, images, len(images), END, LONGEST), greedy(images)
    )
    assert scorer.written == len(images)
