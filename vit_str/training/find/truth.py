"""From what is where in a picture to the maps that a network should find."""

from itertools import groupby, pairwise
from typing import NamedTuple

import cv2
import numpy as np
from jaxtyping import Float

from vit_str.models.finder import CELL
from vit_str.pages.find.maps import (
    CORE,
    LEAST_CORE,
    LEAST_GAP,
    MAPS,
    MOST_SHRUNK,
    SHARES,
    SHRUNK,
    from_height,
)
from vit_str.synthesis.places import Places

SMALLEST = 6.0
"""Pixels of the height of letters; what is smaller neither has to be found nor is wrong to find."""
_FINE = (
    4  # masks are drawn at this many places of a cell, along and across, and averaged
)
_BITS = 4  # of fractions of a pixel in OpenCV
_HIGHER = 2.0  # times the height of cores that gaps have, so that they part them
# Pixels of both sides of the core of a line, at least, which is narrow where it is a lone digit:
# however it lies, it fills more than half of some cell
_LEAST_SIDE = 6.0
_SHORT = 1.5  # heights of letters, up to which a line is short
_SHORT_WEIGHT = 3.0  # of the cells of such lines
_AROUND = 0.7  # share of the height of letters where direction and height are said

Strip = Float[np.ndarray, "point 2 2"]


class TrueMaps(NamedTuple):
    """True maps, and where they count.

    Attributes:
        maps: as of `MAPS`; shares from 0 to 1.
        weight: 0 where text is too small to be found, or cut; more than 1 at lone letters and
            digits, which have few cells.
    """

    maps: Float[np.ndarray, "map row column"]
    weight: Float[np.ndarray, "row column"]


def true_maps(places: Places, size: tuple[int, int]) -> TrueMaps:
    """Maps of a picture.

    Args:
        places: what is where.
        size: height and width of the picture, multiples of `CELL`.
    """
    canvas = _Canvas(size)
    for line in _lines_of(places, size):
        canvas.add_line(line)
    for (start, end), width in zip(places.rules, places.rule_widths, strict=True):
        across, down = np.abs(end - start)
        canvas.stroke("across" if across >= down else "down", start, end, float(width))
    for corners, is_ticked in zip(places.checks, places.is_ticked, strict=True):
        canvas.fill("box", corners)
        if is_ticked:
            canvas.fill("ticked", corners)
    for corners in places.pictures:
        canvas.fill("picture", corners)
    for corners in places.unclear:
        canvas.fill("unclear", corners)
    return canvas.finished()


def _lines_of(places: Places, size: tuple[int, int]) -> list[list[Strip]]:
    """The words of each line of which some are in a picture."""
    if not len(places.strips):
        return []
    points = places.strips.reshape(len(places.strips), -1, 2)
    low, high = points.min(1), points.max(1)
    is_near = ((high > 0) & (low < size[::-1])).all(1)
    shown = np.isin(places.lines, places.lines[is_near])
    numbered = zip(places.lines[shown].tolist(), places.strips[shown], strict=True)
    return [
        [strip for _, strip in group]
        for _, group in groupby(numbered, lambda each: each[0])
    ]


