"""``vit-str read --page``: the text of whole pictures."""

import argparse
import errno
import os
import re
import time
from collections.abc import Collection, Mapping
from contextlib import nullcontext
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vit_str import console
from vit_str.console import one_line
from vit_str.files import exclusive, write_atomically
from vit_str.machine import install_hint
from vit_str.words.options import (
    STANDARD_INPUT,
    UNREAD_SCRIPT,
    check_not_read,
    input_groups,
    leading_to_files,
    search_of,
)

if TYPE_CHECKING:
    from PIL import Image

    from vit_str.pages.page import Page
    from vit_str.pages.pictures import PageOptions
    from vit_str.pages.reader import PageReader
    from vit_str.pages.write.results import OneFile, PageFolder
    from vit_str.pages.write.searchable_pdf import ReadFile

_ENDING = re.compile(r"\.[a-zA-Z][a-zA-Z0-9]{1,4}$")  # as of files
_MOST_ERRORS = 20  # of a file, that are told one by one
_OF_ALL_FILES = (
    errno.ENOSPC,
    errno.EDQUOT,
    errno.EROFS,
    errno.EIO,
    errno.EMFILE,
    errno.ENOMEM,
)
"""Errors that would come again with the next file."""


def run_pages(options: argparse.Namespace) -> int:
    """Read whole pictures and print their text, or write a file for each of them.

    Raises:
        ValueError: options that do not go with pages.
    """
    from vit_str.pages.pictures import PAGE_SUFFIXES, PageOptions
    from vit_str.pages.write.results import ENDINGS, OneFile, PageFolder

    name = options.format or _format_of(options.out) or "text"
    if name not in ENDINGS:
        raise ValueError(f"--page writes --format {', '.join(ENDINGS)}, found {name}")
    _check_out(options, name)
    if STANDARD_INPUT in options.paths:
        raise ValueError("--page reads no standard input; give a file")
    _check_overlay(options)
    groups = leading_to_files(input_groups(options, PAGE_SUFFIXES))
    if groups is None:
        return 2
    wanted = PageOptions.of(
        options.pages or "1-",
        resolution=options.dpi,
        password=options.password,
        # What pages say already is not set behind them once more
        text_layer=options.text_layer or name == "pdf",
    )
    decisive = _decisive(options, name)
    first = next(groups)
    has_folders = any(map(os.path.isdir, options.paths))
    several = has_folders or len(first.paths) > 1 or bool(options.files_from)
    texts: PageFolder | OneFile | None = None
    if _format_of(options.out) is not None:
        _check_one(options, name, several)
        texts = OneFile(Path(options.out))
    elif options.out:
        texts = PageFolder(Path(options.out), ENDINGS[name], decisive)
    overlays: PageFolder | None = None
    if options.overlay:
        overlays = PageFolder(Path(options.overlay), ".png", decisive)
    run = _Run(name, wanted, texts, overlays, several)
    problems = 0
    with exclusive(texts.record) if isinstance(texts, PageFolder) else nullcontext():
        reader = load_page_reader(options)
        for inputs in chain([first], groups):
            problems += len(inputs.problems)
            run.read(inputs.paths, reader)
        run.finish()
        _hint_at_photographs(reader)
    if texts:
        console.write(f"{texts.path}: {run.summary()}")
    return 1 if run.failures or problems else 0


def _hint_at_photographs(reader: "PageReader") -> None:
    """Say what finds more in photographs, if some were read without it."""
    lacking = getattr(reader.detector, "lacking", 0)
    if lacking:
        pictures = "a picture has" if lacking == 1 else f"{lacking:,} pictures have"
        console.warn(
            f"{pictures} little print; if these are photographs, rapidocr finds more of their "
            f"words: {install_hint('photo')}"
        )


def _check_out(options: argparse.Namespace, name: str) -> None:
    """Refuse what cannot be written, or not to there, before anything is read.

    Raises:
        ValueError: a file that is no text without a name, or a name whose ending says another kind
            of file.
    """
    from vit_str.pages.write.results import BINARY, ENDINGS

    if not options.out:
        if name in BINARY:
            ending = ENDINGS[name]
            raise ValueError(f"--format {name} is no text: give --out result{ending}")
        return
    is_known = _format_of(options.out) is not None
    is_folder = os.path.isdir(options.out) or options.out.endswith(os.sep)
    if _ENDING.search(options.out) and not is_known and not is_folder:
        known = ", ".join(ENDINGS.values())
        raise ValueError(
            f"--out {options.out}: files are written as {known}; a folder of this name "
            f"is {options.out}{os.sep}"
        )


