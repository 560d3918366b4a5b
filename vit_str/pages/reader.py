"""Whole pictures -> words: ``vit_str.load_page().read("receipt.jpg").text``."""

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from PIL import Image

from vit_str.decoding.readings import Reading, per_character
from vit_str.decoding.search import Search
from vit_str.engines.engine import open_engine
from vit_str.engines.opened_once import OpenedOnce
from vit_str.images.image_decoding import Source, without_array
from vit_str.images.loading import (
    BinaryFile,
    file_bytes,
    load_image,
    load_pages,
    source_name,
)
from vit_str.pages.arrange.choice import OpenNetwork, arrange_page
from vit_str.pages.arrange.grids import grids
from vit_str.pages.arrange.layout import arranged
from vit_str.pages.arrange.leveling import turned_pieces
from vit_str.pages.arrange.network import ArrangerNetwork, open_bundled
from vit_str.pages.find.detection import (
    RAPIDOCR,
    LineDetector,
    RapidDetector,
    find_lines,
    open_detector,
)
from vit_str.pages.find.geometry import (
    Quadrilateral,
    Strip,
    corners_from,
    leveling,
    rectangle,
    side_lengths,
    turn_points,
    upright,
)
from vit_str.pages.find.rules import find_rules
from vit_str.pages.page import Page, Rule, Word
from vit_str.pages.read.bullets import with_bullets
from vit_str.pages.read.check_boxes import (
    CheckBox,
    erased,
    find_check_boxes,
    holds_letter,
    is_in_line,
    with_check_boxes,
)
from vit_str.pages.read.directions import Directions
from vit_str.pages.read.doubles import without_doubles
from vit_str.pages.read.elisions import with_elisions
from vit_str.pages.read.pieces import (
    Piece,
    Read,
    joined,
    whole,
    words_of,
    words_on_page,
)
from vit_str.pages.read.quotes import with_low_quotes
from vit_str.pages.read.settling import MarkStyle, settled, with_apostrophes
from vit_str.pages.read.shapes import shapes_on
from vit_str.pages.read.spaces import without_odd_spaces
from vit_str.pages.read.underscores import (
    LOW_LINE,
    is_same_without_low_lines,
    with_low_lines,
)
from vit_str.scripts.evidence import (
    are_mostly_unknown,
    is_surer,
    sees_other_script,
    surest,
)
from vit_str.scripts.one_script import has_look_alikes, script_of_lines, with_one_script
from vit_str.scripts.registry import choose_weights, lines_of
from vit_str.scripts.script_detector import ScriptDetector
from vit_str.scripts.thresholds import DOUBTFUL, SURE
from vit_str.words.reader import Reader, reopening

_ReadLines = Callable[[Sequence[Quadrilateral], int], list["_Line"]]
"""Reads lines whose text is turned by some quarters to the right."""

MINIMUM_CONFIDENCE = 0.8
"""Geometric mean of the characters of a word: long words have more places to be wrong in."""
_PRINT = 40  # words from which on a picture is one of print, not of signs
_SENTENCE = 3  # words of a line of print from which on they are judged together
# Pixels up to which a flat picture may be a crop of a line that fills it
_CROP_HEIGHT = 300
_FLAT = 1.5  # width over height from which a picture is flat
_LONG_S = 0.2
"""Share of the letters s from which on print is that of books of before 1900, which have half."""
# Words, and the confidence of their characters below which all of them may be no text
_FEWEST_UNREADABLE = 12
_UNREADABLE = 0.7
_SHORT_WORD = 2  # characters of a word, up to which it may be in a list by chance
_DASHES = ("-", "–", "—")
_SPECK = 0.25
"""Share of the height of such a picture up to which what is found is no line, but a speck."""
_SAMPLE = 6  # lines that tell how a page was turned, and of what script it is
_DOUBTFUL = 0.98  # confidence below which a reader of words looks at a word too
_HEADSTART = 1.1
"""Times the confidence of the reader of words, which knows signs and accents better."""


