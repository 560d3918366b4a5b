"""Our own detector: a network that finds, run by onnxruntime, and the lines of its maps."""

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import cv2
import numpy as np
from PIL import Image

from vit_str.console import reason_of
from vit_str.engines.forks import PerProcess
from vit_str.engines.graph_files import open_session, session_options
from vit_str.machine import thread_count
from vit_str.pages.find.faint_ends import with_faint_ends
from vit_str.pages.find.flattening import Middle
from vit_str.pages.find.geometry import Quadrilateral
from vit_str.pages.find.joining import joined
from vit_str.pages.find.lines import CELL, FoundLine, find_lines, length_of
from vit_str.pages.find.maps import MAPS
from vit_str.pages.find.specks import typical_height, without_specks

if TYPE_CHECKING:
    from jaxtyping import Float
    from onnxruntime import InferenceSession

FORMAT = "vit-str finder 1"
"""Of graphs, in their metadata."""
IMAGES, MAPS_OF_GRAPH = "images", "maps"
"""Names of the input and the output of a graph."""
_STEP = 32  # the network takes sides that this divides
_SHORT = 736  # pixels to which the shorter side of a small picture is enlarged
_LONG = 2000  # pixels to which the longer side of a large picture is reduced
_LONGEST = 4 * _SHORT  # however narrow
# Letters lower than this, in pixels that the network sees, are looked at once more, about so high
_SMALL, _MIDDLING = 11.0, 16.0
_MOST_PIXELS = 6e6  # then seen, at most
_WORTH_IT = 1.2  # times as large, at least
_BENT_LINE = (
    12.0  # heights from which on a line is long enough to tell how a page is bent
)
_POINTS = 24  # of the middle of a line
# Of the first look: over the usual size; confidence of a line from which on its words are counted,
# and length over its height, as lone marks have no direction; words of print, at least. 29 of 30
# forms have 46 and more, one 17; 40 receipts 53 and more, of 300 photographs 297 up to 10
_FIRST_LOOK = 0.5
_SURE = 0.8
_LONG_ENOUGH = 2.0
_PRINT = 20
# Room that readers of lines are used to, over the height of letters: before and behind a line
_BESIDE = 0.2
_HIGHER = 1.2  # height with that above and below it


