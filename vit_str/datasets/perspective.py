"""Words cut out of a picture along four corners, upright."""

import numpy as np
from jaxtyping import Float
from PIL import Image

_MAX_OUTSIDE = 0.1
"""Largest part of a word that may be outside the picture; more of it lacks letters."""


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
    import cv2

    corners = np.asarray(corners, dtype=np.float64)
    _check(corners, image.size)
    top, right, bottom, left = np.linalg.norm(np.roll(corners, -1, axis=0) - corners, axis=1)
    width, height = max(1, round(max(top, bottom))), max(1, round(max(left, right)))
    straight = np.array([(0, 0), (width, 0), (width, height), (0, height)], dtype=np.float32)
    try:
        # OpenCV counts from the middle of the first pixel.
        projection = cv2.getPerspectiveTransform(
            straight - 0.5, corners.astype(np.float32) - np.float32(0.5), solveMethod=cv2.DECOMP_SVD
        )
        picture = np.ones((image.height, image.width), dtype=np.uint8)
        flags = cv2.INTER_NEAREST | cv2.WARP_INVERSE_MAP
        inside = cv2.warpPerspective(picture, projection, (width, height), None, flags)
        outside = 1 - inside.mean()
        if outside > _MAX_OUTSIDE:
            raise ValueError(f"the box has {outside:.0%} of its area outside the image")
        flags = cv2.INTER_CUBIC | cv2.WARP_INVERSE_MAP
        pixels = cv2.warpPerspective(
            np.asarray(image), projection, (width, height), None, flags, cv2.BORDER_REPLICATE
        )
    except cv2.error:  # a side of more than 32,767 pixels, or a box without height
        raise ValueError("the box or the image cannot be straightened") from None
    return Image.fromarray(pixels)


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
