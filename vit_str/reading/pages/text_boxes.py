"""Boxes around text that a network has marked pixel by pixel.

A network of differentiable binarization (Liao et al. 2020, https://arxiv.org/abs/1911.08947) marks
the middle of lines, so that those which are close to each other do not touch. Each group of pixels
is grown to the whole height of its line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from jaxtyping import Float, Int32, UInt8

# Less than rapidocr has, 0.3 and 0.5: dim text is found, and reading it tells better than finding
# whether it is text. Chosen on 100 photographs; print is found as well by either.
_PIXEL = 0.2  # probability of a pixel of text
_LINE = 0.3  # and, in the mean, of a line of them
_GROWTH = 1.6  # that the network shrinks lines by: area over circumference
_THINNEST = 3  # pixels across the middle of a line
_THINNEST_GROWN = 5
_SHORTEST = 4  # pixels along a side of a line in the image
_MOST = 1000  # lines


class _Rectangle(NamedTuple):
    """A rectangle of any slope: its corners, clockwise, and its shorter side."""

    corners: Float[np.ndarray, "4 2"]
    short: float


def text_boxes(
    shares: Float[np.ndarray, "height width"],
) -> list[Float[np.ndarray, "4 2"]]:
    """The corners of lines, clockwise from the top left, in whole pixels.

    Args:
        shares: probability of every pixel that it is one of text.
    """
    import cv2

    is_text = (shares > _PIXEL).astype(np.uint8)
    reaching = cv2.dilate(is_text, np.ones((2, 2), np.uint8))
    groups, _ = cv2.findContours(reaching, cv2.RETR_LIST, cv2.CHAIN_APPROX_SIMPLE)
    boxes = [_box(group, shares) for group in groups[:_MOST]]
    return [box for box in boxes if box is not None]


def _box(
    group: Int32[np.ndarray, "point *one 2"], shares: Float[np.ndarray, "height width"]
) -> Float[np.ndarray, "4 2"] | None:
    """The box of one group of pixels; None if they are no line."""
    middle = _smallest_rectangle(group)
    if middle.short < _THINNEST or _mean_within(shares, middle.corners) < _LINE:
        return None
    whole = _grown(middle.corners)
    if whole.short < _THINNEST_GROWN:
        return None
    height, width = shares.shape
    corners = np.round(whole.corners).clip(0, (width - 1, height - 1))
    start, along, _, across = corners
    lengths = np.linalg.norm([along - start, across - start], axis=1)
    return corners if lengths.min() >= _SHORTEST else None


def _smallest_rectangle(points: Int32[np.ndarray, "point *one 2"]) -> _Rectangle:
    import cv2

    found = cv2.minAreaRect(points)
    corners = cv2.boxPoints(found)
    left = corners[np.argsort(corners[:, 0], kind="stable")]
    # Of the two at the left and the two at the right, the upper one and the lower one
    top_left, bottom_left = left[:2][np.argsort(left[:2, 1], kind="stable")]
    top_right, bottom_right = left[2:][np.argsort(left[2:, 1], kind="stable")]
    ordered = np.stack([top_left, top_right, bottom_right, bottom_left])
    return _Rectangle(ordered, min(found[1]))


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
    import pyclipper

    along, across = np.linalg.norm(corners[1:3] - corners[:2], axis=1)
    margin = _GROWTH * along * across / (2 * (along + across))
    offset = pyclipper.PyclipperOffset()
    offset.AddPath(corners, pyclipper.JT_ROUND, pyclipper.ET_CLOSEDPOLYGON)
    outline = np.concatenate(offset.Execute(margin))
    return _smallest_rectangle(outline.astype(np.int32))
