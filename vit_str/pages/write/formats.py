"""Formats of the pages of a file, and their writers."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from vit_str.decoding.readings import json_line
from vit_str.files import write_atomically
from vit_str.pages.page import Page
from vit_str.pages.write.hocr import hocr
from vit_str.pages.write.html import html_document
from vit_str.pages.write.markdown import together
from vit_str.pages.write.results import OF_TABLES
from vit_str.pages.write.searchable_pdf import ReadFile, write_searchable_pdf
from vit_str.pages.write.spreadsheets import count_tables, tables_as_csv, write_workbook
from vit_str.pages.write.tsv import tsv

_BYTE_ORDER_MARK = "utf-8-sig"  # by which Excel knows the letters of a csv file


def as_text(format_: str, file: ReadFile) -> str:
    """The pages of a file as text.

    Args:
        format_: one of ``ENDINGS`` of `results` that is not binary.
        file: with its pages.
    """
    return _TEXTS[format_](file).rstrip("\n") + "\n"


def write_file(format_: str, file: ReadFile, target: Path) -> list[str]:
    """Write the pages of a file, whole or not at all; returns what its user should know.

    Args:
        format_: one of ``ENDINGS`` of `results`.
        file: with its pages.
        target: the file to write.

    Raises:
        ValueError: a library for the format is not installed, or its file could not hold it.
        OSError: it cannot be written; names it.
    """
    notes: list[str] = []
    with write_atomically(target) as temporary:
        if format_ == "pdf":
            notes = write_searchable_pdf([file], temporary)
        elif format_ == "xlsx":
            write_workbook(file.pages, temporary)
        else:
            encoding = _BYTE_ORDER_MARK if format_ == "csv" else "utf-8"
            text = as_text(format_, file)
            temporary.write_text(text, encoding=encoding, newline="\n")
    if format_ in OF_TABLES and not count_tables(file.pages):
        notes.append(f"{file.name}: no tables found, the lines of its text are written")
    return notes


def write_together(files: Sequence[ReadFile], target: Path) -> list[str]:
    """Write several files into one PDF file; see `write_file`."""
    with write_atomically(target) as temporary:
        return write_searchable_pdf(files, temporary)


def _read_pages(file: ReadFile) -> Mapping[int, Page]:
    """The pages that could be read, by number."""
    return {page.number: page.page for page in file.pages if page.error is None}


def _text(file: ReadFile) -> str:
    return "\f".join(page.text + "\n" for page in _read_pages(file).values())


def _jsonl(file: ReadFile) -> str:
    return "\n".join(json_line(page.to_dict()) for page in file.pages)


def _markdown(file: ReadFile) -> str:
    return together(page.markdown for page in file.pages if page.error is None)


_TEXTS: Mapping[str, Callable[[ReadFile], str]] = {
    "text": _text,
    "jsonl": _jsonl,
    "hocr": lambda file: hocr(file.name, _read_pages(file)),
    "tsv": lambda file: tsv(_read_pages(file)),
    "md": _markdown,
    "html": lambda file: html_document(Path(file.name).name, file.pages),
    "csv": lambda file: tables_as_csv(file.pages),
}
