"""Empty margins: a word in the midst of nothing is cut out before it is read.

Models read margins as wide as the word; with three times as much they see no text.
"""

from __future__ import annotations

from math import ceil, floor
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from jaxtyping import UInt8
    from PIL import Image

    from vit_str.runtime.images import Preprocessing

    Pixels = UInt8[np.ndarray, "height width channel"]

Window = tuple[int, int, int, int]
"""Left, top, right, bottom of a part of an image, in whole pixels."""

# An image stays as it is with ink of a larger share of its length, and of its height across the
# line; or with lower ink, in pixels, which may be a mark in a line as high as the image.
_NARROW, _FLAT, _LOWEST = 0.28, 0.2, 10
_EMPTY = 10  # times smaller than where there is most are steps between pixels that are no ink
_INK = 30  # of 255, the least step that counts as ink
_MARGINS = 0.75, 0.5  # along the line and across it, over its height; a lone 1 is not tall so
_FLATTEST = 8  # width over height that ink is taken to have at most
_CUTS = 3  # what is small is seen better in what is left


def without_margins(image: Image.Image, preprocessing: Preprocessing) -> tuple[Pixels, Window]:
    """Pixels for the model of an RGB image, or of its only word, and the part that they show."""
    window = (0, 0, *image.size)
    pixels = preprocessing.array(image)
    for _ in range(_CUTS):
        is_turned = preprocessing.turns(image.height, image.width)
        ink = _ink(np.rot90(pixels, -1) if is_turned else pixels, image.size, is_turned)
        if ink is None:
            break
        image = image.crop(ink)
        pixels = preprocessing.array(image)
        left, top = window[0] + ink[0], window[1] + ink[1]
        window = (left, top, left + image.width, top + image.height)
    return pixels, window


def _ink(pixels: Pixels, size: tuple[int, int], runs_down: bool) -> Window | None:
    """Where the ink is in an image of a width and height, with a margin; None if all over it.

    Shades of light are no ink: only steps between neighbors in a column or row count.
    """
    (width, height), (seen_height, seen_width, channels) = size, pixels.shape
    lines = pixels.reshape(seen_height, seen_width * channels)
    columns = _steps(lines[:-1], lines[1:]).max(0, initial=0).reshape(-1, channels).max(1)
    rows = _steps(lines[:, :-channels], lines[:, channels:]).max(1, initial=0)
    if min(columns.max(), rows.max()) < _INK:
        return None
    left, right = (place * width / seen_width for place in _extent(columns))
    top, bottom = (place * height / seen_height for place in _extent(rows))
    length, line, longest, highest = right - left, bottom - top, width, height
    if runs_down:
        length, line, longest, highest = line, length, height, width
    is_small = length < _NARROW * longest or line < _FLAT * highest
    if not is_small or line < _LOWEST:
        return None
    along, across = (share * max(line, length / _FLATTEST) for share in _MARGINS)
    beside, above = (across, along) if runs_down else (along, across)
    return (
        max(0, floor(left - beside)),
        max(0, floor(top - above)),
        min(width, ceil(right + beside)),
        min(height, ceil(bottom + above)),
    )


def _steps(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return np.maximum(one, other) - np.minimum(one, other)


def _extent(steps: np.ndarray) -> tuple[int, int]:
    """The first place with ink, and the one after the last."""
    places = np.flatnonzero(_EMPTY * steps.astype(int) >= steps.max())
    return int(places[0]), int(places[-1]) + 1