@dataclass(frozen=True, slots=True, eq=False)
class PageReaders:
    """What reads a page: lines, and the words in them that the reader of lines doubts."""

    lines: Reader
    words: Reader | None  # None if lines are left as they are read


@dataclass(frozen=True, slots=True)
class _Line:
    """A line that was read in one direction."""

    quadrilateral: Quadrilateral
    # Turns to the right that bring the first side of its upright box to where the text begins
    quarters: int
    words: tuple[Read, ...]  # with a text
    readers: PageReaders  # that have read it
    whole: Reading

    @property
    def readings(self) -> list[Reading]:
        """The readings of the words."""
        return [reading for _, reading in self.words]

    @property
    def confidence(self) -> float:
        """The geometric mean of the confidences of its characters."""
        return per_character(self.readings)


class _Looks:
    """What was read of lines in some directions, and what that tells of their directions."""

    def __init__(self, found: Sequence[Quadrilateral]) -> None:
        self.found = found
        self.directions = Directions(found)
        self.read: dict[tuple[int, int], _Line] = {}

    def lines(self, places: Sequence[int], page: int) -> list[_Line]:
        """Lines in their most probable directions on a page."""
        return [self.read[n, self.directions.line(n, page)] for n in places]

    def settle_page(self, places: Sequence[int], page: int, read: _ReadLines) -> int:
        """Read lines until one is sure how the page is turned; return that."""
        while True:
            self.settle(places, page, read)
            page = self.directions.page(places)
            asked = self.directions.asked_of_page(places, page)
            if asked is None:
                return page
            self._look(asked[1], [asked[0]], read)

    def settle(self, places: Sequence[int], page: int, read: _ReadLines) -> None:
        """Read lines in all directions that could be theirs on a page."""
        while self.read_next(places, page, read):
            pass

    def read_next(self, places: Sequence[int], page: int, read: _ReadLines) -> bool:
        """Read each line in the next direction that could be its own; whether there was one."""
        asked: dict[int, list[int]] = {}
        for place in places:
            quarters = self.directions.asked_of_line(place, page)
            if quarters is not None:
                asked.setdefault(quarters, []).append(place)
        for quarters, those in asked.items():
            self._look(quarters, those, read)
        return bool(asked)

    def _look(self, quarters: int, places: Sequence[int], read: _ReadLines) -> None:
        lines = read([self.found[place] for place in places], quarters)
        for place, line in zip(places, lines, strict=True):
            self.read[place, quarters] = line
            text = line.whole.text
            self.directions.add(place, quarters, len(text), line.whole.confidence)


