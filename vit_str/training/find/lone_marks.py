"""Columns of lone marks: colons between labels and values, counts, dashes, codes.

Tills, forms and tables set single characters in columns of their own, far from the words of their
row. There is little ink to tell them from dust, and pages have few of them beside whole words. So
it is with strings of low lines, dashes, points and digits, which look like rules, or come apart.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from math import ceil
from random import Random
from typing import NamedTuple

import cv2
import numpy as np
from jaxtyping import Float, UInt8

from vit_str.characters.charset import Charset
from vit_str.synthesis.glyphs import GlyphAtlas
from vit_str.synthesis.own_texts import PatternStrings
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
_MARKS = (":", ":", ":", "1", "[0-9]", "[1-9]", "%", "-", r"[-*#@&+=xSTZ]")
"""Patterns of single characters, each as likely; every row of a column has one of a pattern."""
_CODE_SHARE = 0.5  # of columns, of longer strings
_CODES = (
    "__[a-z]{3,8}__",
    "_{1,2}[a-z]{2,8}|[a-z]{2,8}_{1,2}",
    "[a-z]{2,7}(_[a-z]{2,7}){1,2}",
    "[A-Z]{2,3}(_[A-Z]{2,8}){1,2}",
    "[A-Z]{3,9}<{1,2}[A-Z]{3,9}<{2,14}",
    "[A-Z0-9]{6,9}<{1,9}[0-9]{0,2}",
    "<{3,20}|>{2,4}|={2,3}>?",
    r"\d{4}(~\d{4}){1,3}",
    r"[A-Z]{2}\d{2}(~\d{4}){2,4}",
    r"\d{2,3}(~\d{2,3}){2,4}",
    r"\d(~\d){2,9}",
    "[A-Z](~[A-Z]){2,9}",
    "-{1,2}:-{2}(:-{2})?|-[.]-{2}",
    r"\d{1,2}:\d{2}(:\d{2})?",
    "[OI0l1]{3,7}",
    "0{3,9}|1{3,9}|[IlL]{2,6}",
    r"\d{1,3}[.]\d{1,3}[.]\d{1,3}[.]\d{1,3}",
    "#{2,6}",
    r"[-+]\d{1,3}|[-+]\d[.]\d",
    r"[({][a-z]?[)}];?|[|]{2}|\[\]",
)
"""The same of longer strings; charsets have no spaces, so these are written as `_WRITTEN_SPACE`."""
_WRITTEN_SPACE = "~"
_LONGEST = 40
_SPACE = (0.2, 0.6)  # of the height of the atlas, between words
_MISSING = 0.15  # of the rows of a column
_LETTERS = 44 / 48  # height from tallest to deepest letters over that of the atlas


class _Set(NamedTuple):
    """A string as its font sets it, in pixels of the atlas.

    Attributes:
        columns: of its ink.
        words: start and end of each.
    """

    columns: UInt8[np.ndarray, "column row"]
    words: Float[np.ndarray, "word 2"]


class _Mark(NamedTuple):
    """A character, or some words.

    Attributes:
        string: how it looks.
        box: where it goes: left, top, right, bottom.
        row: number of a word in its row.
    """

    string: _Set
    box: Float[np.ndarray, " 4"]
    row: int


def with_lone_marks(
    random: np.random.Generator, image: Pixels, places: Places, atlas: GlyphAtlas
) -> tuple[Pixels, Places]:
    """A page with characters and codes in columns, level with its lines, where there is room.

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
    """Strings of one pattern and font below each other, some behind the end of a word."""
    font = int(random.integers(len(atlas)))
    patterns = _CODES if random.random() < _CODE_SHARE else _MARKS
    strings = _strings(str(random.choice(patterns)), atlas.charset)
    if strings is None:
        return []
    space = random.uniform(*_SPACE) * atlas.height
    beside = int(random.integers(len(boxes)))
    x = float(boxes[beside, 2] + sizes[beside] * random.exponential(2.0))
    rows = np.argsort(boxes[:, 1])
    start = int(random.integers(len(rows)) * random.random())
    marks: list[_Mark] = []
    occupied = boxes
    for row in rows[start : start + 3 * _MOST_ROWS].tolist():
        size = float(sizes[row])
        if size < _SMALLEST or random.random() < _MISSING:
            continue
        [text] = strings.draw(Random(int(random.integers(1 << 32))), 1)
        string = _set(atlas, font, text, space)
        if string is None:
            continue
        box = _box(string.columns, boxes[row], size, x)
        if _is_free(box, size, occupied):
            marks.append(_Mark(string, box, row))
            occupied = np.concatenate([occupied, [box]])
        if len(marks) == _MOST_ROWS:
            break
    return marks


