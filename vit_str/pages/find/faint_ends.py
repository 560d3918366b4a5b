"""A dash at the end of a line, or before its start: a lone one looks like a rule to the network.

It sees a little of both there, text and a rule, less than a line needs. Reading tells better than
finding what it is, so the line is made longer.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from vit_str.pages.find.lines import CELL, FoundLine
from vit_str.pages.find.maps import MAPS

if TYPE_CHECKING:
    from jaxtyping import Bool, Float

_Shares = np.ndarray
"""Of shape (row, column): ink and rules along the line, together."""

_INK, _ACROSS, _DOWN = map(MAPS.index, ("ink", "across", "down"))
_FAINT = 0.04  # share from which on something is there
_SURE = 0.08  # the highest share of what is worth reading, at least
# All over the height of the letters of a line
_FARTHEST = 2.4  # what goes on farther is a rule or other text
_SPACE = 0.7  # before it, at most
_EDGE = 0.3  # as far as the blurred edge of the last letter
_BESIDE = 0.1  # to both sides of the middle: lines to write on are lower
_STEP = 0.5  # cells
_LINES = 3  # across which is looked


def with_faint_ends(
    lines: Sequence[FoundLine], maps: "Float[np.ndarray, 'map row column']"
) -> list[FoundLine]:
    """Lines up to where nothing more is seen before their starts and behind their ends.

    Their words stay as they are.

    Args:
        lines: in pixels of the maps.
        maps: see `MAPS`; shares as probabilities.
    """
    level, upright = maps[_INK] + maps[_ACROSS], maps[_INK] + maps[_DOWN]
    return [_with_faint_ends(line, level, upright) for line in lines]


def _with_faint_ends(line: FoundLine, level: _Shares, upright: _Shares) -> FoundLine:
    strip = line.strip.copy()
    height = line.height / CELL
    for end, inner in ((0, 1), (-1, -2)):
        middle = strip[end].mean(0) / CELL
        away = middle - strip[inner].mean(0) / CELL
        away /= max(1e-6, float(np.linalg.norm(away)))
        shares = level if abs(away[0]) >= abs(away[1]) else upright
        strip[end] += _farther(shares, middle, away, height) * CELL * away
    return replace(line, strip=strip)


def _farther(
    shares: _Shares,
    middle: "Float[np.ndarray, ' 2']",
    away: "Float[np.ndarray, ' 2']",
    height: float,
) -> float:
    """Cells by which a line goes on from its end, 0 if it does not."""
    steps = np.arange(0, _FARTHEST * height, _STEP)
    beside = np.linspace(-_BESIDE, _BESIDE, _LINES) * height
    across = np.array([-away[1], away[0]])
    places = middle + steps[:, None, None] * away + beside[:, None] * across
    seen = _at(shares, places).max(1)
    is_mark = (seen > _FAINT) & (steps > _EDGE * height)
    at = np.flatnonzero(is_mark)
    if not len(at) or is_mark[-1] or seen[at].max() < _SURE:
        return 0.0
    spaces = np.diff(steps[at], prepend=0.0)
    return float(steps[at[-1]]) if spaces.max() <= _SPACE * height else 0.0


def _at(
    shares: _Shares, places: "Float[np.ndarray, 'step line 2']"
) -> "Float[np.ndarray, 'step line']":
    """The shares at places, 0 outside."""
    columns, rows = np.moveaxis(np.floor(places).astype(int), 2, 0)
    height, width = shares.shape
    is_inside: Bool[np.ndarray, "step line"]
    is_inside = (columns >= 0) & (columns < width) & (rows >= 0) & (rows < height)
    rows, columns = rows.clip(0, height - 1), columns.clip(0, width - 1)
    return np.where(is_inside, shares[rows, columns], 0.0)
