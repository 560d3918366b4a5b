"""Low lines beside lines of text, which detectors leave out: ends of names, blanks of forms.

A line reaches over a stroke that goes on at its foot where it ends, with nothing above; two lines
become one where such a stroke goes from one into the other, as with a comma behind it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from PIL import Image

from vit_str.pages.find.geometry import Quadrilateral, rectangle, side_lengths

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, UInt8

_SEEN_HEIGHT = 36  # pixels of lines to which large pictures are reduced
_WINDOW = 31  # pixels around one that it is compared with
_DARKER = 12  # shades of 255 by which a stroke is darker than their mean, at least
_STEEPEST = 0.1  # rise over run up to which a line is level
# Of a stroke, over the height of lines
_SHORTEST = 0.3
_LONGEST = 15.0  # longer ones are rules, as beside headings
_THICKEST = 0.14
_ABOVE = 0.5  # it, where nothing is
_BELOW = 0.15
_CLOSED = 0.12  # gap in it that a drawing leaves
# Gap that a scan leaves in a longer one, and how much higher or lower the other part is
_BROKEN = 0.5
_STEP = 0.1
_INK = 0.03  # share of that, up to which it is nothing
# Height of ink above an end of it, and below, from which on it is of a frame
_FRAME = (1.2, 0.4)
_FOOT = (0.6, 1.15)  # of its line, from the top, where its middle is
# How far it is from the end of the line before it, and the beginning of the one behind
_FARTHEST = 1.2
_FARTHEST_BEFORE = 0.45
_NEAR = 0.12  # the end of its line that it ends at, or beyond that
_MOST_WITHIN = 0.3  # of the line behind it, that it reaches below
_ROOM = 0.5  # behind it, for a mark
_MARGIN = 0.15  # below it and in front of it


class _Stroke(NamedTuple):
    """In pixels; ends are one behind the last.

    Attributes:
        slope: rise over run, downwards.
    """

    left: float
    top: float
    right: float
    bottom: float
    slope: float


class Reaching(NamedTuple):
    """A line that may reach over low lines.

    Attributes:
        quadrilateral: around it, upright.
        places: of the lines that it is made of, from the left; one if it is as it was found.
        is_longer: whether it reaches over a low line.
    """

    quadrilateral: Quadrilateral
    places: tuple[int, ...]
    is_longer: bool


class _Place(NamedTuple):
    """Where a stroke is in the frame of a line, over its height."""

    start: float  # behind the beginning of the line
    end: float
    behind: float  # where it starts, behind the end of the line
    beyond: float  # where it ends, behind the end of the line
    is_at_foot: bool


def with_low_lines_beside(
    image: Image.Image, found: Sequence[Quadrilateral]
) -> list[Reaching]:
    """Lines that reach over the low lines at their ends; as they are without OpenCV.

    Args:
        image: in RGB.
        found: its lines, upright.
    """
    lines = [Reaching(line, (place,), False) for place, line in enumerate(found)]
    level = [line for line in lines if _is_level(line.quadrilateral)]
    if not level or find_spec("cv2") is None:
        return lines
    heights = [side_lengths(line.quadrilateral)[1] for line in level]
    others = [line for line in lines if not _is_level(line.quadrilateral)]
    for stroke in sorted(_strokes(image, float(np.median(heights)))):
        level = _reaching_over(stroke, level)
    return [*level, *others]


def _is_level(line: Quadrilateral) -> bool:
    x, y = line[1] - line[0]
    return bool(abs(y) <= _STEEPEST * x)


def _reaching_over(stroke: _Stroke, reaching: list[Reaching]) -> list[Reaching]:
    """Lines, of which the one or two that a stroke is beside reach over it."""
    lines = [each.quadrilateral for each in reaching]
    first, last = _behind_which(stroke, lines), _before_which(stroke, lines)
    if first is None and last is None:
        return reaching
    if any(_is_written_on(stroke, line) for line in lines):
        return reaching
    if first is not None and last is not None:
        is_in_both = _place(stroke, lines[last]).end >= 0
        last = last if is_in_both else None
    beside = [place for place in (first, last) if place is not None]
    joined = [lines[place] for place in beside]
    kept = [line for place, line in enumerate(lines) if place not in beside]
    length, height, along = max(map(_measured, joined), key=lambda line: line[0])
    if stroke.right - stroke.left > length:  # it tells better how level both are
        along = np.array([1.0, stroke.slope])
    before = 0 if first is not None else _MARGIN * height
    behind = 0 if last is not None else _room(stroke, kept, _ROOM * height)
    around = rectangle(
        stroke.left - before,
        stroke.top,
        stroke.right + behind,
        stroke.bottom + _MARGIN * height,
    )
    line = _around(np.concatenate([*joined, around]), along)
    places = chain.from_iterable(reaching[place].places for place in beside)
    others = [each for n, each in enumerate(reaching) if n not in beside]
    return [*others, Reaching(line, tuple(places), True)]


def _is_written_on(stroke: _Stroke, line: Quadrilateral) -> bool:
    """Whether a line begins above a stroke, as what is written on it."""
    place = _place(stroke, line)
    return place.is_at_foot and place.start < 0 and place.end > _MOST_WITHIN


def _measured(
    line: Quadrilateral,
) -> tuple[float, float, Float[np.ndarray, " axis"]]:
    """Length, height, and where it runs."""
    return *side_lengths(line), line[1] - line[0]


def _behind_which(stroke: _Stroke, lines: Sequence[Quadrilateral]) -> int | None:
    """The line at whose end a stroke is."""
    near = {}
    for number, line in enumerate(lines):
        place = _place(stroke, line)
        is_at_end = place.beyond > -_NEAR and place.behind <= _FARTHEST
        if place.is_at_foot and place.start > 0 and is_at_end:
            near[number] = place.behind
    return min(near, key=near.__getitem__, default=None)


def _before_which(stroke: _Stroke, lines: Sequence[Quadrilateral]) -> int | None:
    """The line at whose beginning a stroke is."""
    near = {}
    for number, line in enumerate(lines):
        place = _place(stroke, line)
        is_at_start = place.start < _NEAR and place.end >= -_FARTHEST_BEFORE
        if place.is_at_foot and place.beyond < 0 and is_at_start:
            near[number] = -place.end
    return min(near, key=near.__getitem__, default=None)


def _place(stroke: _Stroke, line: Quadrilateral) -> _Place:
    along = line[1] - line[0]
    across = line[3] - line[0]
    length, height = side_lengths(line)
    middle = (stroke.top + stroke.bottom) / 2
    ends = np.array([[stroke.left, middle], [stroke.right, middle]]) - line[0]
    start, end = (ends @ along / np.linalg.norm(along) / height).tolist()
    low = ends.mean(0) @ across / np.linalg.norm(across) / height
    long = length / height
    is_at_foot = bool(_FOOT[0] <= low <= _FOOT[1])
    return _Place(start, end, start - long, end - long, is_at_foot)


def _room(stroke: _Stroke, others: Sequence[Quadrilateral], most: float) -> float:
    """Pixels behind a stroke that no other line has, up to a number of them."""
    room = most
    for line in others:
        left, top = line.min(0)
        bottom = line[:, 1].max()
        if top <= stroke.bottom and bottom >= stroke.top and left >= stroke.right:
            room = min(room, (left - stroke.right) / 2)
    return room


def _around(
    points: Float[np.ndarray, "point 2"], along: Float[np.ndarray, " axis"]
) -> Quadrilateral:
    """A quadrilateral around points, whose first side runs along a direction."""
    along = along / np.linalg.norm(along)
    axes = np.stack([along, [-along[1], along[0]]], 1)
    places = points @ axes
    around: Quadrilateral = rectangle(*places.min(0), *places.max(0)) @ axes.T
    return around


def _strokes(image: Image.Image, height: float) -> Iterator[_Stroke]:
    """Level strokes with nothing above them, which are about as long as low lines."""
    import cv2

    scale = min(1.0, _SEEN_HEIGHT / height)
    size = max(1, round(image.width * scale)), max(1, round(image.height * scale))
    ink = _ink(np.asarray(image.convert("L").resize(size, Image.Resampling.BOX)))
    height *= scale
    run = np.ones((1, max(4, round(_SHORTEST * height))), np.uint8)
    level = cv2.morphologyEx(ink, cv2.MORPH_OPEN, run)
    gap = np.ones((1, 1 + round(_CLOSED * height)), np.uint8)
    level = cv2.morphologyEx(level, cv2.MORPH_CLOSE, gap)
    _, labels, boxes, _ = cv2.connectedComponentsWithStats(level)
    thickest = max(3.0, _THICKEST * height)
    free = []
    for number, (left, top, width, thickness, pixels) in enumerate(boxes.tolist()):
        is_thin = pixels <= thickest * width
        is_flat = thickness <= thickest + _STEEPEST * width
        if not number or not is_thin or not is_flat or width > _LONGEST * height:
            continue
        box = left, top, left + width, top + thickness
        if _stands_free(ink > 0, box, height):
            inside = labels[top : top + thickness, left : left + width] == number
            sides = [side / scale for side in box]
            free.append(_Stroke(sides[0], sides[1], sides[2], sides[3], _slope(inside)))
    for stroke in free:
        if not any(_is_broken(stroke, other, height / scale) for other in free):
            yield stroke


def _is_broken(stroke: _Stroke, other: _Stroke, height: float) -> bool:
    """Whether a stroke goes on as another one, as lines of forms do that are scanned."""
    gap = max(other.left - stroke.right, stroke.left - other.right)
    apart = abs(other.top + other.bottom - stroke.top - stroke.bottom) / 2
    return 0 < gap <= _BROKEN * height and apart <= _STEP * height


def _slope(stroke: Bool[np.ndarray, "row column"]) -> float:
    """Rise over run between the left and the right half."""
    rows = np.arange(len(stroke)) @ stroke / np.maximum(1, stroke.sum(0))
    middle = max(1, len(rows) // 2)
    return float(rows[-middle:].mean() - rows[:middle].mean()) / middle


def _ink(gray: UInt8[np.ndarray, "row column"]) -> UInt8[np.ndarray, "row column"]:
    import cv2

    if np.median(gray) < np.mean([gray.min(), gray.max()]):
        gray = 255 - gray  # light on dark
    return cv2.adaptiveThreshold(
        src=gray,
        maxValue=255,
        adaptiveMethod=cv2.ADAPTIVE_THRESH_MEAN_C,
        thresholdType=cv2.THRESH_BINARY_INV,
        blockSize=_WINDOW,
        C=_DARKER,
    )


def _stands_free(
    ink: Bool[np.ndarray, "row column"],
    box: tuple[int, int, int, int],
    height: float,
) -> bool:
    """Whether there is white above and below a stroke, and no frame at its ends."""
    left, top, right, bottom = box
    # Its edges may be gray, and letters lean over its ends
    first = max(0, top - 1 - round(_ABOVE * height))
    inner = slice(left + 1, right - 1)
    above = ink[first : max(0, top - 1), inner]
    below = ink[bottom + 1 : bottom + 1 + max(1, round(_BELOW * height)), inner]
    if max(_mean(above), _mean(below)) > _INK:
        return False
    high, low = (round(share * height) for share in _FRAME)
    ends = slice(max(0, left - 2), left + 2), slice(right - 2, right + 2)
    sides = slice(max(0, bottom - high), bottom), slice(top, bottom + low)
    return not any(ink[side, end].any(1).all() for side in sides for end in ends)


def _mean(values: Bool[np.ndarray, "row column"]) -> float:
    return float(values.mean()) if values.size else 0.0