def _check_one(options: argparse.Namespace, name: str, several: bool) -> None:
    """Refuse to write several pictures to one file, but to a PDF file, or over what is read."""
    if several and name != "pdf" and os.path.isfile(options.out):
        raise ValueError(
            f"{options.out} is a file; give a folder, which gets a file for each picture"
        )
    if several and name != "pdf":
        raise ValueError(
            f"--out {options.out} is a file for one picture; give a folder, or "
            f"{options.out}{os.sep} for one of this name"
        )
    check_not_read("--out", options.out, options.paths)


def _check_overlay(options: argparse.Namespace) -> None:
    """Refuse overlays among the pictures: the next run would read them too."""
    if not options.overlay:
        return
    overlay = Path(options.overlay).resolve()
    for path in filter(os.path.isdir, options.paths):
        if overlay.is_relative_to(Path(path).resolve()):
            raise ValueError(
                f"--overlay lies in {path}, which is read; give a folder outside it"
            )


def load_page_reader(
    options: argparse.Namespace,
    model: str | None = None,
) -> "PageReader":
    """The page reader that the options name."""
    from vit_str.pages.find.detectors import AUTO
    from vit_str.pages.read.sure_words import MINIMUM_CONFIDENCE
    from vit_str.pages.reader import load_page

    least = getattr(options, "min_confidence", None)
    return load_page(
        model or options.model,
        options.device,
        backend=options.backend,
        effort=options.effort,
        search=search_of(options),
        minimum_confidence=MINIMUM_CONFIDENCE if least is None else least,
        arranger=getattr(options, "arranger", None),
        detector=getattr(options, "detector", None) or AUTO,
    )


def _format_of(out: str | None) -> str | None:
    """The format that the name of a file says, as ``book.md``."""
    from vit_str.pages.write.results import format_of

    if not out or out.endswith(os.sep) or os.path.isdir(out):
        return None
    return format_of(out)


def _of_detector(name: str | None) -> dict[str, Any]:
    """The detector of lines with its stamp, if it is not the default."""
    from vit_str.pages.find.detectors import AUTO, RAPIDOCR, finder_path
    from vit_str.pages.write.results import stamp

    if name in (None, AUTO):
        return {}
    if name == RAPIDOCR:
        return {"detector": [name]}
    return {"detector": [name, stamp(finder_path(name))]}


def _decisive(options: argparse.Namespace, name: str) -> dict[str, Any]:
    """The options that texts depend on; files with their size and time."""
    from vit_str.engines.weights_contents import resolve
    from vit_str.pages.arrange.network import BUNDLED
    from vit_str.pages.write.results import stamp
    from vit_str.scripts.registry import choose_weights

    chosen = choose_weights(options.model, search_of(options))
    plain = (
        "effort",
        "min_confidence",
        "pattern",
        "alphabet",
        "beams",
        "language",
        "pages",
        "dpi",
        "text_layer",
    )
    return {
        "format": name,
        "model": [options.model, *(stamp(resolve(path)) for path in chosen.paths)],
        "lexicon": options.lexicon and [options.lexicon, stamp(options.lexicon)],
        "arranger": [options.arranger, stamp(options.arranger or BUNDLED)],
        **_of_detector(options.detector),
        **{option: getattr(options, option) for option in plain},
    }


def _lack_of(pages: Collection["Page"]) -> str:
    """Why pages have hardly any words, if so."""
    if any(page.is_mostly_unread for page in pages):
        return UNREAD_SCRIPT
    return "" if any(page.words for page in pages) else "no words found"


