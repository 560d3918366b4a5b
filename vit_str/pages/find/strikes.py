"""Strokes through words, which strike them out, in the strips of their lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from PIL import Image

from vit_str.pages.find.runs import runs

if TYPE_CHECKING:
    from jaxtyping import Bool

    from vit_str.pages.find.ink import Ink

_INKED = 0.4 * 255  # ink from which on a pixel is part of a stroke
# Over the height of a strip: where strokes are, and how long and how thick
_ZONE = (0.35, 0.75)
_SHORTEST = 1.2
_THICKEST = 0.2
_OFF_MIDDLE = (
    0.15  # from the middle of the ink of letters: lines below words are farther
)
# Shares of the columns of a stroke: of those that letters cross, those where they touch it, and
# those with white above and below it, as between letters
_CROSSED = 0.02
_TOUCHED = 0.1
_WHITE = 0.1
_FEWEST_GAPS = 2
_EVEN = 0.75  # ink of the lightest columns of a stroke, over the usual; less where bars meet
_LOWEST = 14  # pixels of a strip, below which letters meet
_STEP = 1  # pixel by which a tilted stroke is thicker
_COVERED = 0.6  # share of a word that is struck out


class Strike(NamedTuple):
    """A stroke in a strip, in pixels; ends are one behind the last."""

    left: int
    right: int
    top: int
    bottom: int


def find_strikes(ink: Ink) -> list[Strike]:
    """The strokes through letters of a line, from the left.

    Args:
        ink: of its strip, see `ink_of`.
    """
    height = len(ink)
    if height < _LOWEST:
        return []
    first, last = (round(share * height) for share in _ZONE)
    dark = ink > _INKED
    # A tilted stroke steps from row to row
    thick = dark[first:last].copy()
    thick[1:] |= dark[first : last - 1]
    thick[:-1] |= dark[first + 1 : last]
    shortest = max(2, round(_SHORTEST * height))
    long_runs = []
    for row in range(last - first):
        for left, right in runs(thick[row]):
            if right - left >= shortest:
                long_runs.append((left - right, left, right, first + row))
    found: list[Strike] = []
    for _, left, right, row in sorted(long_runs):  # the longest first
        strike = _strike(ink, left, right, row)
        if strike and not any(_overlap(strike, other) for other in found):
            found.append(strike)
    return sorted(found)


def _strike(ink: Ink, left: int, right: int, row: int) -> Strike | None:
    """The stroke of which a run is a part, if it runs through letters and through white."""
    height = len(ink)
    part = ink[:, left:right] > _INKED
    full = part.mean(1) >= _COVERED
    rows = [n for n in range(max(0, row - 1), min(height, row + 2)) if full[n]]
    if not rows:
        return None
    top = bottom = max(rows, key=lambda n: part[n].mean())
    while top > 0 and full[top - 1]:
        top -= 1
    while bottom < height - 1 and full[bottom + 1]:
        bottom += 1
    bottom += 1
    if bottom - top > max(2, _THICKEST * height):
        return None
    letters = part.sum(1)
    letters[top:bottom] = 0
    rows_of_letters = np.arange(height) @ letters / max(1, letters.sum())
    if abs((top + bottom - 1) / 2 - rows_of_letters) > _OFF_MIDDLE * height:
        return None
    if top < 2 or bottom > height - 2:
        return None
    darkest = ink[top:bottom, left:right].max(0)
    light, usual = np.percentile(darkest, (5, 50)).tolist()
    if light < _EVEN * usual:
        return None
    # Letters touch it; what stands above and below a rule, as in fractions, does not
    above = part[top - 1] & part[top - 2]
    below = part[bottom] & part[bottom + 1]
    white = ~part[top - 2] & ~part[bottom + 1]
    # Between letters there is nothing but the stroke
    others = part.copy()
    others[top - 1 : bottom + 1] = False
    gaps = int(np.count_nonzero(np.diff(others.any(0).astype(np.int8)) < 0))
    is_crossed = (above & below).mean() >= _CROSSED and (
        above | below
    ).mean() >= _TOUCHED
    if not is_crossed or white.mean() < _WHITE or gaps < _FEWEST_GAPS:
        return None
    return Strike(left, right, top, bottom)


def _overlap(one: Strike, other: Strike) -> bool:
    return one.left < other.right and other.left < one.right


def are_struck(span: tuple[float, float], strikes: Sequence[Strike]) -> bool:
    """Whether strokes run through most of a word that begins and ends at some columns."""
    left, right = span
    covered = 0.0
    for strike in strikes:
        covered += max(0.0, min(right, strike.right) - max(left, strike.left))
    return covered > _COVERED * (right - left)


def without_strikes(
    image: Image.Image, ink: Ink, strikes: Sequence[Strike]
) -> Image.Image:
    """A strip with paper where strokes are, but for what is of the letters that they cross."""
    pixels = np.array(image)
    dark = ink > _INKED
    right = dark.shape[1]
    paper = np.median(pixels.reshape(-1, pixels.shape[-1]), 0).astype(np.uint8)
    for strike in strikes:
        for column in range(max(0, strike.left - 1), min(right, strike.right + 1)):
            rows = _rows_of(strike, dark[:, column])
            pixels[rows, column] = paper
    return Image.fromarray(pixels)


def _rows_of(strike: Strike, dark: Bool[np.ndarray, " row"]) -> slice:
    """The rows of a column that are of a stroke and of no letter; none if it crosses one.

    A stroke that is tilted steps from row to row.
    """
    near = [
        (start, end)
        for start, end in runs(dark)
        if start <= strike.bottom and end >= strike.top
    ]
    thickest = strike.bottom - strike.top + _STEP
    if not near or any(end - start > thickest for start, end in near):
        return slice(0)
    # Their edges are gray
    return slice(max(0, near[0][0] - 1), near[-1][1] + 1)
