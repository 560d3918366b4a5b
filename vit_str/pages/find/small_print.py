"""Small print on large sheets, which detectors see too small: the parts to look at closely."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from vit_str.pages.find.geometry import Quadrilateral, side_lengths

if TYPE_CHECKING:
    from jaxtyping import Bool

Part = tuple[int, int, int, int]
"""Left, top, right and bottom of a part of an image, in pixels."""

_LONG = 2000  # pixels of the longer side with which detectors see a sheet
# Times as large as on the whole sheet that print is seen in a part of it, at least
_LARGER = 1.2
_LOW = 32  # pixels of the height of a line, in the mean, as a detector sees it
_CELL = 16  # pixels of a side of a cell of the sheet, as a detector sees it
_INK = 60  # of 255, that the shades of a cell with ink differ by
_LONGEST = _LONG / _LARGER / _CELL  # cells of a side of a part
_MOST_INK = 0.1  # share of the cells with ink up to which a sheet is nearly empty
_NEAR = 6  # cells around ink, in which it belongs to other ink
_LEAST = (
    900,
    500,
)  # pixels of width and height of a part; smaller ones would be enlarged
_MOST_PARTS = 8


def parts_with_ink(image: Image.Image, found: Sequence[Quadrilateral]) -> list[Part]:
    """The parts of a nearly empty sheet that hold its ink, where its lines are low or missing.

    Args:
        image: the sheet in RGB.
        found: its lines, as a detector sees them that looks at the whole sheet.
    """
    long = max(image.size)
    scale = _LONG / long
    heights = [scale * min(side_lengths(line)) for line in found]
    if scale * _LARGER >= 1 or (heights and np.mean(heights) >= _LOW):
        return []
    ink = _cells_with_ink(image, scale)
    if not 0 < ink.mean() <= _MOST_INK:
        return []
    parts = []
    for box in _groups(ink):
        left, top, right, bottom = box
        if max(right - left, bottom - top) <= _LONGEST:
            parts.append(_part(box, _CELL / scale, image.size))
    return _disjoint(parts[:_MOST_PARTS])


def _cells_with_ink(image: Image.Image, scale: float) -> Bool[np.ndarray, "row column"]:
    size = max(1, round(scale * image.width)), max(1, round(scale * image.height))
    gray = np.asarray(image.convert("L").resize(size, Image.Resampling.BOX))
    missing = [(0, -side % _CELL) for side in gray.shape]
    whole = np.pad(gray, missing, mode="edge")
    rows, columns = (side // _CELL for side in whole.shape)
    cells = whole.reshape(rows, _CELL, columns, _CELL)
    darkest = cells.min((1, 3)).astype(int)
    return cells.max((1, 3)) - darkest > _INK


def _groups(ink: Bool[np.ndarray, "row column"]) -> list[Part]:
    """Boxes in cells around ink that is close to each other, the most ink first."""
    import cv2

    reach = np.ones((2 * _NEAR + 1, 2 * _NEAR + 1), np.uint8)
    letters = ink & ~_frames(ink)
    count, groups = cv2.connectedComponents(cv2.dilate(letters.astype(np.uint8), reach))
    boxes: list[tuple[int, Part]] = []
    for number in range(1, count):
        rows, columns = np.nonzero(letters & (groups == number))
        left, right = int(columns.min()), int(columns.max()) + 1
        top, bottom = int(rows.min()), int(rows.max()) + 1
        boxes.append((len(rows), (left, top, right, bottom)))
    boxes.sort(reverse=True)
    return [box for _, box in boxes]


def _frames(ink: Bool[np.ndarray, "row column"]) -> Bool[np.ndarray, "row column"]:
    """Cells of frames and rules that are too long to be in a part, and of the edges of scans."""
    import cv2

    _, groups, boxes, _ = cv2.connectedComponentsWithStats(ink.astype(np.uint8))
    sides = boxes[:, [cv2.CC_STAT_WIDTH, cv2.CC_STAT_HEIGHT]].max(1)
    is_frame = sides > _LONGEST
    is_frame[0] = False  # what is no ink
    frames: Bool[np.ndarray, "row column"] = is_frame[groups]
    return frames


def _part(box: Part, cell: float, size: tuple[int, int]) -> Part:
    """A box of cells in pixels of the sheet, with some of what is around it."""
    sides = []
    for axis in (0, 1):
        start = (box[axis] - _NEAR / 2) * cell
        end = (box[axis + 2] + _NEAR / 2) * cell
        missing = max(0.0, _LEAST[axis] - (end - start)) / 2
        low = max(0, round(start - missing))
        sides.append((low, min(size[axis], round(end + missing))))
    (left, right), (top, bottom) = sides
    return left, top, right, bottom


def _disjoint(parts: Sequence[Part]) -> list[Part]:
    """Parts, of which those that overlap are one."""
    apart: list[Part] = []
    for part in parts:
        overlapping = [other for other in apart if _overlap(part, other)]
        while overlapping:
            apart = [other for other in apart if other not in overlapping]
            part = _around([part, *overlapping])
            overlapping = [other for other in apart if _overlap(part, other)]
        apart.append(part)
    return apart


def _overlap(one: Part, other: Part) -> bool:
    is_across = one[0] < other[2] and other[0] < one[2]
    return is_across and one[1] < other[3] and other[1] < one[3]


def _around(parts: Sequence[Part]) -> Part:
    lefts, tops, rights, bottoms = zip(*parts, strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)
