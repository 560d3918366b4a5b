"""Ruled lines of a picture, and the cells of tables between them."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from PIL import Image

from vit_str.reading.pages.page import Rule
from vit_str.reading.pages.tables import Grid
from vit_str.runtime.boxes import Box

_LONGEST_SIDE = 2000  # pixels of what is searched: larger pictures are reduced
_SHORTEST = 1 / 50  # rule, over the longer side of the picture
_FEWEST_PIXELS = 40  # of a rule: strokes of large letters are shorter
_RUN = 1 / 80  # without a break in one row of pixels, over the same
_THICKEST = 1 / 200  # rule with its tilt over a run, over the same
_WINDOW, _DARKER = 31, 12  # pixels around one, and by how much it is darker than their mean
_STEEPEST = 0.1  # rise over run up to which a rule counts as level
_NEAR = 1 / 120  # over the longer side of the page: rules so near to each other meet
_FEWEST_CELLS = 4


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
    method, kind = cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY_INV
    ink = cv2.adaptiveThreshold(gray, 255, method, kind, _WINDOW, _DARKER)
    level = list(_level_rules(ink, max(size)))
    upright = [((y1, x1), (y2, x2)) for (x1, y1), (x2, y2) in _level_rules(ink.T, max(size))]
    return tuple(
        ((x1 / scale, y1 / scale), (x2 / scale, y2 / scale))
        for (x1, y1), (x2, y2) in [*level, *upright]
    )


def _level_rules(ink: np.ndarray, side: int) -> Iterator[Rule]:
    """Rules that run from the left to the right."""
    import cv2

    ink = np.ascontiguousarray(ink)
    # A tilted rule steps from row to row of pixels: it is made thicker before runs are looked for.
    thick = cv2.dilate(ink, np.ones((3, 1), np.uint8))
    runs = cv2.morphologyEx(thick, cv2.MORPH_OPEN, np.ones((1, max(9, round(side * _RUN)))))
    count, labels, boxes, _ = cv2.connectedComponentsWithStats(runs)
    for number in range(1, count):
        left, top, width, height, _ = boxes[number].tolist()
        if (
            width < max(_FEWEST_PIXELS, _SHORTEST * side)
            or height > _THICKEST * side + _STEEPEST * width
        ):
            continue
        rows, columns = np.nonzero(labels[top : top + height, left : left + width] == number)
        if len(rows) > _THICKEST * side * width:
            continue
        ends = [float(rows[abs(columns - end) <= 2].mean()) for end in (0, width - 1)]
        if abs(ends[1] - ends[0]) <= _STEEPEST * width:
            yield (left, top + ends[0]), (left + width - 1, top + ends[1])


def grids(rules: Sequence[Rule], side: float) -> list[Grid]:
    """Tables between level rules that meet upright ones.

    Args:
        rules: of a page that is level.
        side: the longer one of the page, in the same unit.
    """
    near = _NEAR * side
    boxes = [_box(rule) for rule in rules]
    groups = _that_meet(boxes, near)
    found = []
    for group in groups:
        level = [box for box in group if box.right - box.left > box.bottom - box.top]
        upright = [box for box in group if box.right - box.left <= box.bottom - box.top]
        rows = _places([(box.top + box.bottom) / 2 for box in level], near)
        columns = _places([(box.left + box.right) / 2 for box in upright], near)
        if min(len(rows), len(columns)) < 2 or (len(rows) - 1) * (len(columns) - 1) < _FEWEST_CELLS:
            continue
        around = Box(columns[0], rows[0], columns[-1], rows[-1])
        found.append(Grid(around, tuple(columns), tuple(rows)))
    return found


def _box(rule: Rule) -> Box:
    (x1, y1), (x2, y2) = rule
    return Box(min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2))


def _that_meet(boxes: Sequence[Box], near: float) -> list[list[Box]]:
    """Groups of boxes of which each meets another one of its group."""
    groups: list[list[Box]] = []
    for box in boxes:
        met = [group for group in groups if any(_meet(box, other, near) for other in group)]
        groups = [group for group in groups if group not in met]
        groups.append([box, *(other for group in met for other in group)])
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
