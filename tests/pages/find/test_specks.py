"""Specks and rows of dashes are no lines of a page; its short and small words are."""

from dataclasses import replace

import numpy as np

from vit_str.pages.find.lines import FoundLine
from vit_str.pages.find.specks import typical_height, without_specks


def line(left: float, right: float, height: float, words: int = 1) -> FoundLine:
    """A level line with words as long as the spaces between them."""
    ends = np.linspace(left, right, 2 * words)
    strips = [_strip(*ends[k : k + 2], height) for k in range(0, 2 * words, 2)]
    return FoundLine(_strip(left, right, height), strips, height, 1.0)


def _strip(left: float, right: float, height: float) -> np.ndarray:
    above, below = 100 - height / 2, 100 + height / 2
    return np.array([[(left, above), (left, below)], [(right, above), (right, below)]])


TEXT = [line(0, 200, 16), line(0, 120, 18), line(0, 300, 16)]


def test_most_of_the_text_says_how_high_lines_are():
    specks = [line(place, place + 4, 5) for place in range(50)]
    assert typical_height(TEXT) == typical_height([*TEXT, *specks]) == 16


def test_specks_are_no_lines():
    kept = [*TEXT, line(0, 10, 16), line(0, 30, 7), line(0, 8, 12)]
    points = [line(0, 4, 4), line(0, 12, 7)]
    assert without_specks([*kept, *points]) == kept


def test_rows_of_dashes_are_no_lines():
    small_print = line(0, 300, 8, words=7)
    spaced = line(0, 100, 16, words=12)
    kept = [*TEXT, small_print, spaced]
    assert without_specks([*kept, line(0, 300, 6, words=20)]) == kept


def test_what_is_short_and_doubtful_is_dust():
    dust, word = line(0, 20, 15), line(0, 90, 15)
    doubtful = [replace(each, confidence=0.45) for each in (dust, word)]
    assert without_specks([*TEXT, dust, *doubtful]) == [*TEXT, dust, doubtful[1]]


def test_nothing_stays_nothing():
    assert without_specks([]) == []
