"""Areas of another shade than the paper: sidebars, boxes, rows of tables with a ground."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from PIL import Image

if TYPE_CHECKING:
    from jaxtyping import Bool, UInt8

_LONGEST_SIDE = 800  # pixels of what is searched: larger pictures are reduced
_WINDOW = 9  # pixels: text on a ground covers less than half of such a square
_EVEN = 5  # of 255, by which neighbors on one ground differ at most
_OTHER = 4  # of 255, by which a ground differs from the paper at least
_SMALLEST = 7, 20  # pixels, the shorter and the longer side
_FULL = 0.6  # share of its box that a ground covers
_SHADES = 32  # in which the paper is the most frequent one
_SHEET = 0.7  # share of a picture that a ground covers at most: what covers more is the paper
_MOST = 60  # grounds of a page, the largest of more


class Ground(NamedTuple):
    """An area in pixels, and how light it is."""

    left: float
    top: float
    right: float
    bottom: float
    lightness: float  # 0 to 255


def find_grounds(image: Image.Image) -> list[Ground]:
    """The grounds of a picture of a page, the largest first; none without OpenCV."""
    try:
        import cv2
    except ImportError:
        return []
    cv2.setNumThreads(1)
    scale = min(1.0, _LONGEST_SIDE / max(image.size))
    size = max(1, round(image.width * scale)), max(1, round(image.height * scale))
    if min(size) < 2 * _WINDOW:
        return []
    reduced = np.asarray(image.convert("L").resize(size, Image.Resampling.BOX))
    without_text = cv2.medianBlur(reduced, _WINDOW)
    is_even = _is_even(without_text)
    paper = _most_frequent(without_text[is_even])
    _, labels, boxes, _ = cv2.connectedComponentsWithStats(
        is_even.astype(np.uint8), connectivity=4
    )
    found = []
    for label in range(1, len(boxes)):
        left, top, width, height, area = boxes[label].tolist()
        shorter, longer = sorted((width, height))
        if shorter < _SMALLEST[0] or longer < _SMALLEST[1]:
            continue
        if area < _FULL * width * height or area > _SHEET * reduced.size:
            continue
        part = slice(top, top + height), slice(left, left + width)
        shade = float(np.median(without_text[part][labels[part] == label]))
        if abs(shade - paper) < _OTHER:
            continue
        # What is even ends a pixel before the edge
        found.append(
            Ground(
                left=(left - 1) / scale,
                top=(top - 1) / scale,
                right=(left + width + 1) / scale,
                bottom=(top + height + 1) / scale,
                lightness=shade,
            )
        )
    found.sort(key=lambda ground: -_area(ground))
    return found[:_MOST]


def _is_even(
    picture: "UInt8[np.ndarray, 'row column']",
) -> "Bool[np.ndarray, 'row column']":
    """Where neighbors have about one shade."""
    import cv2

    square = np.ones((3, 3), np.uint8)
    return cv2.morphologyEx(picture, cv2.MORPH_GRADIENT, square) < _EVEN


def _most_frequent(shades: "UInt8[np.ndarray, ' pixel']") -> float:
    """The shade of most pixels."""
    if not len(shades):
        return 255.0
    coarse = shades.astype(np.int64) * _SHADES // 256
    most = np.bincount(coarse).argmax()
    return float(np.median(shades[coarse == most]))


def _area(ground: Ground) -> float:
    return (ground.right - ground.left) * (ground.bottom - ground.top)
