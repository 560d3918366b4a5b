"""Words of a page on their level, and the pieces of lines that they make."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Int64

_SAME_LINE = 0.5  # share of the lower of two words that both have of a line
_OVERLAP = 0.4  # heights by which neighbors may overlap
_LIKE = 1.7  # times, by which heights of neighbors may differ
_QUARTER = math.pi / 2


class Words(NamedTuple):
    """Words that lie level.

    Attributes:
        texts: of the words.
        boxes: left, top, right, bottom.
        sizes: of their type.
        weights: of their strokes.
    """

    texts: Sequence[str]
    boxes: "Float[np.ndarray, 'word 4']"
    sizes: "Float[np.ndarray, ' word']"
    weights: "Float[np.ndarray, ' word']"


def text_angle(
    polygons: "Float[np.ndarray, 'word 4 2']", quarters: int | None = None
) -> float:
    """The direction of most text, in radians to the right; 0 for level text.

    Args:
        polygons: of words, clockwise, from where their text begins.
        quarters: of a page that is known; only words that run as it does tell its direction.
    """
    along = polygons[:, 1] - polygons[:, 0]
    directions = along[:, 0] + 1j * along[:, 1]
    if not np.abs(directions).sum():
        return 0.0
    turns = np.round(np.angle(directions) / _QUARTER).astype(int) % 4
    lengths = np.bincount(turns, np.abs(directions), 4)
    most = int(lengths.argmax()) if quarters is None else quarters
    if not lengths[most]:
        return most * _QUARTER
    return float(np.angle(directions[turns == most].sum()))


def quarters_of(
    polygons: "Float[np.ndarray, 'word 4 2']", angle: float
) -> "Int64[np.ndarray, ' word']":
    """By how many quarters each word is turned to the right of a direction, in radians."""
    along = turned(polygons[:, 1] - polygons[:, 0], angle)
    angles = np.arctan2(along[:, 1], along[:, 0])
    quarters: Int64[np.ndarray, " word"] = np.round(angles / _QUARTER).astype(int) % 4
    return quarters


def turned(points: "Float[np.ndarray, '... 2']", angle: float) -> np.ndarray:
    """Points turned back by an angle, so that text of this direction lies level."""
    back = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    return points @ back


def around(polygons: "Float[np.ndarray, 'area 4 2']") -> "Float[np.ndarray, 'area 4']":
    """Upright boxes around polygons."""
    return np.concatenate([polygons.min(1), polygons.max(1)], 1).reshape(-1, 4)


def turned_boxes(
    boxes: "Float[np.ndarray, 'area 4']", angle: float
) -> "Float[np.ndarray, 'area 4']":
    """Boxes around boxes that are turned back."""
    left, top, right, bottom = boxes.T
    corners = np.stack([left, top, right, top, right, bottom, left, bottom], 1)
    return around(turned(corners.reshape(-1, 4, 2), angle))


def grouped(
    words: Words,
    gap: float,
    upright_rules: "Float[np.ndarray, 'rule 4'] | None" = None,
    is_cut: "Bool[np.ndarray, ' word'] | None" = None,
) -> "list[Int64[np.ndarray, ' piece_word']]":
    """Pieces of lines: the numbers of their words from left to right.

    Args:
        words: of the page.
        gap: heights of a word up to which the next one is near.
        upright_rules: part words on both sides of them.
        is_cut: words that no piece goes on after, to train with lines that were split.
    """
    count = len(words.texts)
    left, top, right, bottom = words.boxes.T
    height = np.maximum(1e-3, bottom - top)
    lower = np.minimum(height[:, None], height)
    shared = np.minimum(bottom[:, None], bottom) - np.maximum(top[:, None], top)
    is_beside = shared > _SAME_LINE * lower
    is_beside &= np.maximum(height[:, None], height) < _LIKE * lower
    space = left[None, :] - right[:, None]
    is_beside &= (space > -_OVERLAP * lower) & (left[None, :] > left[:, None])
    is_beside &= space < gap * lower
    distance = np.where(is_beside, space, np.inf)
    np.fill_diagonal(distance, np.inf)
    if count == 0:
        return []
    following = distance.argmin(1)
    goes_on = np.isfinite(distance[np.arange(count), following])
    before = distance.argmin(0)
    goes_on &= before[following] == np.arange(count)
    if is_cut is not None:
        goes_on &= ~is_cut
    if upright_rules is not None and len(upright_rules):
        goes_on &= ~_is_parted(words, following, upright_rules)
    starts = np.ones(count, bool)
    starts[following[goes_on]] = False
    pieces = []
    for start in np.flatnonzero(starts):
        piece = [int(start)]
        while goes_on[piece[-1]]:
            piece.append(int(following[piece[-1]]))
        pieces.append(np.array(piece))
    return pieces


def _is_parted(
    words: Words, following: np.ndarray, rules: np.ndarray
) -> "Bool[np.ndarray, ' word']":
    """Whether an upright rule stands between words and those that follow them."""
    middle = (words.boxes[:, 1] + words.boxes[:, 3]) / 2
    start = (words.boxes[:, 0] + words.boxes[:, 2]) / 2
    end = start[following]
    x = (rules[:, 0] + rules[:, 2]) / 2
    is_across = (x > start[:, None]) & (x < end[:, None])
    is_across &= (rules[:, 1] < middle[:, None]) & (rules[:, 3] > middle[:, None])
    return is_across.any(1)
