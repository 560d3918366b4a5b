"""Whole pictures -> words: ``vit_str.load_page().read("receipt.jpg").text``."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from math import ceil, floor, prod
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from PIL import Image

from vit_str.images import load_image, load_pages, source_name
from vit_str.reading import Reader, Reading, Search, load
from vit_str.reading.pages.detection import LineDetector, RapidDetector
from vit_str.reading.pages.geometry import (
    Quadrilateral,
    Strip,
    corners_from,
    side_lengths,
    turn_points,
)
from vit_str.reading.pages.layout import reading_order
from vit_str.reading.pages.page import Page, Word
from vit_str.reading.pages.splitting import WordSplitter
from vit_str.reading.readings import Box, Character

MINIMUM_CONFIDENCE = 0.2
_LONG = 1.5
"""Length over height from which the direction of a line shows in its shape."""
_SAMPLE = 6
"""Lines that are read both ways up to find out how a page was turned."""
_MARGIN = 0.05
"""Added around a word, over its height."""
_OVERLAP = 0.25
"""Share of a long word that both of its halves hold."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """A word, or a part of one, within the strip of its line.

    Attributes:
        strip: the line.
        box: the word, in whole pixels of the strip.
    """

    strip: Strip
    box: tuple[int, int, int, int]

    @property
    def image(self) -> Image.Image:
        return self.strip.image.crop(self.box)

    def halves(self) -> tuple["_Piece", "_Piece"]:
        """Two parts that overlap."""
        left, top, right, bottom = self.box
        middle, shared = (left + right) // 2, round((right - left) * _OVERLAP / 2)
        return (
            replace(self, box=(left, top, middle + shared, bottom)),
            replace(self, box=(middle - shared, top, right, bottom)),
        )


@dataclass(frozen=True, slots=True)
class _Line:
    """A line that was read in one direction.

    Attributes:
        quarters: turns to the right that bring the first side of its upright box to where the
            text begins.
    """

    quadrilateral: Quadrilateral
    quarters: int
    words: tuple[Word, ...]

    @property
    def confidence(self) -> float:
        return fmean(word.confidence for word in self.words) if self.words else 0.0


class PageReader:
    """Finds the words of whole pictures and reads them.

    Args:
        reader: reads the words.
        detector: finds lines; that of ``rapidocr`` if None.
        splitter: cuts them into words; the bundled one if None.
        minimum_confidence: words below it are left out.
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
        direction = self._direction(image, found)
        lines = self._read_lines(image, found, direction, boxes)
        return Page(image.width, image.height, self._arrange(lines, direction), path)

    def _direction(self, image: Image.Image, found: Sequence[Quadrilateral]) -> int:
        """Quarter turns to the right of the text on the page: what most of the longest say."""
        longest = sorted(found, key=lambda q: -max(side_lengths(q)))[:_SAMPLE]
        lengths = np.array([side_lengths(q) for q in longest]).reshape(-1, 2)
        across = float((lengths[:, 1] - lengths[:, 0]).sum()) > 0
        both = [
            fmean(line.confidence for line in self._in_direction(image, longest, quarters, False))
            if longest
            else 0.0
            for quarters in (int(across), int(across) + 2)
        ]
        return int(across) + 2 * (both[1] > both[0])

    def _read_lines(
        self, image: Image.Image, found: Sequence[Quadrilateral], direction: int, boxes: bool
    ) -> list[_Line]:
        """Every line in the direction of the page, or across it both ways if its shape says so."""
        across = [_runs_across(q, direction) for q in found]
        along = [q for q, is_across in zip(found, across, strict=True) if not is_across]
        others = [q for q, is_across in zip(found, across, strict=True) if is_across]
        lines = self._in_direction(image, along, direction, boxes)
        one, other = (
            self._in_direction(image, others, (direction + turn) % 4, boxes) for turn in (1, 3)
        )
        return lines + [
            max(a, b, key=lambda line: line.confidence) for a, b in zip(one, other, strict=True)
        ]

    def _in_direction(
        self, image: Image.Image, found: Sequence[Quadrilateral], quarters: int, boxes: bool
    ) -> list[_Line]:
        """Lines whose text is turned by some quarters to the right."""
        strips = [Strip(image, corners_from(q, quarters)) for q in found]
        pieces = [self._pieces(strip) for strip in strips]
        readings = iter(self._read_pieces([p for line in pieces for p in line], boxes))
        lines = []
        for quadrilateral, line in zip(found, pieces, strict=True):
            read = [(piece, next(readings)) for piece in line]
            words = (
                _word(piece, reading)
                for piece, reading in read
                if reading.text and reading.confidence >= self.minimum_confidence
            )
            lines.append(_Line(quadrilateral, quarters, tuple(words)))
        return lines

    def _pieces(self, strip: Strip) -> list[_Piece]:
        """The words of a line, with a margin."""
        width, height = strip.image.size
        pieces = []
        for left, top, right, bottom in self.splitter.words(strip.image):
            margin = _MARGIN * (bottom - top)
            low = max(0, floor(left - margin)), max(0, floor(top - margin))
            high = min(width, ceil(right + margin)), min(height, ceil(bottom + margin))
            pieces.append(_Piece(strip, (*low, max(high[0], low[0] + 1), max(high[1], low[1] + 1))))
        return pieces

    def _read_pieces(self, pieces: Sequence[_Piece], boxes: bool) -> list[Reading]:
        """Readings of pieces; what fills the reader is read again as two halves that overlap."""
        readings = self.reader.read([piece.image for piece in pieces], boxes=boxes)
        full = [
            index
            for index, reading in enumerate(readings)
            if len(reading.text) >= self.reader.engine.model.interface.maximum_length
        ]
        if full:
            halves = [half for index in full for half in pieces[index].halves()]
            parts = iter(self._read_pieces(halves, boxes))
            for index in full:
                left, right = next(parts), next(parts)
                shift = pieces[index].halves()[1].box[0] - pieces[index].box[0]
                readings[index] = _joined(left, _shifted(right, shift))
        return readings

    def _arrange(
        self, lines: Sequence[_Line], direction: int
    ) -> tuple[tuple[tuple[Word, ...], ...], ...]:
        """Words of the lines in reading order."""
        lines = [line for line in lines if line.words]
        upright = [turn_points(line.quadrilateral, -direction) for line in lines]
        boxes = [np.concatenate([points.min(0), points.max(0)]) for points in upright]
        return tuple(
            tuple(tuple(w for index in row for w in lines[index].words) for row in block)
            for block in reading_order(boxes)
        )


