"""Bullets before lines: detectors often leave them out, and browsers draw them as circles."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from vit_str.pages.arrange.tables import is_mark
from vit_str.pages.find.geometry import Strip
from vit_str.pages.page import Word
from vit_str.pages.read.pieces import polygon_of

if TYPE_CHECKING:
    from vit_str.pages.find.ink import Ink

BULLET = "•"

# Over the height of a word, by eye on lists of browsers and office programs
_REACH = 2.8  # white before a line in which its bullet may be
_LETTERS = 2.0  # of the line, beside which a bullet is as dark
_SMALLEST = 0.15  # width and height of a bullet, at least
_LARGEST = 0.6  # and at most
_LEAST_WHITE = 0.25  # between a bullet and its line, and before it
_HIGHEST = 0.3  # where its middle is, from the top of the line, at least
_LOWEST = 0.75  # and at most
_SAME_PLACE = 0.5  # by which the places of the bullets of a list differ, at most

_LONGEST = 1.6  # times the shorter side of a bullet is its longer one, at most
_FULL = 0.35  # share of its box that is ink: a disc has 0.79, a circle half of that
_INKED = 128  # of 255, ink from which on a pixel is dark
_FEWEST = 2  # bullets below each other: one alone may be a speck


def with_bullets(
    image: Image.Image, lines: Sequence[Sequence[Word]]
) -> list[list[Word]]:
    """Lines of a page with the bullets before them; none where only one is at a place."""
    words = list(chain.from_iterable(lines))
    gray = image.convert("L")
    bullets: dict[int, Word] = {}
    for number, line in enumerate(lines):
        if is_mark(line[0].text):
            continue
        found = _bullet(gray, line)
        if found and not any(_lies_on(found, word) for word in words):
            bullets[number] = found
    if len(bullets) < _FEWEST:
        return list(map(list, lines))
    along = np.mean([_along(lines[number]) for number in bullets], 0)
    starts = [float(along @ np.array(bullet.polygon[0])) for bullet in bullets.values()]
    renewed = list(map(list, lines))
    for (number, bullet), start in zip(bullets.items(), starts, strict=True):
        room = _SAME_PLACE * _height(bullet)
        if sum(abs(start - other) < room for other in starts) >= _FEWEST:
            renewed[number].insert(0, bullet)
    return renewed


def _along(line: Sequence[Word]) -> np.ndarray:
    """The direction in which a line runs, of length 1."""
    start = np.array(line[0].polygon[0])
    end = np.array(line[-1].polygon[1])
    return (end - start) / max(1e-9, float(np.linalg.norm(end - start)))


def _height(word: Word) -> float:
    top = np.array(word.polygon[0])
    bottom = np.array(word.polygon[3])
    return float(np.linalg.norm(bottom - top))


def _bullet(gray: Image.Image, line: Sequence[Word]) -> Word | None:
    """The bullet before a line, as high as it."""
    first = line[0]
    height = _height(first)
    if height < 1:
        return None
    top, *_, bottom = first.polygon  # at its left side
    start = np.array([top, top, bottom, bottom])
    reach = np.array([-_REACH, _LETTERS, _LETTERS, -_REACH]) * height
    strip = Strip(gray, start + reach[:, None] * _along(line))
    before = round(strip.image.width * _REACH / (_REACH + _LETTERS))
    sides = _spot(strip.ink, before)
    if sides is None:
        return None
    box = np.array([[sides[0], 0, sides[1], strip.image.height]], float)
    polygon = polygon_of(strip.polygons(box)[0])
    return replace(first, text=BULLET, confidence=1.0, characters=(), polygon=polygon)


def _spot(ink: "Ink", before: int) -> tuple[int, int] | None:
    """Where the last ink in the columns before a line begins and ends, if it is of a bullet."""
    height = len(ink)
    white = _LEAST_WHITE * height
    dark = ink[:, :before] > _INKED
    columns = np.flatnonzero(dark.any(0))
    if not len(columns):
        return None
    *others, last = np.split(columns, np.flatnonzero(np.diff(columns) > 1) + 1)
    left = int(last[0])
    right = int(last[-1]) + 1
    rows = np.flatnonzero(dark[:, left:right].any(1))
    top = int(rows[0])
    bottom = int(rows[-1]) + 1
    sides = (right - left, bottom - top)
    is_bullet = (
        left > 0
        and before - right >= white
        and (not others or left - others[-1][-1] > white)
        and min(sides) >= _SMALLEST * height
        and max(sides) <= min(_LARGEST * height, _LONGEST * min(sides))
        and _HIGHEST * height <= (top + bottom) / 2 <= _LOWEST * height
        and dark[top:bottom, left:right].mean() >= _FULL
    )
    return (left, right) if is_bullet else None


def _lies_on(spot: Word, word: Word) -> bool:
    """Whether the middle of a spot is within a word: then it is a letter that was read."""
    box = spot.box
    other = word.box
    x = (box.left + box.right) / 2
    y = (box.top + box.bottom) / 2
    return other.left <= x <= other.right and other.top <= y <= other.bottom
