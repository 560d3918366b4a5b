"""Label files: tab-separated, comma-separated or JSON lines, any line by its index."""

import csv
import json
from array import array
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from vit_str.datasets.source import Boxes, Reason, Skipped

NAMES = ("file_name", "filename", "file", "path", "image_path", "image", "img", "name")
"""Names of a column or a key with the image."""

LABELS = (
    "label",
    "text",
    "word",
    "words",
    "transcription",
    "transcript",
    "ground_truth",
    "gt",
)
"""Names of a column or a key with the label."""

DAMAGE = (ValueError, TypeError, AttributeError, RecursionError)
"""Errors of JSON that is cut, nested without end, or says something else than was expected."""


_LONGEST_LINE = 1 << 20  # bytes, with the boxes of a word


class LabelRow(NamedTuple):
    """An image and what it says."""

    name: str
    label: str
    boxes: Boxes = ()


class LabelFile:
    """A file in UTF-8 with a line for every word; blank lines are no words.

    The suffix says how lines are read: ``.jsonl`` holds an object each, ``.csv`` has commas between
    columns, any other file has tabs. If the first line has titles of both columns (``NAMES``,
    ``LABELS``), they say which columns count; else there are two. Only where lines start is kept
    in memory.

    Raises:
        ValueError: there is no such file.
    """

    def __init__(self, path: Path) -> None:
        if not path.is_file():
            raise ValueError(f"{path}: no such file; check the path")
        self.path = path
        self._is_json = path.suffix.lower() == ".jsonl"
        self._is_csv = path.suffix.lower() == ".csv"
        self._columns = (0, 1, 2)  # image, label, how many
        first = next((line for _, _, line in _lines(path)), "")
        titled = None if self._is_json else self._titled(first)
        self._titles = int(titled is not None)
        self._columns = titled or self._columns

    def __len__(self) -> int:
        return len(self._index[0])

    def __getitem__(self, index: int) -> LabelRow | Skipped:
        """The line at an index, blank lines and titles not counted."""
        starts, numbers = self._index
        if not 0 <= index < len(starts):
            raise IndexError(index)
        with self.path.open("rb") as file:
            file.seek(starts[index])
            line = file.readline(_LONGEST_LINE + 1)
        try:
            if len(line) > _LONGEST_LINE:
                raise ValueError(f"longer than {_LONGEST_LINE:,} bytes")
            text = line.decode().rstrip("\r\n")
            return _json_row(text) if self._is_json else self._row(text)
        except UnicodeDecodeError:
            reason = Reason.NOT_UTF8
            detail = line.decode("utf-8", "backslashreplace")
        except (*DAMAGE, csv.Error) as error:
            reason = Reason.DAMAGED
            detail = str(error)
        return Skipped(f"{self.path.name}, line {numbers[index]}", reason, detail)

    def _row(self, line: str) -> LabelRow:
        image, label, count = self._columns
        cells = self._cells(line)
        if len(cells) != count:
            between = "tabs"
            if self._is_csv:
                between = "commas (a label with one needs quotes)"
            titles = ""
            if not self._titles:
                titles = "; if there are more, name them in the first line"
            raise ValueError(
                f"expected {count} columns with {between}, found {len(cells)}{titles}"
            )
        return LabelRow(cells[image].strip(), cells[label])

    def _titled(self, line: str) -> tuple[int, int, int] | None:
        """See `_columns_under`."""
        try:
            return _columns_under(self._cells(line))
        except csv.Error:  # told when the line is asked for
            return None

    def _cells(self, line: str) -> list[str]:
        """The columns of a line."""
        if self._is_csv:
            return next(csv.reader([line], strict=True), [])
        return line.split("\t")

    @cached_property
    def _index(self) -> "tuple[array[int], array[int]]":
        """Where every line starts, and its number in the file."""
        starts = array("Q")
        numbers = array("I")
        for number, start, _ in _lines(self.path):
            starts.append(start)
            numbers.append(number)
        return starts[self._titles :], numbers[self._titles :]


def text_under(values: dict[str, Any], keys: Sequence[str]) -> str | None:
    """The first text under one of the keys; None without any."""
    return next((values[key] for key in keys if isinstance(values.get(key), str)), None)


def boxes_of(values: dict[str, Any]) -> Boxes:
    """The boxes of an object of JSON, as `LabeledWord.json_of_boxes` writes them; () if none."""
    return tuple(tuple(map(float, box)) for box in values.get("boxes", ()))


def _lines(path: Path) -> Iterator[tuple[int, int, str]]:
    """Lines that are not blank: number from 1 on, byte where it starts, text without its end.

    Of a line that is too long only the beginning: a file of zeros is one line of gigabytes.
    """
    start = 0
    with path.open("rb") as file:
        for number, (line, size) in enumerate(_bounded_lines(file), 1):
            end = start + size
            if number == 1 and line.startswith(b"\xef\xbb\xbf"):  # a byte order mark
                start += 3
                line = line[3:]
            if line.strip():
                yield number, start, line.decode("utf-8", "replace").rstrip("\r\n")
            start = end


def _bounded_lines(file: BinaryIO) -> Iterator[tuple[bytes, int]]:
    """Lines, and how many bytes each has; no more than the beginning of those that are too long."""
    while line := file.readline(_LONGEST_LINE + 1):
        size = len(line)
        part = line
        while len(part) > _LONGEST_LINE and not part.endswith(b"\n"):
            part = file.readline(_LONGEST_LINE + 1)
            size += len(part)
        yield line, size


def _columns_under(titles: Sequence[str]) -> tuple[int, int, int] | None:
    """Where image and label are, and the number of columns; None if these are no titles."""
    names = [title.strip().lower() for title in titles]
    image = next((names.index(name) for name in NAMES if name in names), None)
    label = next((names.index(name) for name in LABELS if name in names), None)
    return None if image is None or label is None else (image, label, len(names))


def _json_row(line: str) -> LabelRow:
    values = json.loads(line)
    name = text_under(values, NAMES)
    label = text_under(values, LABELS)
    if name is None or label is None:
        raise ValueError(f"has no text under {', '.join(LABELS if name else NAMES)}")
    return LabelRow(name.strip(), label, boxes_of(values))
