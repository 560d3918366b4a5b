"""Quadrilaterals around text, and the straight strips of image inside them.

A quadrilateral is an array of four (x, y) corners in pixels, in the order top left, top right,
bottom right, bottom left **as the text is read**: the first side runs along the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from vit_str.pages.find.ink import ink_of
from vit_str.pages.find.strikes import Strike, find_strikes, without_strikes

if TYPE_CHECKING:
    from jaxtyping import Float, UInt8

Quadrilateral = np.ndarray
"""Of shape (4, 2)."""

_MOST_PIXELS = 4096  # of a side of a strip


def side_lengths(quadrilateral: Quadrilateral) -> tuple[float, float]:
    """Width and height: the mean of both sides along the text, and of those across."""
    top_left, top_right, bottom_right, bottom_left = quadrilateral
    top = np.linalg.norm(top_right - top_left)
    bottom = np.linalg.norm(bottom_right - bottom_left)
    left = np.linalg.norm(bottom_left - top_left)
    right = np.linalg.norm(bottom_right - top_right)
    return float(top + bottom) / 2, float(left + right) / 2


def upright(quadrilateral: Quadrilateral) -> Quadrilateral:
    """The same corners from the top left of the image on, clockwise."""
    around = quadrilateral - quadrilateral.mean(0)
    angles = np.arctan2(around[:, 1], around[:, 0])
    clockwise = quadrilateral[np.argsort(angles)]
    first = int(clockwise.sum(1).argmin())
    return np.roll(clockwise, -first, 0)


def corners_from(quadrilateral: Quadrilateral, quarters: int) -> Quadrilateral:
    """The corners of an upright quadrilateral whose text is turned by quarters to the right."""
    return np.roll(quadrilateral, -quarters, 0)


def turn_points(
    points: Float[np.ndarray, "*point 2"], quarters: int
) -> Float[np.ndarray, "*point 2"]:
    """Points turned about the origin by quarters to the right."""
    for _ in range(quarters % 4):
        points = np.stack([-points[..., 1], points[..., 0]], -1)
    return points


def leveled(quadrilaterals: Sequence[Quadrilateral]) -> list[Quadrilateral]:
    """Upright quadrilaterals turned about the origin by the median slope of their lines."""
    turn = leveling(quadrilaterals)
    return [q @ turn for q in quadrilaterals]


def leveling(quadrilaterals: Sequence[Quadrilateral]) -> Float[np.ndarray, "2 2"]:
    """The rotation about the origin by the median slope of lines: ``points @ leveling``."""
    if not quadrilaterals:
        return np.eye(2)
    widths = np.stack([q[1] - q[0] for q in quadrilaterals])
    slopes = np.arctan2(widths[:, 1], widths[:, 0])
    order = np.argsort(slopes)
    lengths = np.cumsum(np.linalg.norm(widths, axis=1)[order])
    # Weighted by length
    angle = slopes[order][np.searchsorted(lengths, lengths[-1] / 2)]
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


def homography(
    source: Quadrilateral, target: Quadrilateral
) -> Float[np.ndarray, "3 3"]:
    """The perspective map that takes four points to four others.

    Raises:
        numpy.linalg.LinAlgError: three of the points lie on one line.
    """
    rows = []
    for (x, y), (u, v) in zip(source, target, strict=True):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
    values = np.linalg.solve(np.array(rows, float), np.asarray(target, float).ravel())
    return np.append(values, 1.0).reshape(3, 3)


def project(
    matrix: Float[np.ndarray, "3 3"], points: Float[np.ndarray, "*point 2"]
) -> Float[np.ndarray, "*point 2"]:
    """Points under a perspective map."""
    mapped = np.concatenate([points, np.ones_like(points[..., :1])], -1) @ matrix.T
    return mapped[..., :2] / mapped[..., 2:]


def rectangle(left: float, top: float, right: float, bottom: float) -> Quadrilateral:
    """The corners of a box."""
    return np.array([[left, top], [right, top], [right, bottom], [left, bottom]], float)


class Strip:
    """The picture inside a quadrilateral, straightened at the resolution of the image."""

    def __init__(self, image: Image.Image, quadrilateral: Quadrilateral) -> None:
        size = np.clip(np.round(side_lengths(quadrilateral)), 1, _MOST_PIXELS)
        self.strikes: tuple[Strike, ...] = ()
        self._to_image = homography(rectangle(0, 0, *size), quadrilateral)
        # Without what is far away, the pixels that Pillow looks at stay few.
        low = np.floor(quadrilateral.min(0) - 2).clip(0)
        high = np.ceil(quadrilateral.max(0) + 2).clip(low + 1)
        near = image.crop((*low.astype(int), *high.astype(int)))
        matrix = homography(rectangle(0, 0, *size), quadrilateral - low)
        self.image = near.transform(
            tuple(size.astype(int)),
            Image.Transform.PERSPECTIVE,
            tuple(matrix.ravel()[:8]),
            Image.Resampling.BICUBIC,
        )

    @cached_property
    def ink(self) -> UInt8[np.ndarray, "row column"]:
        """How much ink each pixel holds, see `ink_of`."""
        return ink_of(self.image)

    def without_strikes(self) -> Strip:
        """The same with no strokes through words, if it has some, and with their places."""
        strikes = find_strikes(self.ink)
        if not strikes:
            return self
        cleaned = copy(self)
        del cleaned.ink  # of the strokes too
        cleaned.image = without_strikes(self.image, self.ink, strikes)
        cleaned.strikes = tuple(strikes)
        return cleaned

    def inverse(
        self, points: Float[np.ndarray, "point 2"]
    ) -> Float[np.ndarray, "point 2"]:
        """Where points of the image lie in the strip."""
        return project(np.linalg.inv(self._to_image), points)

    def polygons(
        self, boxes: Float[np.ndarray, "box 4"]
    ) -> Float[np.ndarray, "box corner 2"]:
        """Where boxes of the strip lie in the image, corners as those of `rectangle`."""
        left, top, right, bottom = boxes.T
        x = np.stack([left, right, right, left], 1)
        y = np.stack([top, top, bottom, bottom], 1)
        return project(self._to_image, np.stack([x, y], 2))
