"""Single signs in cells, which the numbers around them vouch for: ``O`` is 0 there, ``l`` is 1.

A sign by itself shows neither how high nor how wide letters are. How likely it is a digit is what
its reader says, times how many of the cells in its column, and half as many of its row, are
numbers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from vit_str.decoding.readings import Reading
from vit_str.pages.read.lines import Line
from vit_str.pages.read.quotes import one_character

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Int

    _Boxes = Float[np.ndarray, "line 4"]

_DIGITS = {**dict.fromkeys("Oo○ОоΟο", "0"), **dict.fromkeys("lI|", "1")}
_KNOWN = frozenset("0123456789")
_NUMBER = re.compile(r"[-+–−(]?[$€£]?\d[\d.,:'/ ]*[%)]?")
_ALIKE = 0.3  # odds that a digit is read as such a letter, for each time that a letter is one
_UNSEEN = 0.5  # numbers and others in its column, beside those that are seen
_MOST = 5.0  # odds that a column gives
_OF_ROW = 0.5  # what a number in its row counts
_NEAREST = 6  # cells of a column or row that count
_OVERLAP = 0.5  # share of the narrower of two cells of a column
_LEAST = 1e-4  # of probabilities


def with_lone_digits(lines: Sequence[Line]) -> list[Line]:
    """Lines of which those of one sign are digits as likely as their column and row say.

    Args:
        lines: of a page, as they were read.
    """
    texts = [" ".join(each.text for each in line.readings) for line in lines]
    lone = [n for n, text in enumerate(texts) if text in _DIGITS or text in _KNOWN]
    if not lone:
        return list(lines)
    is_number = np.array([bool(_NUMBER.fullmatch(text)) for text in texts])
    corners = np.array([line.quadrilateral for line in lines])
    boxes = np.concatenate([corners.min(1), corners.max(1)], 1)
    renewed = list(lines)
    for place in lone:
        odds = _odds(place, boxes, is_number, lines[place].quarters % 2)
        [(piece, reading)] = lines[place].words
        words = ((piece, _weighed(reading, odds)),)
        renewed[place] = replace(lines[place], words=words)
    return renewed


def _odds(
    place: int, boxes: _Boxes, is_number: Bool[np.ndarray, " line"], along: int
) -> float:
    """How likely a cell is a number, by the cells of its column and the numbers of its row.

    Args:
        place: of the cell.
        boxes: left, top, right and bottom of all.
        is_number: which of them are numbers.
        along: the axis along which text runs, 0 for level text.
    """
    column = _beside(place, boxes, along)
    row = _beside(place, boxes, 1 - along)
    numbers = is_number[column].sum() + _OF_ROW * is_number[row].sum()
    others = (~is_number[column]).sum()
    return min(float((numbers + _UNSEEN) / (others + _UNSEEN)), _MOST)


def _beside(place: int, boxes: _Boxes, axis: int) -> Int[np.ndarray, " line"]:
    """The nearest others whose extents along an axis overlap with those of a cell."""
    low, high = boxes[:, axis], boxes[:, axis + 2]
    shared = np.minimum(high, high[place]) - np.maximum(low, low[place])
    narrower = np.minimum(high - low, high[place] - low[place])
    is_beside = shared > _OVERLAP * narrower
    is_beside[place] = False
    others = np.flatnonzero(is_beside)
    middles = boxes[:, [1 - axis, 3 - axis]].mean(1)
    apart = np.abs(middles[others] - middles[place])
    return others[np.argsort(apart, kind="stable")[:_NEAREST]]


def _weighed(reading: Reading, odds: float) -> Reading:
    """A reading of one sign where numbers are so much more likely than others."""
    if reading.text.isdigit():
        sure = min(max(reading.confidence, _LEAST), 1 - _LEAST)
        odds *= sure / (1 - sure)
        digit = reading.text
    else:
        odds *= _ALIKE
        digit = _DIGITS[reading.text]
    confidence = odds / (1 + odds)
    least = reading.confidence if digit == reading.text else 0.5
    if confidence <= least:
        return reading
    character = one_character(reading.characters, digit)
    return replace(
        reading,
        text=digit,
        confidence=confidence,
        characters=(replace(character, confidence=confidence),),
    )
