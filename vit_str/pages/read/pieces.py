"""Words within the strips of their lines, and what was read in them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import groupby, pairwise, starmap
from math import ceil, floor, prod
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from vit_str.decoding.boxes import Box
from vit_str.decoding.readings import Character, Reading
from vit_str.pages.arrange.tables import Sides
from vit_str.pages.find.geometry import Strip
from vit_str.pages.find.ink import inked_rows, trimmed, type_of
from vit_str.pages.find.strikes import are_struck
from vit_str.pages.page import Point, Word

if TYPE_CHECKING:
    from jaxtyping import Float

_MARGIN = 0.15  # added at the sides of a word, over the height of its line
_BESIDE = 0.1  # white at the sides of a word with its margin, over the same
_ABOVE = 0.12  # white above and below it, over the same
_MOST_BESIDE = 0.3  # white at a side, over the width of the word
_OVERLAP = 0.25  # share of a long word that both of its halves hold


Polygon = tuple[Point, Point, Point, Point]


@dataclass(frozen=True, slots=True)
class Piece:
    """A word, or a part of one, within the strip of its line."""

    strip: Strip
    box: tuple[int, int, int, int]

    @property
    def aspect(self) -> float:
        """Width over height."""
        left, top, right, bottom = self.box
        return (right - left) / (bottom - top)

    @property
    def image(self) -> Image.Image:
        """The crop, widened to a square if it is tall: readers turn what looks like a column."""
        crop = self.strip.image.crop(self.box)
        if crop.width >= crop.height:
            return crop
        return crop.resize((crop.height, crop.height))

    def in_strip(self, reading: Reading) -> Reading:
        """A reading of the image, its boxes in pixels of the strip."""
        left, top, right, bottom = self.box
        scale = (right - left) / max(right - left, bottom - top)  # of what was widened
        moved = []
        for character in reading.characters:
            if not character.box:
                continue
            x1, y1, x2, y2 = character.box
            box = Box(left + x1 * scale, top + y1, left + x2 * scale, top + y2)
            moved.append(replace(character, box=box))
        return replace(reading, characters=tuple(moved) or reading.characters)

    def halves(self) -> tuple["Piece", "Piece"]:
        """Two parts that overlap."""
        left, top, right, bottom = self.box
        middle = (left + right) // 2
        shared = round((right - left) * _OVERLAP / 2)
        return (
            replace(self, box=(left, top, middle + shared, bottom)),
            replace(self, box=(middle - shared, top, right, bottom)),
        )


Read = tuple[Piece, Reading]
"""A word, or a line, and what was read there."""


def whole(strip: Strip) -> Piece:
    """A line in one piece."""
    return Piece(strip, (0, 0, *strip.image.size))


def words_of(piece: Piece, reading: Reading) -> tuple[Read, ...]:
    """The words of a line that was read with boxes; the line with nothing in it if it has none.

    They have margins that do not reach their neighbors.
    """
    words = cut_at_spaces(piece, reading)
    parts = [part for part, _ in words]
    middles = [(one.box[2] + other.box[0]) // 2 for one, other in pairwise(parts)]
    first, top, last, bottom = piece.box
    starts = [first, *middles]
    ends = [*middles, last]
    margin = round(_MARGIN * (bottom - top))
    found = []
    for (part, read), start, end in zip(words, starts, ends, strict=False):
        left, _, right, _ = part.box
        box = max(start, left - margin), top, min(end, right + margin), bottom
        found.append((replace(part, box=box), read))
    return tuple(found) or ((piece, Reading("", 0.0, ())),)


def cut_at_spaces(piece: Piece, reading: Reading) -> list[tuple[Piece, Reading]]:
    """A reading with boxes and spaces, cut at the spaces."""
    parts = []
    for is_space, group in groupby(reading.characters, lambda c: c.character.isspace()):
        characters = tuple(group)
        boxes = [c.box for c in characters if c.box]
        if is_space or not boxes:
            continue
        left = floor(min(box.left for box in boxes))
        right = max(left + 1, ceil(max(box.right for box in boxes)))
        text = "".join(c.character for c in characters)
        confidence = prod(c.confidence for c in characters)
        _, top, _, bottom = piece.box
        part = replace(piece, box=(left, top, right, bottom))
        parts.append((part, Reading(text, confidence, characters)))
    return parts


def words_on_page(reads: Sequence[Read]) -> list[Word]:
    """The words of one line; their polygons leave out what detectors give around the letters."""
    spans = [_span(piece) for piece, _ in reads]
    texts = [reading.text for _, reading in reads]
    strip = reads[0][0].strip
    type_ = type_of(strip.ink, list(zip(texts, spans, strict=True)))
    boxes: list[Sides] = []
    for (piece, reading), span in zip(reads, spans, strict=True):
        boxes.append(_letters_of(piece, span))
        boxes += (_within(span, each.box) for each in reading.characters if each.box)
    corners = strip.polygons(np.array(boxes, float))
    sides = np.concatenate([corners.min(1), corners.max(1)], 1)
    places = zip(corners, starmap(Box, sides.tolist()), strict=True)
    words = []
    for (piece, reading), span in zip(reads, spans, strict=True):
        polygon, _ = next(places)
        characters = []
        for each in reading.characters:
            if each.box:
                _, box = next(places)
                # Less time than `replace` takes, for every character of a page
                each = Character(each.character, each.confidence, box, each.attention)
            characters.append(each)
        word = Word(
            text=reading.text,
            confidence=reading.confidence,
            polygon=polygon_of(polygon),
            characters=tuple(characters),
            size=type_.size,
            weight=type_.weight,
            is_struck=are_struck(span, strip.strikes),
            ink=_ink_of(piece, span),
        )
        words.append(word)
    return words


def polygon_of(corners: "Float[np.ndarray, '4 2']") -> Polygon:
    """The corners of a word as a page has them."""
    (x1, y1), (x2, y2), (x3, y3), (x4, y4) = corners.tolist()
    return (x1, y1), (x2, y2), (x3, y3), (x4, y4)


def _span(piece: Piece) -> tuple[float, float]:
    """Where the letters of a word begin and end in its strip."""
    left, top, right, bottom = piece.box
    beside = min(_BESIDE * (bottom - top), _MOST_BESIDE * (right - left))
    return trimmed(piece.strip.ink, left + beside, right - beside, room=beside)


def _letters_of(piece: Piece, span: tuple[float, float]) -> Sides:
    """The box of the letters of a word in its strip."""
    left, right = span
    _, top, _, bottom = piece.box
    above = _ABOVE * (bottom - top)
    return left, top + above, right, bottom - above


def _ink_of(piece: Piece, span: tuple[float, float]) -> tuple[float, float]:
    """Where the ink of a word begins and ends, over the height of the box of its letters."""
    _, top, _, bottom = _letters_of(piece, span)
    rows = inked_rows(piece.strip.ink, *span)
    if rows is None:
        return 0.0, 1.0
    first, end = rows
    return (first - top) / (bottom - top), (end - top) / (bottom - top)


def _within(span: tuple[float, float], box: Sides) -> Sides:
    """The box of a character, no farther than its word reaches."""
    left, right = span
    x1, y1, x2, y2 = box
    return min(max(x1, left), right), y1, max(min(x2, right), left), y2


def joined(left: Reading, right: Reading) -> Reading:
    """One reading of two that overlap, joined in the middle of the longest text that both hold."""
    match = SequenceMatcher(None, left.text, right.text, False).find_longest_match()
    size = match.size // 2
    characters = left.characters[: match.a + size] + right.characters[match.b + size :]
    if not match.size:
        characters = left.characters + right.characters
    text = "".join(character.character for character in characters)
    return Reading(text, prod(c.confidence for c in characters), characters)
