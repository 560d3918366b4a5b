"""The pictures in a file: one, or the pages of a TIFF, GIF or PDF file."""

import json
import os
import signal
import sys
from collections.abc import Generator, Iterator
from importlib.util import find_spec
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen
from threading import Timer

from PIL import Image

from vit_str.runtime.images import SUFFIXES, UnreadableImage, load_pages
from vit_str.runtime.machine import install_hint

PAGE_SUFFIXES = (*SUFFIXES, ".pdf")
_RESOLUTION = 200
"""Dots per inch that the pages of a PDF file are drawn with."""
_PIXELS = 16_000_000
"""Most pixels of a drawn page, as of other pictures: larger ones are drawn smaller."""
_BYTES = 2 << 30
"""Memory of the process that draws."""
_SECONDS = 20
"""Of the processor, for a page."""
_PATIENCE = 5
"""How often the same time may go by on the clock, on a machine that is busy."""


def pictures_in(
    path: str, first: int = 1, seconds: int = _SECONDS
) -> Generator[Image.Image | UnreadableImage, None, None]:
    """The pages of a file, upright and in RGB; what cannot be read is handed out as an error.

    The pages of PDF files are drawn by a process of its own with bounded memory and time: PDF is
    large, and such a file may take hours, gigabytes, or the program that draws it down.

    Args:
        path: a file.
        first: the page to begin with.
        seconds: of the processor, for a page of a PDF file.
    """
    if path.lower().endswith(".pdf"):
        yield from _drawn(path, first, seconds)
        return
    try:
        yield from load_pages(path, first)
    except UnreadableImage as error:
        yield error


def _drawn(path: str, first: int, seconds: int) -> Iterator[Image.Image | UnreadableImage]:
    if find_spec("pypdfium2") is None:
        yield UnreadableImage(
            path, f"reading PDF files needs pypdfium2, run: {install_hint('page')}"
        )
        return
    program = str(Path(__file__).with_name("drawing.py"))
    limits = map(str, (first, _RESOLUTION, _PIXELS, _BYTES, seconds))
    with Popen(  # noqa: S603 - our own program
        [sys.executable, "-P", program, path, *limits],
        stdin=DEVNULL,
        stdout=PIPE,
        stderr=DEVNULL,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    ) as process:
        assert process.stdout
        page = first
        try:
            while header := _next_line(process, _PATIENCE * seconds):
                found = json.loads(header)
                if "error" in found:
                    yield UnreadableImage(path, found["error"])
                else:
                    width, height = found["size"]
                    pixels = process.stdout.read(3 * width * height)
                    if len(pixels) < 3 * width * height:
                        break
                    yield Image.frombytes("RGB", (width, height), pixels)
                page += 1
            if process.wait():
                yield UnreadableImage(path, _why_it_died(process.returncode, page, seconds))
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
