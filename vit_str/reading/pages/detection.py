"""Finding lines of text. Another detector is a class with one method, ``lines``."""

import logging
from typing import Any, Protocol

import numpy as np
from PIL import Image

from vit_str.reading.pages.geometry import Quadrilateral, upright


class LineDetector(Protocol):
    """Finds lines of text in an image."""

    def lines(self, image: Image.Image) -> list[Quadrilateral]:
        """A quadrilateral around each line of an RGB image, in any order."""


class RapidDetector:
    """The detector of ``rapidocr`` (PP-OCRv6 small, Apache-2.0, inside its wheel).

    It scales images to sides of at most 2,000 pixels, so its memory is bounded. One detection uses
    one thread.

    Raises:
        ValueError: ``rapidocr`` is not installed.
    """

    def __init__(self) -> None:
        try:
            from rapidocr import RapidOCR
        except ImportError:
            raise ValueError(
                "finding text in pages needs rapidocr: pip install 'vit-str[page]'"
            ) from None
        logging.getLogger("RapidOCR").setLevel(logging.ERROR)
        self._engine: Any = RapidOCR(
            params={
                "Global.log_level": "error",
                "EngineConfig.onnxruntime.intra_op_num_threads": 1,
                "EngineConfig.onnxruntime.inter_op_num_threads": 1,
            }
        )

    def lines(self, image: Image.Image) -> list[Quadrilateral]:
        """See `LineDetector`."""
        pixels = np.ascontiguousarray(np.asarray(image)[:, :, ::-1])  # as OpenCV: blue first
        found = self._engine(pixels, use_det=True, use_cls=False, use_rec=False)
        boxes = [] if found.boxes is None else found.boxes
        return [upright(np.asarray(box, float)) for box in boxes]