class PageReader:
    """Finds the words of whole pictures and reads them.

    Lines are read as a whole, which says where their words are. What a reader of lines doubts, a
    reader of words reads too, and the more confident of both is kept. In pictures of 40 words and
    more, which are print, it does so without other views of the words, unless its effort is
    "careful": these take a quarter of the time, and help with perspective and blur. Print with the
    long s, such as Fraktur, is left as the reader of lines reads it.

    Args:
        reader: reads words; or lines, which are then left as it reads them.
        detector: finds lines; that of ``rapidocr`` if None.
        lines: reads lines, if ``reader`` reads words; the weights of the package if None.
        minimum_confidence: words are left out whose characters have a lower geometric mean; in
            pictures of 40 words and more, unless the characters of their line have it.
        others: open readers of other scripts; each is called where the longest lines of a picture
            are doubtful. Every line then goes to the reader that is surer of it.
        arranger: opens the network that arranges pages; None for rules alone.
    """

    def __init__(
        self,
        reader: Reader,
        detector: LineDetector | None = None,
        lines: Reader | None = None,
        minimum_confidence: float = MINIMUM_CONFIDENCE,
        others: Sequence[Callable[[], PageReaders]] = (),
        arranger: OpenNetwork | None = open_bundled,
    ) -> None:
        self.reader = reader
        self.arranger = arranger
        self.detector = detector or RapidDetector()
        if reader.reads_lines:
            self.readers = PageReaders(reader, None)
        else:
            lines = lines or Reader(open_engine("line")).summing_look_alikes()
            self.readers = PageReaders(lines, reader)
        self.minimum_confidence = minimum_confidence
        self.others = tuple(map(OpenedOnce, others))
        self.reopen: Callable[[], PageReader] | None = None

    def __reduce__(self) -> tuple[Callable[[], "PageReader"], tuple[()]]:
        return reopening(self.reopen, "vit_str.load_page"), ()

    @property
    def lines(self) -> Reader:
        """What reads lines."""
        return self.readers.lines

    def read(self, source: Source, *, boxes: bool = False) -> Page:
        """The words of one picture.

        Args:
            source: a path, the bytes of a file, an open file, a Pillow image, an array or a tensor.
            boxes: say where every character is.

        Raises:
            UnreadableImage: for a file that is no picture, damaged or too large.
            ValueError: for an array of another shape or type than an image has.
        """
        path = source_name(source) if isinstance(source, str | os.PathLike) else None
        image = _first_picture(path or source)
        flat, found, bend = find_lines(self.detector, image)
        page = self._read_found(flat, found, path, boxes)
        return bend.restored(page, *image.size) if bend else page

    def _read_found(
        self,
        image: Image.Image,
        found: Sequence[Quadrilateral],
        path: str | None,
        boxes: bool,
    ) -> Page:
        """The words of a picture whose lines are found."""
        is_flat = image.height < _CROP_HEIGHT and image.width > _FLAT * image.height
        speck = _SPECK * image.height
        if is_flat and all(max(side_lengths(line)) < speck for line in found):
            # A crop of one upright line, of which no more than specks were found.
            crop = [rectangle(0, 0, *image.size)]
            lines, _ = self._read_first(image, crop, 0)
            direction = 0
        else:
            lines, direction = self._read_lines(image, found)
        lines, check_boxes = self._without_check_boxes(lines, image)
        lines = [self._without_strikes(line) for line in lines]
        if not self.reader.is_constrained:  # to texts that may be written so
            lines = list(map(_spaced, lines))
        lines = self._look_again(lines, boxes)
        readings = chain.from_iterable(line.readings for line in lines)
        unread = sum(reading.is_left_out for reading in readings)
        lines = self._in_one_script(lines)
        if self._is_unreadable(lines):
            unread += sum(len(line.words) for line in lines)
            lines = []
        lines = self._sure(lines)
        rules = find_rules(image)
        blocks = self._arrange(lines, direction, rules, image, check_boxes)
        page = Page(image.width, image.height, blocks, path, rules, unread=unread)
        if self.arranger is None:
            return page
        shapes = shapes_on(page, image, check_boxes, direction)
        return arrange_page(self.arranger(), page, shapes)

    def _read_lines(
        self, image: Image.Image, found: Sequence[Quadrilateral]
    ) -> tuple[list[_Line], int]:
        """All lines, and the quarter turns to the right of the text on the page.

        The longest lines tell how the page is turned and what script it has, before all others are
        read; a line is read in other directions where these could be more probable.
        """
        looks = _Looks(found)
        places = sorted(range(len(found)), key=lambda n: -max(side_lengths(found[n])))
        longest = places[:_SAMPLE]
        direction = looks.directions.first_page()
        readers: Sequence[PageReaders] = (self.readers,)

        def read_first(lines: Sequence[Quadrilateral], quarters: int) -> list[_Line]:
            nonlocal readers
            read, readers = self._read_first(image, lines, quarters)
            return read

        def read(lines: Sequence[Quadrilateral], quarters: int) -> list[_Line]:
            return self._read_by(readers, image, lines, quarters)

        looks.read_next(longest, direction, read_first)
        direction = looks.settle_page(longest, direction, read)
        lines = looks.lines(longest, direction)
        is_asked_for = self.reader.language is not None
        if not is_asked_for and all(line.readers is self.readers for line in lines):
            readers = (self.readers,)
        tried = set()
        # What lines tell each other depends on the direction of their page
        while direction not in tried:
            tried.add(direction)
            looks.settle(places, direction, read)
            if looks.directions.expect_more(places, direction):
                looks.settle(places, direction, read)
            if looks.directions.disagree(places, direction):
                direction = looks.settle_page(places, direction, read)
        return looks.lines(places, direction), direction

    def _read_first(
        self, image: Image.Image, found: Sequence[Quadrilateral], quarters: int
    ) -> tuple[list[_Line], Sequence[PageReaders]]:
        """Lines that tell of what script a page is, and what has read them.

        Readers of other scripts do so where those of the page are in doubt, or where languages of
        several scripts are asked for.
        """
        lines = self._in_direction(image, found, quarters, self.readers)
        if not self.others or not self._may_be_of_other_script(lines):
            return lines, (self.readers,)
        others = [open_readers() for open_readers in self.others]
        again = [self._in_direction(image, found, quarters, each) for each in others]
        lines = _surest(lines, again)
        seen = {id(line.readers) for line in lines}
        # Where nobody says what to expect, readers that no line went to are done
        is_asked_for = self.reader.language is not None
        kept = [each for each in others if is_asked_for or id(each) in seen]
        return lines, (self.readers, *kept)

    def _may_be_of_other_script(self, lines: Sequence[_Line]) -> bool:
        """Whether to read lines by other readers too: asked for, doubtful, or no words."""
        if self.reader.language is not None or _confidence(lines) < DOUBTFUL:
            return True
        readings = [reading for line in lines for reading in line.readings]
        return are_mostly_unknown(readings, self.readers.lines.known_words)

    def _read_by(
        self,
        readers: Sequence[PageReaders],
        image: Image.Image,
        found: Sequence[Quadrilateral],
        quarters: int,
    ) -> list[_Line]:
        """Lines as the surest of some readers reads each."""
        first, *others = readers
        lines = self._in_direction(image, found, quarters, first)
        again = [self._in_direction(image, found, quarters, each) for each in others]
        return _surest(lines, again)

    def _in_direction(
        self,
        image: Image.Image,
        found: Sequence[Quadrilateral],
        quarters: int,
        readers: PageReaders,
    ) -> list[_Line]:
        """Lines whose text is turned by some quarters to the right."""
        corners = [corners_from(line, quarters) for line in found]
        pieces = [whole(Strip(image, around)) for around in corners]
        order = sorted(range(len(pieces)), key=lambda index: pieces[index].aspect)
        images = [pieces[index].image for index in order]
        read = readers.lines.read(images, boxes=True)
        readings = dict(zip(order, read, strict=True))
        lines = []
        for index, quadrilateral in enumerate(found):
            piece, reading = pieces[index], readings[index]
            if piece.aspect < 1:  # it was widened
                reading = piece.in_strip(reading)
            words = words_of(piece, reading)
            lines.append(_Line(quadrilateral, quarters, words, readers, reading))
        return lines

    def _without_check_boxes(
        self, lines: Sequence[_Line], image: Image.Image
    ) -> tuple[list[_Line], list[CheckBox]]:
        """Lines as they are read without the boxes to tick in them, and these boxes."""
        if self.reader.is_constrained:  # to texts that may have no sign for them
            return list(lines), []
        words = list(chain.from_iterable(line.words for line in lines))
        boxes = [
            box
            for box in find_check_boxes(image, [line.quadrilateral for line in lines])
            if not holds_letter(words, box)
        ]
        if not boxes:
            return list(lines), []
        without = erased(image, boxes)
        kept = []
        for line in lines:
            around = line.quadrilateral
            if any(is_in_line(box, around) for box in boxes):
                read = self._in_direction(
                    without, [around], line.quarters, line.readers
                )
                kept += read
            else:
                kept.append(line)
        return kept, boxes

    @staticmethod
    def _without_strikes(line: _Line) -> _Line:
        """A line as it is read without strokes through its words, if it has some."""
        strip = line.words[0][0].strip
        cleaned = strip.without_strikes()
        if cleaned is strip:
            return line
        piece = whole(cleaned)
        [reading] = line.readers.lines.read([piece.image], boxes=True)
        return replace(line, words=words_of(piece, reading), whole=reading)

    def _look_again(self, lines: Sequence[_Line], boxes: bool) -> list[_Line]:
        """Lines whose doubtful words are as the surer of both of its readers reads them."""
        renewed = list(lines)
        if _is_old_print(lines) and not self.reader.is_constrained:
            return renewed
        is_print = _is_print(lines)
        style = MarkStyle()  # nothing told, where not every mark is allowed
        if not self.reader.is_constrained:
            style = MarkStyle.of(chain.from_iterable(line.readings for line in lines))
        for readers in dict.fromkeys(line.readers for line in lines):
            reader = readers.words
            if reader is None:
                continue
            if is_print and reader.effort != "careful":
                reader = reader.without_augmentation()
            own = {n: line for n, line in enumerate(lines) if line.readers is readers}
            again = self._words_again(reader, list(own.values()), style, boxes)
            for place, line in zip(own, again, strict=True):
                renewed[place] = line
        return renewed

    def _words_again(
        self, reader: Reader, lines: Sequence[_Line], style: MarkStyle, boxes: bool
    ) -> list[_Line]:
        words = list(chain.from_iterable(line.words for line in lines))
        doubtful = [piece for piece, reading in words if _is_doubtful(reader, reading)]
        again = iter(_read_pieces(reader, doubtful, boxes))
        renewed = []
        for line in lines:
            surest = []
            for piece, reading in line.words:
                if _is_doubtful(reader, reading):
                    reading = _surer(reader, reading, next(again), style)
                surest.append((piece, with_apostrophes(reading, style)))
            renewed.append(replace(line, words=tuple(surest)))
        return renewed

    def _in_one_script(self, lines: Sequence[_Line]) -> list[_Line]:
        """Lines whose words have the letters of one script each, that of their page in doubt."""
        if self.reader.is_constrained:
            return list(lines)
        charsets = {line.readers.lines.charset for line in lines}
        if not any(map(has_look_alikes, charsets)):
            return list(lines)
        texts = (" ".join(each.text for each in line.readings) for line in lines)
        page = script_of_lines(texts)
        renewed = []
        for line in lines:
            charset = line.readers.lines.charset
            language = self.reader.language
            readings = with_one_script(line.readings, charset, language, page)
            pieces = (piece for piece, _ in line.words)
            words = tuple(zip(pieces, readings, strict=True))
            renewed.append(replace(line, words=words))
        return renewed

    def _is_unreadable(self, lines: Sequence[_Line]) -> bool:
        """Whether many words are read, nearly all in doubt, and the others are in no list.

        A script that nobody here reads looks so; print that is hard to read has known words.
        """
        readings = [each for line in lines for each in line.readings if each.text]
        least = min(_UNREADABLE, self.minimum_confidence)
        if len(readings) < _FEWEST_UNREADABLE or per_character(readings) >= least:
            return False
        known = 0
        sure = 0
        for line in lines:
            words = line.readers.lines.known_words
            for reading in line.readings:
                is_sure = per_character([reading]) >= self.minimum_confidence
                if is_sure and len(reading.text) > _SHORT_WORD:
                    sure += 1
                    known += words is None or words.holds(reading.text)
        return known <= sure / 2

    def _sure(self, lines: Sequence[_Line]) -> list[_Line]:
        """Lines with the words that are sure enough.

        A word is worth the confidence of its characters; a code or number the mean of that and the
        one of the surest word of its line: beside sure words it is text, if a doubtful one. Where
        there are many words, three and more of a line are judged together: in print, short words
        and marks are as right as their neighbors; photographs hold much that is no text, and
        strokes are no dashes there. Between two sure words a mark is text.
        """
        is_print = _is_print(lines)
        sure = []
        for line in lines:
            least = self.minimum_confidence
            together = is_print and len(line.words) >= _SENTENCE
            if together and line.confidence >= least:
                least = 0.0
            is_stroke = not is_print and line.whole.text.strip() in _DASHES
            worth = [0.0 if is_stroke else each for each in _worth(line.readings)]
            is_sure = [
                bool(reading.text) and each >= least
                for reading, each in zip(line.readings, worth, strict=True)
            ]
            words = []
            for place, (piece, reading) in enumerate(line.words):
                if is_sure[place] or _is_mark_between(reading, is_sure, place):
                    words.append((piece, reading))
            sure.append(replace(line, words=tuple(words)))
        return sure

    def _arrange(
        self,
        lines: Sequence[_Line],
        direction: int,
        rules: Sequence[Rule],
        image: Image.Image,
        check_boxes: Sequence[CheckBox] = (),
    ) -> tuple[tuple[tuple[Word, ...], ...], ...]:
        """Words of the lines in reading order, with bullets before them, and boxes to tick."""
        lines = [line for line in lines if line.words]
        on_page = [words_on_page(line.words) for line in lines]
        words = without_doubles([line.words for line in lines], on_page)
        lines = [line for line, left in zip(lines, words, strict=True) if left]
        words = [left for left in words if left]
        quadrilaterals = [line.quadrilateral for line in lines]
        turned = [upright(turn_points(each, -direction)) for each in quadrilaterals]
        level = leveling(turned)

        def leveled(points: Any) -> Any:
            return turn_points(np.array(points), -direction) @ level

        def boxes_of(line: Sequence[Word]) -> list[np.ndarray]:
            corners = leveled([word.polygon for word in line])
            return list(np.concatenate([corners.min(1), corners.max(1)], 1))

        if _is_print(lines):  # lists are in print, and photographs full of spots
            words = with_bullets(image, words)
        quarters = [line.quarters for line in lines]
        words, alone = with_check_boxes(words, check_boxes, quadrilaterals, quarters)
        if not _is_print(lines):  # photographs are full of squares
            alone = []
        for box in alone:
            words.append([box])
            turned.append(upright(turn_points(np.array(box.polygon), -direction)))
        line_boxes = [_box_of(points @ level) for points in turned]
        units, line_boxes = _in_units(words, line_boxes, direction, boxes_of)
        unit_boxes = [[_around(boxes_of(unit)) for unit in line] for line in units]
        sides = [tuple(box) for box in chain.from_iterable(unit_boxes)]
        blocks = arranged(
            lines=units,
            line_boxes=line_boxes,
            word_boxes=unit_boxes,
            grids=grids([leveled(rule) for rule in rules], max(image.size), sides),
        )
        rows = [[list(chain.from_iterable(row)) for row in block] for block in blocks]
        return tuple(map(self._with_marks, rows))

    def _with_marks(
        self, rows: Sequence[Sequence[Word]]
    ) -> tuple[tuple[Word, ...], ...]:
        """Rows of words, with quotation marks that readers have no signs for, and articles."""
        words = list(chain.from_iterable(rows))
        if not self.reader.is_constrained:  # to texts without such marks
            words = with_elisions(with_low_quotes(words))
        following = iter(words)
        return tuple(tuple(islice(following, len(row))) for row in rows)


