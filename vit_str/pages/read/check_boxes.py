"""Boxes to tick in forms, found by their frames, and whether they are ticked, by their ink.

Readers of text write a ticked box as an empty one, which says the opposite, or doubt it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from vit_str.decoding.readings import Character
from vit_str.pages.find.geometry import (
    Quadrilateral,
    corners_from,
    rectangle,
    side_lengths,
)
from vit_str.pages.page import Word
from vit_str.pages.read.pieces import Piece, Read, polygon_of

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, UInt8

EMPTY = "□"
TICKED = "[x]"
_TICKS = frozenset("xXvV")
_SURE = 0.5  # confidence of a letter that is one

# Over the height of the line beside it
_SMALLEST = 0.5
_LARGEST = 1.1
_BEFORE = 3.0  # where its line begins, or ends, at most
_SQUARE = 0.75  # shorter side over longer side, at least
_COVERED = 0.8  # share of each side of a frame that is ink
_SIDE = 0.6  # share of a row of pixels that is ink, from which on it may be of a side
_REACHES = 2  # sides that a tick reaches beyond
_WHITE = 0.2  # beside a frame, over its height
_BESIDE = 0.5  # share of the rows beside it in which a tick may be
_CORNER = (
    0.15  # share of a side that is no inside, beside the frame: corners may be round
)
_LIGHT = 80  # percentile of its pixels that is as light as paper
_TICK = 0.08  # mean ink inside, from which on a box is not empty
_MOST_OF_ROW = 80  # percentile of a row of a frame that is dark
_SOLID = 0.2  # share of a side of a dark box around its inside
_CLEAR = 80  # of 255, by which a light tick differs from it
_SEEN_HEIGHT = 36  # pixels of lines to which large pictures are reduced
_WINDOW = 31  # pixels around one that it is compared with
_DARKER = 12  # shades of 255 by which a frame is darker than their mean, at least
# Of fields to write in, how far the middles of two frames in a row are apart, over a side, at most
_CLOSE = 1.6
_ERASED = 0.1  # of a box, beside it, for ticks that reach over it


@dataclass(frozen=True, slots=True)
class CheckBox:
    """A box of a form."""

    sides: tuple[float, float, float, float]  # left, top, right, bottom in pixels
    is_ticked: bool

    @property
    def sign(self) -> str:
        """How it is written."""
        return TICKED if self.is_ticked else EMPTY

    @property
    def middle(self) -> np.ndarray:
        """In pixels, x first."""
        left, top, right, bottom = self.sides
        return np.array([left + right, top + bottom]) / 2

    @property
    def corners(self) -> Quadrilateral:
        """From the top left."""
        return rectangle(*self.sides)


def find_check_boxes(
    image: Image.Image, lines: Sequence[Quadrilateral]
) -> list[CheckBox]:
    """The boxes in or beside lines, of about their height; none without OpenCV.

    Args:
        image: in RGB.
        lines: around each line of text.
    """
    if not lines or find_spec("cv2") is None:
        return []
    heights = [min(side_lengths(line)) for line in lines]
    scale = min(1.0, _SEEN_HEIGHT / float(np.median(heights)))
    size = max(1, round(image.width * scale)), max(1, round(image.height * scale))
    gray = np.asarray(image.convert("L").resize(size, Image.Resampling.BOX))
    if np.median(gray) < np.mean([gray.min(), gray.max()]):
        gray = 255 - gray  # light on dark
    if min(gray.shape) < _WINDOW:
        gray = np.pad(gray, _WINDOW, mode="edge")[_WINDOW:, _WINDOW:]
    shortest = max(5, int(_SMALLEST * scale * min(heights)))
    boxes = []
    for left, top, width, height in _frames(gray, shortest):
        sides = np.array([left, top, left + width, top + height]) / scale
        box = CheckBox(tuple(sides.tolist()), False)
        if not any(_is_beside(box, line) for line in lines):
            continue
        is_ticked = _is_ticked(gray[top : top + height, left : left + width])
        if is_ticked is not None:
            boxes.append(replace(box, is_ticked=is_ticked))
    fields = _fields(boxes)
    return [box for box in boxes if box not in fields]


def _fields(boxes: Sequence[CheckBox]) -> set[CheckBox]:
    """Those of three and more that stand close in a row: frames to write one letter in each."""
    fields: set[CheckBox] = set()
    for box in boxes:
        close = [other for other in boxes if _are_close(box, other)]
        if len(close) > 1:
            fields.update([box, *close])
    return fields


def _are_close(one: CheckBox, other: CheckBox) -> bool:
    left, top, right, bottom = one.sides
    x, y = np.abs(other.middle - one.middle)
    return bool(0 < x < _CLOSE * (right - left) and y < (bottom - top) / 2)


def _frames(
    gray: UInt8[np.ndarray, "row column"], shortest: int
) -> Iterator[tuple[int, int, int, int]]:
    """Left, top, width and height of what has four straight sides and is about as wide as high."""
    import cv2

    ink = cv2.adaptiveThreshold(
        src=gray,
        maxValue=255,
        adaptiveMethod=cv2.ADAPTIVE_THRESH_MEAN_C,
        thresholdType=cv2.THRESH_BINARY_INV,
        blockSize=_WINDOW,
        C=_DARKER,
    )
    ink = cv2.morphologyEx(
        ink, cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8)
    )  # as of noise
    level = cv2.morphologyEx(ink, cv2.MORPH_OPEN, np.ones((1, shortest), np.uint8))
    upright = cv2.morphologyEx(ink, cv2.MORPH_OPEN, np.ones((shortest, 1), np.uint8))
    strokes = cv2.bitwise_or(level, upright)
    _, groups, boxes, _ = cv2.connectedComponentsWithStats(strokes)
    for number, (left, top, width, height, _) in enumerate(boxes.tolist()):
        short, long = sorted((width, height))
        if not number or short < shortest or long > 2 * short:
            continue
        group = groups[top : top + height, left : left + width] == number
        rows = _between_sides(group)
        columns = _between_sides(group.T)
        frame = group[rows, columns]
        ends = (rows.start, height - rows.stop, columns.start, width - columns.stop)
        if sum(end > 1 for end in ends) > _REACHES:  # round, as letters
            continue
        if min(frame.shape, default=0) < max(shortest, _SQUARE * max(frame.shape)):
            continue
        box = left + columns.start, top + rows.start, frame.shape[1], frame.shape[0]
        if _has_sides(frame) and _stands_free(ink, box):
            yield box


def _stands_free(
    ink: UInt8[np.ndarray, "row column"], box: tuple[int, int, int, int]
) -> bool:
    """Whether there is white before and behind a frame, where letters have others."""
    left, top, width, height = box
    room = max(2, round(_WHITE * height))
    rows = slice(top, top + height)
    before = ink[rows, max(0, left - 1 - room) : max(0, left - 1)].any(1)
    behind = ink[rows, left + width + 1 : left + width + 1 + room].any(1)
    return bool(before.mean() <= _BESIDE and behind.mean() <= _BESIDE)


def _between_sides(group: Bool[np.ndarray, "row column"]) -> slice:
    """The rows from the first to the last full one: ticks reach beyond the sides of a frame."""
    full = np.flatnonzero(group.mean(1) >= _SIDE)
    return slice(int(full[0]), int(full[-1]) + 1) if full.size else slice(0, 0)


def _has_sides(frame: Bool[np.ndarray, "row column"]) -> bool:
    """Whether a row or column near each side is full: those of letters such as D are round."""
    depth = max(1, round(_CORNER * min(frame.shape)))
    sides = (frame[:depth], frame[-depth:], frame.T[:depth], frame.T[-depth:])
    return all(side.mean(1).max() >= _COVERED for side in sides)


def _is_ticked(gray: UInt8[np.ndarray, "row column"]) -> bool | None:
    """Whether there is something in a frame; None for a square without an inside."""
    values = gray.astype(float)
    light = float(np.percentile(values, _LIGHT))
    sides = [_side(np.rot90(values, turns), light) for turns in range(4)]
    inset = max(depth for _, depth in sides)
    dark = float(np.mean([shade for shade, _ in sides]))
    # Of a solid square in a scan, noise is no lighter inside
    if 2 * inset < min(values.shape) and light - dark >= _DARKER:
        inside = values[inset:-inset, inset:-inset]
        return _share(inside, dark, light) > _TICK
    # Dark, as of screens, with a light tick
    inset = round(_SOLID * min(values.shape))
    inside = values[inset:-inset, inset:-inset]
    dark, light = float(inside.min()), float(inside.max())
    return (
        True if light - dark > _CLEAR and _share(inside, light, dark) > _TICK else None
    )


def _share(values: Float[np.ndarray, "row column"], full: float, empty: float) -> float:
    """Mean of shades, as 0 where they are those of no ink and 1 where they are those of ink."""
    return float(((values - empty) / (full - empty)).clip(0, 1).mean())


def _side(values: Float[np.ndarray, "row column"], light: float) -> tuple[float, int]:
    """How dark the upper side of a frame is, and how many rows are above its inside, if any."""
    rows = np.percentile(values, _MOST_OF_ROW, 1)
    outer = rows[: max(2, len(rows) // 3)]
    darkest = int(outer.argmin())
    middle = (outer[darkest] + light) / 2
    beyond = np.flatnonzero(rows[darkest:] > middle)
    depth = darkest + int(beyond[0]) if beyond.size else len(rows)
    # Its edge may be gray
    return float(outer[darkest]), depth + 1


def _is_beside(box: CheckBox, line: Quadrilateral) -> bool:
    """Whether a box is in a line, or near one of its ends, and of its size."""
    x, y = _in_frame(box.middle, line)
    length, height = side_lengths(line)
    if height > length:
        x, y = y, x
        length, height = height, length
    left, top, right, bottom = box.sides
    side = max(right - left, bottom - top)
    return bool(
        _SMALLEST * height <= side <= _LARGEST * height
        and 0 <= y <= height
        and -_BEFORE * height <= x <= length + _BEFORE * height
    )


def _in_frame(point: np.ndarray, line: Quadrilateral) -> tuple[float, float]:
    """How far a point is along a line, and across it, from its first corner."""
    along = line[1] - line[0]
    across = line[3] - line[0]
    from_corner = point - line[0]
    return (
        float(from_corner @ along / max(1e-9, np.linalg.norm(along))),
        float(from_corner @ across / max(1e-9, np.linalg.norm(across))),
    )


def erased(image: Image.Image, boxes: Sequence[CheckBox]) -> Image.Image:
    """An image with paper where boxes are, so that only letters are read."""
    picture = image.copy()
    for box in boxes:
        left, top, right, bottom = box.sides
        around = _ERASED * (right - left)
        inner = (
            round(left - around),
            round(top),
            round(right + around),
            round(bottom),
        )
        outer = inner[0] - 1, inner[1] - 1, inner[2] + 1, inner[3] + 1
        near = picture.crop(outer)
        picture.paste(_edge_color(near), inner)
    return picture


def _edge_color(picture: Image.Image) -> tuple[int, ...]:
    """The median color along the sides of a picture."""
    pixels = np.asarray(picture)
    sides = [pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]]
    return tuple(map(int, np.median(np.concatenate(sides), 0)))


def is_in_line(box: CheckBox, line: Quadrilateral) -> bool:
    """Whether the middle of a box is within a line."""
    x, y = _in_frame(box.middle, line)
    length, height = side_lengths(line)
    return 0 <= x <= length and 0 <= y <= height


def holds_letter(words: Sequence[Read], box: CheckBox) -> bool:
    """Whether a sure letter or digit is in a box: it is one of those of a form to write in."""
    for piece, reading in words:
        for each in reading.characters:
            is_letter = each.character.isalnum() and each.character not in _TICKS
            if is_letter and each.confidence >= _SURE and _is_in(each, piece, box):
                return True
    return False


def _is_in(character: Character, piece: Piece, box: CheckBox) -> bool:
    if character.box is None:
        return False
    corners = piece.strip.inverse(box.corners)
    left, top = corners.min(0)
    right, bottom = corners.max(0)
    room = _CORNER * (right - left)
    x = (character.box.left + character.box.right) / 2
    is_across = top < character.box.bottom and bottom > character.box.top
    return bool(is_across and left - room <= x <= right + room)


def with_check_boxes(
    lines: Sequence[Sequence[Word]],
    boxes: Sequence[CheckBox],
    quadrilaterals: Sequence[Quadrilateral],
    quarters: Sequence[int],
) -> tuple[list[list[Word]], list[Word]]:
    """Lines with the boxes in or beside them, and the boxes that have no line.

    Args:
        lines: words, along the line.
        boxes: of their page.
        quadrilaterals: around each line, upright.
        quarters: turns of each line to the right.
    """
    renewed = [list(line) for line in lines]
    around = [
        corners_from(each, turns)
        for each, turns in zip(quadrilaterals, quarters, strict=True)
    ]
    alone = []
    for box in boxes:
        distances = [_distance(box, line) for line in around]
        nearest = int(np.argmin(distances)) if distances else 0
        if not distances or distances[nearest] > _BEFORE:
            alone.append(_word(box, 0))
            continue
        line = renewed[nearest]
        word = replace(_word(box, quarters[nearest]), size=line[0].size)
        x, _ = _in_frame(box.middle, around[nearest])
        starts = [_in_frame(_middle(each), around[nearest])[0] for each in line]
        line.insert(sum(start < x for start in starts), word)
    return renewed, alone


def _word(box: CheckBox, quarters: int) -> Word:
    corners = corners_from(box.corners, quarters)
    return Word(box.sign, 1.0, polygon_of(corners))


def _middle(word: Word) -> np.ndarray:
    middle: np.ndarray = np.mean(word.polygon, 0)
    return middle


def _distance(box: CheckBox, line: Quadrilateral) -> float:
    """From a box to the end of a line beside it, over its height; boxes stand before their text."""
    x, y = _in_frame(box.middle, line)
    length, height = side_lengths(line)
    if not 0 <= y <= height:
        return math.inf
    return max(-x, 2 * (x - length), 0.0) / height