class FinderDetector:
    """A network that finds, as ``vit-str export`` writes it.

    Args:
        path: of the graph.

    Raises:
        ValueError: OpenCV is not installed, or the file is none of ours or damaged.
    """

    def __init__(self, path: Path) -> None:
        # As fast as with more, which a forked process would wait for without end
        cv2.setNumThreads(1)
        self._path = path
        self._session = PerProcess(self._open(), self._open)

    def lines(self, image: Image.Image) -> list[Quadrilateral]:
        """See `LineDetector`; with some room around the letters."""
        return [with_room(line).quadrilateral for line in self.find(image)]

    def lines_and_middles(
        self, image: Image.Image
    ) -> tuple[list[Quadrilateral], list[Middle]]:
        """As of `lines`, and the middles of the long ones."""
        found = self.find(image)
        middles = []
        for line in found:
            points = _rightward(line.strip.mean(1))
            length = float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())
            if length >= _BENT_LINE * line.height:
                middles.append(Middle(_evenly(points), line.height))
        return [with_room(line).quadrilateral for line in found], middles

    def find(self, image: Image.Image) -> list[FoundLine]:
        """The lines of an RGB image with their words, in its pixels.

        Where most letters are small, the image is looked at once more, larger.
        """
        maps, scale = self.maps(image)
        lines = _lines(maps)
        if lines:
            height = typical_height(lines)
            pixels = maps[0].size * CELL**2
            closer = min(_MIDDLING / height, (_MOST_PIXELS / pixels) ** 0.5)
            if height < _SMALL and closer > _WORTH_IT:
                maps, scale = self.maps(image, closer)
                lines = _lines(maps)
        return [_enlarged(line, scale) for line in lines]

    def sees_print(self, image: Image.Image) -> bool:
        """Whether a look at half the size finds so many words in sure lines that this is print."""
        maps, _ = self.maps(image, _FIRST_LOOK)
        sure = [line for line in find_lines(maps) if line.confidence > _SURE]
        long = [
            line for line in sure if length_of(line.strip) > _LONG_ENOUGH * line.height
        ]
        return sum(len(line.words) for line in long) >= _PRINT

    def maps(
        self, image: Image.Image, closer: float = 1.0
    ) -> tuple["Float[np.ndarray, 'map row column']", "Float[np.ndarray, ' 2']"]:
        """The maps of the network, and pixels of the image for each of those it has seen.

        Args:
            image: in RGB.
            closer: by which it is larger than the network usually sees it.
        """
        short, long = sorted(image.size)
        scale = max(min(1.0, _LONG / long), min(_SHORT / short, _LONGEST / long))
        scale *= closer
        size = _in_steps(image.width * scale), _in_steps(image.height * scale)
        pixels = np.asarray(
            image.resize(size, Image.Resampling.BILINEAR, reducing_gap=2)
        )
        values = pixels.transpose(2, 0, 1)[None].astype(np.float32)
        values /= 255
        [[maps]] = self._session.value.run(None, {IMAGES: values})
        return maps, np.divide(image.size, size)

    def _open(self) -> "InferenceSession":
        options = session_options(thread_count())
        # With plans for every size of image it would keep, and need, nearly twice the memory
        options.enable_mem_pattern = False
        try:
            session = open_session(self._path, options)
            metadata = session.get_modelmeta().custom_metadata_map
        except Exception as error:  # of types of its own
            raise ValueError(
                f"{self._path}: no network that finds lines ({reason_of(error)})"
            ) from None
        if metadata.get("format") != FORMAT or json.loads(metadata["maps"]) != [*MAPS]:
            raise ValueError(
                f"{self._path}: no network that finds lines; write one with vit-str export "
                "finder.safetensors --out finder.onnx"
            )
        return session


def _lines(maps: "Float[np.ndarray, 'map row column']") -> list[FoundLine]:
    """The lines of maps, mended."""
    return with_faint_ends(without_specks(joined(find_lines(maps))), maps)


def with_room(line: FoundLine) -> FoundLine:
    """A line with the room around its letters that readers of lines are used to."""
    middles = line.strip.mean(1, keepdims=True)
    strip = middles + (line.strip - middles) * _HIGHER
    for end, inner in ((0, 1), (-1, -2)):
        along = (middles[end] - middles[inner])[0]
        away = along / max(1e-6, float(np.linalg.norm(along)))
        strip[end] += away * _BESIDE * line.height
    return replace(line, strip=strip)


def _enlarged(line: FoundLine, scale: np.ndarray) -> FoundLine:
    words = [word * scale for word in line.words]
    height = line.height * float(scale.mean())
    return FoundLine(line.strip * scale, words, height, line.confidence)


def _rightward(
    points: "Float[np.ndarray, 'point 2']",
) -> "Float[np.ndarray, 'point 2']":
    """Points of a line from left to right, or down if it is higher than wide."""
    along = points[-1] - points[0]
    is_forward = along[np.abs(along).argmax()] >= 0
    return points if is_forward else points[::-1]


def _evenly(points: "Float[np.ndarray, 'point 2']") -> "Float[np.ndarray, 'point 2']":
    """As many points along a line as the flattening of pages takes."""
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    lengths = np.concatenate([[0.0], np.cumsum(steps)])
    at = np.linspace(0, lengths[-1], _POINTS)
    return np.stack([np.interp(at, lengths, column) for column in points.T], 1)


def _in_steps(side: float) -> int:
    """The side nearest to one that the network takes."""
    return max(_STEP, round(side / _STEP) * _STEP)