def _first_picture(source: Any) -> Image.Image:
    """The first picture of a file at full size, or what is one already; upright and in RGB."""
    if isinstance(source, BinaryFile):
        source = file_bytes(source, source_name(source))
    if isinstance(source, str | bytes):
        return next(load_pages(source))
    return load_image(without_array(source))


def _box_of(points: np.ndarray) -> np.ndarray:
    """Left, top, right and bottom of some points."""
    return np.concatenate([points.min(0), points.max(0)])


def _spaced(line: _Line) -> _Line:
    """A line with low lines where there are strokes, and without odd spaces."""
    strip = line.words[0][0].strip
    reading = without_odd_spaces(strip, with_low_lines(strip, line.whole))
    if reading is line.whole:
        return line
    return replace(line, words=words_of(whole(strip), reading), whole=reading)


def _around(boxes: Sequence[np.ndarray]) -> np.ndarray:
    """The box around some boxes."""
    sides = np.array(boxes)
    return np.concatenate([sides[:, :2].min(0), sides[:, 2:].max(0)])


def _in_units(
    lines: Sequence[Sequence[Word]],
    line_boxes: Sequence[np.ndarray],
    direction: int,
    boxes_of: Callable[[Sequence[Word]], list[np.ndarray]],
) -> tuple[list[list[tuple[Word, ...]]], list[np.ndarray]]:
    """Lines of words that are arranged one by one, and lines across the page that stay whole.

    Args:
        lines: words of each.
        line_boxes: of each, level.
        direction: of the page, in quarters to the right.
        boxes_of: the level boxes of words.
    """
    words = list(chain.from_iterable(lines))
    polygons = np.array([word.polygon for word in words], float).reshape(-1, 4, 2)
    pieces = turned_pieces(polygons, direction * math.pi / 2)
    across = set(chain.from_iterable(piece.tolist() for piece in pieces))
    numbers = iter(range(len(words)))
    units: list[list[tuple[Word, ...]]] = []
    boxes = []
    for line, box in zip(lines, line_boxes, strict=True):
        kept: list[tuple[Word, ...]] = [
            (word,) for word in line if next(numbers) not in across
        ]
        if kept:
            units.append(kept)
            boxes.append(box)
    for piece in pieces:
        unit = tuple(words[number] for number in piece)
        units.append([unit])
        boxes.append(_around(boxes_of(unit)))
    return units, boxes


