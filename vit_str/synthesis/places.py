"""Where words, rules, boxes and pictures are in a drawn picture, and where they are moved to."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Int32


@dataclass(frozen=True)
class Places:
    """Places of words, ruled lines and boxes in a picture, in its pixels as (x, y).

    Attributes:
        strips: of each word, points along it as it is read, above it and below it: from the tops of
            the tallest letters to the bottoms of the deepest, whether it has such or not.
        lines: number of the line of each word; words of a line follow each other.
        rules: both ends of each ruled line.
        rule_widths: of these.
        checks: corners of boxes to tick.
        is_ticked: whether they are.
        pictures: corners of pictures.
        unclear: corners of what may be text or not, such as letters that an edge cuts.
    """

    strips: "Float[np.ndarray, 'word point 2 2']"
    lines: "Int32[np.ndarray, ' word']"
    rules: "Float[np.ndarray, 'rule 2 2']"
    rule_widths: "Float[np.ndarray, ' rule']"
    checks: "Float[np.ndarray, 'check 4 2']"
    is_ticked: "Bool[np.ndarray, ' check']"
    pictures: "Float[np.ndarray, 'picture 4 2']"
    unclear: "Float[np.ndarray, 'area 4 2']"

    def moved(self, matrix: "Float[np.ndarray, '3 3']") -> "Places":
        """Where all is after a perspective map of the picture, which keeps its orientation."""
        rules = project(matrix, self.rules)
        before = np.linalg.norm(self.rules[:, 1] - self.rules[:, 0], axis=-1)
        after = np.linalg.norm(rules[:, 1] - rules[:, 0], axis=-1)
        return Places(
            strips=project(matrix, self.strips),
            lines=self.lines,
            rules=rules,
            rule_widths=self.rule_widths * after / np.maximum(before, 1e-6),
            checks=project(matrix, self.checks),
            is_ticked=self.is_ticked,
            pictures=project(matrix, self.pictures),
            unclear=project(matrix, self.unclear),
        )


def no_places(points: int = 2) -> Places:
    """Those of a picture with nothing on it.

    Args:
        points: of each strip along its word.
    """
    return Places(
        strips=np.zeros((0, points, 2, 2)),
        lines=np.zeros(0, np.int32),
        rules=np.zeros((0, 2, 2)),
        rule_widths=np.zeros(0),
        checks=np.zeros((0, 4, 2)),
        is_ticked=np.zeros(0, bool),
        pictures=np.zeros((0, 4, 2)),
        unclear=np.zeros((0, 4, 2)),
    )


def project(
    matrix: "Float[np.ndarray, '3 3']", points: "Float[np.ndarray, '*point 2']"
) -> "Float[np.ndarray, '*point 2']":
    """Points under a perspective map."""
    ones = np.ones((*points.shape[:-1], 1))
    mapped = np.concatenate([points, ones], -1) @ matrix.T
    return mapped[..., :2] / mapped[..., 2:]


def corners_of(boxes: "Float[np.ndarray, 'box 4']") -> "Float[np.ndarray, 'box 4 2']":
    """Corners of boxes (left, top, right, bottom), clockwise from the top left."""
    left, top, right, bottom = boxes.T
    corners = np.stack([left, top, right, top, right, bottom, left, bottom], 1)
    return corners.reshape(-1, 4, 2)


def upright_strips(
    boxes: "Float[np.ndarray, 'word 4']",
    sizes: "Float[np.ndarray, ' word']",
    turns: "Int32[np.ndarray, ' word']",
) -> "Float[np.ndarray, 'word 2 2 2']":
    """Strips of words in boxes, as high as their type, whatever room its font leaves around it.

    Args:
        boxes: left, top, right, bottom.
        sizes: of the type.
        turns: of the text in quarters of a circle, in degrees to the right.
    """
    middles = (boxes[:, :2] + boxes[:, 2:]) / 2
    halves = (boxes[:, 2:] - boxes[:, :2]) / 2
    angle = np.deg2rad(turns)
    along = np.round(np.stack([np.cos(angle), np.sin(angle)], 1))
    across = np.stack([-along[:, 1], along[:, 0]], 1)
    reach = np.abs(along * halves).sum(1, keepdims=True) * along
    half = across * (sizes / 2)[:, None]
    start, end = middles - reach, middles + reach
    sides = [[start - half, start + half], [end - half, end + half]]
    return np.array(sides).transpose(2, 0, 1, 3).reshape(-1, 2, 2, 2)
