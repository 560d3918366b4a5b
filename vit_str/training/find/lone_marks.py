"""Columns of lone marks: colons between labels and values, counts, dashes, codes.

Tills, forms and tables set single characters in columns of their own, far from the words of their
row. There is little ink to tell them from dust, and pages have few of them beside whole words. So
it is with strings of low lines, dashes, points and digits, which look like rules, or come apart.
"""

import numpy as np
from jaxtyping import Float, UInt8

from vit_str.synthesis.glyphs import GlyphAtlas
from vit_str.synthesis.places import Places
from vit_str.training.find.separators import Boxes, ink_of, upright_words
from vit_str.training.find.typesetting import (
    CODES,
    Placed,
    box_from,
    drawn_string,
    paint,
    with_lines,
)

Pixels = UInt8[np.ndarray, "row column 3"]

_LEAST_WORDS = 3
_SMALLEST = 6.0  # pixels of the height of type beside which a mark is drawn
_MOST_COLUMNS = 3
_MOST_ROWS = 14
_TRIED = 10  # columns, as many have no room
_APART = 0.9  # of the height of type, from the words of the row
_CLOSE = 0.15  # of the same, by which a mark's room may reach into other rows
_MARKS = (":", ":", ":", "1", "[0-9]", "[1-9]", "%", "-", r"[-*#@&+=xSTZ]")
"""Patterns of single characters, each as likely; every row of a column has one of a pattern."""
_CODE_SHARE = 0.5  # of columns, of longer strings
_MISSING = 0.15  # of the rows of a column


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
    marks: list[Placed] = []
    most = int(random.integers(1, _MOST_COLUMNS + 1))
    columns = 0
    for _ in range(_TRIED):
        own = _column(random, image, boxes, sizes, atlas)
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
    painted = [mark for mark in marks if paint(pixels, mark)]
    return pixels.clip(0, 255).astype(np.uint8), with_lines(places, painted)


def _column(
    random: np.random.Generator,
    image: Pixels,
    boxes: Boxes,
    sizes: np.ndarray,
    atlas: GlyphAtlas,
) -> list[Placed]:
    """Strings of one pattern and font below each other, some behind the end of a word."""
    font = int(random.integers(len(atlas)))
    patterns = CODES if random.random() < _CODE_SHARE else _MARKS
    pattern = str(random.choice(patterns))
    beside = int(random.integers(len(boxes)))
    x = float(boxes[beside, 2] + sizes[beside] * random.exponential(2.0))
    rows = np.argsort(boxes[:, 1])
    start = int(random.integers(len(rows)) * random.random())
    marks: list[Placed] = []
    occupied = boxes
    for row in rows[start : start + 3 * _MOST_ROWS].tolist():
        size = float(sizes[row])
        if size < _SMALLEST or random.random() < _MISSING:
            continue
        string = drawn_string(random, atlas, font, pattern)
        if string is None:
            continue
        box = box_from(string, x, float(boxes[row, 1::2].mean()), size)
        if _is_free(box, size, occupied):
            marks.append(Placed(string, box, ink_of(image, boxes[row])))
            occupied = np.concatenate([occupied, [box]])
        if len(marks) == _MOST_ROWS:
            break
    return marks


def _is_free(box: Float[np.ndarray, " 4"], size: float, boxes: Boxes) -> bool:
    """Whether nothing stands in a box, or close beside it."""
    left, top, right, bottom = box.tolist()
    aside, across = _APART * size, _CLOSE * size
    meets = (boxes[:, 0] < right + aside) & (boxes[:, 2] > left - aside)
    meets &= (boxes[:, 1] < bottom - across) & (boxes[:, 3] > top + across)
    return not meets.any()