def _is_print(lines: Sequence[_Line]) -> bool:
    """Whether a picture holds as many words as a page of print, and is no photograph of signs."""
    return sum(len(line.words) for line in lines) >= _PRINT


def _is_old_print(lines: Sequence[_Line]) -> bool:
    """Whether a picture is of the time of the long s, and may be Fraktur.

    Readers of words have seen little of that, and are confident where they read it wrong: k as f,
    S as G.
    """
    text = " ".join(reading.text for line in lines for reading in line.readings)
    long = text.count("ſ")
    return long > _LONG_S * (long + text.count("s"))


def _surest(own: Sequence[_Line], others: Sequence[Sequence[_Line]]) -> list[_Line]:
    """Each line as it is read, or as the surest reader of other scripts if one is surer."""
    lines = []
    for first, *seconds in zip(own, *others, strict=True):
        charset = first.readers.lines.charset
        believed: list[list[Reading] | None] = []
        for second in seconds:
            texts = first.readings, second.readings
            is_better = sees_other_script(*texts, charset) or is_surer(*texts, charset)
            believed.append(second.readings if is_better else None)
        place = surest(first.readings, believed)
        lines.append(first if place is None else seconds[place])
    return lines


def _is_doubtful(reader: Reader, reading: Reading) -> bool:
    """Whether a reader of words looks at a word too; at all, if not every text is allowed."""
    return reader.is_constrained or per_character([reading]) < _DOUBTFUL


