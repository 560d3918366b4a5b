"""Boxes around text that a network has marked pixel by pixel.

A network of differentiable binarization (Liao et al. 2020, https://arxiv.org/abs/1911.08947) marks
the middle of lines, so that those which are close to each other do not touch. Each group of pixels
is grown to the whole height of its line.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from vit_str.pages.find.flattening import Middle

if TYPE_CHECKING:
    from jaxtyping import Float, Int32, UInt8

# Less than rapidocr has, 0.3 and 0.5: dim text is found, and reading it tells better than finding
# whether it is text. Chosen on 100 photographs; print is found as well by either.
_PIXEL = 0.2  # probability of a pixel of text
_LINE = 0.3  # and, in the mean, of a line of them
_GROWTH = 1.6  # that the network shrinks lines by: area over circumference
_THINNEST = 3  # pixels across the middle of a line
_THINNEST_GROWN = 5  # and across the whole line
_SHORTEST = 4  # pixels along the sides of a line, cut off at those of the image
# Length over thickness of a group from which on its middle is told, and points of it
_LONG = 15
_POINTS = 24
# Groups, from the bottom: a blank page has more, and the last of them would be a line.
_MOST = 1000

_Rectangle = tuple[Sequence[float], Sequence[float], float]
"""One of any slope, as OpenCV has it: its middle, its sides and its angle."""


def text_boxes(
    shares: Float[np.ndarray, "height width"],
) -> tuple[list[Float[np.ndarray, "4 2"]], list[Middle]]:
    """The corners of lines, clockwise from the top left, in whole pixels; middles of long ones.

    Args:
        shares: probability of every pixel that it is one of text.
    """
    import cv2

    is_text = (shares > _PIXEL).astype(np.uint8)
    reaching = cv2.dilate(is_text, np.ones((2, 2), np.uint8))
    groups, _ = cv2.findContours(reaching, cv2.RETR_LIST, cv2.CHAIN_APPROX_SIMPLE)
    boxes = [_box(group, shares) for group in groups[:_MOST]]
    middles = [_middle(group, shares) for group in groups[:_MOST]]
    found = [box for box in boxes if box is not None]
    long = [middle for middle in middles if middle is not None]
    return found, long


def _middle(
    group: Int32[np.ndarray, "point 1 2"], shares: Float[np.ndarray, "height width"]
) -> Middle | None:
    """The middle of a group of pixels that is long and thin, however bent; None of others."""
    import cv2

    left, top, width, height = cv2.boundingRect(group)
    runs_down = height > width
    length = max(width, height)
    thickness = cv2.contourArea(group) / length
    if length < _LONG * thickness or length < _POINTS or not thickness:
        return None
    inside = np.zeros((height, width), np.uint8)
    cv2.drawContours(inside, [group], -1, 1, cv2.FILLED, offset=(-left, -top))
    near = shares[top : top + height, left : left + width]
    if cv2.mean(near, inside)[0] < _LINE:
        return None
    if runs_down:
        inside = inside.T
    # Without the ends, which are round
    along = np.linspace(0, length - 1, _POINTS + 2).astype(int)[1:-1]
    columns = inside[:, along]
    across = np.arange(len(columns)) @ columns / columns.sum(0)
    points = np.stack([across, along] if runs_down else [along, across], 1)
    corner = left, top
    return Middle(points + corner, (1 + _GROWTH) * thickness)


def _box(
    group: Int32[np.ndarray, "point 1 2"], shares: Float[np.ndarray, "height width"]
) -> Float[np.ndarray, "4 2"] | None:
    """The box of one group of pixels; None if they are no line."""
    import cv2

    middle: _Rectangle = cv2.minAreaRect(group)
    if _short_side(middle) < _THINNEST:
        return None
    corners = _corners(middle)
    if _mean_within(shares, corners) < _LINE:
        return None
    whole = _grown(corners)
    if _short_side(whole) < _THINNEST_GROWN:
        return None
    height, width = shares.shape
    box = np.round(_corners(whole)).clip(0, (width - 1, height - 1))
    start, along, _, across = box
    lengths = np.linalg.norm([along - start, across - start], axis=1)
    return box if lengths.min() >= _SHORTEST else None


def _short_side(rectangle: _Rectangle) -> float:
    return min(rectangle[1])


def _corners(rectangle: _Rectangle) -> Float[np.ndarray, "4 2"]:
    """The corners, clockwise from the top left."""
    import cv2

    points = cv2.boxPoints(rectangle)
    from_left = points[np.argsort(points[:, 0], kind="stable")]
    top_left, bottom_left = _from_top(from_left[:2])
    top_right, bottom_right = _from_top(from_left[2:])
    return np.stack([top_left, top_right, bottom_right, bottom_left])


def _from_top(points: Float[np.ndarray, "2 2"]) -> Float[np.ndarray, "2 2"]:
    return points[np.argsort(points[:, 1], kind="stable")]


def _mean_within(
    shares: Float[np.ndarray, "height width"], corners: Float[np.ndarray, "4 2"]
) -> float:
    """The mean probability inside corners."""
    import cv2

    last = np.array(shares.shape)[::-1] - 1
    low = np.floor(corners.min(0)).astype(int).clip(0, last)
    high = np.ceil(corners.max(0)).astype(int).clip(0, last)
    size = high - low + 1
    inside: UInt8[np.ndarray, "row column"] = np.zeros(size[::-1], np.uint8)
    cv2.fillPoly(inside, (corners - low)[None].astype(np.int32), 1)
    near = shares[low[1] : high[1] + 1, low[0] : high[0] + 1]
    return cv2.mean(near, inside)[0]


def _grown(corners: Float[np.ndarray, "4 2"]) -> _Rectangle:
    """A rectangle with what the network leaves out around the middle of a line."""
    import cv2
    import pyclipper

    along, across = np.linalg.norm(corners[1:3] - corners[:2], axis=1)
    margin = _GROWTH * along * across / (2 * (along + across))
    offset = pyclipper.PyclipperOffset()
    offset.AddPath(corners, pyclipper.JT_ROUND, pyclipper.ET_CLOSEDPOLYGON)
    outline = np.concatenate(offset.Execute(margin))
    found: _Rectangle = cv2.minAreaRect(outline.astype(np.int32))
    return found
