"""``vit-str read --page``: the text of whole pictures."""

import argparse
import errno
import time
from collections.abc import Mapping
from contextlib import nullcontext
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vit_str import console
from vit_str.console import one_line
from vit_str.files import exclusive, write_atomically
from vit_str.reading.options import input_groups, leading_to_files, load_page_reader
from vit_str.runtime.readings import json_line

if TYPE_CHECKING:
    from PIL import Image

    from vit_str.reading.pages.page import Page
    from vit_str.reading.pages.pictures import PageOptions
    from vit_str.reading.pages.reader import PageReader
    from vit_str.reading.pages.results import PageFolder

FORMATS = {"text": ".txt", "jsonl": ".jsonl", "hocr": ".hocr", "tsv": ".tsv", "md": ".md"}
"""What pages can be written as, and how the names of such files end."""

_OF_ALL_FILES = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EMFILE, errno.ENOMEM)
"""Errors that would come again with the next file."""


def run_pages(options: argparse.Namespace) -> int:
    """Read whole pictures and print their text, or write a file for each of them."""
    from vit_str.reading.pages.pictures import PAGE_SUFFIXES, PageOptions
    from vit_str.reading.pages.results import PageFolder

    name = options.format or "text"
    if name not in FORMATS:
        raise ValueError(f"--page writes --format {', '.join(FORMATS)}, found {name}")
    groups = leading_to_files(input_groups(options, PAGE_SUFFIXES))
    if groups is None:
        return 2
    wanted = PageOptions.of(
        options.pages or "1-",
        resolution=options.dpi or 200,
        password=options.password,
        text_layer=options.text_layer,
    )
    decisive = _decisive(options, name)
    texts = PageFolder(Path(options.out), FORMATS[name], decisive) if options.out else None
    overlays = PageFolder(Path(options.overlay), ".png", decisive) if options.overlay else None
    first = next(groups)
    several = len(first.paths) > 1 or bool(options.files_from)
    run = _Run(name, wanted, texts, overlays, several)
    problems = 0
    with exclusive(texts.record) if texts else nullcontext():
        reader = load_page_reader(options)
        for inputs in chain([first], groups):
            problems += len(inputs.problems)
            run.read(_not_done(inputs.paths, texts, overlays) if texts else inputs.paths, reader)
    if texts:
        console.write(f"{texts.path}: {run.summary()}")
    return 1 if run.failures or problems else 0


def _decisive(options: argparse.Namespace, name: str) -> dict[str, Any]:
    """The options that texts depend on; files with their size and time."""
    from vit_str.reading.pages.results import stamp
    from vit_str.runtime.weights_contents import resolve

    plain = (
        *("effort", "min_confidence", "pattern", "alphabet", "beams", "language"),
        *("pages", "dpi", "text_layer"),
    )
    return {
        "format": name,
        "model": [options.model, stamp(resolve(options.model))],
        "lexicon": options.lexicon and [options.lexicon, stamp(options.lexicon)],
        **{option: getattr(options, option) for option in plain},
    }


def _not_done(paths: list[str], texts: "PageFolder", overlays: "PageFolder | None") -> list[str]:
    """Files that have no text yet, or one of another picture or of other options."""
    folders = [texts, overlays] if overlays else [texts]
    waiting = [path for path in paths if not all(folder.is_done(path) for folder in folders)]
    if len(waiting) < len(paths):
        console.warn(f"{len(paths) - len(waiting):,} files are read already")
    stale = sum(texts.target(path).exists() for path in waiting)
    if stale:
        console.warn(f"{stale:,} files are read again: they, or the options, have changed")
    return waiting


