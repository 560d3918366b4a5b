"""Words cut out of a picture along four corners, upright."""

import numpy as np
from jaxtyping import Float
from PIL import Image

_OUTSIDE = 0.1
"""Largest part of a word that may be outside the picture; more of it lacks letters."""

_MARGIN = 2
"""Pixels around the corners that bicubic interpolation looks at."""

_SAMPLES = 32


def cut_out(image: Image.Image, corners: Float[np.ndarray, "4 2"]) -> Image.Image:
    """The picture within four corners, turned and straightened by perspective.

    It is as wide and as high as the longer of the two sides that face each other, in whole pixels,
    so that nothing is made smaller on the whole. Where the corners leave the picture a little, its
    edge is repeated.

    Args:
        image: the picture.
        corners: x and y of the top left corner of the text, and so on clockwise, in pixels. A
            pixel reaches from its number to the next: the picture from 0 to its width.

    Raises:
        ValueError: the corners enclose nothing that can be cut out; one line says why.
    """
    corners = np.asarray(corners, dtype=np.float64)
    _check(corners, image.size)
    size = _size(corners)
    outside = _outside(corners, size, image.size)
    if outside > _OUTSIDE:
        raise ValueError(f"the box has {outside:.0%} of its area outside the image")
    region, origin = _region(image, corners)
    coefficients = _projection(size, corners - origin)
    return region.transform(
        size, Image.Transform.PERSPECTIVE, tuple(coefficients), Image.Resampling.BICUBIC
    )


def _check(corners: Float[np.ndarray, "4 2"], bounds: tuple[int, int]) -> None:
    if not np.isfinite(corners).all():
        raise ValueError("the box has a corner that is not a finite number")
    if (np.abs(corners - np.array(bounds) / 2) > bounds).any():  # would also take much memory
        raise ValueError("the box has a corner far outside the image")
    sides = np.roll(corners, -1, axis=0) - corners
    after = np.roll(sides, -1, axis=0)
    turns = sides[:, 0] * after[:, 1] - sides[:, 1] * after[:, 0]
    # Mirrored text would come out otherwise, or a picture folded over itself.
    if not (turns > 1e-6).all():
        raise ValueError("the corners of the box do not enclose an area clockwise")


def _size(corners: Float[np.ndarray, "4 2"]) -> tuple[int, int]:
    """Width and height of the cut, in pixels."""
    top, right, bottom, left = np.linalg.norm(np.roll(corners, -1, axis=0) - corners, axis=1)
    return max(1, round(max(top, bottom))), max(1, round(max(left, right)))


def _projection(size: tuple[int, int], corners: Float[np.ndarray, "4 2"]) -> Float[np.ndarray, "8"]:
    """Find a to h of x' = (ax + by + c) / (gx + hy + 1), y' = (dx + ey + f) / (gx + hy + 1).

    From places in the cut to places in the picture, as Pillow wants it.
    """
    width, height = size
    rows, values = [], []
    places = [(0, 0), (width, 0), (width, height), (0, height)]
    for (x, y), (u, v) in zip(places, corners, strict=True):
        rows += [[x, y, 1, 0, 0, 0, -x * u, -y * u], [0, 0, 0, x, y, 1, -x * v, -y * v]]
        values += [u, v]
    try:
        return np.linalg.solve(np.array(rows, dtype=np.float64), np.array(values))
    except np.linalg.LinAlgError:
        raise ValueError("the box is too thin to be straightened") from None


def _outside(
    corners: Float[np.ndarray, "4 2"], size: tuple[int, int], bounds: tuple[int, int]
) -> float:
    """Share of the cut that comes from outside the picture, from a grid of places in it."""
    a, b, c, d, e, f, g, h = _projection(size, corners)
    steps = (np.arange(_SAMPLES) + 0.5) / _SAMPLES
    x, y = steps[None, :] * size[0], steps[:, None] * size[1]
    depth = g * x + h * y + 1
    u, v = (a * x + b * y + c) / depth, (d * x + e * y + f) / depth
    inside = (u >= 0) & (u <= bounds[0]) & (v >= 0) & (v <= bounds[1])
    return 1 - float(inside.mean())


def _region(
    image: Image.Image, corners: Float[np.ndarray, "4 2"]
) -> tuple[Image.Image, Float[np.ndarray, "2"]]:
    """The part of a picture around the corners, its edge repeated, and where it begins."""
    first = np.floor(corners.min(axis=0)).astype(int) - _MARGIN
    last = np.ceil(corners.max(axis=0)).astype(int) + _MARGIN
    inner_first = np.clip(first, 0, np.array(image.size) - 1)
    inner_last = np.clip(last, inner_first + 1, image.size)
    inner = image.crop((*inner_first.tolist(), *inner_last.tolist()))
    before, after = inner_first - first, last - inner_last
    if not (before.any() or after.any()):
        return inner, first.astype(np.float64)
    around = ((before[1], after[1]), (before[0], after[0]), (0, 0))
    return Image.fromarray(np.pad(np.asarray(inner), around, mode="edge")), first.astype(np.float64)
