"""Spaces that a reader puts where there are none: beside a 1, within codes, dates and brackets.

A space is as probable as the reader says, as its white is wide, and as spaces are at such a
place: a logistic regression of 5,338 spaces that were read in 1,840 drawn lines of codes, dates,
source and text, in 20 faces. Of these, on which it was fitted, it removed 113 of 174 false ones
and none of the others. What is read in doubt counts by its probability: in photographs it is often
no code. Between plain words the reader is believed: scans fill white with noise.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from vit_str.characters.alphabets import HANGUL, script_of
from vit_str.decoding.readings import Character, Reading
from vit_str.pages.find.runs import runs

if TYPE_CHECKING:
    from vit_str.pages.find.geometry import Strip

_INKED = 0.4 * 255  # ink from which on a pixel is part of a letter
_BAND = (0.2, 0.7)  # of the height of a strip: small letters, and no line below them
# What speaks for a space, in nats. The first has 1 more than was fitted: pages hold fewer codes
_ANY = 3.8
# Signs of lines in which names are followed by brackets
_OF_CODE = frozenset("={};_[]")
_READ = 0.67  # for each nat of the reader
_WIDE = 4.4  # for each nat of its white over the usual distance of characters
_BESIDE_ONE = -1.1
_BESIDE_CODE = -1.8  # a word of letters and digits
_BETWEEN_CODES = -3.5  # and again, if there is one on both sides
_IN_BRACKETS = -2.6  # behind an opening one, before a closing one; before any in code
_BESIDE_HYPHEN = -1.8
_IN_CALL = -4.7  # nothing between the brackets of a name
# Not fitted, as the lines hold none: dates that have one of two spaces, and hyphens with as much
# white on the side on which no space was read, as on signs; none from twice as much on
_IN_DATE = -6.0
_EVEN = -4.0
_LEAST_WIDTH = 0.35  # noise of scans may fill white
_LEAST = 1e-4  # of probabilities
_HALF_OF_DATE = re.compile(r"\d\d? [^\W\d_]{3,}\d+\W*|\d\d?[^\W\d_]{3,} \d+\W*")


def without_odd_spaces(strip: Strip, reading: Reading) -> Reading:
    """A line as it was read, without the spaces that are more probably none.

    Args:
        strip: of the line.
        reading: of the line, with boxes in the strip.
    """
    if any(script_of(letter) == HANGUL for letter in reading.text):
        return reading  # its letters are as wide as two of those that were drawn
    if " " not in reading.text:
        return reading
    gaps = _Gaps(strip, reading)
    odds = {place: _odds(reading, place, gaps) for place in widths_of(strip, reading)}
    odd = {place: value for place, value in odds.items() if value < 0}
    if not odd:
        return reading
    characters = []
    for place, character in enumerate(reading.characters):
        if place in odd:
            continue
        if place - 1 in odd:
            sure = 1 / (1 + math.exp(odd[place - 1]))
            character = replace(character, confidence=character.confidence * sure)
        characters.append(character)
    text = "".join(character.character for character in characters)
    return replace(reading, text=text, characters=tuple(characters))


def widths_of(strip: Strip, reading: Reading) -> dict[int, float]:
    """How wide the white of each space is, over the usual distance of neighboring characters.

    Args:
        strip: of a line.
        reading: of the line, with boxes in the strip.

    Returns:
        By the places of the spaces; without those around which there are no boxes.
    """
    gaps = _Gaps(strip, reading)
    places = range(1, len(reading.characters) - 1)
    spaces = [place for place in places if reading.characters[place].character == " "]
    widths = {place: gaps.width(place - 1, place + 1) for place in spaces}
    return {place: width for place, width in widths.items() if width}


class _Gaps:
    """White between the characters of a line.

    Args:
        strip: of the line.
        reading: of the line, with boxes in the strip.
    """

    def __init__(self, strip: Strip, reading: Reading) -> None:
        self._middles = list(map(_middle, reading.characters))
        distances = [
            after - before
            for before, after in pairwise(self._middles)
            if before is not None and after is not None
        ]
        self._usual = max(1.0, float(np.median(distances))) if distances else 0.0
        top, bottom = (round(share * len(strip.ink)) for share in _BAND)
        self._is_white = strip.ink[top:bottom].max(0, initial=0) <= _INKED

    def width(self, before: int, after: int) -> float:
        """The widest white between two characters, over the usual distance of neighbors.

        0 where ink hides it, as that of a frame, and where nothing tells.
        """
        left, right = self._middles[before], self._middles[after]
        if left is None or right is None or not self._usual:
            return 0.0
        between = runs(self._is_white[round(left) : round(right) + 1])
        return max((end - start for start, end in between), default=0) / self._usual


def _odds(reading: Reading, place: int, gaps: _Gaps) -> float:
    """The logarithm of how much more probable a space is than none.

    Args:
        reading: of a line.
        place: of the space.
        gaps: of the line.
    """
    width = gaps.width(place - 1, place + 1)
    read = min(max(reading.characters[place].confidence, _LEAST), 1 - _LEAST)
    odds = _ANY + _READ * math.log(read / (1 - read))
    odds += _WIDE * math.log(max(width, _LEAST_WIDTH))
    beside = _of_neighbors(reading, place) + _of_hyphen(reading.text, place, gaps)
    return odds + beside if beside else math.inf


def _of_hyphen(text: str, place: int, gaps: _Gaps) -> float:
    """Log-odds that the white on the other side of a hyphen gives a space; 0 beside none."""
    if text[place - 1] == "-" and text[place - 2 : place - 1].strip():
        other = gaps.width(place - 2, place - 1)
    elif text[place + 1] == "-" and text[place + 2 : place + 3].strip():
        other = gaps.width(place + 1, place + 2)
    else:
        return 0.0
    width = gaps.width(place - 1, place + 1)
    if not other:
        return 0.0
    return _EVEN * min(1.0, max(0.0, 1 - math.log2(width / other)))


def _of_neighbors(reading: Reading, place: int) -> float:
    """Log-odds that the words on both sides give a space; 0 between plain words."""
    text = reading.text
    before = text[:place].split(" ")[-1]
    after = text[place + 1 :].split(" ")[0]
    last, first = before[-1:], after[:1]
    sure = [character.confidence for character in reading.characters]
    ones = [sure[side] for side in (place - 1, place + 1) if text[side] == "1"]
    odds = _BESIDE_ONE * max(ones, default=0.0)
    behind = place + 1
    codes = _is_code(before) * math.prod(sure[place - len(before) : place])
    codes += _is_code(after) * math.prod(sure[behind : behind + len(after)])
    odds += _BESIDE_CODE * min(codes, 1) + _BETWEEN_CODES * max(codes - 1, 0)
    if "-" in (last, first):
        odds += _BESIDE_HYPHEN
    if _HALF_OF_DATE.fullmatch(f"{before} {after}"):
        odds += _IN_DATE
    if last == "(" and first == ")":  # of a call, or a box to tick
        return odds + (_IN_CALL if before[-2:-1].isalnum() else 0.0)
    is_call = first in tuple("([{") and not _OF_CODE.isdisjoint(text)
    if is_call or last in tuple("([{") or first in tuple(")]}"):
        odds += _IN_BRACKETS
    return odds


def _is_code(word: str) -> bool:
    return any(map(str.isdigit, word)) and any(map(str.isalpha, word))


def _middle(character: Character) -> float | None:
    if character.character.isspace() or character.box is None:
        return None
    return (character.box.left + character.box.right) / 2