def _runs_across(quadrilateral: Quadrilateral, direction: int) -> bool:
    """Whether a line is clearly long in the direction in which the text of the page is not."""
    width, height = side_lengths(quadrilateral)
    along, across = (height, width) if direction % 2 else (width, height)
    return across > _LONG * along


def _word(piece: _Piece, reading: Reading) -> Word:
    polygon = piece.strip.polygon(*piece.box)
    characters = tuple(_on_page(piece, character) for character in reading.characters)
    corners = tuple((float(x), float(y)) for x, y in polygon)
    return Word(reading.text, reading.confidence, corners, characters)  # type: ignore[arg-type]


def _on_page(piece: _Piece, character: Character) -> Character:
    if character.box is None:
        return character
    x, y = piece.box[:2]
    left, top, right, bottom = character.box
    polygon = piece.strip.polygon(x + left, y + top, x + right, y + bottom)
    return replace(character, box=Box(*polygon.min(0).tolist(), *polygon.max(0).tolist()))


def _shifted(reading: Reading, columns: int) -> Reading:
    """The same reading, its boxes moved to the right."""
    moved = (
        c
        if c.box is None
        else replace(c, box=Box(c.box[0] + columns, c.box[1], c.box[2] + columns, c.box[3]))
        for c in reading.characters
    )
    return replace(reading, characters=tuple(moved))


def _joined(left: Reading, right: Reading) -> Reading:
    """One reading of two that overlap, joined in the middle of the longest text that both hold."""
    match = SequenceMatcher(None, left.text, right.text, False).find_longest_match()
    size = match.size // 2
    characters = left.characters[: match.a + size] + right.characters[match.b + size :]
    if not match.size:
        characters = left.characters + right.characters
    text = "".join(character.character for character in characters)
    return Reading(text, prod(c.confidence for c in characters), characters)


def load_page(
    name_or_path: str | Path = "tiny",
    device: str = "auto",
    *,
    backend: str = "auto",
    search: Search | None = None,
    minimum_confidence: float = MINIMUM_CONFIDENCE,
) -> PageReader:
    """A page reader with the weights of the package or of a file.

    Args:
        name_or_path: of the word reader, and all else but the last, as for ``vit_str.load``.
        device: see there.
        backend: see there.
        search: see there.
        minimum_confidence: words below it are left out.

    Raises:
        ValueError: no such weights or device, or ``rapidocr`` is not installed.
    """
    reader = load(name_or_path, device, backend=backend, search=search)
    return PageReader(reader, minimum_confidence=minimum_confidence)