def _worth(readings: Sequence[Reading]) -> list[float]:
    """What each word of a line is worth, 0 to 1: its confidence, and for codes that of its line.

    What holds digits is text beside a sure word, and no list of words makes it surer.
    """
    own = [per_character([reading]) for reading in readings]
    surest = max(own, default=0.0)
    worth = []
    for each, reading in zip(own, readings, strict=True):
        is_code = any(map(str.isdigit, reading.text))
        worth.append(math.sqrt(each * surest) if is_code else each)
    return worth


def _is_mark_between(reading: Reading, is_sure: Sequence[bool], place: int) -> bool:
    """Whether a reading has no letters or digits, and stands between two sure words."""
    if not reading.text or any(map(str.isalnum, reading.text)):
        return False
    return 0 < place < len(is_sure) - 1 and is_sure[place - 1] and is_sure[place + 1]


def _surer(reader: Reader, line: Reading, word: Reading, style: MarkStyle) -> Reading:
    """What is read more surely: a word as a part of its line, or by itself.

    Neither is, where the word is in a script that no reader knows, and its line is not sure.
    """
    if reader.is_constrained or not line.text:
        return word
    if word.is_left_out and per_character([line]) < SURE:
        return word
    if LOW_LINE in line.text and is_same_without_low_lines(line.text, word.text):
        return line  # its strokes were measured
    is_better = _HEADSTART * per_character([word]) > per_character([line])
    return settled(word if is_better else line, line, word, style)


