"""Ruled lines of a picture."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from vit_str.pages.page import Rule

if TYPE_CHECKING:
    from jaxtyping import UInt8

_LONGEST_SIDE = 2000  # pixels of what is searched: larger pictures are reduced
_SHORTEST = 1 / 50  # rule, over the longer side of the picture
_FEWEST_PIXELS = 40  # of a rule: strokes of large letters are shorter
_RUN = 1 / 80  # without a break in one row of pixels, over the same
_SHORTEST_RUN = 9  # pixels
_THICKEST = 1 / 200  # rule with its tilt over a run, over the same
_THICKEST_PIXELS = 7  # the same of small pictures, as of a part of a screen
_WINDOW = 31  # pixels around one that it is compared with
_DARKER = 12  # shades of 255 by which ink is darker than their mean, at least
_STEEPEST = 0.1  # rise over run up to which a rule counts as level
# Over the longer side of the picture: so near a short rule ends at others
_TOUCHES = 1 / 250


def find_rules(image: Image.Image) -> tuple[Rule, ...]:
    """Straight lines along the sides of a picture, darker than what is around them, in its pixels.

    None if OpenCV, which comes with the detector of lines, is not installed.
    """
    try:
        import cv2
    except ImportError:
        return ()
    cv2.setNumThreads(1)  # as in the detector, which may be another one
    scale = min(1.0, _LONGEST_SIDE / max(image.size))
    size = max(1, round(image.width * scale)), max(1, round(image.height * scale))
    gray = np.asarray(image.convert("L").resize(size, Image.Resampling.BOX))
    if min(gray.shape) < _WINDOW:
        return ()
    ink = cv2.adaptiveThreshold(
        src=gray,
        maxValue=255,
        adaptiveMethod=cv2.ADAPTIVE_THRESH_MEAN_C,
        thresholdType=cv2.THRESH_BINARY_INV,
        blockSize=_WINDOW,
        C=_DARKER,
    )
    side = max(size)
    level = _Runs(ink, side)
    upright = _Runs(ink.T, side)
    long_level = list(level.rules(is_long=True))
    long_upright = list(upright.rules(is_long=True))
    rules = [*long_level, *level.rules_between(long_upright)]
    across = [*long_upright, *upright.rules_between(long_level)]
    rules += map(_transposed, across)
    return tuple(
        ((x1 / scale, y1 / scale), (x2 / scale, y2 / scale))
        for (x1, y1), (x2, y2) in rules
    )


def _transposed(rule: Rule) -> Rule:
    (x1, y1), (x2, y2) = rule
    return (y1, x1), (y2, x2)


class _Runs:
    """Runs of ink along the rows of a picture: rules, and strokes of large letters among them.

    Args:
        ink: of the picture, 255 where there is some.
        side: the longer one of the picture, in pixels.
    """

    def __init__(self, ink: "UInt8[np.ndarray, 'row column']", side: int) -> None:
        import cv2

        ink = np.ascontiguousarray(ink)
        # A tilted rule steps from row to row of pixels: it is made thicker before the search.
        thick = cv2.dilate(ink, np.ones((3, 1), np.uint8))
        run = np.ones((1, max(_SHORTEST_RUN, round(side * _RUN))))
        runs = cv2.morphologyEx(thick, cv2.MORPH_OPEN, run)
        _, self._labels, boxes, _ = cv2.connectedComponentsWithStats(runs)
        self._boxes = boxes[1:]  # without what is around all of them
        self._side = side
        self._thickest = max(_THICKEST_PIXELS, side * _THICKEST)
        self._is_long = self._boxes[:, 2] >= max(_FEWEST_PIXELS, _SHORTEST * side)

    def rules(self, *, is_long: bool) -> Iterator[Rule]:
        """Rules that run from the left to the right, the long ones or the others."""
        width, height = self._boxes[:, 2:4].T
        is_level = height <= self._thickest + _STEEPEST * width
        places = np.flatnonzero(is_level & (self._is_long == is_long))
        for place in places.tolist():
            rule = self._rule(place)
            if rule:
                yield rule

    def rules_between(self, across: Sequence[Rule]) -> list[Rule]:
        """Short rules that run from one long rule across them to another, as beside a low cell.

        Args:
            across: long rules in a picture whose rows are the columns of this one.
        """
        long = list(map(_transposed, across))
        near = _TOUCHES * self._side

        def ends_at_one(x: float, y: float) -> bool:
            return any(
                abs(x - (x1 + (x2 - x1) * (y - y1) / (y2 - y1))) <= near
                and y1 - near <= y <= y2 + near
                for (x1, y1), (x2, y2) in long
            )

        short = self.rules(is_long=False) if long else ()
        return [rule for rule in short if all(ends_at_one(x, y) for x, y in rule)]

    def _rule(self, place: int) -> Rule | None:
        """The rule that a run is; None if it is too thick or too steep for one."""
        left, top, width, height, _ = self._boxes[place].tolist()
        inside = self._labels[top : top + height, left : left + width]
        rows, columns = np.nonzero(inside == place + 1)
        if len(rows) > self._thickest * width:
            return None
        start, end = (_mean(rows[abs(columns - at) <= 2]) for at in (0, width - 1))
        if abs(end - start) > _STEEPEST * width:
            return None
        return (left, top + start), (left + width - 1, top + end)


def _mean(rows: np.ndarray) -> float:
    """The mean; for a few numbers ``rows.mean()`` takes two and a half times as long."""
    return float(rows.sum()) / rows.size
