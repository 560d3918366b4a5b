"""Finding lines of text. Another detector is a class with one method, ``lines``."""

import logging
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from PIL import Image

from vit_str.reading.pages.geometry import (
    Quadrilateral,
    side_lengths,
    turn_points,
    upright,
)
from vit_str.runtime.forks import PerProcess
from vit_str.runtime.machine import install_hint, thread_count

_SHORT = 736  # pixels to which the shorter side of a small picture is enlarged
_LONG = 2000  # pixels to which the longer side of a large picture is reduced
_LONGEST = 4 * _SHORT  # however narrow
_STEP = 32  # the network takes sides that this divides
# Less than the detector's own 0.3 and 0.5: dim text is found, and reading it tells better than
# finding whether it is text. Chosen on 100 photographs; print is found as well by either.
_PIXEL = 0.2  # confidence of a pixel of text
_LEAST = 0.3  # and of a line of them
_LINES_OF_TABLE = 20  # on a page with a table, at least
_SHORT_LINE = 3.0  # length over height up to which a line is short, as a number
# Share of the lines of a page that are short and touch others, from which on it is one of a tight
# table: 0.6 in a price list, 0.2 and less in a timetable, forms and articles.
_TIGHT = 0.4


class LineDetector(Protocol):
    """Finds lines of text in an image."""

    def lines(self, image: Image.Image) -> list[Quadrilateral]:
        """A quadrilateral around each line of an RGB image, in any order."""


def find_lines(detector: LineDetector, image: Image.Image) -> list[Quadrilateral]:
    """The lines of an image, which is looked at from its side if a tight table lies so.

    Detectors have seen little text on its side: they find the long lines, which tell how a page
    lies, and miss numbers in rows that are close to each other. In other pages nothing is missed.
    """
    found = detector.lines(image)
    if not _are_on_their_side(found):
        return found
    turned = detector.lines(image.transpose(Image.Transpose.ROTATE_90))
    corner = (image.width, 0)
    return [upright(turn_points(line, 1) + corner) for line in turned]


def _are_on_their_side(lines: Sequence[Quadrilateral]) -> bool:
    """Whether lines run up or down, as the long ones tell, and many short ones touch others."""
    if len(lines) < _LINES_OF_TABLE:
        return False
    sides = np.array([side_lengths(line) for line in lines])
    is_short = sides.max(1) <= _SHORT_LINE * sides.min(1)
    widths, heights = sides[~is_short].sum(0)
    starts = np.array([line.min(0) for line in lines])
    ends = np.array([line.max(0) for line in lines])
    reach = starts[:, None] < ends[None]
    meet = (reach & reach.transpose(1, 0, 2)).all(2)
    touches_others = meet.sum(1) > 1  # and not only itself
    is_tight = (is_short & touches_others).mean() > _TIGHT
    return bool(heights > widths and is_tight)


class RapidDetector:
    """The detector of ``rapidocr`` (PP-OCRv6 small, Apache-2.0, inside its wheel).

    It sees images of bounded size, so its memory is bounded.

    Raises:
        ValueError: ``rapidocr`` is not installed.
    """

    def __init__(self) -> None:
        try:
            import cv2
            import rapidocr  # noqa: F401
        except ImportError:
            raise ValueError(
                f"finding text in pages needs rapidocr, run: {install_hint('page')}"
            ) from None
        logging.getLogger("RapidOCR").setLevel(logging.ERROR)
        cv2.setNumThreads(thread_count())
        self._engine: PerProcess[Any] = PerProcess(_rapid(), _rapid)

    def lines(self, image: Image.Image) -> list[Quadrilateral]:
        """See `LineDetector`."""
        short, long = sorted(image.size)
        scale = max(min(1.0, _LONG / long), min(_SHORT / short, _LONGEST / long))
        pixels = _resized(image, scale)
        found = self._engine.value(pixels, use_det=True, use_cls=False, use_rec=False)
        boxes = [] if found.boxes is None else found.boxes
        enlarged = np.divide(image.size, pixels.shape[1::-1])
        return [upright(np.asarray(box, float) * enlarged) for box in boxes]


def _rapid() -> Any:
    """What runs the network, with as many threads as this process computes with."""
    from rapidocr import RapidOCR

    return RapidOCR(
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


def _resized(image: Image.Image, scale: float) -> np.ndarray:
    """Pixels as OpenCV has them: blue first."""
    width, height = (_in_steps(side * scale) for side in image.size)
    pixels = np.asarray(image.resize((width, height), Image.Resampling.BILINEAR))
    return np.ascontiguousarray(pixels[:, :, ::-1])


def _in_steps(side: float) -> int:
    """The side nearest to one that the network takes."""
    return max(_STEP, round(side / _STEP) * _STEP)
