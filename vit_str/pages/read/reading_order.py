"""Lines that were read -> words in blocks, in reading order, as far as rules tell it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

import numpy as np
from PIL import Image

from vit_str.pages.arrange.grids import grids
from vit_str.pages.arrange.layout import arranged
from vit_str.pages.arrange.leveling import turned_pieces
from vit_str.pages.find.geometry import (
    Quadrilateral,
    leveling,
    turn_points,
    upright,
)
from vit_str.pages.page import Rule, Word
from vit_str.pages.read.bullets import with_bullets
from vit_str.pages.read.check_boxes import CheckBox, with_check_boxes
from vit_str.pages.read.doubles import without_doubles
from vit_str.pages.read.elisions import with_elisions
from vit_str.pages.read.lines import Line, is_print
from vit_str.pages.read.pieces import words_on_page
from vit_str.pages.read.quotes import with_low_quotes

_Block = tuple[tuple[Word, ...], ...]
_Unit = tuple[Word, ...]
"""Words that are arranged as one."""


def in_reading_order(
    lines: Sequence[Line],
    direction: int,
    rules: Sequence[Rule],
    image: Image.Image,
    check_boxes: Sequence[CheckBox] = (),
) -> tuple[_Block, ...]:
    """Words of the lines in reading order, with bullets before them, and boxes to tick.

    Args:
        lines: with the words that are text.
        direction: of the page, in quarters to the right.
        rules: ruled lines of the page.
        image: the page.
        check_boxes: to tick, which no line has as words.
    """
    lines = [line for line in lines if line.words]
    on_page = [words_on_page(line.words) for line in lines]
    words = without_doubles([line.words for line in lines], on_page)
    lines = [line for line, left in zip(lines, words, strict=True) if left]
    words = [left for left in words if left]
    quadrilaterals = [line.quadrilateral for line in lines]
    frame = _LevelFrame.of(quadrilaterals, direction)
    are_of_print = is_print(lines)
    if are_of_print:  # lists are in print, and photographs full of spots
        words = with_bullets(image, words)
    quarters = [line.quarters for line in lines]
    words, alone = with_check_boxes(words, check_boxes, quadrilaterals, quarters)
    around = list(quadrilaterals)
    if are_of_print:  # photographs are full of squares
        words += [[box] for box in alone]
        around += [np.array(box.polygon) for box in alone]
    line_boxes = [frame.line_box(each) for each in around]
    units, line_boxes = _in_units(words, line_boxes, frame)
    unit_boxes = [[_around(frame.boxes(unit)) for unit in line] for line in units]
    sides = [tuple(box) for box in chain.from_iterable(unit_boxes)]
    blocks = arranged(
        lines=units,
        line_boxes=line_boxes,
        word_boxes=unit_boxes,
        grids=grids([frame.points(rule) for rule in rules], max(image.size), sides),
    )
    return tuple(
        tuple(tuple(chain.from_iterable(row)) for row in block) for block in blocks
    )


def with_quotes_and_elisions(block: _Block) -> _Block:
    """A block with quotation marks that readers have no signs for, and articles."""
    words = list(chain.from_iterable(block))
    following = iter(with_elisions(with_low_quotes(words)))
    return tuple(tuple(islice(following, len(row))) for row in block)


@dataclass(frozen=True, slots=True)
class _LevelFrame:
    """Coordinates in which the text of a page is upright and level.

    Attributes:
        direction: of the page, in quarters to the right.
        level: turns what is upright, so that most of its lines are level.
    """

    direction: int
    level: np.ndarray

    @classmethod
    def of(
        cls, quadrilaterals: Sequence[Quadrilateral], direction: int
    ) -> "_LevelFrame":
        """That of some lines."""
        turned = [upright(turn_points(each, -direction)) for each in quadrilaterals]
        return cls(direction, leveling(turned))

    def points(self, points: Any) -> Any:
        """Points of the picture in the frame."""
        return turn_points(np.array(points), -self.direction) @ self.level

    def line_box(self, quadrilateral: Quadrilateral) -> np.ndarray:
        """Left, top, right and bottom of a line in the frame."""
        turned = upright(turn_points(quadrilateral, -self.direction)) @ self.level
        return np.concatenate([turned.min(0), turned.max(0)])

    def boxes(self, words: Sequence[Word]) -> list[np.ndarray]:
        """Left, top, right and bottom of words in the frame."""
        corners = self.points([word.polygon for word in words])
        return list(np.concatenate([corners.min(1), corners.max(1)], 1))


def _around(boxes: Sequence[np.ndarray]) -> np.ndarray:
    """The box around some boxes."""
    sides = np.array(boxes)
    return np.concatenate([sides[:, :2].min(0), sides[:, 2:].max(0)])


def _in_units(
    lines: Sequence[Sequence[Word]],
    line_boxes: Sequence[np.ndarray],
    frame: _LevelFrame,
) -> tuple[list[list[_Unit]], list[np.ndarray]]:
    """Lines of words that are arranged one by one, and lines across the page that stay whole.

    Args:
        lines: words of each.
        line_boxes: of each, in the frame.
        frame: of the page.
    """
    words = list(chain.from_iterable(lines))
    polygons = np.array([word.polygon for word in words], float).reshape(-1, 4, 2)
    pieces = turned_pieces(polygons, frame.direction * math.pi / 2)
    across = set(chain.from_iterable(piece.tolist() for piece in pieces))
    numbers = iter(range(len(words)))
    units: list[list[_Unit]] = []
    boxes = []
    for line, box in zip(lines, line_boxes, strict=True):
        kept: list[_Unit] = [(word,) for word in line if next(numbers) not in across]
        if kept:
            units.append(kept)
            boxes.append(box)
    for piece in pieces:
        unit = tuple(words[number] for number in piece)
        units.append([unit])
        boxes.append(_around(frame.boxes(unit)))
    return units, boxes
