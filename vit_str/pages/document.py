"""Whole files -> documents: ``vit_str.read_document("invoice.pdf").markdown``."""

import os
import threading
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from vit_str.decoding.search import Search
from vit_str.files import temporary_file, write_atomically
from vit_str.images.image_decoding import Source, without_array
from vit_str.images.loading import BinaryFile, file_bytes, source_name
from vit_str.images.refusals import UnreadableImage
from vit_str.pages.page import Page, Word
from vit_str.pages.pictures import PageOptions, pictures_in
from vit_str.pages.read.own_text import page_of_text
from vit_str.pages.reader import PageReader, load_page
from vit_str.pages.write.document_pages import (
    Block,
    DocumentPage,
    Table,
    document_pages,
    unread_page,
)
from vit_str.pages.write.formats import as_text, write_file
from vit_str.pages.write.results import ENDINGS, format_of
from vit_str.pages.write.searchable_pdf import ReadFile

__all__ = [
    "Block",
    "Document",
    "DocumentPage",
    "Page",
    "Table",
    "Word",
    "read_document",
    "stream_pages",
]

Pages = str | int | Iterable[int]
"""Which pages: ``"3-5"``, ``"1,7-"``, a number from 1, or several."""


@dataclass(frozen=True)
class Document:
    """The pages of a file, read.

    Attributes:
        name: of the file; ``image data`` if it came from memory.
        pages: in order; one that could not be read has an ``error`` and no words.
        source: what it was read from, which `save` makes a searchable PDF file of.
        password: of a locked PDF file.
    """

    name: str
    pages: Sequence[DocumentPage]
    source: Source
    password: str | None = None

    @property
    def text(self) -> str:
        """Lines as printed; pages are parted by a form feed."""
        return as_text("text", self._file)

    @property
    def markdown(self) -> str:
        """Headings, paragraphs, items and tables; pages are parted by a rule."""
        return as_text("md", self._file)

    @property
    def words(self) -> list[Word]:
        """All words in reading order."""
        return [word for page in self.pages for word in page.words]

    @property
    def tables(self) -> list[Table]:
        """All tables, page by page."""
        return [table for page in self.pages for table in page.tables]

    def to_dict(self) -> dict[str, Any]:
        """Plain values; ``pages`` are the lines of ``vit-str read --page --format jsonl``."""
        return {"path": self.name, "pages": [page.to_dict() for page in self.pages]}

    def to_html(self) -> str:
        """A page of HTML."""
        return as_text("html", self._file)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the document, whole or not at all, in the format that the ending says.

        ``.md``, ``.txt``, ``.html``, ``.json`` and ``.jsonl``, ``.hocr``, ``.tsv``; its tables as
        ``.csv`` or ``.xlsx``; the file itself with text to search and select as ``.pdf``. What its
        user should know, such as of a signature that does not hold any more, is a warning.

        Raises:
            ValueError: another ending, or a library for the format is not installed.
            OSError: it cannot be written.
        """
        target = Path(path)
        if target.suffix.lower() == ".json":
            self._save_json(target)
            return
        format_ = format_of(target)
        if format_ is None:
            known = ", ".join((*ENDINGS.values(), ".json"))
            raise ValueError(
                f"{path}: no ending of what can be written, which are {known}"
            )
        for note in write_file(format_, self._file, target):
            warnings.warn(note, UserWarning, stacklevel=2)

    def _save_json(self, target: Path) -> None:
        import json

        with write_atomically(target) as temporary:
            temporary.write_text(json.dumps(self.to_dict()), encoding="utf-8")

    @property
    def _file(self) -> ReadFile:
        return ReadFile(_as_file(self.source), self.name, self.pages, self.password)


def read_document(
    source: Source,
    *,
    pages: Pages = "1-",
    language: str | None = None,
    password: str | None = None,
    text_layer: bool = False,
    boxes: bool = False,
    dpi: int | None = None,
    reader: PageReader | None = None,
) -> Document:
    """Read all pages of a PDF or TIFF file, or a picture.

    >>> import vit_str
    >>> vit_str.read_document("invoice.pdf").save("invoice.xlsx")  # doctest: +SKIP

    All of its words are kept; `stream_pages` hands out a page at a time.

    Args:
        source: a path, the bytes of a file, an open file, a Pillow image, an array or a tensor.
        pages: such as ``"3-5"`` or ``[1, 2]``, from 1.
        language: whose words and letters to expect, as ``--language``; None for those of the model.
        password: of a locked PDF file.
        text_layer: use the text that PDF pages have, and read only the others.
        boxes: say where every character is.
        dpi: resolution at which PDF pages are drawn, in dots per inch; None for what fits.
        reader: of `vit_str.load_page`; None for one that is kept for the next document.

    Raises:
        UnreadableImage: for what is no such file, damaged, locked or too large, or has none of the
            pages.
        ValueError: a language that nothing here reads, a language beside a reader, odd pages, or
            OpenCV is not installed.
    """
    opened = _Opened(source, pages, password, text_layer, boxes, dpi)
    reader = _reader(reader, language)
    read: dict[int, Page] = {}
    errors: dict[int, str] = {}
    for number, outcome in opened.read(reader):
        if isinstance(outcome, Page):
            read[number] = outcome
        else:
            errors[number] = outcome.reason
    found = document_pages(opened.name, read)
    found += [unread_page(opened.name, *error) for error in errors.items()]
    found.sort(key=lambda page: page.number)
    return Document(opened.name, found, opened.source, password)


def stream_pages(
    source: Source,
    *,
    pages: Pages = "1-",
    language: str | None = None,
    password: str | None = None,
    text_layer: bool = False,
    boxes: bool = False,
    dpi: int | None = None,
    reader: PageReader | None = None,
) -> Iterator[DocumentPage]:
    """Read the pages of a file one by one, in memory that does not grow with their number.

    Levels of headings are told on each page by itself. A page that cannot be read has an ``error``
    and no words. See `read_document` for the arguments, and for what it raises.
    """
    opened = _Opened(source, pages, password, text_layer, boxes, dpi)
    reader = _reader(reader, language)

    def stream() -> Iterator[DocumentPage]:
        for number, outcome in opened.read(reader):
            if isinstance(outcome, Page):
                (page,) = document_pages(opened.name, {number: outcome})
                yield page
            else:
                yield unread_page(opened.name, number, outcome.reason)

    return stream()


class _Opened:
    """A file whose pages are to be read."""

    def __init__(
        self,
        source: Source,
        pages: Pages,
        password: str | None,
        text_layer: bool,
        boxes: bool,
        dpi: int | None,
    ) -> None:
        self.name = source_name(source)
        self.source: Source = source
        if isinstance(source, BinaryFile):
            self.source = file_bytes(source, self.name)
        elif isinstance(source, str | os.PathLike) and not Path(source).exists():
            raise UnreadableImage(self.name, "no such file; check the path")
        self._boxes = boxes
        self._options = PageOptions.of(
            _ranges(pages), resolution=dpi, password=password, text_layer=text_layer
        )

    def read(self, reader: PageReader) -> Iterator[tuple[int, Page | UnreadableImage]]:
        """Number and words of each page, or why it cannot be read.

        Raises:
            UnreadableImage: no page can be read.
        """
        failed: list[tuple[int, UnreadableImage]] = []  # before the first that can
        are_read = False
        for number, outcome in self._outcomes(reader):
            if isinstance(outcome, UnreadableImage) and not are_read:
                failed.append((number, outcome))
                continue
            are_read = True
            yield from failed
            failed = []
            yield number, outcome
        if failed:
            raise failed[0][1]
        if not are_read:
            reason = "has none of the pages that are asked for"
            raise UnreadableImage(self.name, reason)

    def _outcomes(
        self, reader: PageReader
    ) -> Iterator[tuple[int, Page | UnreadableImage]]:
        source = without_array(self.source)
        if not isinstance(source, str | os.PathLike | bytes):
            yield 1, reader.read(source, boxes=self._boxes)
            return
        with _on_disk(source) as path:
            pictures = pictures_in(path, self._options)
            for number, picture in zip(self._options.numbers, pictures, strict=False):
                if isinstance(picture, UnreadableImage):
                    yield number, UnreadableImage(self.name, picture.reason)
                else:
                    # Frames that are as the one before are left out
                    number = picture.info.get("number") or number
                    page = page_of_text(picture, reader.arranger)
                    yield number, page or reader.read(picture, boxes=self._boxes)


@contextmanager
def _on_disk(source: str | os.PathLike[str] | bytes) -> Iterator[str]:
    """The path of a file, or of one that holds its bytes while the block runs."""
    if not isinstance(source, bytes):
        yield os.fspath(source)
        return
    with temporary_file(source, ".image") as path:
        yield path


def _ranges(pages: Pages) -> str:
    """Pages as `PageOptions` takes them."""
    if isinstance(pages, str):
        return pages
    numbers = [pages] if isinstance(pages, int) else sorted(set(pages))
    return ",".join(map(str, numbers))


def _reader(reader: PageReader | None, language: str | None) -> PageReader:
    """The reader that was given, or one for a language."""
    if reader is None:
        return _loaded(language, threading.get_ident())
    if language is not None:
        raise ValueError(
            "a reader has its language: load_page(search=Search(language=...)); give "
            "one of both"
        )
    return reader


@lru_cache(maxsize=2)
def _loaded(language: str | None, thread: int) -> PageReader:
    """One for each thread: to load it takes longer than to read a page."""
    return load_page(search=Search(language=language) if language else None)


def _as_file(source: Source) -> Path | str | bytes:
    """The source of a searchable PDF file: a path, or the bytes of a file."""
    from io import BytesIO

    from PIL import Image

    source = without_array(source)
    if isinstance(source, Image.Image):
        file = BytesIO()
        source.save(file, "PNG")
        return file.getvalue()
    assert not isinstance(source, BinaryFile)
    return source
