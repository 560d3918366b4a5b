"""Ruled lines of a picture, and the cells of tables between them."""

from collections.abc import Iterator, Sequence
from itertools import count, pairwise
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from vit_str.reading.pages.level_rules import level_grids
from vit_str.reading.pages.page import Rule
from vit_str.reading.pages.tables import Grid, Sides
from vit_str.runtime.boxes import Box

if TYPE_CHECKING:
    from jaxtyping import UInt8

_LONGEST_SIDE = 2000  # pixels of what is searched: larger pictures are reduced
_SHORTEST = 1 / 50  # rule, over the longer side of the picture
_FEWEST_PIXELS = 40  # of a rule: strokes of large letters are shorter
_RUN = 1 / 80  # without a break in one row of pixels, over the same
_SHORTEST_RUN = 9  # pixels
_THICKEST = 1 / 200  # rule with its tilt over a run, over the same
_THICKEST_PIXELS = 7  # the same of small pictures, as of a part of a screen
_WINDOW = 31  # pixels around one that it is compared with
_DARKER = 12  # shades of 255 by which ink is darker than their mean, at least
_STEEPEST = 0.1  # rise over run up to which a rule counts as level
_NEAR = 1 / 120  # over the longer side of the page: rules so near to each other meet
# Over the longer side of the picture: so near a short rule ends at others
_TOUCHES = 1 / 250
_FEWEST_CELLS = 4
# Share of the side of a cell that rules cover; merged cells have less between them
_RULED = 0.5


def find_rules(image: Image.Image) -> tuple[Rule, ...]:
    """Straight lines along the sides of a picture, darker than what is around them, in its pixels.

    None if OpenCV, which comes with the detector of lines, is not installed.
    """
    try:
        import cv2
    except ImportError:
        return ()
    cv2.setNumThreads(1)  # as in the detector, which may be another one
    scale = min(1.0, _LONGEST_SIDE / max(image.size))
    size = max(1, round(image.width * scale)), max(1, round(image.height * scale))
    gray = np.asarray(image.convert("L").resize(size, Image.Resampling.BOX))
    if min(gray.shape) < _WINDOW:
        return ()
    ink = cv2.adaptiveThreshold(
        src=gray,
        maxValue=255,
        adaptiveMethod=cv2.ADAPTIVE_THRESH_MEAN_C,
        thresholdType=cv2.THRESH_BINARY_INV,
        blockSize=_WINDOW,
        C=_DARKER,
    )
    side = max(size)
    level = _Runs(ink, side)
    upright = _Runs(ink.T, side)
    long_level = list(level.rules(is_long=True))
    long_upright = list(upright.rules(is_long=True))
    rules = [*long_level, *level.rules_between(long_upright)]
    across = [*long_upright, *upright.rules_between(long_level)]
    rules += map(_transposed, across)
    return tuple(
        ((x1 / scale, y1 / scale), (x2 / scale, y2 / scale))
        for (x1, y1), (x2, y2) in rules
    )


def _transposed(rule: Rule) -> Rule:
    (x1, y1), (x2, y2) = rule
    return (y1, x1), (y2, x2)


class _Runs:
    """Runs of ink along the rows of a picture: rules, and strokes of large letters among them.

    Args:
        ink: of the picture, 255 where there is some.
        side: the longer one of the picture, in pixels.
    """

    def __init__(self, ink: "UInt8[np.ndarray, 'row column']", side: int) -> None:
        import cv2

        ink = np.ascontiguousarray(ink)
        # A tilted rule steps from row to row of pixels: it is made thicker before the search.
        thick = cv2.dilate(ink, np.ones((3, 1), np.uint8))
        run = np.ones((1, max(_SHORTEST_RUN, round(side * _RUN))))
        runs = cv2.morphologyEx(thick, cv2.MORPH_OPEN, run)
        _, self._labels, boxes, _ = cv2.connectedComponentsWithStats(runs)
        self._boxes = boxes[1:]  # without what is around all of them
        self._side = side
        self._thickest = max(_THICKEST_PIXELS, side * _THICKEST)
        self._is_long = self._boxes[:, 2] >= max(_FEWEST_PIXELS, _SHORTEST * side)

    def rules(self, *, is_long: bool) -> Iterator[Rule]:
        """Rules that run from the left to the right, the long ones or the others."""
        width, height = self._boxes[:, 2:4].T
        is_level = height <= self._thickest + _STEEPEST * width
        places = np.flatnonzero(is_level & (self._is_long == is_long))
        for place in places.tolist():
            rule = self._rule(place)
            if rule:
                yield rule

    def rules_between(self, across: Sequence[Rule]) -> list[Rule]:
        """Short rules that run from one long rule across them to another, as beside a low cell.

        Args:
            across: long rules in a picture whose rows are the columns of this one.
        """
        long = list(map(_transposed, across))
        near = _TOUCHES * self._side

        def ends_at_one(x: float, y: float) -> bool:
            return any(
                abs(x - (x1 + (x2 - x1) * (y - y1) / (y2 - y1))) <= near
                and y1 - near <= y <= y2 + near
                for (x1, y1), (x2, y2) in long
            )

        short = self.rules(is_long=False) if long else ()
        return [rule for rule in short if all(ends_at_one(x, y) for x, y in rule)]

    def _rule(self, place: int) -> Rule | None:
        """The rule that a run is; None if it is too thick or too steep for one."""
        left, top, width, height, _ = self._boxes[place].tolist()
        inside = self._labels[top : top + height, left : left + width]
        rows, columns = np.nonzero(inside == place + 1)
        if len(rows) > self._thickest * width:
            return None
        start, end = (_mean(rows[abs(columns - at) <= 2]) for at in (0, width - 1))
        if abs(end - start) > _STEEPEST * width:
            return None
        return (left, top + start), (left + width - 1, top + end)


