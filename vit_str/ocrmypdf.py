"""Searchable PDF files through OCRmyPDF: ``ocrmypdf --plugin vit_str.ocrmypdf scan.pdf out.pdf``.

Where the extra ``ocrmypdf`` is installed, ``ocrmypdf --ocr-engine vit-str`` is the same.
"""

import logging
import os
import threading
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from ocrmypdf import hookimpl
from ocrmypdf.exceptions import BadArgsError
from ocrmypdf.languages import ISO_639_3
from ocrmypdf.pluginspec import OcrEngine, OrientationConfidence
from PIL import Image

import vit_str
from vit_str.decoding.prior import NO_LANGUAGE, known_languages
from vit_str.decoding.search import Search
from vit_str.engines.opened_once import OpenedOnce
from vit_str.images.loading import load_image
from vit_str.images.refusals import UnreadableImage
from vit_str.machine import THREADS, cpu_count, use_threads
from vit_str.pages.arrange.frame import text_quarters
from vit_str.pages.find.detection import LineDetector
from vit_str.pages.find.detectors import open_detector
from vit_str.pages.find.geometry import Quadrilateral, side_lengths
from vit_str.pages.page import Page
from vit_str.pages.read.lines import PageReaders
from vit_str.pages.reader import PageReader, load_page
from vit_str.pages.write.hocr import hocr
from vit_str.pages.write.text_layer import TextLayer

NAME = "vit-str"
_MODEL = "--vit-str-model"
_SURE = 20.0
"""A confidence of 1 in the unit of Tesseract, which ``--rotate-pages-threshold`` (14) is in."""
_SAMPLE = 12  # lines that tell how a page is turned
_LONG = 3.0  # length over height of a line whose slope tells how a page is tilted

log = logging.getLogger(__name__)


class VitStrEngine(OcrEngine):
    """Finds and reads the words of page images."""

    @staticmethod
    def version() -> str:
        """The version of this package."""
        return vit_str.__version__

    @staticmethod
    def creator_tag(options: Any) -> str:
        """The name in the PDF file of what its text comes from."""
        return f"vit-str {vit_str.__version__}"

    def __str__(self) -> str:
        """Name in messages of OCRmyPDF."""
        return f"vit-str {vit_str.__version__}"

    @staticmethod
    def languages(options: Any) -> set[str]:
        """Codes that ``-l`` takes: languages whose words and letters to expect."""
        return {*_languages(), *known_languages(), NO_LANGUAGE}

    @staticmethod
    def get_orientation(input_file: Path, options: Any) -> OrientationConfidence:
        """How a page is turned: its longest lines are read."""
        whole = _reader(options)
        reader = _lines_alone(whole)
        words = _read(reader, input_file).words
        if not words:
            return OrientationConfidence(angle=0, confidence=0.0)
        sure = _SURE * float(np.mean([word.confidence for word in words]))
        return OrientationConfidence(angle=90 * text_quarters(words), confidence=sure)

    @staticmethod
    def get_deskew(input_file: Path, options: Any) -> float:
        """By how many degrees to turn a page to the left until its lines are level.

        One that cannot be read stays as it is; `generate_hocr` warns of it.
        """
        detector = _reader(options).detector
        try:
            lines = detector.lines(load_image(input_file))
        except UnreadableImage:
            return 0.0
        along = [q[1] - q[0] for q in lines if _is_long(q)]
        angles = [np.arctan2(y, x) for x, y in along]
        return float(np.degrees(np.median(angles or [0.0])))

    @staticmethod
    def generate_hocr(
        input_file: Path,
        output_hocr: Path,
        output_text: Path,
        options: Any,
    ) -> None:
        """Write what a page says and where."""
        page = _read(_reader(options), input_file)
        if text_quarters(page.words):
            log.warning(
                "text runs down or upside down, and is copied so; try --rotate-pages"
            )
        layer = TextLayer(page)
        text = hocr(input_file.name, {1: layer.page}, layer.title)
        output_hocr.write_text(text, encoding="utf-8")
        output_text.write_text(f"{page.text}\n", encoding="utf-8")

    @staticmethod
    def generate_pdf(
        input_file: Path,
        output_pdf: Path,
        output_text: Path,
        options: Any,
    ) -> None:
        """Refused by ``check_options`` before it comes to this."""
        raise NotImplementedError


