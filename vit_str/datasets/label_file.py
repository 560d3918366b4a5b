"""Label files: tab-separated, comma-separated or JSON lines, any line by its place."""

import re
from array import array
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from vit_str.datasets.label_lines import (
    LABELS,
    NAMES,
    BadLine,
    Commas,
    JsonLines,
    LineFormat,
    Row,
    Separated,
)
from vit_str.datasets.random_file import RandomFile
from vit_str.datasets.source import Skipped

LABEL_SUFFIXES = (".tsv", ".csv", ".jsonl", ".ndjson", ".txt")
"""What label files end in."""

_JSON_SUFFIXES = (".jsonl", ".ndjson")
_BOM = b"\xef\xbb\xbf"
_OTHER_BOMS = (b"\xff\xfe", b"\xfe\xff")
_LINES_TO_TRY = 10
_FILE_AND_SPACE = re.compile(rb"\S+\.\w{2,5} ")


class LabelFile:
    """A file with a line for every word; where lines start is all that is kept of it.

    The ending and the first line say how lines are read: ``.jsonl`` and ``.ndjson`` hold an
    object each; ``.csv`` has commas, or else semicolons or tabs, between columns; ``.tsv`` has
    tabs; any other file is the first of these that fits: tabs, a file name and a space, commas.
    If the first line has titles of both columns (``NAMES``, ``LABELS``), they say which columns
    count. Blank lines are no words. A byte order mark and the ends of lines of Windows are no
    part of a label; all else is.

    Args:
        path: the file, UTF-8.

    Raises:
        ValueError: no such file, or none of its first lines can be understood.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        if not path.is_file():
            raise ValueError(f"{path}: no such file; check the path")
        self._file = RandomFile(path)
        head = list(islice(_lines(path), _LINES_TO_TRY + 1))
        first = head[0][2] if head else b""
        self._format, self._titles = _format_of(path, first)
        self._check(head)
        self._starts: array[int] | None = None
        self._numbers: array[int] = array("I")

    def __len__(self) -> int:
        return len(self._index())

    def __getitem__(self, place: int) -> Row | Skipped:
        """The line at a place, blank lines and titles not counted."""
        starts = self._index()
        if not 0 <= place < len(starts):
            raise IndexError(place)
        end = starts[place + 1] if place + 1 < len(starts) else len(self._file)
        lines = self._file.read(starts[place], end - starts[place])
        try:
            return self._format.parse(lines.split(b"\n", 1)[0].rstrip(b"\r"))
        except BadLine as error:
            name = f"{self.path.name}, line {self._numbers[place]}"
            return Skipped(name, error.reason, error.detail)

    def _index(self) -> "array[int]":
        if self._starts is None:
            starts, numbers = array("Q"), array("I")
            for number, start, _ in islice(_lines(self.path), int(self._titles), None):
                starts.append(start)
                numbers.append(number)
            self._starts, self._numbers = starts, numbers
        return self._starts

    def _check(self, head: Sequence[tuple[int, int, bytes]]) -> None:
        """Refuse a file of which no line near its start can be understood."""
        trouble = ""
        for number, _, line in head[int(self._titles) :]:
            try:
                self._format.parse(line)
            except BadLine as error:
                trouble = trouble or f"line {number}: {error.reason}: {error.detail}"
            else:
                return
        if trouble:
            raise ValueError(f"{self.path}, {trouble}; expected a line for every image")


def _lines(path: Path) -> Iterator[tuple[int, int, bytes]]:
    """Lines that are not blank: number from 1 on, where it starts, what it holds without its end.

    Raises:
        ValueError: the file is UTF-16.
    """
    start = 0
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            end = start + len(line)
            if number == 1 and line.startswith(_OTHER_BOMS):
                raise ValueError(f"{path}: UTF-16; save it as UTF-8")
            if number == 1 and line.startswith(_BOM):
                start += len(_BOM)
                line = line[len(_BOM) :]
            if line.strip():
                yield number, start, line.rstrip(b"\r\n")
            start = end


def _format_of(path: Path, first: bytes) -> tuple[LineFormat, bool]:
    """How lines are read, and whether the first one holds titles."""
    suffix = path.suffix.lower()
    if suffix in _JSON_SUFFIXES:
        return JsonLines(), False
    if suffix == ".tsv" or (suffix != ".csv" and b"\t" in first):
        return _separated(first)
    if suffix != ".csv" and _FILE_AND_SPACE.match(first):
        return Separated(b" "), False
    return _commas(path, first)


def _separated(first: bytes) -> tuple[LineFormat, bool]:
    titles = first.split(b"\t")
    columns = _columns(titles)
    return (Separated(b"\t", len(titles), *columns), True) if columns else (Separated(), False)


def _commas(path: Path, first: bytes) -> tuple[LineFormat, bool]:
    delimiter = next((each for each in ",;\t" if each.encode() in first), ",")
    try:
        titles = Commas(delimiter).cells(first)
    except BadLine:
        return Commas(delimiter), False
    columns = _columns(titles)
    if columns:
        return Commas(delimiter, len(titles), *columns), True
    if len(titles) > 2:
        raise ValueError(
            f"{path}, line 1: found {len(titles)} columns and no titles; begin it with a line "
            "such as file_name,label, or put quotes around labels with commas"
        )
    return Commas(delimiter), False


def _columns(titles: Sequence[bytes]) -> tuple[int, int] | None:
    """Which columns hold the image and the label, if these are titles."""
    names = [title.decode("utf-8", "replace").strip().lower() for title in titles]
    image = next((names.index(name) for name in NAMES if name in names), None)
    label = next((names.index(name) for name in LABELS if name in names), None)
    return None if image is None or label is None or image == label else (image, label)
