"""The text that a PDF file has itself, as a page."""

from collections.abc import Sequence
from itertools import chain

import numpy as np
from PIL import Image

from vit_str.pages.arrange.choice import OpenNetwork, arrange_page
from vit_str.pages.arrange.grids import grids
from vit_str.pages.arrange.layout import arranged
from vit_str.pages.arrange.network import open_bundled
from vit_str.pages.find.rules import find_rules
from vit_str.pages.page import Page, Point, Word
from vit_str.pages.read.bullets import with_bullets
from vit_str.pages.read.shapes import shapes_on


def page_of_text(
    picture: Image.Image, arranger: OpenNetwork | None = open_bundled
) -> Page | None:
    """The page that a file has as text, in reading order; None for a page without text.

    Args:
        picture: of the page, with its lines.
        arranger: opens the network that arranges pages; None for rules alone.
    """
    given = [_words_of_text(line) for line in picture.info.get("lines", ())]
    if not given:
        return None
    lines = with_bullets(picture, given)
    rules = find_rules(picture)
    word_boxes = [[np.array(word.box) for word in line] for line in lines]
    line_boxes = [
        np.r_[np.min(boxes, 0)[:2], np.max(boxes, 0)[2:]] for boxes in word_boxes
    ]
    sides = [word.box for word in chain.from_iterable(lines)]
    tables = grids(rules, max(picture.size), sides)
    blocks = arranged(lines, line_boxes, word_boxes, tables)
    as_tuples = tuple(tuple(map(tuple, block)) for block in blocks)
    page = Page(*picture.size, blocks=as_tuples, rules=rules, has_own_text=True)
    if arranger is None:
        return page
    return arrange_page(arranger(), page, shapes_on(page, picture))


def _words_of_text(
    line: Sequence[tuple[str, Sequence[int], int, float]],
) -> tuple[Word, ...]:
    return tuple(_word_of_text(*word) for word in line)


def _word_of_text(text: str, box: Sequence[int], weight: int, size: float) -> Word:
    """A word of a file; its strokes are as wide as its font is bold and large.

    Args:
        text: of the word.
        box: left, top, right and bottom in pixels.
        weight: of its font, such as 400 or 700.
        size: of its font in pixels; boxes may be as high as the letters that are there.
    """
    left, top, right, bottom = map(float, box)
    size = size or bottom - top
    return Word(
        text=text,
        confidence=1.0,
        polygon=_corners(left, top, right, bottom),
        size=size,
        weight=weight * size,
    )


def _corners(
    left: float, top: float, right: float, bottom: float
) -> tuple[Point, Point, Point, Point]:
    return (left, top), (right, top), (right, bottom), (left, bottom)
