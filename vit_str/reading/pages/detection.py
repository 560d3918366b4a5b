"""Finding lines of text. Another detector is a class with one method, ``lines``."""

import logging
from typing import Any, Protocol

import numpy as np
from PIL import Image

from vit_str.reading.pages.geometry import Quadrilateral, upright
from vit_str.runtime.machine import install_hint, thread_count

_SHORT, _LONG = 736, 2000  # sides of what is searched: enlarged to the one, reduced to the other
_LONGEST = 4 * _SHORT  # however narrow
_STEP = 32  # the network takes sides that this divides
_MANY = 20  # lines: a page of print, which is not dim
_CONTRAST, _TILES = 3.0, (8, 8)
_LEAST = 0.3  # confidence of a line; reading it tells better whether it is one
_NEW = 0.1  # how much of a line of the second search may be known, over the smaller of the two


class LineDetector(Protocol):
    """Finds lines of text in an image."""

    def lines(self, image: Image.Image) -> list[Quadrilateral]:
        """A quadrilateral around each line of an RGB image, in any order."""


class RapidDetector:
    """The detector of ``rapidocr`` (PP-OCRv6 small, Apache-2.0, inside its wheel).

    It overlooks dim text, however large. So where it finds no more than 20 lines, it searches again
    at half the size with raised local contrast (CLAHE, Zuiderveld 1994) and adds lines that lie on
    none of the first. It sees images of bounded size, so its memory is bounded.

    Args:
        search_again: as said; False for four fifths of the time.

    Raises:
        ValueError: ``rapidocr`` is not installed.
    """

    def __init__(self, search_again: bool = True) -> None:
        self._search_again = search_again
        try:
            import cv2
            from rapidocr import RapidOCR
        except ImportError:
            raise ValueError(
                f"finding text in pages needs rapidocr, run: {install_hint('page')}"
            ) from None
        logging.getLogger("RapidOCR").setLevel(logging.ERROR)
        cv2.setNumThreads(thread_count())
        self._engine: Any = RapidOCR(
            params={
                "Global.log_level": "error",
                "Global.max_side_len": _LONGEST,
                "Det.limit_side_len": _STEP,
                "Det.box_thresh": _LEAST,
                "EngineConfig.onnxruntime.intra_op_num_threads": thread_count(),
                "EngineConfig.onnxruntime.inter_op_num_threads": 1,
            }
        )

    def lines(self, image: Image.Image) -> list[Quadrilateral]:
        """See `LineDetector`."""
        short, long = sorted(image.size)
        scale = max(min(1.0, _LONG / long), min(_SHORT / short, _LONGEST / long))
        lines = self._search(_resized(image, scale), image.size)
        if len(lines) > _MANY or not self._search_again:
            return lines
        again = self._search(_with_contrast(_resized(image, scale / 2)), image.size)
        return lines + [line for line in again if _is_new(line, lines)]

    def _search(self, pixels: np.ndarray, size: tuple[int, int]) -> list[Quadrilateral]:
        """The lines of a resized image, in pixels of the image of that size."""
        found = self._engine(pixels, use_det=True, use_cls=False, use_rec=False)
        boxes = [] if found.boxes is None else found.boxes
        scale = np.divide(size, pixels.shape[1::-1])
        return [upright(np.asarray(box, float) * scale) for box in boxes]


def _resized(image: Image.Image, scale: float) -> np.ndarray:
    """Pixels as OpenCV has them: blue first."""
    width, height = (max(_STEP, round(side * scale / _STEP) * _STEP) for side in image.size)
    pixels = np.asarray(image.resize((width, height), Image.Resampling.BILINEAR))
    return np.ascontiguousarray(pixels[:, :, ::-1])


def _with_contrast(pixels: np.ndarray) -> np.ndarray:
    import cv2

    lab = cv2.cvtColor(pixels, cv2.COLOR_BGR2LAB)
    lab[..., 0] = cv2.createCLAHE(_CONTRAST, _TILES).apply(lab[..., 0])
    return cv2.cvtColor(lab, cv2.COLOR_LAB2BGR)


def _is_new(line: Quadrilateral, known: list[Quadrilateral]) -> bool:
    """Whether a line lies on none of the others."""
    import cv2

    corners = line.astype(np.float32)
    for other in (each.astype(np.float32) for each in known):
        smaller = min(cv2.contourArea(corners), cv2.contourArea(other))
        if cv2.intersectConvexConvex(corners, other)[0] > _NEW * smaller:
            return False
    return True
