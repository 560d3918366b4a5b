"""Whole pictures -> words: ``vit_str.load_page().read("receipt.jpg").text``."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from PIL import Image

from vit_str.reading.pages.detection import LineDetector, RapidDetector
from vit_str.reading.pages.geometry import (
    Quadrilateral,
    Strip,
    corners_from,
    leveled,
    rectangle,
    side_lengths,
    turn_points,
    upright,
)
from vit_str.reading.pages.layout import reading_order
from vit_str.reading.pages.page import Page, Word
from vit_str.reading.pages.pieces import Piece, cut_at_spaces, joined, pieces_of, whole, word
from vit_str.reading.pages.splitting import WordSplitter
from vit_str.runtime import Reader, Reading, Search, load
from vit_str.runtime.images import load_image, load_pages, source_name

MINIMUM_CONFIDENCE = 0.8
"""Geometric mean of the characters of a word: long words have more places to be wrong in."""
_PRINT = 40
"""Words from which on a picture is one of print."""
_SENTENCE = 3
"""Words of a line of print from which on they are judged together."""
_LONG = 1.5
"""Length over height from which the direction of a line shows in its shape."""
_CROP_HEIGHT = 300
"""Pixels up to which a flat picture may be a crop of a line that fills it."""
_SAMPLE = 6
"""Lines that are read both ways up to find out how a page was turned."""
_SURE = 0.99
"""Confidence from which on the other way up is not tried; the model reads clean words upside down
too, at about 0.96; the mean of six of them reaches 0.983."""


@dataclass(frozen=True, slots=True)
class _Line:
    """A line that was read in one direction.

    Attributes:
        quarters: turns to the right that bring the first side of its upright box to where the
            text begins.
        words: with a text.
        confidence: the mean of all words.
    """

    quadrilateral: Quadrilateral
    quarters: int
    words: tuple[Word, ...]
    confidence: float


class PageReader:
    """Finds the words of whole pictures and reads them.

    Args:
        reader: reads words, or whole lines if its model is one for lines.
        detector: finds lines; that of ``rapidocr`` if None.
        splitter: cuts them into words for a reader of words; the bundled one if None.
        minimum_confidence: words are left out whose characters have a lower geometric mean; in
            pictures of 40 words and more, unless the characters of their line have it.
    """

    def __init__(
        self,
        reader: Reader,
        detector: LineDetector | None = None,
        splitter: WordSplitter | None = None,
        minimum_confidence: float = MINIMUM_CONFIDENCE,
    ) -> None:
        self.reader = reader
        self.detector = detector or RapidDetector()
        self._reads_lines = bool(reader.preprocessing.width_step)
        self.splitter = splitter or WordSplitter()
        self.minimum_confidence = minimum_confidence

    def read(self, source: Any, *, boxes: bool = False) -> Page:
        """The words of one picture.

        Args:
            source: what ``load_image`` takes: a file, bytes, a Pillow image, an array.
            boxes: say where every character is.

        Raises:
            UnreadableImage: it cannot be read.
        """
        path = source_name(source) if isinstance(source, str | os.PathLike) else None
        image = next(load_pages(path)) if path else load_image(source)
        found = self.detector.lines(image)
        if not found and image.height < _CROP_HEIGHT and image.width > _LONG * image.height:
            found = [rectangle(0, 0, *image.size)]  # a crop of one line
        lines, direction = self._read_lines(image, found, boxes)
        lines = self._sure(lines)
        return Page(image.width, image.height, self._arrange(lines, direction), path)

    def _read_lines(
        self, image: Image.Image, found: Sequence[Quadrilateral], boxes: bool
    ) -> tuple[list[_Line], int]:
        """All lines, and the quarter turns to the right of the text on the page."""
        lines, direction = self._read_longest(image, found, boxes)
        lines = [line for line in lines if not _runs_across(line.quadrilateral, direction)]
        done = {id(line.quadrilateral) for line in lines}
        rest = [q for q in found if id(q) not in done]
        along = [q for q in rest if not _runs_across(q, direction)]
        others = [q for q in rest if _runs_across(q, direction)]
        lines += self._in_direction(image, along, direction, boxes)
        one, other = (
            self._in_direction(image, others, (direction + turn) % 4, boxes) for turn in (1, 3)
        )
        lines += [
            max(a, b, key=lambda line: line.confidence) for a, b in zip(one, other, strict=True)
        ]
        return lines, direction

    def _read_longest(
        self, image: Image.Image, found: Sequence[Quadrilateral], boxes: bool
    ) -> tuple[list[_Line], int]:
        """The longest lines, the way up in which they are read more surely, and that way."""
        longest = sorted(found, key=lambda q: -max(side_lengths(q)))[:_SAMPLE]
        lengths = np.array([side_lengths(q) for q in longest]).reshape(-1, 2)
        direction = int((lengths[:, 1] - lengths[:, 0]).sum() > 0)
        lines = self._in_direction(image, longest, direction, boxes)
        if _confidence(lines) < _SURE:
            upside_down = self._in_direction(image, longest, direction + 2, boxes)
            if _confidence(upside_down) > _confidence(lines):
                return upside_down, direction + 2
        return lines, direction

    def _in_direction(
        self, image: Image.Image, found: Sequence[Quadrilateral], quarters: int, boxes: bool
    ) -> list[_Line]:
        """Lines whose text is turned by some quarters to the right."""
        strips = [Strip(image, corners_from(q, quarters)) for q in found]
        if self._reads_lines:
            lines = [[whole(strip)] for strip in strips]
        else:
            lines = [pieces_of(strip, self.splitter.words(strip.image)) for strip in strips]
        pieces = [piece for line in lines for piece in line]
        readings = iter(self._read_pieces(pieces, boxes or self._reads_lines))
        result = []
        for quadrilateral, line in zip(found, lines, strict=True):
            read = self._cut_at_spaces([(piece, next(readings)) for piece in line])
            words = tuple(word(piece, reading) for piece, reading in read if reading.text)
            confidence = fmean(reading.confidence for _, reading in read) if read else 0.0
            result.append(_Line(quadrilateral, quarters, words, confidence))
        return result

    def _cut_at_spaces(self, words: Sequence[tuple[Piece, Reading]]) -> list[tuple[Piece, Reading]]:
        """Words in which the reader saw a space, cut there, if it says where it looked."""
        if self._reads_lines:
            return [part for piece, reading in words for part in cut_at_spaces(piece, reading)]
        parts = []
        for piece, reading in words:
            if " " in reading.text.strip() and self.reader.has_boxes:
                (located,) = self._read_pieces([piece], True)
                parts += cut_at_spaces(piece, located)
            else:
                parts.append((piece, reading))
        return parts

    def _read_pieces(self, pieces: Sequence[Piece], boxes: bool) -> list[Reading]:
        """Readings of pieces; what fills the reader is read again as two halves that overlap."""
        found = self.reader.read([piece.image for piece in pieces], boxes=boxes)
        readings = [piece.in_strip(each) for piece, each in zip(pieces, found, strict=True)]
        full = [
            index
            for index, reading in enumerate(readings)
            if len(reading.text) >= self.reader.maximum_length
        ]
        if full:
            halves = [half for index in full for half in pieces[index].halves()]
            parts = iter(self._read_pieces(halves, boxes))
            for index in full:
                readings[index] = joined(next(parts), next(parts))
        return readings

    def _sure(self, lines: Sequence[_Line]) -> list[_Line]:
        """Lines with the words that are sure enough.

        Where there are many words, three and more of a line are judged together: in print, short
        words and marks are as right as their neighbors; photographs hold much that is no text.
        """
        is_print = sum(len(line.words) for line in lines) >= _PRINT
        sure = []
        for line in lines:
            together = is_print and len(line.words) >= _SENTENCE
            if not together or _per_character(line.words) < self.minimum_confidence:
                words = (w for w in line.words if _per_character([w]) >= self.minimum_confidence)
                line = replace(line, words=tuple(words))
            sure.append(line)
        return sure

    def _arrange(
        self, lines: Sequence[_Line], direction: int
    ) -> tuple[tuple[tuple[Word, ...], ...], ...]:
        """Words of the lines in reading order."""
        lines = [line for line in lines if line.words]
        turned = [upright(turn_points(line.quadrilateral, -direction)) for line in lines]
        boxes = [np.concatenate([points.min(0), points.max(0)]) for points in leveled(turned)]
        return tuple(
            tuple(tuple(w for index in row for w in lines[index].words) for row in block)
            for block in reading_order(boxes)
        )


def _per_character(words: Sequence[Word]) -> float:
    """The geometric mean of the confidences of all characters."""
    length = sum(len(word.text) for word in words)
    return prod(word.confidence for word in words) ** (1 / max(1, length))


def _confidence(lines: Sequence[_Line]) -> float:
    return fmean(line.confidence for line in lines) if lines else 0.0


def _runs_across(quadrilateral: Quadrilateral, direction: int) -> bool:
    """Whether a line is clearly long in the direction in which the text of the page is not."""
    width, height = side_lengths(quadrilateral)
    along, across = (height, width) if direction % 2 else (width, height)
    return across > _LONG * along


def load_page(
    name_or_path: str | Path = "tiny",
    device: str = "auto",
    *,
    backend: str = "auto",
    effort: str | None = None,
    search: Search | None = None,
    minimum_confidence: float = MINIMUM_CONFIDENCE,
) -> PageReader:
    """A page reader with the weights of the package or of a file.

    Args:
        name_or_path: of the word reader, and what else is not explained, as for ``vit_str.load``.
        device: see there.
        backend: see there.
        effort: see there; ``fast`` also searches for lines once only.
        search: see there.
        minimum_confidence: words are left out whose characters have a lower geometric mean.

    Raises:
        ValueError: no such weights or device, or ``rapidocr`` is not installed.
    """
    reader = load(name_or_path, device, backend=backend, effort=effort, search=search)
    detector = RapidDetector(search_again=effort != "fast")
    return PageReader(reader, detector, minimum_confidence=minimum_confidence)
