"""Strings that stand alone, drawn with glyphs of an atlas into a page: all_placed and codes."""

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
from vit_str.training.find.separators import Boxes

Pixels = UInt8[np.ndarray, "row column 3"]

_LEAST_APART = 120.0  # shades of three times 255 between ink and what is behind it
_LETTERS = 44 / 48  # height from tallest to deepest letters over that of the atlas
CODES = (
    "__[a-z]{3,8}__",
    "__[a-z]{3,8}__(~[a-z]{2,5}~__[a-z]{3,8}__){1,2}",
    "[a-z]{2,6}~__[a-z]{3,8}__[(:]?|[a-z]{2,6}[.]__[a-z]{3,8}__",
    "[PVI]<[A-Z]{3}[A-Z]{3,9}<<[A-Z]{3,9}<{8,22}",
    "<{20,36}",
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
    "[A-Z]?[a-z]{2,8}(~[a-z]{2,7}){1,3}[,?]?~[—–]",
    "[—–]~[A-Z]?[a-z]{2,8}(~[a-z]{2,7}){1,3}",
)
"""Patterns of identifiers, numbers, lone dashes; charsets have no spaces, so "~" stands for one."""
_WRITTEN_SPACE = "~"
_LONGEST = 40
_SPACE = (0.2, 0.6)  # of the height of the atlas, between words


class Typeset(NamedTuple):
    """A string as its font sets it, in pixels of the atlas.

    Attributes:
        columns: of its ink.
        words: start and end of each.
    """

    columns: UInt8[np.ndarray, "column row"]
    words: Float[np.ndarray, "word 2"]


class Placed(NamedTuple):
    """A string and its place on a page.

    Attributes:
        string: how it looks.
        box: where it goes: left, top, right, bottom.
        ink: red, green and blue of it.
    """

    string: Typeset
    box: Float[np.ndarray, " 4"]
    ink: Sequence[float]


@cache
def strings_of(pattern: str, charset: Charset) -> PatternStrings | None:
    """Strings of a pattern, if a charset can write them."""
    try:
        return PatternStrings(pattern, charset, _LONGEST)
    except ValueError:
        return None


def typeset(atlas: GlyphAtlas, font: int, text: str, space: float) -> Typeset | None:
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
    return Typeset(columns, np.array(words) - first)


def drawn_string(
    random: np.random.Generator, atlas: GlyphAtlas, font: int, pattern: str
) -> Typeset | None:
    """A string of a pattern in a font, if there is one."""
    strings = strings_of(pattern, atlas.charset)
    if strings is None:
        return None
    [text] = strings.draw(Random(int(random.integers(1 << 32))), 1)
    return typeset(atlas, font, text, random.uniform(*_SPACE) * atlas.height)


def box_from(
    string: Typeset, left: float, middle: float, size: float
) -> Float[np.ndarray, " 4"]:
    """Around a string that begins at some place, as high as its font for a size of type."""
    high = size / _LETTERS
    wide = len(string.columns) * high / string.columns.shape[1]
    return np.array([left, middle - high / 2, left + wide, middle + high / 2])


def paint(pixels: Float[np.ndarray, "row column 3"], placed: Placed) -> bool:
    """Paint a string, in place; whether it is within the picture and can be seen there."""
    left, top, right, bottom = placed.box.tolist()
    if min(left, top) < 0 or bottom >= len(pixels) or right >= pixels.shape[1]:
        return False
    part = pixels[int(top) : ceil(bottom) + 1, int(left) : ceil(right) + 1]
    behind = np.median(part.reshape(-1, 3), axis=0)
    if np.abs(behind - placed.ink).sum() < _LEAST_APART:
        return False
    size = max(1, round(right - left)), max(1, round(bottom - top))
    ink = cv2.resize(placed.string.columns.T, size, interpolation=cv2.INTER_AREA)
    shift = np.array([[1, 0, left - int(left)], [0, 1, top - int(top)]])
    share = cv2.warpAffine(ink, shift, part.shape[1::-1]).astype(np.float32) / 255
    part += (np.array(placed.ink, np.float32) - part) * share[..., None]
    return True


def with_lines(places: Places, strings: Sequence[Placed]) -> Places:
    """Places with a line more for each string."""
    if not strings:
        return places
    boxes = np.concatenate([_boxes_of_words(placed) for placed in strings])
    sizes = (boxes[:, 3] - boxes[:, 1]) * _LETTERS
    strips = upright_strips(boxes, sizes, np.zeros(len(boxes), np.int32))
    first = int(places.lines.max(initial=-1)) + 1
    counts = [len(placed.string.words) for placed in strings]
    numbers = (
        np.repeat(np.arange(len(strings), dtype=places.lines.dtype), counts) + first
    )
    return replace(
        places,
        strips=np.concatenate([places.strips, strips]),
        lines=np.concatenate([places.lines, numbers]),
    )


def _boxes_of_words(placed: Placed) -> Boxes:
    """Left, top, right, bottom of each word."""
    left, top, right, bottom = placed.box.tolist()
    scale = (right - left) / len(placed.string.columns)
    starts, ends = left + placed.string.words.T * scale
    return np.stack(
        [starts, np.full_like(starts, top), ends, np.full_like(ends, bottom)], 1
    )
