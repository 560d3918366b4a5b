"""Whole pictures -> words: ``vit_str.load_page().read("receipt.jpg").text``."""

import os
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from PIL import Image

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
from vit_str.pages.arrange.network import ArrangerNetwork, open_bundled
from vit_str.pages.find.detection import LineDetector, find_lines
from vit_str.pages.find.detectors import AUTO, open_detector
from vit_str.pages.find.geometry import Quadrilateral, rectangle, side_lengths
from vit_str.pages.find.rules import find_rules
from vit_str.pages.page import Page
from vit_str.pages.read.check_boxes import CheckBox, erased
from vit_str.pages.read.doubtful_words import with_doubtful_words_again
from vit_str.pages.read.line_corrections import (
    with_true_spaces,
    without_check_boxes,
    without_strikes,
)
from vit_str.pages.read.line_scripts import ScriptReaders, in_one_script
from vit_str.pages.read.lines import Line, PageReaders
from vit_str.pages.read.lone_digits import with_lone_digits
from vit_str.pages.read.reading_order import in_reading_order, with_quotes_and_elisions
from vit_str.pages.read.shapes import shapes_on
from vit_str.pages.read.sure_words import (
    MINIMUM_CONFIDENCE,
    is_unreadable,
    with_sure_words,
)
from vit_str.pages.read.turned_lines import read_turned_lines
from vit_str.scripts.registry import choose_weights, lines_of
from vit_str.scripts.script_detector import ScriptDetector
from vit_str.words.reader import Reader, reopening

# Pixels up to which a flat picture may be a crop of a line that fills it
_CROP_HEIGHT = 300
_FLAT = 1.5  # width over height from which a picture is flat
_SPECK = 0.25
"""Share of the height of such a picture up to which what is found is no line, but a speck."""


class PageReader:
    """Finds the words of whole pictures and reads them.

    Lines are read as a whole, which says where their words are. What a reader of lines doubts, a
    reader of words reads too, and the more confident of both is kept. In pictures of 40 words and
    more, which are print, it does so without test-time augmentation, unless its effort is
    "careful": that takes a quarter of the time, and helps with perspective and blur. Print with the
    long s, such as Fraktur, is left as the reader of lines reads it.

    Args:
        reader: reads words; or lines, which are then left as it reads them.
        detector: finds lines; see `open_detector` if None.
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
        self.detector = detector or open_detector()
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
        """The reader of lines."""
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
        scripts = ScriptReaders(self.readers, self.others, self.reader.language)
        lines, direction = _read_lines(scripts, image, found)
        lines, check_boxes = self._corrected(lines, image)
        lines = with_doubtful_words_again(lines, boxes, self.reader.is_constrained)
        lines = self._with_lines_of_others(scripts, lines, image, check_boxes, boxes)
        lines, unread = self._without_doubt(lines)
        rules = find_rules(image)
        blocks = in_reading_order(lines, direction, rules, image, check_boxes)
        if not self.reader.is_constrained:  # to texts without such marks
            blocks = tuple(map(with_quotes_and_elisions, blocks))
        page = Page(image.width, image.height, blocks, path, rules, unread=unread)
        if self.arranger is None:
            return page
        shapes = shapes_on(page, image, check_boxes, direction)
        return arrange_page(self.arranger(), page, shapes)

    def _corrected(
        self, lines: Sequence[Line], image: Image.Image
    ) -> tuple[list[Line], list[CheckBox]]:
        """Lines without boxes to tick, strokes and odd spaces, and these boxes."""
        if self.reader.is_constrained:  # to texts that may have no sign for them
            return list(map(without_strikes, lines)), []
        lines, check_boxes = without_check_boxes(lines, image)
        without = map(without_strikes, lines)
        return list(map(with_true_spaces, without)), check_boxes

    def _with_lines_of_others(
        self,
        scripts: ScriptReaders,
        lines: Sequence[Line],
        image: Image.Image,
        check_boxes: Sequence[CheckBox],
        boxes: bool,
    ) -> list[Line]:
        """Lines, of which those of other scripts are read as a page of these is."""
        if self.reader.is_constrained or not scripts.others:
            return list(lines)
        seen = erased(image, check_boxes)
        lines, places = scripts.with_lines_of_others(lines, seen)
        for place in places:
            lines[place] = with_true_spaces(without_strikes(lines[place]))
        if not places:
            return lines
        return with_doubtful_words_again(lines, boxes, False, places)

    def _without_doubt(self, lines: Sequence[Line]) -> tuple[list[Line], int]:
        """Lines with the words that are text, and how many are in scripts that nobody reads."""
        readings = chain.from_iterable(line.readings for line in lines)
        unread = sum(reading.is_left_out for reading in readings)
        if not self.reader.is_constrained:
            lines = with_lone_digits(lines)
            lines = in_one_script(lines, self.reader.language)
        if is_unreadable(lines, self.minimum_confidence):
            return [], unread + sum(len(line.words) for line in lines)
        return with_sure_words(lines, self.minimum_confidence), unread


def _read_lines(
    scripts: ScriptReaders, image: Image.Image, found: Sequence[Quadrilateral]
) -> tuple[list[Line], int]:
    """All lines, and the quarter turns to the right of the text on the page."""
    is_flat = image.height < _CROP_HEIGHT and image.width > _FLAT * image.height
    speck = _SPECK * image.height
    if is_flat and all(max(side_lengths(line)) < speck for line in found):
        # A crop of one upright line, of which no more than specks were found.
        crop = [rectangle(0, 0, *image.size)]
        lines, _ = scripts.read_first(image, crop, 0)
        return lines, 0
    return read_turned_lines(scripts, image, found)


def _first_picture(source: Any) -> Image.Image:
    """The first picture of a file at full size, or what is one already; upright and in RGB."""
    if isinstance(source, BinaryFile):
        source = file_bytes(source, source_name(source))
    if isinstance(source, str | bytes):
        return next(load_pages(source))
    return load_image(without_array(source))


def load_page(
    name_or_path: str | Path = "tiny",
    device: str = "auto",
    *,
    backend: str = "auto",
    effort: str | None = None,
    search: Search | None = None,
    minimum_confidence: float = MINIMUM_CONFIDENCE,
    arranger: str | Path | None = None,
    detector: str = AUTO,
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
        effort: ``fast`` reads every word once; ``careful`` uses test-time augmentation for
            doubtful words of print too; None only for those of photographs.
        search: which readings to look for; None for the most probable.
        minimum_confidence: 0 to 1; words whose characters have a lower geometric mean are left out.
        arranger: a network of your own that arranges pages, an ``.onnx`` file that
            ``vit-str export`` has written; that of the package if None.
        detector: what finds lines, see `open_detector`.

    Raises:
        ValueError: no such weights or device, no weights for a language, no such detector, or it is
            not installed.
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
        open_detector(detector),
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
