"""Texts with errors that are known."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
import checking

WORDS = [
    "The",
    "report",
    "of",
    "Schneider",
    "was",
    "published",
    "on",
    "14.03.2021",
    "and",
    "shows",
    "12,580.50",
    "of",
    "profit",
    "in",
    "Robertson",
    "where",
    "people",
    "came",
    "together",
    "17.25",
    "and",
    "nobody",
    "knew",
    "what",
    "happened",
    "then",
]


@pytest.fixture
def sheet() -> checking.Sheet:
    """A page of one block with a misspelled word."""
    words = [*WORDS, "libarry"]
    return checking.Sheet(
        name="a",
        state="printed",
        picture=Path("a.png"),
        pdf=Path("a.pdf"),
        words=words,
        blocks=[0] * len(words),
        misspelled={len(WORDS): "library"},
        parts=["line", *[""] * len(WORDS)],
        cells=[checking.Cell(1, row, 1, (place,)) for row, place in ((1, 7), (2, 10))],
    )


@pytest.mark.parametrize("kind", checking.ALTERATIONS)
def test_every_kind_of_error_alters_what_it_says(sheet, kind, monkeypatch):
    alter = checking.ALTERATIONS[kind]
    monkeypatch.setattr(checking, "ALTERATIONS", {kind: alter})
    for seed in range(40):
        text = checking.altered(sheet, np.random.default_rng(seed))
        unaltered = [w for w, k in zip(text.words, text.kinds, strict=True) if not k]
        if text.left_out or {*text.kinds} - {""}:
            break
    assert text.words != sheet.words
    assert len(unaltered) < len(sheet.words) or kind == "invented"
    assert all(word in sheet.words for word in unaltered)
    assert {*text.kinds} <= {"", kind}


def test_of_two_copies_the_one_that_is_found_counts():
    text = {
        "words": ["a", "b", "a", "b"],
        "kinds": ["line twice"] * 4,
        "probabilities": [0.9, 0.1, 0.1, 0.9],
    }
    _, _, counted = checking._words([{"texts": [text]}])
    assert counted.tolist() == [False, True, True, False]


def test_lists_are_numbered_as_browsers_do():
    html = "<ol><li>a<ul><li>x</ul><li>b</ol><ol><li>c</ol>"
    numbered = "<ol><li>1. a<ul><li>x</ul><li>2. b</ol><ol><li>1. c</ol>"
    assert checking._numbered(html) == numbered


def test_calibration_error():
    right = np.array([True] * 9 + [False])
    assert checking.calibration_error(right, np.full(10, 0.9)) == pytest.approx(0)
    assert checking.calibration_error(right, np.full(10, 0.5)) == pytest.approx(0.4)