def _read_pieces(reader: Reader, pieces: Sequence[Piece], boxes: bool) -> list[Reading]:
    """Readings of words; what fills the reader is read again as two halves that overlap.

    A piece that is no wider than high is not halved: what fills the reader there is no text.
    """
    found = reader.read([piece.image for piece in pieces], boxes=boxes)
    readings = [piece.in_strip(each) for piece, each in zip(pieces, found, strict=True)]
    full = []
    for index, (piece, reading) in enumerate(zip(pieces, readings, strict=True)):
        if len(reading.text) >= reader.maximum_length and piece.aspect > 1:
            full.append(index)
    if full:
        halves = list(chain.from_iterable(pieces[index].halves() for index in full))
        parts = iter(_read_pieces(reader, halves, boxes))
        for index in full:
            readings[index] = joined(next(parts), next(parts))
    return readings


def _confidence(lines: Sequence[_Line]) -> float:
    return fmean(line.confidence for line in lines) if lines else 0.0


def load_page(
    name_or_path: str | Path = "tiny",
    device: str = "auto",
    *,
    backend: str = "auto",
    effort: str | None = None,
    search: Search | None = None,
    minimum_confidence: float = MINIMUM_CONFIDENCE,
    arranger: str | Path | None = None,
    detector: str = RAPIDOCR,
) -> PageReader:
    """A page reader with the weights of the package or of a file, see ``vit_str.load``.

    Those of the package are the ones that read the language of the search; without one, weights of
    other scripts read the lines that those of Latin letters doubt.

    A reader of words looks at what the bundled reader of lines doubts, and larger weights at what
    it doubts itself; another reader of lines reads alone.

    Args:
        name_or_path: weights of words or of lines, see ``vit_str.load``.
        device: see ``vit_str.load``.
        backend: see ``vit_str.load``.
        effort: ``fast`` reads every word once; ``careful`` reads doubtful words of print in other
            views too; None only those of photographs.
        search: which readings to look for; None for the most probable.
        minimum_confidence: 0 to 1; words whose characters have a lower geometric mean are left out.
        arranger: a network of your own that arranges pages, an ``.onnx`` file that
            ``vit-str export`` has written; that of the package if None.
        detector: what finds lines, see `open_detector`.

    Raises:
        ValueError: no such weights or device, no weights for a language, or ``rapidocr`` is not
            installed.
    """
    chosen = choose_weights(name_or_path, search)

    def open_words(path: str | Path) -> Reader:
        return Reader(open_engine(path, device, backend), effort=effort, search=search)

    def open_readers(
        path: str | Path,
        second: Path | None = None,
        detector: ScriptDetector | None = None,
    ) -> PageReaders:
        engine = open_engine(path, device, backend)
        reads_lines = bool(engine.model.preprocessing.width_step)
        if reads_lines:
            # They are what "fast" reads with
            own_effort = None if effort == "fast" else effort
            alone = Reader(engine, effort=own_effort, search=search)
            return PageReaders(alone.summing_look_alikes(), None)
        lines = Reader(open_engine(lines_of(path), device, backend))
        words = Reader(
            engine,
            effort=effort,
            search=search,
            detector=detector,
            second=partial(open_words, second) if second else None,
        )
        return PageReaders(lines.summing_look_alikes(), words)

    own = open_readers(chosen.first, chosen.second, chosen.detector())
    others = [partial(open_readers, other) for other in chosen.others]
    reader = PageReader(
        own.words or own.lines,
        None if detector == RAPIDOCR else open_detector(detector),
        own.lines,
        minimum_confidence,
        others,
        open_bundled if arranger is None else _opened_at(Path(arranger)),
    )
    reader.reopen = partial(
        load_page,
        name_or_path,
        device,
        backend=backend,
        effort=effort,
        search=search,
        minimum_confidence=minimum_confidence,
        arranger=arranger,
        detector=detector,
    )
    return reader


def _opened_at(path: Path) -> OpenNetwork:
    """A network of the user, opened now: a mistake is told before a page is read."""
    network = ArrangerNetwork(path)
    return lambda: network
