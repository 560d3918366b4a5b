"""From maps to lines: connected cores, a middle along each, words where there is no gap."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import cv2
import numpy as np

from vit_str.pages.find.geometry import Quadrilateral, upright
from vit_str.pages.find.maps import (
    CORE,
    LEAST_CORE,
    LEAST_GAP,
    MAPS,
    MOST_SHRUNK,
    SHRUNK,
    to_height,
)
from vit_str.pages.find.runs import runs

if TYPE_CHECKING:
    from jaxtyping import Bool, Float

CELL = 4
"""Pixels of a side of a cell."""
_THRESHOLDS = (
    0.4,
    0.6,
    0.75,
    0.9,
)  # of ink; higher ones where lines have grown together
_TOO_THICK = (
    1.9  # times the height that a core has, from which on it is of several lines
)
_LEAST_CELLS = (
    0.3  # of the square of the height of a core: a digit 1 or a dash has more
)
_GAP = 0.4  # share from which on words are parted
_DIP = 0.15  # by which the share falls within a narrow word between two gaps
# Cells up to which a gap may be narrower than on the map
_NARROW = 1.5 * LEAST_GAP / CELL
_SPACE = 0.28  # width of a space over the height of letters
_SURE = 0.6  # mean length of directions from which on they can be told
_LONGER = (
    2.5  # times as long as wide, from which on the shape of a core tells its direction
)
_BENT = 0.97  # length of the mean of all directions, 1 for a straight line
_STEP = 0.5  # heights between points of the middle of a line
_FARTHEST = 2000  # steps along a line

Strip = np.ndarray
"""Of shape (point, 2, 2): points along text as it is read, above it and below it, in pixels."""


@dataclass(frozen=True)
class FoundLine:
    """A line of text.

    Attributes:
        strip: of the line.
        words: strips of its words, in their order.
        height: of its letters, in pixels.
        confidence: that it is one.
    """

    strip: Strip
    words: Sequence[Strip]
    height: float
    confidence: float

    @property
    def polygon(self) -> "Float[np.ndarray, 'corner 2']":
        """Around the line: above it as it is read, then back below it."""
        return polygon_of(self.strip)

    @property
    def quadrilateral(self) -> Quadrilateral:
        """Corners of its ends, from the top left of the picture on; of a box if it is bent."""
        ends = self.strip[[0, -1]]
        corners = np.array([ends[0, 0], ends[1, 0], ends[1, 1], ends[0, 1]])
        middles = self.strip.mean(1)
        along = middles[-1] - middles[0]
        across = np.array([-along[1], along[0]]) / max(1e-6, np.linalg.norm(along))
        if np.abs((middles - middles[0]) @ across).max() > self.height / 4:
            box = cv2.minAreaRect(self.polygon.astype(np.float32))
            corners = cv2.boxPoints(box)
        return upright(corners.astype(float))

    @property
    def direction(self) -> float:
        """Degrees to the right from where it starts to where it ends."""
        x, y = self.strip[-1].mean(0) - self.strip[0].mean(0)
        return float(np.rad2deg(np.arctan2(y, x)))


def length_of(strip: Strip) -> float:
    """From the start of a strip to its end, in pixels."""
    return float(np.linalg.norm(strip[-1].mean(0) - strip[0].mean(0)))


def polygon_of(strip: Strip) -> "Float[np.ndarray, 'corner 2']":
    """The corners around a strip, clockwise from where its text begins."""
    return np.concatenate([strip[:, 0], strip[::-1, 1]])


class _Core(NamedTuple):
    """The cells of a line.

    Attributes:
        places: their middles as (x, y), in cells.
        ink: shares.
        gap: shares.
        along: directions, of length 1.
        heights: of letters, in cells.
    """

    places: "Float[np.ndarray, 'cell 2']"
    ink: "Float[np.ndarray, ' cell']"
    gap: "Float[np.ndarray, ' cell']"
    along: "Float[np.ndarray, 'cell 2']"
    heights: "Float[np.ndarray, ' cell']"

    @property
    def height(self) -> float:
        """Of the letters of the line, in cells."""
        return float(np.median(self.heights))

    @property
    def confidence(self) -> float:
        """That it is of a line: what the inner half of its cells says, without its edges."""
        inner = np.sort(self.ink)[len(self.ink) // 2 :]
        return float(inner.mean())


class _Middle(NamedTuple):
    """The middle of a line, from its start to its end.

    Attributes:
        points: as (x, y), in cells.
        at: length along it of each cell of the core.
        start: of the core, as such a length.
        end: likewise.
    """

    points: "Float[np.ndarray, 'point 2']"
    at: "Float[np.ndarray, ' cell']"
    start: float
    end: float


def find_lines(maps: "Float[np.ndarray, 'map row column']") -> list[FoundLine]:
    """The lines of a picture, in any order.

    Args:
        maps: see `MAPS`; shares as probabilities.
    """
    named = dict(zip(MAPS, maps, strict=True))
    return [_line(core) for core in _cores(named) if _is_line(core)]


def _is_line(core: _Core) -> bool:
    """Whether a core is large enough for its letters."""
    return len(core.ink) >= _LEAST_CELLS * _thickness(core.height) ** 2


def _cores(named: "dict[str, np.ndarray]") -> "Iterator[_Core]":
    pending = [(named["ink"] > _THRESHOLDS[0], 0)]
    while pending:
        mask, level = pending.pop()
        count, labels, boxes, _ = cv2.connectedComponentsWithStats(
            mask.astype(np.uint8), connectivity=8
        )
        for number in range(1, count):
            left, top, width, height, _ = boxes[number]
            part = np.s_[top : top + height, left : left + width]
            own = labels[part] == number
            core = _core(named, part, own)
            if level + 1 < len(_THRESHOLDS) and _is_too_thick(core):
                higher = np.zeros_like(mask)
                higher[part] = own & (named["ink"][part] > _THRESHOLDS[level + 1])
                if higher.any():
                    pending.append((higher, level + 1))
                    continue
            yield core


def _core(
    named: "dict[str, np.ndarray]",
    part: tuple[slice, slice],
    own: "Bool[np.ndarray, 'row column']",
) -> _Core:
    rows, columns = np.nonzero(own)
    places = np.stack([columns + part[1].start, rows + part[0].start], 1) + 0.5
    along = np.stack([named["cos"][part][own], named["sin"][part][own]], 1)
    return _Core(
        places=places,
        ink=named["ink"][part][own],
        gap=named["gap"][part][own],
        along=_directions(along, places),
        heights=to_height(named["height"][part][own]) / CELL,
    )


def _directions(
    along: "Float[np.ndarray, 'cell 2']", places: "Float[np.ndarray, 'cell 2']"
) -> "Float[np.ndarray, 'cell 2']":
    """Directions of length 1: those of the maps, or that of the core where these are unsure.

    Of text on its side, which may be read up or down, they are the mean of both: near zero.
    """
    lengths = np.linalg.norm(along, axis=1, keepdims=True)
    if float(lengths.mean()) < _SURE and len(places) > 1:
        spread, axes = np.linalg.eigh(np.cov(places.T))
        if spread[1] > _LONGER**2 * max(spread[0], 1e-6):
            axis = axes[:, 1]
            return np.tile(
                axis * np.sign(axis[np.abs(axis).argmax()]), (len(places), 1)
            )
    return along / np.maximum(lengths, 1e-6)


def _thickness(height: float) -> float:
    """Cells across the core of a line."""
    return max(CORE * height, LEAST_CORE / CELL)


def _is_too_thick(core: _Core) -> bool:
    """Whether a core is of several lines above each other.

    Their cells lie farther from the middle than those of one line do, along straight lines.
    """
    mean = core.along.mean(0)
    if np.linalg.norm(mean) < _BENT:
        return False
    across = core.places @ np.array([-mean[1], mean[0]])
    along = core.places @ mean
    step = max(1.0, core.height)
    bins = ((along - along.min()) / step).astype(int)
    low = np.full(bins.max() + 1, np.inf)
    high = np.full(bins.max() + 1, -np.inf)
    np.minimum.at(low, bins, across)
    np.maximum.at(high, bins, across)
    spread = np.median((high - low)[np.isfinite(low)]) + 1
    return bool(spread > _TOO_THICK * max(1.5, _thickness(core.height)))


def _line(core: _Core) -> FoundLine:
    mean = core.along.mean(0)
    is_straight = np.linalg.norm(mean) >= _BENT
    middle = _straight(core, mean) if is_straight else _traced(core)
    height = core.height
    spans = _spans(core, middle)
    whole = _strip(middle, middle.start, middle.end, height)
    if is_straight:
        words = [*_short_strips(middle, spans, height)]
    else:
        words = [_strip(middle, start, end, height) for start, end in spans]
    return FoundLine(whole, words, height * CELL, core.confidence)


def _straight(core: _Core, mean: "Float[np.ndarray, ' 2']") -> _Middle:
    """The middle of a line that runs in about one direction, which may rise and fall a little."""
    along = mean / np.linalg.norm(mean)
    across = np.array([-along[1], along[0]])
    at = core.places @ along
    off = core.places @ across
    first = at.min()
    at = at - first
    length = at.max()
    count = max(1, round(length / max(1.0, 2 * core.height)))
    bins = np.minimum((at / max(length, 1e-6) * count).astype(int), count - 1)
    weight = np.bincount(bins, core.ink, count)
    has = weight > 0
    x = np.bincount(bins, core.ink * at, count)[has] / weight[has]
    y = np.bincount(bins, core.ink * off, count)[has] / weight[has]
    if len(x) > 1:
        # Straight on at both ends, as far as the line goes
        rise = np.diff(y) / np.maximum(np.diff(x), 1e-6)
        y = np.concatenate(
            [[y[0] - rise[0] * x[0]], y, [y[-1] + rise[-1] * (length - x[-1])]]
        )
        x = np.concatenate([[0.0], x, [length]])
    else:
        x, y = np.array([0.0, max(length, 1e-3)]), np.repeat(y, 2)
    points = (x + first)[:, None] * along + y[:, None] * across
    return _with_ends(points, at, core.height)


def _traced(core: _Core) -> _Middle:
    """The middle of a line that is bent, also to a ring: from cell to cell in their directions."""
    step = max(1.0, _STEP * core.height)
    seed = core.places[int(np.argmax(core.ink))]
    before, _ = _walk(core, seed, -step, np.zeros((0, 2)))
    after, _ = _walk(core, seed, step, np.array(before).reshape(-1, 2))
    points = np.array([*before[::-1], seed, *after])
    if len(points) == 1:
        points = np.stack([seed, seed + core.along.mean(0)])
    distances = ((core.places[:, None] - points[None]) ** 2).sum(-1)
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    lengths = np.concatenate([[0.0], np.cumsum(steps)])
    nearest = distances.argmin(1)
    forward = core.along[:, None, :] @ (core.places - points[nearest])[:, :, None]
    at = (lengths[nearest] + forward[:, 0, 0]).clip(0, lengths[-1])
    return _with_ends(points, at, core.height)


def _walk(
    core: _Core, seed: np.ndarray, step: float, walked: np.ndarray
) -> tuple[list[np.ndarray], bool]:
    """Points from a seed on, each in the middle of the cells around it; until cells or ring end."""
    points: list[np.ndarray] = []
    place = seed
    reach = max(1.0, abs(step))
    for _ in range(_FARTHEST):
        near = ((core.places - place) ** 2).sum(1) <= (reach + 1) ** 2
        along = core.along[near].mean(0)
        place = place + step * along / max(1e-6, float(np.linalg.norm(along)))
        off = core.places - place
        near = (off**2).sum(1) <= reach**2
        if not near.any():
            return points, False
        # Into the middle across, and not back along
        middle = np.average(off[near], axis=0, weights=core.ink[near])
        across = np.array([-along[1], along[0]])
        across = across / max(1e-6, float(np.linalg.norm(across)))
        place = place + (middle @ across) * across
        known = [seed[None], walked, np.array(points[:-3]).reshape(-1, 2)]
        others = np.concatenate(known if len(points) > 2 else known[1:])
        if len(others) and (((others - place) ** 2).sum(1) < (reach / 2) ** 2).any():
            return points, True
        points.append(place)
    return points, False


def _with_ends(
    points: "Float[np.ndarray, 'point 2']",
    at: "Float[np.ndarray, ' cell']",
    height: float,
) -> _Middle:
    """A middle with as much at both ends as cores are shorter than lines."""
    low, high = float(at.min()) - 0.5, float(at.max()) + 0.5
    length = high - low
    whole = min(length + 2 * SHRUNK * height, length / (1 - 2 * MOST_SHRUNK))
    added = (whole - length) / 2
    return _Middle(points, at, low - added, high + added)


def _spans(core: _Core, middle: _Middle) -> list[tuple[float, float]]:
    """Where words begin and end along the middle."""
    count = int(np.ceil(middle.at.max())) + 1
    bins = np.floor(middle.at).astype(int)
    weight = np.bincount(bins, core.ink, count)
    gap = np.bincount(bins, core.ink * core.gap, count)
    gap = np.where(weight > 0, gap / np.maximum(weight, 1e-6), 0.0)
    place = np.bincount(bins, core.ink * middle.at, count) / np.maximum(weight, 1e-6)
    ends = [middle.start]
    for start, end in runs(gap > _GAP):
        for run in _parted(gap, start, end):
            ends += _gap_between(gap, place, run, core.height)
    ends.append(middle.end)
    spans = [
        (start, end)
        for start, end in zip(ends[::2], ends[1::2], strict=True)
        if end > start
    ]
    return spans or [(middle.start, middle.end)]


def _parted(gap: "Float[np.ndarray, ' cell']", start: int, end: int) -> list[slice]:
    """A run of cells of a gap, or two and more with a narrow word, of a letter, between them."""
    runs = []
    for middle in range(start + 1, end - 1):
        before, after = gap[start:middle], gap[middle + 1 : end]
        if not len(before):
            continue
        if min(before.max(), after.max()) - gap[middle] > _DIP:
            runs.append(slice(start, middle))
            start = middle + 1
    return [*runs, slice(start, end)]


def _gap_between(
    gap: "Float[np.ndarray, ' cell']",
    place: "Float[np.ndarray, ' cell']",
    run: slice,
    height: float,
) -> tuple[float, float]:
    """Where a gap begins and ends, from the shares of its cells and of those beside them.

    Narrow ones are wider on the map than in the picture: they are about as wide as a space.
    """
    around = slice(max(0, run.start - 1), run.stop + 1)
    own = gap[around].copy()
    own[own < gap[run].max() / 2] /= 2  # of the next gap too, at times
    mass = float(own.sum())
    middle = float((own * place[around]).sum()) / mass
    width = mass
    if mass < _NARROW:
        width = min(width, _SPACE * height)
    return middle - width / 2, middle + width / 2


def _short_strips(
    middle: _Middle, spans: Sequence[tuple[float, float]], height: float
) -> "Float[np.ndarray, 'span 2 2 2']":
    """As `_strip`, of several parts at once, each as straight as a word is."""
    steps = np.linalg.norm(np.diff(middle.points, axis=0), axis=1)
    lengths = np.concatenate([[0.0], np.cumsum(steps)])
    at = np.array(spans).ravel()
    ends = [_along(lengths, column, at) for column in middle.points.T]
    own = np.stack(ends, 1).reshape(-1, 2, 2)
    along = own[:, 1] - own[:, 0]
    along = along / np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-6)
    below = np.stack([-along[:, 1], along[:, 0]], 1)[:, None] * height / 2
    return np.stack([own - below, own + below], 2) * CELL


def _strip(middle: _Middle, start: float, end: float, height: float) -> Strip:
    """Above and below a part of a line, in pixels."""
    points = middle.points
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    lengths = np.concatenate([[0.0], np.cumsum(steps)])
    inner = (lengths > start + 0.5) & (lengths < end - 0.5)
    at = np.concatenate([[start], lengths[inner], [end]])
    own = np.stack([_along(lengths, column, at) for column in points.T], 1)
    along = np.diff(own, axis=0)
    along = along / np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-6)
    along = np.concatenate([along[:1], (along[1:] + along[:-1]) / 2, along[-1:]])
    along = along / np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-6)
    below = np.stack([-along[:, 1], along[:, 0]], 1) * height / 2
    return np.stack([own - below, own + below], 1) * CELL


def _along(lengths: np.ndarray, values: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Values between points, and straight on beyond the first and last."""
    found = np.interp(at, lengths, values)
    for place, (one, other) in ((0, (0, 1)), (-1, (-2, -1))):
        slope = (values[other] - values[one]) / max(1e-6, lengths[other] - lengths[one])
        is_beyond = at < lengths[0] if place == 0 else at > lengths[-1]
        found = np.where(
            is_beyond, values[place] + slope * (at - lengths[place]), found
        )
    return found


def find_boxes(
    maps: "Float[np.ndarray, 'map row column']", name: str
) -> "Float[np.ndarray, 'box 5']":
    """Boxes around what one of the maps shows: left, top, right, bottom in pixels, and confidence.

    Args:
        maps: see `MAPS`; shares as probabilities.
        name: ``box``, ``picture``, ``across`` or ``down``.
    """
    shares = maps[MAPS.index(name)]
    count, labels, boxes, _ = cv2.connectedComponentsWithStats(
        (shares > 0.5).astype(np.uint8), connectivity=8
    )
    found = np.zeros((count - 1, 5))
    for number in range(1, count):
        left, top, width, height, _ = boxes[number]
        part = np.s_[top : top + height, left : left + width]
        confidence = shares[part][labels[part] == number].mean()
        sides = np.array([left, top, left + width, top + height]) * CELL
        found[number - 1] = (*sides, confidence)
    return found