class _Run:
    """Reads files, writes texts and overlays, and counts."""

    def __init__(
        self,
        name: str,
        wanted: "PageOptions",
        texts: "PageFolder | None",
        overlays: "PageFolder | None",
        several: bool,
    ) -> None:
        self._format = name
        self._wanted = wanted
        self._several = several
        self._texts = texts
        self._overlays = overlays
        self._began = time.monotonic()
        self._files = 0
        self._pages = 0
        self._words = 0
        self.failures = 0

    def summary(self) -> str:
        """What was done, in one line."""
        seconds = time.monotonic() - self._began
        return (
            f"{self._files:,} files, {self._pages:,} pages and {self._words:,} words read in "
            f"{seconds:,.0f} s, {self.failures:,} files with errors"
        )

    def read(self, paths: list[str], reader: "PageReader") -> None:
        """Read files one after the other."""
        with console.Progress(len(paths), alone=self._texts is not None) as progress:
            for path in paths:
                folders = [folder for folder in (self._texts, self._overlays) if folder]
                states = [(folder, folder.state(path)) for folder in folders]
                try:
                    is_complete = self._read_file(path, reader, progress)
                except OSError as error:
                    if error.filename is None or error.errno in _OF_ALL_FILES:
                        raise  # standard output, or a disk
                    self.failures += 1
                    reason = f"its result cannot be written ({error.strerror}), {error.filename}"
                    progress.warn(f"{path}: {reason}")
                    is_complete = False
                if is_complete:
                    for folder, state in states:
                        folder.note(state)
                progress.advance()

    def _read_file(self, path: str, reader: "PageReader", progress: console.Progress) -> bool:
        """Whether all pages of a file could be read."""
        from vit_str.reading.pages.pictures import page_of_text, pictures_in
        from vit_str.runtime.images import UnreadableImage

        pages: dict[int, Page] = {}
        errors = 0
        pictures = pictures_in(path, self._wanted)
        for number, picture in zip(self._wanted.numbers, pictures, strict=False):
            progress.note(f"page {number}" if number > 1 else "")
            if isinstance(picture, UnreadableImage):
                errors += 1
                progress.warn(str(picture))
                continue
            if left_out := picture.info.get("left_out", 0):
                images = "an image" if left_out == 1 else f"{left_out} images"
                damaged = "is read without what PDFium cannot decode"
                progress.warn(f"{one_line(path)}: page {number} {damaged}: {images}")
            page = page_of_text(picture) or reader.read(picture, boxes=self._format == "jsonl")
            pages[number] = page
            if self._overlays:
                _write_overlay(self._overlays, path, number, picture, page)
        words = sum(len(page.words) for page in pages.values())
        if pages:
            target = self._texts.target(path) if self._texts else None
            _write(path, pages, self._format, target, self._several)
            if not words:
                progress.warn(f"{one_line(path)}: no words found")
        elif not errors:
            errors += 1
            progress.warn(f"{one_line(path)}: has none of the pages that are asked for")
        self._files += 1
        self._pages += len(pages)
        self._words += words
        self.failures += errors > 0
        return not errors


def _write(
    path: str, pages: "Mapping[int, Page]", name: str, target: Path | None, several: bool
) -> None:
    from vit_str.reading.pages.markdown import markdown
    from vit_str.reading.pages.output import hocr, page_row, tsv

    if name == "hocr":
        text = hocr(path, pages)
    elif name == "tsv":
        text = tsv(pages)
    elif name == "md":
        text = markdown(list(pages.values()))
    elif name == "jsonl":
        rows = [page_row(path, page) | {"page": n} for n, page in pages.items()]
        text = "\n".join(json_line(row) for row in rows)
    else:
        text = "\f".join(page.text + "\n" for page in pages.values())
    if target is not None:
        with write_atomically(target) as temporary:
            temporary.write_text(text.rstrip("\n") + "\n", encoding="utf-8")
    elif several and name == "text":
        console.write(f"==> {one_line(path)} <==\n{text}")
    else:
        console.write(text.rstrip("\n"))


def _write_overlay(
    folder: "PageFolder", path: str, number: int, picture: "Image.Image", page: "Page"
) -> None:
    from vit_str.reading.pages.output import overlay

    target = folder.target(path)
    if number > 1:
        target = target.with_name(f"{target.stem}-{number}{target.suffix}")
    with write_atomically(target) as temporary:
        overlay(picture, page).save(temporary)
