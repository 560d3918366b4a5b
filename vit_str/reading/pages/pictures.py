"""The pictures in a file: one, or the pages of a TIFF, GIF or PDF file."""

import json
import os
import re
import signal
import sys
from collections.abc import Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen
from threading import Timer
from typing import Any

import numpy as np
from PIL import Image

from vit_str.reading.pages.layout import reading_order
from vit_str.reading.pages.page import Page, Point, Word
from vit_str.runtime.images import SUFFIXES, UnreadableImage, load_pages
from vit_str.runtime.machine import install_hint

PAGE_SUFFIXES = (*SUFFIXES, ".pdf")
_PIXELS = 16_000_000
"""Most pixels of a drawn page, as of other pictures: larger ones are drawn smaller."""
_BYTES = 2 << 30  # memory of the process that draws
_SECONDS = 20  # of the processor, for a page
_PATIENCE = 5  # how often the same time may go by on the clock, on a machine that is busy


@dataclass(frozen=True, slots=True)
class PageOptions:
    """Which pages of a file are wanted, and what of a PDF file."""

    # First and last numbers of pages, from 1; None for all that follow
    ranges: tuple[tuple[int, int | None], ...] = ((1, None),)
    # Dots per inch to draw with; fewer where a page would have too many pixels
    resolution: int = 200
    password: str | None = None  # of the file
    # Hand out the text that a page has, as `info["lines"]` of its picture
    text_layer: bool = False

    @classmethod
    def of(cls, text: str, **values: Any) -> "PageOptions":
        """Options with ranges as users write them: ``3``, ``3-5``, ``8-``, several with commas."""
        ranges: list[tuple[int, int | None]] = []
        for part in text.split(","):
            match = re.fullmatch(r"([1-9]\d{0,8})(-([1-9]\d{0,8})?)?", part.strip(), re.ASCII)
            last = match and (int(match[3]) if match[3] else None if match[2] else int(match[1]))
            if not match or (last and last < int(match[1])):
                raise ValueError(f"expected pages such as 3, 3-5 or 2,7-, found {text!r}")
            ranges.append((int(match[1]), last))
        return cls(tuple(ranges), **values)

    @property
    def numbers(self) -> Iterator[int]:
        """Of the wanted pages, in order."""
        ends = [last for _, last in self.ranges]
        highest = None if None in ends else max(last or 0 for last in ends)
        every = count(1) if highest is None else range(1, highest + 1)
        return (n for n in every if any(a <= n <= (b or n) for a, b in self.ranges))


_ALL = PageOptions()


def pictures_in(
    path: str, options: PageOptions = _ALL, seconds: int = _SECONDS
) -> Generator[Image.Image | UnreadableImage, None, None]:
    """The pages of a file, upright and in RGB; what cannot be read is handed out as an error.

    The pages of PDF files are drawn by a process of its own with bounded memory, in so many seconds
    of the processor at most: PDF is large, and such a file may take hours, gigabytes, or the
    program that draws it down.
    """
    if path.lower().endswith(".pdf"):
        yield from _drawn(path, options, seconds)
        return
    try:
        first = next(options.numbers)
        wanted = options.numbers
        number = next(wanted)
        for page, picture in enumerate(load_pages(path, first), first):
            if page == number:
                yield picture
                number = next(wanted, 0)
            if not number:
                return
    except UnreadableImage as error:
        yield error


def _drawn(
    path: str, options: PageOptions, seconds: int
) -> Iterator[Image.Image | UnreadableImage]:
    if find_spec("pypdfium2") is None:
        yield UnreadableImage(
            path, f"reading PDF files needs pypdfium2, run: {install_hint('page')}"
        )
        return
    program = str(Path(__file__).with_name("drawing.py"))
    wanted = {
        "pages": options.ranges,
        "resolution": options.resolution,
        "password": options.password,  # a command line is seen by all users
        "text": options.text_layer,
        "pixels": _PIXELS,
        "memory": _BYTES,
        "seconds": seconds,
    }
    with Popen(  # noqa: S603 - our own program
        [sys.executable, "-P", program, path],
        stdin=PIPE,
        stdout=PIPE,
        stderr=DEVNULL,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    ) as process:
        assert process.stdin and process.stdout
        pages = options.numbers
        try:
            with suppress(BrokenPipeError), process.stdin as pipe:
                pipe.write(json.dumps(wanted).encode())
            while header := _next_line(process, _PATIENCE * seconds):
                found = json.loads(header)
                if "error" in found:
                    yield UnreadableImage(path, found["error"])
                else:
                    width, height = found["size"]
                    pixels = process.stdout.read(3 * width * height)
                    if len(pixels) < 3 * width * height:
                        break
                    picture = Image.frombytes("RGB", (width, height), pixels)
                    picture.info["lines"] = found["lines"]
                    yield picture
                next(pages)
            if process.wait():
                reason = _why_it_died(process.returncode, next(pages, 0), seconds)
                yield UnreadableImage(path, reason)
        finally:
            process.kill()


def _next_line(process: Popen[bytes], seconds: int) -> bytes:
    """What it prints next; nothing once it has ended, which it must within some seconds."""
    assert process.stdout
    timer = Timer(seconds, process.kill)
    timer.start()
    try:
        return process.stdout.readline()
    finally:
        timer.cancel()


def _why_it_died(code: int, page: int, seconds: int) -> str:
    reason = f"takes over {_BYTES >> 30} GB of memory to draw, or breaks the program that draws it"
    if code in (-signal.SIGKILL, -signal.SIGXCPU) if os.name == "posix" else code == 1:
        reason = f"takes over {seconds} seconds to draw"
    return f"page {page} {reason}; it and those after it are left out, save them as pictures"


def page_of_text(picture: Image.Image) -> Page | None:
    """The page that a file has as text, in reading order; None for a page without text."""
    lines = [
        tuple(Word(text, 1.0, _corners(*map(float, box))) for text, box in line)
        for line in picture.info.get("lines", ())
    ]
    if not lines:
        return None
    sides = [np.array([word.box for word in line]) for line in lines]
    order = reading_order([np.concatenate([s[:, :2].min(0), s[:, 2:].max(0)]) for s in sides])
    blocks = tuple(
        tuple(tuple(word for index in row for word in lines[index]) for row in block)
        for block in order
    )
    return Page(*picture.size, blocks)


def _corners(
    left: float, top: float, right: float, bottom: float
) -> tuple[Point, Point, Point, Point]:
    return (left, top), (right, top), (right, bottom), (left, bottom)