@cache
def _strings(pattern: str, charset: Charset) -> PatternStrings | None:
    """Strings of a pattern, if a charset can write them."""
    try:
        return PatternStrings(pattern, charset, _LONGEST)
    except ValueError:
        return None


def _set(atlas: GlyphAtlas, font: int, text: str, space: float) -> _Set | None:
    """A string in a font, if it has all of it."""
    placed: list[tuple[float, UInt8[np.ndarray, "column row"]]] = []
    words: list[tuple[float, float]] = []
    pen = 0.0
    for word in text.split(_WRITTEN_SPACE):
        start = len(placed)
        for id_ in atlas.charset.encode(word):
            glyph = atlas.glyph(font, id_)
            if not atlas.is_correct[font, id_] or not len(glyph):
                return None
            placed.append((pen + float(atlas.bearings[font, id_]), glyph))
            pen += float(atlas.advances[font, id_])
        right = placed[-1][0] + len(placed[-1][1])
        words.append((placed[start][0], right))
        pen = right + space
    first = min(place for place, _ in placed)
    last = max(place + len(glyph) for place, glyph in placed)
    columns = np.zeros((ceil(last - first) + 1, atlas.height), np.uint8)
    for place, glyph in placed:
        part = columns[round(place - first) :][: len(glyph)]
        np.maximum(part, glyph, out=part)
    return _Set(columns, np.array(words) - first)


def _box(
    columns: UInt8[np.ndarray, "column row"],
    word: Float[np.ndarray, " 4"],
    size: float,
    x: float,
) -> Float[np.ndarray, " 4"]:
    """Around a string from x on, as high as its font, level with a word."""
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
    ink = cv2.resize(mark.string.columns.T, size, interpolation=cv2.INTER_AREA)
    shift = np.array([[1, 0, left - int(left)], [0, 1, top - int(top)]])
    share = cv2.warpAffine(ink, shift, part.shape[1::-1]).astype(np.float32) / 255
    part += (np.array(color, np.float32) - part) * share[..., None]
    return True


def _with_lines(places: Places, marks: Sequence[_Mark]) -> Places:
    """Places with a line more for each mark."""
    if not marks:
        return places
    boxes = np.concatenate([_boxes_of_words(mark) for mark in marks])
    sizes = (boxes[:, 3] - boxes[:, 1]) * _LETTERS
    strips = upright_strips(boxes, sizes, np.zeros(len(boxes), np.int32))
    first = int(places.lines.max()) + 1
    counts = [len(mark.string.words) for mark in marks]
    numbers = np.repeat(np.arange(len(marks), dtype=places.lines.dtype), counts) + first
    return replace(
        places,
        strips=np.concatenate([places.strips, strips]),
        lines=np.concatenate([places.lines, numbers]),
    )


def _boxes_of_words(mark: _Mark) -> Boxes:
    """Left, top, right, bottom of each word."""
    left, top, right, bottom = mark.box.tolist()
    scale = (right - left) / len(mark.string.columns)
    starts, ends = left + mark.string.words.T * scale
    return np.stack(
        [starts, np.full_like(starts, top), ends, np.full_like(ends, bottom)], 1
    )
