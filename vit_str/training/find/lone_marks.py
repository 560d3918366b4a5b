"""Columns of lone marks: colons between labels and values, counts, percent signs, dashes.

Tills, forms and tables set single characters in columns of their own, far from the words of their
row. There is little ink to tell them from dust, and pages have few of them beside whole words.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import ceil
from typing import NamedTuple

import cv2
import numpy as np
from jaxtyping import Float, UInt8

from vit_str.synthesis.glyphs import GlyphAtlas
from vit_str.synthesis.places import Places, upright_strips
from vit_str.training.find.separators import Boxes, ink_of, upright_words

Pixels = UInt8[np.ndarray, "row column 3"]

_LEAST_WORDS = 3
_SMALLEST = 6.0  # pixels of the height of type beside which a mark is drawn
_MOST_COLUMNS = 3
_MOST_ROWS = 14
_LEAST_APART = 120.0  # shades of three times 255 between ink and what is behind it
_TRIED = 10  # columns, as many have no room
_APART = 0.9  # of the height of type, from the words of the row
_CLOSE = 0.15  # of the same, by which a mark's room may reach into other rows
_COLUMNS = (":", ":", ":", "1", "0123456789", "123456789", "%", "-", "*#@&+=xSTZ")
"""Characters of columns, each as likely; every mark of a column is one of these."""
_MISSING = 0.15  # of the rows of a column
_LETTERS = 44 / 48  # height from tallest to deepest letters over that of the atlas


class _Mark(NamedTuple):
    """A character.

    Attributes:
        columns: of its ink.
        box: where it goes: left, top, right, bottom.
        row: number of a word in its row.
    """

    columns: UInt8[np.ndarray, "column row"]
    box: Float[np.ndarray, " 4"]
    row: int


def with_lone_marks(
    random: np.random.Generator, image: Pixels, places: Places, atlas: GlyphAtlas
) -> tuple[Pixels, Places]:
    """A page with single characters in columns, level with its lines, where there is room.

    Args:
        random: decides.
        image: of a page as it is drawn.
        places: what is where on it; text on its side is left alone.
        atlas: of the characters.
    """
    boxes, sizes = upright_words(places)
    if len(boxes) < _LEAST_WORDS:
        return image, places
    marks: list[_Mark] = []
    most = int(random.integers(1, _MOST_COLUMNS + 1))
    columns = 0
    for _ in range(_TRIED):
        own = _column(random, boxes, sizes, atlas)
        if own:
            columns += 1
            marks += own
            boxes = np.concatenate([boxes, [mark.box for mark in own]])
            sizes = np.append(sizes, np.zeros(len(own)))
        if columns == most:
            break
    if not marks:
        return image, places
    pixels = image.astype(np.float32)
    painted = [
        mark for mark in marks if _paint(pixels, mark, ink_of(image, boxes[mark.row]))
    ]
    return pixels.clip(0, 255).astype(np.uint8), _with_lines(places, painted)


def _column(
    random: np.random.Generator, boxes: Boxes, sizes: np.ndarray, atlas: GlyphAtlas
) -> list[_Mark]:
    """Characters of one font below each other, some behind the end of a word."""
    font = int(random.integers(len(atlas)))
    signs = str(random.choice(_COLUMNS))
    beside = int(random.integers(len(boxes)))
    x = float(boxes[beside, 2] + sizes[beside] * random.exponential(2.0))
    rows = np.argsort(boxes[:, 1])
    start = int(random.integers(len(rows)) * random.random())
    marks: list[_Mark] = []
    occupied = boxes
    for row in rows[start : start + 3 * _MOST_ROWS].tolist():
        size = float(sizes[row])
        columns = _glyph(atlas, font, str(random.choice(list(signs))))
        if columns is None or size < _SMALLEST or random.random() < _MISSING:
            continue
        box = _box(columns, boxes[row], size, x)
        if _is_free(box, size, occupied):
            marks.append(_Mark(columns, box, row))
            occupied = np.concatenate([occupied, [box]])
        if len(marks) == _MOST_ROWS:
            break
    return marks


def _glyph(
    atlas: GlyphAtlas, font: int, sign: str
) -> UInt8[np.ndarray, "column row"] | None:
    """A character of a font, if it has it."""
    if atlas.charset.unknown(sign):
        return None
    [id_] = atlas.charset.encode(sign)
    if not atlas.is_correct[font, id_]:
        return None
    columns = atlas.glyph(font, id_)
    return columns if len(columns) else None


def _box(
    columns: UInt8[np.ndarray, "column row"],
    word: Float[np.ndarray, " 4"],
    size: float,
    x: float,
) -> Float[np.ndarray, " 4"]:
    """Around a character from x on, as high as its font, level with a word."""
    high = size / _LETTERS
    wide = len(columns) * high / columns.shape[1]
    middle = (word[1] + word[3]) / 2
    return np.array([x, middle - high / 2, x + wide, middle + high / 2])


def _is_free(box: Float[np.ndarray, " 4"], size: float, boxes: Boxes) -> bool:
    """Whether nothing stands in a box, or close beside it."""
    left, top, right, bottom = box.tolist()
    aside, across = _APART * size, _CLOSE * size
    meets = (boxes[:, 0] < right + aside) & (boxes[:, 2] > left - aside)
    meets &= (boxes[:, 1] < bottom - across) & (boxes[:, 3] > top + across)
    return not meets.any()


def _paint(
    pixels: Float[np.ndarray, "row column 3"], mark: _Mark, color: Sequence[float]
) -> bool:
    """Paint a mark, in place; whether it is within the picture and can be seen there."""
    left, top, right, bottom = mark.box.tolist()
    if min(left, top) < 0 or bottom >= len(pixels) or right >= pixels.shape[1]:
        return False
    part = pixels[int(top) : ceil(bottom) + 1, int(left) : ceil(right) + 1]
    behind = np.median(part.reshape(-1, 3), axis=0)
    if np.abs(behind - color).sum() < _LEAST_APART:
        return False
    size = max(1, round(right - left)), max(1, round(bottom - top))
    ink = cv2.resize(mark.columns.T, size, interpolation=cv2.INTER_AREA)
    shift = np.array([[1, 0, left - int(left)], [0, 1, top - int(top)]])
    share = cv2.warpAffine(ink, shift, part.shape[1::-1]).astype(np.float32) / 255
    part += (np.array(color, np.float32) - part) * share[..., None]
    return True


def _with_lines(places: Places, marks: Sequence[_Mark]) -> Places:
    """Places with lines of one word more."""
    if not marks:
        return places
    boxes = np.array([mark.box for mark in marks])
    sizes = (boxes[:, 3] - boxes[:, 1]) * _LETTERS
    strips = upright_strips(boxes, sizes, np.zeros(len(marks), np.int32))
    first = int(places.lines.max()) + 1
    numbers = np.arange(first, first + len(marks), dtype=places.lines.dtype)
    return replace(
        places,
        strips=np.concatenate([places.strips, strips]),
        lines=np.concatenate([places.lines, numbers]),
    )