def _mean(rows: np.ndarray) -> float:
    """The mean; for a few numbers ``rows.mean()`` takes two and a half times as long."""
    return float(rows.sum()) / rows.size


def grids(
    rules: Sequence[Rule], side: float, words: Sequence[Sides] = ()
) -> list[Grid]:
    """Tables between level rules that meet upright ones, or between level rules alone.

    Args:
        rules: of a page that is level.
        side: the longer one of the page, in the same unit.
        words: boxes of all words, whose columns tell tables that have level rules only.
    """
    near = _NEAR * side
    found = []
    alone: list[Box] = []  # level rules without columns
    for group in _that_meet([_box(rule) for rule in rules], near):
        level = [box for box in group if box.right - box.left > box.bottom - box.top]
        upright = [box for box in group if box.right - box.left <= box.bottom - box.top]
        rows = _places([(box.top + box.bottom) / 2 for box in level], near)
        columns = _places([(box.left + box.right) / 2 for box in upright], near)
        cells = max(0, len(rows) - 1) * max(0, len(columns) - 1)
        if cells < _FEWEST_CELLS:
            alone += level
            continue
        is_frame = len(columns) == 2  # around level rules
        framed = list(level_grids(level, words, near)) if is_frame else []
        if framed:
            found += framed
            continue
        around = Box(columns[0], rows[0], columns[-1], rows[-1])
        merged = _merged(level, upright, rows, columns, near)
        found.append(Grid(around, tuple(columns), tuple(rows), merged))
    return found + list(level_grids(alone, words, near))


def _merged(
    level: Sequence[Box],
    upright: Sequence[Box],
    rows: Sequence[float],
    columns: Sequence[float],
    near: float,
) -> tuple[tuple[tuple[int, int], ...], ...]:
    """The first row and column of what each cell is a part of: no rules part merged cells.

    Cells beside each other are merged first, and what is as wide then with what is above it.
    """
    of_columns = _by_place(
        spans=[(box.top, box.bottom) for box in upright],
        across=[(box.left, box.right) for box in upright],
        places=columns,
    )
    of_rows = _by_place(
        spans=[(box.left, box.right) for box in level],
        across=[(box.top, box.bottom) for box in level],
        places=rows,
    )
    merged: list[list[tuple[int, int]]] = []
    for row, top, bottom in zip(count(), rows, rows[1:], strict=False):
        starts = [0]
        for column in range(1, len(columns) - 1):
            is_ruled = _is_ruled(of_columns[column], top, bottom, near)
            starts.append(column if is_ruled else starts[-1])
        cells = [(row, start) for start in starts]
        for start in dict.fromkeys(starts):
            end = start + starts.count(start)
            if row == 0 or not _is_one_cell(merged[-1], start, end):
                continue
            if not _is_ruled(of_rows[row], columns[start], columns[end], near):
                cells[start:end] = merged[-1][start:end]
        merged.append(cells)
    return tuple(map(tuple, merged))


def _is_one_cell(cells: Sequence[tuple[int, int]], start: int, end: int) -> bool:
    """Whether one cell of a row fills just the columns from ``start`` to before ``end``."""
    filled = [place for place, cell in enumerate(cells) if cell == cells[start]]
    return filled == list(range(start, end))


def _by_place(
    spans: Sequence[tuple[float, float]],
    across: Sequence[tuple[float, float]],
    places: Sequence[float],
) -> list[list[tuple[float, float]]]:
    """Where the rules at each place begin and end, by the place that each is nearest to."""
    found: list[list[tuple[float, float]]] = [[] for _ in places]
    for span, (low, high) in zip(spans, across, strict=True):
        distances = np.abs(np.array(places) - (low + high) / 2)
        found[int(distances.argmin())].append(span)
    return found


def _is_ruled(
    spans: Sequence[tuple[float, float]], low: float, high: float, near: float
) -> bool:
    """Whether rules cover a side of a cell; one that is too short to tell counts as covered."""
    covered = sum(max(0.0, min(high, end) - max(low, start)) for start, end in spans)
    return high - low < 2 * near or covered >= _RULED * (high - low)


def _box(rule: Rule) -> Box:
    (x1, y1), (x2, y2) = rule
    return Box(min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2))


def _that_meet(boxes: Sequence[Box], near: float) -> list[list[Box]]:
    """Groups of boxes of which each meets another one of its group."""
    groups: list[list[Box]] = []
    for box in boxes:
        joined = [box]
        apart = []
        for group in groups:
            if any(_meet(box, other, near) for other in group):
                joined += group
            else:
                apart.append(group)
        groups = [*apart, joined]
    return groups


def _meet(first: Box, second: Box, near: float) -> bool:
    across = first.left - near < second.right and second.left - near < first.right
    along = first.top - near < second.bottom and second.top - near < first.bottom
    return across and along


def _places(values: Sequence[float], near: float) -> list[float]:
    """Means of values that are near each other, from the least."""
    ordered = sorted(values)
    ends = [n for n, (a, b) in enumerate(pairwise(ordered), 1) if b - a > near]
    parts = np.split(np.array(ordered), ends)
    return [float(part.mean()) for part in parts if len(part)]
