"""Finding lines of text. Another detector is a class with one method, ``lines``."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from PIL import Image

from vit_str.console import reason_of
from vit_str.engines.forks import PerProcess
from vit_str.engines.graph_files import open_session, session_options
from vit_str.machine import install_hint, thread_count
from vit_str.pages.find.flattening import Bend, Middle, bend_of
from vit_str.pages.find.geometry import (
    Quadrilateral,
    side_lengths,
    turn_points,
    upright,
)
from vit_str.pages.find.large_signs import with_large_signs_joined
from vit_str.pages.find.small_print import Part, parts_with_ink
from vit_str.pages.find.text_boxes import text_boxes

if TYPE_CHECKING:
    from jaxtyping import Float, UInt8
    from onnxruntime import InferenceSession, RunOptions

DETECTOR = "PP-OCRv6_det_small.onnx"
"""The network in the wheel of ``rapidocr``."""

_INSTALL_AGAIN = 'pip install --force-reinstall --no-deps "rapidocr>=3.9"'
_SHORT = 736  # pixels to which the shorter side of a small picture is enlarged
_LONG = 2000  # pixels to which the longer side of a large picture is reduced
_LONGEST = 4 * _SHORT  # however narrow
_STEP = 32  # the network takes sides that this divides
# Width over height up to which the network finds lines in an image, and that of narrower ones with
# margins, as ``rapidocr`` has them
_WIDEST = 8
_WITH_MARGINS = 4
# Option of a run of onnxruntime: give memory back after it
_GIVE_BACK = "memory.enable_memory_arena_shrinkage"
# What the network takes for each of the 256 values of a pixel
_LEVELS = ((np.arange(256) * (1 / 255) - 0.5) / 0.5).astype(np.float32)
_LINES_OF_TABLE = 20  # on a page with a table, at least
_SHORT_LINE = 3.0  # length over height up to which a line is short, as a number
# Share of the lines of a page that are short and touch others, from which on it is one of a tight
# table: 0.6 in a price list, 0.2 and less in a timetable, forms and articles.
_TIGHT = 0.4


class LineDetector(Protocol):
    """Finds lines of text in an image.

    It may have a method ``lines_and_middles`` as that of `RapidDetector`: pages that are bent are
    then read as if they were flat. One with a method ``for_image`` chooses another detector for
    each image.
    """

    def lines(self, image: Image.Image) -> list[Quadrilateral]:
        """A quadrilateral around each line of an RGB image, in any order.

        Those without an area, and corners that are no numbers, are passed over.
        """


class FoundLines(NamedTuple):
    """Lines, and the image that they are in: flattened if its page is bent."""

    image: Image.Image
    quadrilaterals: list[Quadrilateral]
    bend: Bend | None


def find_lines(detector: LineDetector, image: Image.Image) -> FoundLines:
    """The lines of an image, which is flattened if its page is bent.

    It is looked at from its side if a tight table lies so. Detectors have seen little text on its
    side: they find the long lines, which tell how a page lies, and miss numbers in rows that are
    close to each other. In other pages nothing is missed.
    """
    if hasattr(detector, "for_image"):
        detector = detector.for_image(image)
    bend = None
    if hasattr(detector, "lines_and_middles"):
        lines, middles = detector.lines_and_middles(image)
        found = list(filter(_has_area, lines))
        bend = bend_of(middles)
    else:
        found = _lines(detector, image)
    if bend is not None:
        image = bend.flattened(image)
        found = _lines(detector, image)
    found = _looked_at_closely(detector, image, found)
    found = with_large_signs_joined(found)
    return FoundLines(image, _from_its_side(detector, image, found), bend)


def _lines(detector: LineDetector, image: Image.Image) -> list[Quadrilateral]:
    return list(filter(_has_area, detector.lines(image)))


def _has_area(line: Quadrilateral) -> bool:
    """Whether the corners of a line are numbers, and part."""
    return bool(np.isfinite(line).all()) and min(side_lengths(line)) > 0


def _looked_at_closely(
    detector: LineDetector, image: Image.Image, found: list[Quadrilateral]
) -> list[Quadrilateral]:
    """Lines that were found, but for those of parts that tell more when they are seen larger."""
    for part in parts_with_ink(image, found):
        corner = part[:2]
        closer = [line + corner for line in _lines(detector, image.crop(part))]
        if closer:
            found = [line for line in found if not _is_in(line, part)] + closer
    return found


def _is_in(line: Quadrilateral, part: Part) -> bool:
    middle = line.mean(0)
    return bool((middle >= part[:2]).all() and (middle <= part[2:]).all())


def _from_its_side(
    detector: LineDetector, image: Image.Image, found: list[Quadrilateral]
) -> list[Quadrilateral]:
    """Lines that were found, or those that are found from the side of a tight table."""
    if not _are_on_their_side(found):
        return found
    turned = _lines(detector, image.transpose(Image.Transpose.ROTATE_90))
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
    """The network that comes with ``rapidocr`` (PP-OCRv6 small, Apache-2.0, inside its wheel).

    It sees images of bounded size, so its memory is bounded; it keeps none of it between images.

    Raises:
        ValueError: ``rapidocr`` is not installed, or not whole, or its network is damaged.
    """

    def __init__(self) -> None:
        try:
            import cv2
            import pyclipper  # noqa: F401
            from onnxruntime import RunOptions
        except ModuleNotFoundError:
            raise _missing() from None
        except ImportError as error:  # a library of the system is missing, as libGL
            raise ValueError(
                f"finding text in pages needs OpenCV ({reason_of(error)}), run: pip "
                "install --force-reinstall --no-deps opencv-python-headless"
            ) from None
        # As fast as with more, which a forked process would wait for without end.
        cv2.setNumThreads(1)
        self._session = PerProcess(_open_network(), _open_network)
        self._options = RunOptions()
        self._options.add_run_config_entry(_GIVE_BACK, "cpu:0")

    def lines(self, image: Image.Image) -> list[Quadrilateral]:
        """See `LineDetector`."""
        return self.lines_and_middles(image)[0]

    def lines_and_middles(
        self, image: Image.Image
    ) -> tuple[list[Quadrilateral], list[Middle]]:
        """A quadrilateral around each line, and the middles of the long ones."""
        short, long = sorted(image.size)
        scale = max(min(1.0, _LONG / long), min(_SHORT / short, _LONGEST / long))
        size = _in_steps(image.width * scale), _in_steps(image.height * scale)
        pixels = np.asarray(image.resize(size, Image.Resampling.BILINEAR))
        margin = _margin(*size)
        boxes, middles = self._boxes(np.pad(pixels, ((margin, margin), (0, 0), (0, 0))))
        enlarged = np.divide(image.size, size)
        found = []
        for box in boxes:
            corners = np.clip(box - (0, margin), 0, size)
            found.append(upright(corners * enlarged))
        bent = [each.moved((0, -margin), enlarged) for each in middles]
        return found, bent

    def _boxes(
        self, pixels: UInt8[np.ndarray, "height width 3"]
    ) -> tuple[list[Quadrilateral], list[Middle]]:
        """Lines of an RGB image whose sides the network takes."""
        import cv2

        values = np.empty((1, 3, *pixels.shape[:2]), np.float32)
        blue_first = cv2.split(pixels)[::-1]
        for channel, plane in zip(blue_first, values[0], strict=True):
            cv2.LUT(channel, _LEVELS, plane)
        shares = _run(self._session.value, values, self._options)
        return text_boxes(shares)


def detector_file() -> Path | None:
    """The network of the installed ``rapidocr`` that finds lines, if it has one.

    Without the package itself, whose import takes more than a second.
    """
    package = find_spec("rapidocr")
    folders = package.submodule_search_locations if package else None
    files = (Path(folder, "models", DETECTOR) for folder in folders or ())
    return next(filter(Path.is_file, files), None)


def _open_network() -> InferenceSession:
    network = detector_file()
    if network is None:
        raise _missing()
    options = session_options(thread_count())
    # With plans for every size of image it would keep, and need, nearly twice the memory.
    options.enable_mem_pattern = False
    try:
        session = open_session(network, options)
        _run(session, np.zeros((1, 3, _STEP, _STEP), np.float32))
    except Exception as error:  # of types of its own
        reason = f"{network}: damaged ({reason_of(error)})"
        raise ValueError(f"{reason}; run: {_INSTALL_AGAIN}") from None
    return session


def _run(
    session: InferenceSession,
    values: Float[np.ndarray, "1 3 height width"],
    options: RunOptions | None = None,
) -> Float[np.ndarray, "height width"]:
    """Probability of every pixel that it is one of text."""
    inputs = {session.get_inputs()[0].name: values}
    [shares] = session.run(None, inputs, options)
    found: Float[np.ndarray, "height width"] = shares[0, 0]
    return found


def _missing() -> ValueError:
    """The error where ``rapidocr`` is missing, too old, or there only in part."""
    hint = _INSTALL_AGAIN if find_spec("rapidocr") else install_hint("photo")
    return ValueError(f"finding text in pages needs rapidocr from 3.9 on, run: {hint}")


def _margin(width: int, height: int) -> int:
    """Pixels above and below an image that make it higher if it is a narrow strip."""
    if width <= _WIDEST * height:
        return 0
    return (_in_steps(width / _WITH_MARGINS) - height) // 2


def _in_steps(side: float) -> int:
    """The side nearest to one that the network takes."""
    return max(_STEP, round(side / _STEP) * _STEP)