class _Run:
    """Reads files, writes texts and overlays, and counts."""

    def __init__(
        self,
        name: str,
        wanted: "PageOptions",
        texts: "PageFolder | OneFile | None",
        overlays: "PageFolder | None",
        several: bool,
    ) -> None:
        from vit_str.pages.write.results import PageFolder

        self._format = name
        self._wanted = wanted
        self._several = several
        self._texts = texts
        self._overlays = overlays
        # Those that remember what their files were made from
        self._folders = [
            each for each in (texts, overlays) if isinstance(each, PageFolder)
        ]
        self._began = time.monotonic()
        self._files = 0
        self._pages = 0
        self._words = 0
        self._joined: list[ReadFile] = []  # files that go to one
        self._kept = 0  # files that were read before
        self.failures = 0

    def summary(self) -> str:
        """The numbers of files that were read, and that were there before, in one line."""
        seconds = time.monotonic() - self._began
        done = (
            f"{self._files:,} files, {self._pages:,} pages and {self._words:,} words "
            f"read in {seconds:,.0f} s, {self.failures:,} files with errors"
        )
        if not self._kept:
            return done
        kept = f"{self._kept:,} files are there from before"
        return f"{done}; {kept}" if self._files else f"nothing new to read, {kept}"

    def read(self, paths: list[str], reader: "PageReader") -> None:
        """Read files one after the other, but for those that are read already."""
        paths = self._not_done(paths)
        with console.Progress(len(paths), alone=self._texts is not None) as progress:
            for path in paths:
                states = [(folder, folder.state(path)) for folder in self._folders]
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

    def finish(self) -> None:
        """Write the file that several go to."""
        from vit_str.pages.write.formats import write_together
        from vit_str.pages.write.results import OneFile

        if self._joined and isinstance(self._texts, OneFile):
            for note in write_together(self._joined, self._texts.path):
                console.warn(note)

    def _not_done(self, paths: list[str]) -> list[str]:
        """Files that have no text yet, or one of another picture or of other options."""
        from vit_str.pages.write.results import PageFolder

        if not isinstance(self._texts, PageFolder):
            return paths
        texts = self._texts

        def is_done(path: str) -> bool:
            return all(folder.is_done(path) for folder in self._folders)

        done = list(filter(is_done, paths))
        if done:
            console.warn(f"{len(done):,} files are read already")
            self._kept += len(done)
        kept = set(done)
        waiting = [path for path in paths if path not in kept]
        stale = sum(texts.target(path).exists() for path in waiting)
        if stale:
            console.warn(
                f"{stale:,} files are read again: they, or the options, have changed"
            )
        return waiting

    def _read_file(
        self, path: str, reader: "PageReader", progress: console.Progress
    ) -> bool:
        """Whether all pages of a file could be read."""
        pages, errors = self._read_pages(path, reader, progress)
        untold = errors - _MOST_ERRORS
        if untold > 0:  # a damaged PDF file may say that it has a million pages
            progress.warn(f"{one_line(path)}: {untold:,} more pages cannot be read")
        if not pages and not errors:
            errors += 1
            progress.warn(f"{one_line(path)}: has none of the pages that are asked for")
        words = sum(len(page.words) for page in pages.values())
        for note in self._write(path, pages) if pages else ():
            progress.warn(note)
        if pages and (lack := _lack_of(pages.values())):
            progress.warn(f"{one_line(path)}: {lack}")
        self._files += 1
        self._pages += len(pages)
        self._words += words
        self.failures += errors > 0
        return not errors

    def _read_pages(
        self, path: str, reader: "PageReader", progress: console.Progress
    ) -> "tuple[dict[int, Page], int]":
        """The pages of a file by number, and how many cannot be read."""
        from vit_str.images.refusals import UnreadableImage
        from vit_str.pages.pictures import pictures_in
        from vit_str.pages.read.own_text import page_of_text

        pages: dict[int, Page] = {}
        errors = 0
        pictures = pictures_in(path, self._wanted)
        for number, picture in zip(self._wanted.numbers, pictures, strict=False):
            progress.note(f"page {number}" if number > 1 else "")
            if isinstance(picture, UnreadableImage):
                errors += 1
                if errors <= _MOST_ERRORS:
                    progress.warn(str(picture))
                continue
            # Frames that are as the one before are left out
            number = picture.info.get("number") or number
            if left_out := picture.info.get("left_out", 0):
                progress.warn(_without_images(path, number, left_out))
            with_boxes = self._format == "jsonl"
            page = page_of_text(picture, reader.arranger) or reader.read(
                picture, boxes=with_boxes
            )
            pages[number] = page
            if self._overlays:
                _write_overlay(self._overlays, path, number, picture, page)
        return pages, errors

    def _write(self, path: str, pages: "Mapping[int, Page]") -> list[str]:
        """Write the pages of a file, or print them; returns what their user should know."""
        from vit_str.pages.write.document_pages import document_pages
        from vit_str.pages.write.formats import as_text, write_file
        from vit_str.pages.write.results import OneFile
        from vit_str.pages.write.searchable_pdf import ReadFile

        file = ReadFile(path, path, document_pages(path, pages), self._wanted.password)
        if self._texts is not None:
            if self._several and isinstance(self._texts, OneFile):
                self._joined.append(file)
                return []
            return write_file(self._format, file, self._texts.target(path))
        text = as_text(self._format, file)
        if self._several and self._format == "text":
            console.write(f"==> {one_line(path)} <==\n{text}")
        else:
            console.write(text.rstrip("\n"))
        return []


def _without_images(path: str, number: int, count: int) -> str:
    """Says that a page is read without some of its images."""
    images = "an image" if count == 1 else f"{count} images"
    damaged = "is read without what PDFium cannot decode"
    return f"{one_line(path)}: page {number} {damaged}: {images}"


def _write_overlay(
    folder: "PageFolder", path: str, number: int, picture: "Image.Image", page: "Page"
) -> None:
    from vit_str.pages.write.overlay import overlay

    target = folder.target(path)
    if number > 1:
        target = target.with_name(f"{target.stem}-{number}{target.suffix}")
    with write_atomically(target) as temporary:
        overlay(picture, page).save(temporary)
