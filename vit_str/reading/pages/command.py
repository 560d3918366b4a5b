"""``vit-str read --page``: the text of whole pictures."""

import argparse
import errno
import os
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import nullcontext
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vit_str import console
from vit_str.console import one_line
from vit_str.files import exclusive, write_atomically
from vit_str.reading.options import (
    STANDARD_INPUT,
    UNREAD_SCRIPT,
    input_groups,
    leading_to_files,
    search_of,
)
from vit_str.runtime.readings import json_line

if TYPE_CHECKING:
    from PIL import Image

    from vit_str.reading.pages.page import Page
    from vit_str.reading.pages.pictures import PageOptions
    from vit_str.reading.pages.reader import PageReader
    from vit_str.reading.pages.results import OneFile, PageFolder

FORMATS = {
    "text": ".txt",
    "jsonl": ".jsonl",
    "hocr": ".hocr",
    "tsv": ".tsv",
    "md": ".md",
}
"""What pages can be written as, and how the names of such files end."""

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
    from vit_str.reading.pages.pictures import PAGE_SUFFIXES, PageOptions
    from vit_str.reading.pages.results import OneFile, PageFolder

    name = options.format or _format_of(options.out) or "text"
    if name not in FORMATS:
        raise ValueError(f"--page writes --format {', '.join(FORMATS)}, found {name}")
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
        text_layer=options.text_layer,
    )
    decisive = _decisive(options, name)
    first = next(groups)
    several = len(first.paths) > 1 or bool(options.files_from)
    texts: PageFolder | OneFile | None = None
    if options.out and not several and _is_file(options.out, options.paths):
        texts = OneFile(Path(options.out))
    elif options.out:
        texts = PageFolder(Path(options.out), FORMATS[name], decisive)
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
    if texts:
        console.write(f"{texts.path}: {run.summary()}")
    return 1 if run.failures or problems else 0


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
    from vit_str.reading.pages.reader import MINIMUM_CONFIDENCE, load_page

    least = getattr(options, "min_confidence", None)
    return load_page(
        model or options.model,
        options.device,
        backend=options.backend,
        effort=options.effort,
        search=search_of(options),
        minimum_confidence=MINIMUM_CONFIDENCE if least is None else least,
    )


def _format_of(out: str | None) -> str | None:
    """The format that the name of a file says, as ``book.md``."""
    suffix = Path(out).suffix.lower() if out and not Path(out).is_dir() else ""
    return next((name for name, ending in FORMATS.items() if ending == suffix), None)


def _is_file(out: str, inputs: Sequence[str]) -> bool:
    """Whether the text of one picture goes to a file of that name, not into a folder."""
    return _format_of(out) is not None and not any(map(os.path.isdir, inputs))


def _decisive(options: argparse.Namespace, name: str) -> dict[str, Any]:
    """The options that texts depend on; files with their size and time."""
    from vit_str.reading.pages.results import stamp
    from vit_str.runtime.weights_choice import choose_weights
    from vit_str.runtime.weights_contents import resolve

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
        from vit_str.reading.pages.results import PageFolder

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
        self._kept = 0  # files that were read before
        # Their pages and words, if known
        self._kept_counts: tuple[int, int] | None = (0, 0)
        self.failures = 0

    def summary(self) -> str:
        """What was done, and what was there before, in one line."""
        seconds = time.monotonic() - self._began
        done = (
            f"{self._files:,} files, {self._pages:,} pages and {self._words:,} words "
            f"read in {seconds:,.0f} s, {self.failures:,} files with errors"
        )
        if not self._kept:
            return done
        kept = f"{self._kept:,} files"
        if self._kept_counts:
            pages, words = self._kept_counts
            kept += f", {pages:,} pages and {words:,} words"
        if not self._files:
            return f"nothing new to read, {kept} are there from before"
        return f"{done}; {kept} are there from before"

    def read(self, paths: list[str], reader: "PageReader") -> None:
        """Read files one after the other, but for those that are read already."""
        paths = self._not_done(paths)
        with console.Progress(len(paths), alone=self._texts is not None) as progress:
            for path in paths:
                states = [(folder, folder.state(path)) for folder in self._folders]
                before = self._pages, self._words
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
                        folder.note(
                            state, self._pages - before[0], self._words - before[1]
                        )
                progress.advance()

    def _not_done(self, paths: list[str]) -> list[str]:
        """Files that have no text yet, or one of another picture or of other options."""
        from vit_str.reading.pages.results import PageFolder

        if not isinstance(self._texts, PageFolder):
            return paths
        texts = self._texts

        def is_done(path: str) -> bool:
            return all(folder.is_done(path) for folder in self._folders)

        done = list(filter(is_done, paths))
        if done:
            console.warn(f"{len(done):,} files are read already")
            self._keep([texts.counts(path) for path in done])
        kept = set(done)
        waiting = [path for path in paths if path not in kept]
        stale = sum(texts.target(path).exists() for path in waiting)
        if stale:
            console.warn(
                f"{stale:,} files are read again: they, or the options, have changed"
            )
        return waiting

    def _keep(self, counts: Sequence[tuple[int, int] | None]) -> None:
        """Count files that were read before; folders of older versions do not say of how much."""
        self._kept += len(counts)
        known = [count for count in counts if count]
        if self._kept_counts is None or len(known) < len(counts):
            self._kept_counts = None
            return
        pages, words = self._kept_counts
        pages += sum(pages_of_file for pages_of_file, _ in known)
        words += sum(words_of_file for _, words_of_file in known)
        self._kept_counts = pages, words

    def _read_file(
        self, path: str, reader: "PageReader", progress: console.Progress
    ) -> bool:
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
                if errors <= _MOST_ERRORS:
                    progress.warn(str(picture))
                continue
            # Frames that are as the one before are left out
            number = picture.info.get("number") or number
            left_out = picture.info.get("left_out", 0)
            if left_out:
                images = "an image" if left_out == 1 else f"{left_out} images"
                damaged = "is read without what PDFium cannot decode"
                progress.warn(f"{one_line(path)}: page {number} {damaged}: {images}")
            with_boxes = self._format == "jsonl"
            page = page_of_text(picture) or reader.read(picture, boxes=with_boxes)
            pages[number] = page
            if self._overlays:
                _write_overlay(self._overlays, path, number, picture, page)
        untold = errors - _MOST_ERRORS
        if untold > 0:  # a damaged PDF file may say that it has a million pages
            progress.warn(f"{one_line(path)}: {untold:,} more pages cannot be read")
        words = sum(len(page.words) for page in pages.values())
        if pages:
            target = self._texts.target(path) if self._texts else None
            _write(path, pages, self._format, target, self._several)
            if lack := _lack_of(pages.values()):
                progress.warn(f"{one_line(path)}: {lack}")
        elif not errors:
            errors += 1
            progress.warn(f"{one_line(path)}: has none of the pages that are asked for")
        self._files += 1
        self._pages += len(pages)
        self._words += words
        self.failures += errors > 0
        return not errors


def _write(
    path: str,
    pages: "Mapping[int, Page]",
    name: str,
    target: Path | None,
    several: bool,
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
