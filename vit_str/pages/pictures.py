"""The pictures in a file: one, the pages of a TIFF or PDF file, or the frames of an animation."""

import re
from collections.abc import Generator, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from threading import Event
from typing import Any

from PIL import Image

from vit_str.images.headers import is_costly
from vit_str.images.image_decoding import DECODING_PROGRAM
from vit_str.images.limited_process import (
    DEFAULT_LIMITS,
    Answer,
    ProcessEnded,
    ProcessLimits,
    ProcessNotStarted,
    answers,
)
from vit_str.images.loading import SUFFIXES, page_numbers, readable_pages
from vit_str.images.refusals import UnreadableImage
from vit_str.machine import install_hint

PAGE_SUFFIXES = (*SUFFIXES, ".pdf")
_PIXELS = 16_000_000
"""Most pixels of a drawn page, as of other pictures: larger ones are drawn smaller."""
_RANGE = re.compile(
    r"(?P<first>[1-9]\d{0,8})(?P<dash>-(?P<last>[1-9]\d{0,8})?)?", re.ASCII
)
_PDF = b"%PDF-"  # how such files begin
_DRAWING_PROGRAM = Path(__file__).with_name("drawing.py")


@dataclass(frozen=True, slots=True)
class PageOptions:
    """Which pages of a file are wanted, and what of a PDF file."""

    # First and last numbers of pages, from 1; None for all that follow
    ranges: tuple[tuple[int, int | None], ...] = ((1, None),)
    # Dots per inch to draw with, fewer where a page would have too many pixels; None for 200, or
    # more where the page has images with more pixels
    resolution: int | None = None
    password: str | None = None  # of the file
    # Hand out the text that a page has, as `info["lines"]` of its picture
    text_layer: bool = False

    @classmethod
    def of(cls, text: str, **values: Any) -> "PageOptions":
        """Options with ranges as users write them: ``3``, ``3-5``, ``8-``, several with commas."""
        ranges: list[tuple[int, int | None]] = []
        for part in text.split(","):
            match = _RANGE.fullmatch(part.strip())
            if not match:
                raise _unknown_pages(text)
            first = int(match["first"])
            last: int | None = first
            if match["dash"]:
                last = int(match["last"]) if match["last"] else None
            if last and last < first:
                raise _unknown_pages(text)
            ranges.append((first, last))
        return cls(tuple(ranges), **values)

    @property
    def numbers(self) -> Iterator[int]:
        """The numbers of the wanted pages, in order."""
        return page_numbers(self.ranges)

    def first(self, count: int) -> "PageOptions":
        """The same of the first of these pages only."""
        numbers = islice(self.numbers, count)
        return replace(self, ranges=tuple((number, number) for number in numbers))


_ALL = PageOptions()


def pictures_in(
    path: str,
    options: PageOptions = _ALL,
    limits: ProcessLimits = DEFAULT_LIMITS,
    stop: Event | None = None,
) -> Generator[Image.Image | UnreadableImage, None, None]:
    """The pages of a file, upright and in RGB; what cannot be read is handed out as an error.

    The pages of PDF files, large pictures and files of several pages are left to a process with
    limits, which ends when ``stop`` is set: such a file may take hours, gigabytes, or the program
    that draws or decodes it down.
    """
    if path.lower().endswith(".pdf") or _is_pdf(path):
        yield from _drawn(path, options, limits, stop)
    elif is_costly(path):
        wanted = {"path": path, "ranges": options.ranges}
        process = answers(DECODING_PROGRAM, wanted, limits=limits, stop=stop)
        yield from _pictures_of(process, path, options, "decode")
    else:
        try:
            yield from readable_pages(path, options.numbers)
        except UnreadableImage as error:
            yield error


def _is_pdf(path: str) -> bool:
    """Whether a file is a PDF file under another name, as of a download."""
    if not Path(path).is_file():  # what comes through a pipe cannot be opened twice
        return False
    with suppress(OSError), open(path, "rb") as file:
        return file.read(len(_PDF)) == _PDF
    return False


def _drawn(
    path: str, options: PageOptions, limits: ProcessLimits, stop: Event | None
) -> Iterator[Image.Image | UnreadableImage]:
    if find_spec("pypdfium2") is None:
        yield UnreadableImage(
            path, f"reading PDF files needs pypdfium2, run: {install_hint('page')}"
        )
        return
    wanted = {
        "path": path,
        "ranges": options.ranges,
        "resolution": options.resolution,
        "password": options.password,
        "text": options.text_layer,
        "pixels": _PIXELS,
    }
    process = answers(_DRAWING_PROGRAM, wanted, limits=limits, stop=stop)
    yield from _pictures_of(process, path, options, "draw")


def _unknown_pages(text: str) -> ValueError:
    return ValueError(f"expected pages such as 3, 3-5 or 2,7-, found {text!r}")


def _pictures_of(
    process: Generator[Answer, None, None], path: str, options: PageOptions, verb: str
) -> Iterator[Image.Image | UnreadableImage]:
    """The pages that a process answers with; ``verb`` is what it does."""
    pages = options.numbers
    with closing(process):
        try:
            for header, pixels in process:
                next(pages, 0)
                yield _picture_of(header, pixels, path)
        except ProcessNotStarted as failed:
            advice = "raise the limits of the system, or close programs"
            yield UnreadableImage(path, f"{failed.reason(verb)}; {advice}")
        except ProcessEnded as ended:
            reason = (
                f"page {next(pages, 0)} {ended.reason(verb)}; it and those after it "
                "are left out, save them as pictures of their own, smaller"
            )
            yield UnreadableImage(path, reason)


def _picture_of(
    header: dict[str, Any], pixels: bytes, path: str
) -> Image.Image | UnreadableImage:
    if "error" in header:
        return UnreadableImage(path, header["error"], header.get("pages"))
    picture = Image.frombytes("RGB", tuple(header["size"]), pixels)
    picture.info["lines"] = header.get("lines", ())
    picture.info["left_out"] = header.get("left_out", 0)
    picture.info["pages"] = header.get("pages")
    picture.info["number"] = header.get("number")
    return picture
