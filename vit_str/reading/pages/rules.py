"""Ruled lines of a picture, and the cells of tables between them."""

from collections.abc import Iterator, Sequence
from itertools import count, pairwise

import numpy as np
from PIL import Image

from vit_str.reading.pages.level_rules import level_grids
from vit_str.reading.pages.page import Rule
from vit_str.reading.pages.tables import Grid, Sides
from vit_str.runtime.boxes import Box

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
    level = list(_level_rules(ink, max(size)))
    upright = list(_level_rules(ink.T, max(size)))
    rules = _between_others(level, upright, max(size))
    rules += map(_transposed, _between_others(upright, level, max(size)))
    return tuple(
        ((x1 / scale, y1 / scale), (x2 / scale, y2 / scale))
        for (x1, y1), (x2, y2) in rules
    )


def _transposed(rule: Rule) -> Rule:
    (x1, y1), (x2, y2) = rule
    return (y1, x1), (y2, x2)


def _between_others(
    rules: Sequence[Rule], across: Sequence[Rule], side: int
) -> list[Rule]:
    """Rules that are long, or run from one long rule across them to another, as beside a low cell.

    Args:
        rules: that run from the left to the right.
        across: in a picture whose rows are the columns of this one.
        side: the longer one of the picture.
    """
    long = [_transposed(rule) for rule in across if _is_long(rule, side)]
    near = _TOUCHES * side

    def ends_at_one(x: float, y: float) -> bool:
        return any(
            abs(x - (x1 + (x2 - x1) * (y - y1) / (y2 - y1))) <= near
            and y1 - near <= y <= y2 + near
            for (x1, y1), (x2, y2) in long
        )

    def is_kept(rule: Rule) -> bool:
        return _is_long(rule, side) or all(ends_at_one(x, y) for x, y in rule)

    return list(filter(is_kept, rules))


def _is_long(rule: Rule, side: int) -> bool:
    (left, _), (right, _) = rule
    return right - left + 1 >= max(_FEWEST_PIXELS, _SHORTEST * side)


def _level_rules(ink: np.ndarray, side: int) -> Iterator[Rule]:
    """Rules that run from the left to the right, and strokes of large letters among them."""
    import cv2

    ink = np.ascontiguousarray(ink)
    # A tilted rule steps from row to row of pixels: it is made thicker before runs are looked for.
    thick = cv2.dilate(ink, np.ones((3, 1), np.uint8))
    run = np.ones((1, max(_SHORTEST_RUN, round(side * _RUN))))
    runs = cv2.morphologyEx(thick, cv2.MORPH_OPEN, run)
    thickest = max(_THICKEST_PIXELS, side * _THICKEST)
    components, labels, boxes, _ = cv2.connectedComponentsWithStats(runs)
    for number in range(1, components):
        left, top, width, height, _ = boxes[number].tolist()
        if height > thickest + _STEEPEST * width:
            continue
        inside = labels[top : top + height, left : left + width]
        rows, columns = np.nonzero(inside == number)
        if len(rows) > thickest * width:
            continue
        ends = [_mean(rows[abs(columns - end) <= 2]) for end in (0, width - 1)]
        if abs(ends[1] - ends[0]) <= _STEEPEST * width:
            yield (left, top + ends[0]), (left + width - 1, top + ends[1])


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