class _Canvas:
    """Maps while they are drawn."""

    def __init__(self, size: tuple[int, int]) -> None:
        rows, columns = size[0] // CELL, size[1] // CELL
        self._fine = {
            name: np.zeros((rows * _FINE, columns * _FINE), np.uint8)
            for name in (*MAPS[:SHARES], "unclear", "short")
        }
        self._values = np.zeros((rows, columns, 3), np.float32)

    def finished(self) -> TrueMaps:
        """The maps of all that was drawn."""
        shares = [_averaged(self._fine[name]) for name in MAPS[:SHARES]]
        maps = np.stack([*shares, *self._values.transpose(2, 0, 1)])
        weight = 1 + (_SHORT_WEIGHT - 1) * _averaged(self._fine["short"])
        return TrueMaps(maps, weight * (1 - _averaged(self._fine["unclear"])))

    def fill(self, name: str, points: Float[np.ndarray, "point 2"]) -> None:
        """Fill a polygon."""
        cv2.fillPoly(self._fine[name], [_fixed(points, CELL / _FINE)], 255, shift=_BITS)

    def stroke(
        self, name: str, start: np.ndarray, end: np.ndarray, width: float
    ) -> None:
        """A line, at least as wide as a cell."""
        along = (end - start) / max(1e-6, float(np.linalg.norm(end - start)))
        half = np.array([-along[1], along[0]]) * max(width, CELL) / 2
        self.fill(name, np.array([start - half, end - half, end + half, start + half]))

    def add_line(self, words: list[Strip]) -> None:
        """The core of a line, the gaps between its words, its direction and height."""
        points = np.concatenate(words)
        height = _height(points)
        if height < SMALLEST:
            self.fill("unclear", _outline(points, 1.0))
            return
        if len(points) < 2:
            return
        self._add_values(points)
        if _length(points) < _SHORT * height:
            self.fill("short", _outline(points, 1.0))
        core = max(CORE, LEAST_CORE / height)
        inner = _shrunk(points, height)
        self.fill("ink", _outline(inner, core))
        if _length(inner) < _LEAST_SIDE:
            self.fill("ink", _square(_middles(inner).mean(0), _LEAST_SIDE))
        for one, other in pairwise(words):
            self._add_gap(one[-1], other[0], core * _HIGHER)

    def _add_gap(self, end: np.ndarray, start: np.ndarray, share: float) -> None:
        """Between the end of a word and the start of the next one."""
        middle = (end.mean(0) + start.mean(0)) / 2
        across = (end[1] - end[0] + start[1] - start[0]) / 4
        along = np.array([across[1], -across[0]]) / max(1e-6, np.linalg.norm(across))
        wide = float((start.mean(0) - end.mean(0)) @ along)
        reach = along * max(wide, LEAST_GAP) / 2
        half = across * share
        corners = [middle - reach - half, middle + reach - half]
        corners += [middle + reach + half, middle - reach + half]
        self.fill("gap", np.array(corners))

    def _add_values(self, points: Strip) -> None:
        """Direction and height, between each point and the next one."""
        middles = _middles(points)
        halves = (points[:, 1] - points[:, 0]) / 2 * _AROUND
        ends = _ends(middles, halves)
        steps = np.diff(middles, axis=0)
        lengths = _lengths(steps)
        across = _lengths(points[:, 1] - points[:, 0])
        heights = (across[1:] + across[:-1]) / 2
        above, below = ends - halves, ends + halves
        corners = np.stack([above[:-1], above[1:], below[1:], below[:-1]], 1)
        fixed = _fixed(corners, CELL)
        for place in np.flatnonzero((lengths >= 1e-6) & (heights >= SMALLEST)).tolist():
            x, y = (steps[place] / lengths[place]).tolist()
            values = x, y, float(from_height(heights[place]))
            cv2.fillPoly(self._values, [fixed[place]], values, shift=_BITS)


def _middles(points: Strip) -> Float[np.ndarray, "point 2"]:
    return (points[:, 0] + points[:, 1]) / 2


def _lengths(steps: Float[np.ndarray, "step 2"]) -> Float[np.ndarray, " step"]:
    """Of vectors; ``numpy.linalg.norm`` takes several times as long for a few."""
    return np.hypot(steps[:, 0], steps[:, 1])


def _length(points: Strip) -> float:
    """From the start to the end of its middle."""
    return float(_lengths(np.diff(_middles(points), axis=0)).sum())


def _height(points: Strip) -> float:
    across = _lengths(points[:, 1] - points[:, 0])
    return float(across.sum()) / max(1, len(across))


def _ends(middles: np.ndarray, halves: np.ndarray) -> np.ndarray:
    """Middles of a line that is a little longer at both ends."""
    longer = middles.copy()
    for place, other in ((0, 1), (-1, -2)):
        along = middles[place] - middles[other]
        length = np.linalg.norm(along)
        if length:
            longer[place] += along / length * np.linalg.norm(halves[place])
    return longer


def _shrunk(points: Strip, height: float) -> Strip:
    """A line that is shorter at both ends."""
    middles = _middles(points)
    steps = _lengths(np.diff(middles, axis=0))
    before = np.concatenate([[0.0], np.cumsum(steps)])
    length = before[-1]
    cut = min(SHRUNK * height, MOST_SHRUNK * length)
    inner = (before > cut) & (before < length - cut)
    at = np.concatenate([[cut], before[inner], [length - cut]])
    flat = points.reshape(len(points), -1)
    rows = [np.interp(at, before, column) for column in flat.T]
    return np.stack(rows, 1).reshape(-1, 2, 2)


def _square(middle: np.ndarray, side: float) -> Float[np.ndarray, "4 2"]:
    corners = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])
    return middle + corners * side / 2


def _outline(points: Strip, share: float) -> np.ndarray:
    """The polygon around a share of the height of a line."""
    middles = _middles(points)
    halves = (points[:, 1] - points[:, 0]) / 2 * share
    return np.concatenate([middles - halves, (middles + halves)[::-1]])


def _fixed(points: np.ndarray, side: float) -> np.ndarray:
    """Places in pixels as OpenCV takes them, whose pixels have their middles at whole numbers."""
    scaled = (points / side - 0.5) * (1 << _BITS)
    return np.round(scaled.clip(-(2**20), 2**20)).astype(np.int32)


def _averaged(fine: np.ndarray) -> Float[np.ndarray, "row column"]:
    rows, columns = fine.shape[0] // _FINE, fine.shape[1] // _FINE
    cells = cv2.resize(fine, (columns, rows), interpolation=cv2.INTER_AREA)
    return np.asarray(cells, np.float32) / 255