class _Longest:
    """The longest of the lines that another detector finds."""

    def __init__(self, detector: LineDetector) -> None:
        self._detector = detector

    def lines(self, image: Image.Image) -> list[Quadrilateral]:
        """See `LineDetector`."""
        found = self._detector.lines(image)
        return sorted(found, key=lambda each: -max(side_lengths(each)))[:_SAMPLE]


class Plugin:
    """The hooks of OCRmyPDF.

    Args:
        engines: names under which ``--ocr-engine`` asks for this engine.
    """

    def __init__(self, *engines: str) -> None:
        self._engines = engines

    @hookimpl
    def add_options(self, parser: ArgumentParser) -> None:
        """Add the options of this plug-in; it may be there twice, installed and asked for."""
        actions = parser._option_string_actions
        if _MODEL not in actions:
            group = parser.add_argument_group(
                NAME, "Options of the plug-in vit_str.ocrmypdf"
            )
            group.add_argument(
                _MODEL,
                default="tiny",
                metavar="NAME|FILE",
                help="weights of the package, a .safetensors file, or a folder of vit-str export",
            )
        engine = actions.get("--ocr-engine")  # since OCRmyPDF 17
        if engine and engine.choices and NAME not in engine.choices:
            engine.choices = [*engine.choices, NAME]

    @hookimpl
    def check_options(self, options: Any) -> None:
        """Refuse what there is not, before any page is drawn."""
        if not self.get_ocr_engine(options):
            return
        if options.pdf_renderer == "sandwich":
            raise BadArgsError(
                "vit-str gives words as hOCR: leave out --pdf-renderer sandwich"
            )
        try:
            _reader(options)
        except ValueError as error:
            raise BadArgsError(str(error)) from None

    @hookimpl
    def validate(self, pdfinfo: Sequence[Any], options: Any) -> None:
        """Share the processors between the pages that are read at the same time."""
        if self.get_ocr_engine(options) and THREADS not in os.environ:
            jobs = min(len(pdfinfo), options.jobs or cpu_count())
            use_threads(max(1, cpu_count() // max(1, jobs)))

    @hookimpl
    def get_ocr_engine(self, options: Any) -> OcrEngine | None:
        """The engine, unless another one is asked for."""
        asked = getattr(options, "ocr_engine", "auto")
        return VitStrEngine() if asked in self._engines else None


installed = Plugin(NAME)
"""The entry point of the package, which leaves others as they are until it is asked for."""
_named = Plugin("auto", NAME)
add_options = _named.add_options
get_ocr_engine = _named.get_ocr_engine
check_options = _named.check_options
validate = _named.validate


def _read(reader: PageReader, path: Path) -> Page:
    """A page; an empty one, with a warning, where it cannot be read."""
    try:
        return reader.read(path)
    except UnreadableImage as error:
        log.warning("%s: no text", error)
        # Of any size, also one that is too large to be read
        with Image.open(path) as image:
            width, height = image.size
        return Page(width, height, ())


def _reader(options: Any) -> PageReader:
    known = _languages()
    codes = [known.get(code, code) for code in options.languages]
    model = getattr(options, "vit_str_model", "tiny")
    whole = _load(model, "+".join(dict.fromkeys(codes)))
    detector = _detector(threading.get_ident())
    return PageReader(whole.reader, detector, whole.lines, others=whole.others)


def _lines_alone(whole: PageReader) -> PageReader:
    """A reader of the longest lines of a page, which does not look at their words again."""

    def lines_of(open_other: Callable[[], PageReaders]) -> PageReaders:
        return PageReaders(open_other().lines, None)

    return PageReader(
        whole.lines,
        _Longest(whole.detector),
        minimum_confidence=0.0,
        others=[partial(lines_of, each) for each in whole.others],
    )


def _opened(model: str, language: str) -> PageReader:
    """Reads on the CPU: a GPU is lost in the processes that OCRmyPDF may fork."""
    return load_page(model, "cpu", search=Search(language=language))


_load = OpenedOnce(_opened, size=128)


@lru_cache(maxsize=64)
def _detector(thread: int) -> LineDetector:
    """One for each thread: it keeps the size of its image."""
    return open_detector()


@lru_cache
def _languages() -> dict[str, str]:
    """Codes of three letters, as Tesseract has them -> of languages with known words."""
    codes = {}
    for code, names in ISO_639_3.items():
        if names.alpha_2 in known_languages():
            codes[code] = names.alpha_2
            if names.alt:
                codes[names.alt] = names.alpha_2
    return codes | {"nor": "nb"}


def _is_long(line: Quadrilateral) -> bool:
    width, height = side_lengths(line)
    return width > _LONG * height
