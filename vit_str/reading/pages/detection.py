"""Finding lines of text. Another detector is a class with one method, ``lines``."""

import logging
from typing import Any, Protocol

import numpy as np
from PIL import Image

from vit_str.reading.pages.geometry import Quadrilateral, upright
from vit_str.runtime.machine import install_hint, thread_count

_SHORT = 736  # pixels to which the shorter side of a small picture is enlarged
_LONG = 2000  # pixels to which the longer side of a large picture is reduced
_LONGEST = 4 * _SHORT  # however narrow
_STEP = 32  # the network takes sides that this divides
# Less than the detector's own 0.3 and 0.5: dim text is found, and reading it tells better than
# finding whether it is text. Chosen on 100 photographs; print is found as well by either.
_PIXEL = 0.2  # confidence of a pixel of text
_LEAST = 0.3  # and of a line of them


class LineDetector(Protocol):
    """Finds lines of text in an image."""

    def lines(self, image: Image.Image) -> list[Quadrilateral]:
        """A quadrilateral around each line of an RGB image, in any order."""


class RapidDetector:
    """The detector of ``rapidocr`` (PP-OCRv6 small, Apache-2.0, inside its wheel).

    It sees images of bounded size, so its memory is bounded.

    Raises:
        ValueError: ``rapidocr`` is not installed.
    """

    def __init__(self) -> None:
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
                "Det.thresh": _PIXEL,
                "Det.box_thresh": _LEAST,
                "EngineConfig.onnxruntime.intra_op_num_threads": thread_count(),
                "EngineConfig.onnxruntime.inter_op_num_threads": 1,
                # Memory that every layer asks the system for anew takes a quarter of the time
                "EngineConfig.onnxruntime.enable_cpu_mem_arena": True,
            }
        )

    def lines(self, image: Image.Image) -> list[Quadrilateral]:
        """See `LineDetector`."""
        short, long = sorted(image.size)
        scale = max(min(1.0, _LONG / long), min(_SHORT / short, _LONGEST / long))
        pixels = _resized(image, scale)
        found = self._engine(pixels, use_det=True, use_cls=False, use_rec=False)
        boxes = [] if found.boxes is None else found.boxes
        enlarged = np.divide(image.size, pixels.shape[1::-1])
        return [upright(np.asarray(box, float) * enlarged) for box in boxes]


def _resized(image: Image.Image, scale: float) -> np.ndarray:
    """Pixels as OpenCV has them: blue first."""
    width, height = (_in_steps(side * scale) for side in image.size)
    pixels = np.asarray(image.resize((width, height), Image.Resampling.BILINEAR))
    return np.ascontiguousarray(pixels[:, :, ::-1])


def _in_steps(side: float) -> int:
    """The side nearest to one that the network takes."""
    return max(_STEP, round(side / _STEP) * _STEP)
