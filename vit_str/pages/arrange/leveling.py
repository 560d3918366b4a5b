"""Findings of a page turned so that its text lies level, as the network gets them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vit_str.pages.arrange.features import Shapes
from vit_str.pages.arrange.pieces import (
    Words,
    around,
    grouped,
    quarters_of,
    text_angle,
    turned,
    turned_boxes,
)

if TYPE_CHECKING:
    from jaxtyping import Float, Int64

GAP = 0.6
"""Heights of a word up to which the next one is near enough for one piece of a line."""
GAP_OF_TURNED = 3.0
"""The same for words that run another way than the page: a stamp in a margin is read as a whole."""
_MOST_SHAPES = 90  # tokens that are no pieces; the largest of more


class Found(NamedTuple):
    """Words and shapes of a page, however it is turned, in pixels.

    Attributes:
        texts: of the words.
        polygons: of the words, clockwise, from where their text begins.
        sizes: of their type.
        weights: of their strokes.
        rules: ends of ruled lines: x0, y0, x1, y1.
        grounds: left, top, right, bottom, lightness from 0 to 255.
        pictures: left, top, right, bottom.
        checks: left, top, right, bottom, 1 if ticked.
        quarters: by how many the page is turned to the right; None for what most text says.
    """

    texts: Sequence[str]
    polygons: "Float[np.ndarray, 'word 4 2']"
    sizes: "Float[np.ndarray, ' word']"
    weights: "Float[np.ndarray, ' word']"
    rules: "Float[np.ndarray, 'rule 4']"
    grounds: "Float[np.ndarray, 'ground 5']"
    pictures: "Float[np.ndarray, 'picture 4']"
    checks: "Float[np.ndarray, 'check 5']"
    quarters: int | None = None

    @property
    def angle(self) -> float:
        """The direction of the page, in radians to the right."""
        return text_angle(self.polygons, self.quarters)


def leveled(found: Found) -> tuple[Words, Shapes]:
    """Words and the largest shapes, turned back by the direction of their page."""
    angle = found.angle

    def moved(areas: np.ndarray) -> np.ndarray:
        return np.concatenate([turned_boxes(areas[:, :4], angle), areas[:, 4:]], 1)

    words = Words(
        texts=found.texts,
        boxes=around(turned(found.polygons, angle)),
        sizes=found.sizes,
        weights=found.weights,
    )
    shapes = Shapes(
        rules=moved(_sorted_corners(found.rules)),
        grounds=moved(found.grounds),
        pictures=moved(found.pictures),
        checks=moved(found.checks),
    )
    return words, _largest(shapes)


def pieces_of(
    found: Found, words: Words, shapes: Shapes
) -> "list[Int64[np.ndarray, ' piece_word']]":
    """Pieces of lines, each along its own direction: the numbers of their words as they are read.

    Args:
        found: words with their directions.
        words: the same, level.
        shapes: on the page, level.
    """
    quarters = quarters_of(found.polygons, found.angle)
    along = np.flatnonzero(quarters == 0)
    pieces = grouped(_chosen(words, along), GAP, upright_rules(shapes))
    pieces = [along[piece] for piece in pieces]
    return pieces + turned_pieces(found.polygons, found.angle)


def turned_pieces(
    polygons: "Float[np.ndarray, 'word 4 2']", angle: float
) -> "list[Int64[np.ndarray, ' piece_word']]":
    """Words that run another way than their page, in pieces of lines along their own direction.

    Args:
        polygons: of all words, clockwise, from where their text begins.
        angle: of the page, in radians to the right.
    """
    quarters = quarters_of(polygons, angle)
    pieces = []
    for quarter in (1, 2, 3):
        own = np.flatnonzero(quarters == quarter)
        boxes = around(turned(polygons[own], angle + quarter * np.pi / 2))
        alike = np.ones(len(own))
        words = Words([""] * len(own), boxes, alike, alike)
        pieces += [own[piece] for piece in grouped(words, GAP_OF_TURNED)]
    return pieces


def _chosen(words: Words, places: np.ndarray) -> Words:
    return Words(
        texts=[words.texts[place] for place in places],
        boxes=words.boxes[places],
        sizes=words.sizes[places],
        weights=words.weights[places],
    )


def upright_rules(shapes: Shapes) -> "Float[np.ndarray, 'rule 4']":
    """The rules that are higher than wide."""
    width, height = (shapes.rules[:, 2:] - shapes.rules[:, :2]).T
    return shapes.rules[height > width]


def _sorted_corners(rules: np.ndarray) -> np.ndarray:
    """Ends of rules as boxes."""
    x, y = rules[:, 0::2], rules[:, 1::2]
    return np.stack([x.min(1), y.min(1), x.max(1), y.max(1)], 1).reshape(-1, 4)


def _largest(shapes: Shapes) -> Shapes:
    """The largest shapes, if there are very many."""
    most = _MOST_SHAPES // 2

    def kept(boxes: np.ndarray, count: int) -> np.ndarray:
        size = (boxes[:, 2:4] - boxes[:, :2]).sum(1)
        return boxes[np.sort(np.argsort(-size)[:count])]

    return Shapes(
        rules=kept(shapes.rules, most),
        grounds=kept(shapes.grounds, most // 3),
        pictures=kept(shapes.pictures, most // 3),
        checks=kept(shapes.checks, most // 3),
    )
