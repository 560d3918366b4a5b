"""The frame in which a page is read: its lines are level, and run from left to right."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from vit_str.pages.find.geometry import leveling, rectangle, turn_points
from vit_str.pages.page import Page, Word


def text_quarters(words: Sequence[Word]) -> int:
    """By how many quarters text is turned to the right: what most of the words say."""
    turns = []
    for word in words:
        start, end, _, _ = word.polygon
        angle = math.atan2(end[1] - start[1], end[0] - start[0])
        turns.append(round(angle / (math.pi / 2)) % 4)
    return max(set(turns), key=turns.count, default=0)


def as_read(page: Page) -> Page:
    """A page turned so that its text is upright and level; its words without characters.

    Turns of the picture leave no trace in what comes of its places: the same page upside down, on
    its side or tilted has the same words in the same places, but for what reading made of it. Of a
    page that is bent it is the flat one.
    """
    page = page.flat or page
    words = page.words
    if not words:
        return page
    sheet = rectangle(0, 0, page.width, page.height)
    quarters = text_quarters(words)
    corners = turn_points(np.array([word.polygon for word in words]), -quarters)
    sheet = turn_points(sheet, -quarters)
    corner = sheet.min(0)
    width, height = (round(side) for side in np.ptp(sheet, axis=0))
    level = leveling(list(corners))

    def moved(points: np.ndarray) -> list:
        return (points @ level - corner).tolist()

    places = iter(moved(corners))

    def in_place(line: Sequence[Word]) -> tuple[Word, ...]:
        return tuple(
            Word(
                text=word.text,
                confidence=word.confidence,
                polygon=_points(next(places)),
                size=word.size,
                weight=word.weight,
                is_struck=word.is_struck,
            )
            for word in line
        )

    turned_rules = [turn_points(np.array(rule), -quarters) for rule in page.rules]
    rules = tuple(_points(moved(rule)) for rule in turned_rules)
    blocks = tuple(tuple(map(in_place, block)) for block in page.blocks)
    return replace(page, width=width, height=height, blocks=blocks, rules=rules)


def _points(places: Iterable[Iterable[float]]) -> tuple:
    return tuple(map(tuple, places))
