"""Label files: tab-separated, comma-separated or JSON lines, any line by its index."""

import csv
import json
import re
from array import array
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from vit_str.datasets.source import MAX_BYTES, Boxes, Reason, Skipped

LABEL_SUFFIXES = (".tsv", ".csv", ".jsonl", ".ndjson", ".txt")
"""What label files end in."""

NAMES = ("file_name", "filename", "file", "path", "image_path", "image", "img", "name")
"""What a column or a key with the image may be called."""

LABELS = ("label", "text", "word", "words", "transcription", "transcript", "ground_truth", "gt")
"""What a column or a key with the label may be called."""

_BOM, _OTHER_BOMS = b"\xef\xbb\xbf", (b"\xff\xfe", b"\xfe\xff")
_LINES_TO_TRY = 10
_FILE_AND_SPACE = re.compile(r"\S+\.\w{2,5} ")


class BadLine(Exception):  # noqa: N818 - it says what the line is
    """A line that cannot be understood."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(detail)
        self.reason, self.detail = reason, detail


class LabelRow(NamedTuple):
    """An image and what it says.

    Attributes:
        name: of the image file, as the label file has it; bytes that are not UTF-8 are surrogates.
        label: the text.
        boxes: of the characters, if the file has them.
    """

    name: str
    label: str
    boxes: Boxes = ()


class Lines:
    """The lines of a file that are not blank, by index; only where they start is kept.

    Args:
        path: the file. A byte order mark and the line ends of Windows are no part of a line.
        titles: number of lines at the start that do not count.
    """

    def __init__(self, path: Path, titles: int = 0) -> None:
        self.path, self.titles = path, titles
        self._loaded: tuple[array[int], array[int]] | None = None

    def __len__(self) -> int:
        return len(self._starts_and_numbers()[0])

    def __getitem__(self, index: int) -> bytes:
        starts, _ = self._starts_and_numbers()
        if not 0 <= index < len(starts):
            raise IndexError(index)
        with self.path.open("rb") as file:
            file.seek(starts[index])
            return file.readline(MAX_BYTES).rstrip(b"\r\n")

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_loaded": None}

    def number(self, index: int) -> int:
        """Number of a line in the file, from 1 on."""
        return self._starts_and_numbers()[1][index]

    def _starts_and_numbers(self) -> "tuple[array[int], array[int]]":
        if self._loaded is None:
            starts, numbers = array("Q"), array("I")
            for number, start, _ in islice(_lines(self.path), self.titles, None):
                starts.append(start)
                numbers.append(number)
            self._loaded = starts, numbers
        return self._loaded


class LineFormat(NamedTuple):
    """How a line is understood. A line is a word: labels hold no line breaks.

    Attributes:
        delimiter: between columns; empty for lines of JSON.
        quoted: whether quotes may be around a cell (CSV); else all after the last delimiter that
            counts is the label.
        columns: how many.
        image: which column is the image.
        label: which one is the label.
    """

    delimiter: str = ""
    quoted: bool = False
    columns: int = 2
    image: int = 0
    label: int = 1

    def parse(self, line: bytes) -> LabelRow:
        """What a line says.

        Raises:
            BadLine: it cannot be understood.
        """
        if not self.delimiter:
            return _json_row(line)
        cells = self.cells(line)
        if self.quoted and len(cells) != self.columns:
            raise BadLine(
                Reason.DAMAGED,
                f"expected {self.columns} columns, found {len(cells)}; a label that holds "
                f"{self.delimiter!r} needs quotes",
            )
        if len(cells) <= max(self.image, self.label):
            between = "a tab" if self.delimiter == "\t" else "a space"
            raise BadLine(Reason.DAMAGED, f"expected the image, {between} and the label")
        return LabelRow(cells[self.image].strip(), checked_label(cells[self.label]))

    def cells(self, line: bytes) -> list[str]:
        """The columns of a line; bytes that are not UTF-8 are surrogates.

        Raises:
            BadLine: its quotes do not close.
        """
        text = line.decode("utf-8", "surrogateescape")
        if not self.quoted:
            return text.split(self.delimiter, self.columns - 1)
        # Spaces are part of a label, but some write one between the comma and the quote.
        loose = f'{self.delimiter} "' in text
        reader = csv.reader([text], delimiter=self.delimiter, strict=True, skipinitialspace=loose)
        try:
            return [cell for row in reader for cell in row]
        except csv.Error as error:
            raise BadLine(Reason.DAMAGED, f"quotes of a CSV line: {error}") from None

    def with_titles(self, titles: Sequence[str]) -> "LineFormat":
        """The columns under titles; the same object if these are none."""
        names = [title.strip().lower() for title in titles]
        image, label = (
            next((names.index(name) for name in known if name in names), -1)
            for known in (NAMES, LABELS)
        )
        if -1 in (image, label) or image == label:
            return self
        return self._replace(columns=len(titles), image=image, label=label)


class LabelFile:
    """A file with a line for every word.

    The suffix and the first line say how lines are read: ``.jsonl`` and ``.ndjson`` hold an
    object each; ``.csv`` has commas, or else semicolons or tabs, between columns; ``.tsv`` has
    tabs; any other file is the first of these that fits: tabs, a file name and a space, commas.
    If the first line has titles of both columns (``NAMES``, ``LABELS``), they say which columns
    count. Blank lines are no words.

    Args:
        path: the file, UTF-8.

    Raises:
        ValueError: no such file, or none of its first lines can be understood.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        if not path.is_file():
            raise ValueError(f"{path}: no such file; check the path")
        _, _, first = next(_lines(path), (0, 0, b""))
        self._format, titles = _format_of(path, first)
        self._lines = Lines(path, titles)
        head = [self[index] for index in range(min(len(self), _LINES_TO_TRY))]
        if head and all(isinstance(row, Skipped) for row in head):
            raise ValueError(f"{path}: expected a line for every image; {head[0]}")

    def __len__(self) -> int:
        return len(self._lines)

    def __getitem__(self, index: int) -> LabelRow | Skipped:
        """The line at an index, blank lines and titles not counted."""
        try:
            return self._format.parse(self._lines[index])
        except BadLine as error:
            name = f"{self.path.name}, line {self._lines.number(index)}"
            return Skipped(name, error.reason, error.detail)


def checked_label(label: str) -> str:
    """The text of a label, exactly as it is stored.

    Raises:
        BadLine: it is not UTF-8, or half of a surrogate pair.
    """
    try:
        label.encode()
    except UnicodeEncodeError as error:
        is_byte = "\udc80" <= label[error.start] <= "\udcff"
        data = label.encode("utf-8", "surrogateescape" if is_byte else "surrogatepass")
        shown = data.decode("utf-8", "backslashreplace")
        at = len(label[: error.start].encode())
        raise BadLine(Reason.NOT_UTF8, f"{shown!r} at byte {at}") from None
    return label


def text_under(values: dict[str, Any], keys: Sequence[str]) -> str | None:
    """The first text under one of the keys; None without any."""
    return next((values[key] for key in keys if isinstance(values.get(key), str)), None)


def boxes_of(values: dict[str, Any]) -> Boxes:
    """The boxes of an object of JSON, as `LabeledWord.json_of_boxes` writes them; () if none."""
    try:
        boxes = tuple(tuple(float(side) for side in box) for box in values.get("boxes", ()))
    except (TypeError, ValueError, OverflowError):
        return ()
    return boxes if all(len(box) == 4 for box in boxes) else ()


def _lines(path: Path) -> Iterator[tuple[int, int, bytes]]:
    """Lines that are not blank: number from 1 on, where it starts, what it holds without its end.

    Raises:
        ValueError: the file is UTF-16, or no file of lines.
    """
    start = 0
    with path.open("rb") as file:
        for number, line in enumerate(iter(lambda: file.readline(MAX_BYTES), b""), 1):
            end = start + len(line)
            if number == 1 and line.startswith(_OTHER_BOMS):
                raise ValueError(f"{path}: UTF-16; save it as UTF-8")
            if len(line) == MAX_BYTES:
                raise ValueError(f"{path}, line {number}: too long; expected a line per image")
            if number == 1 and line.startswith(_BOM):
                start, line = start + len(_BOM), line.removeprefix(_BOM)
            if line.strip():
                yield number, start, line.rstrip(b"\r\n")
            start = end


def _format_of(path: Path, first: bytes) -> tuple[LineFormat, int]:
    """How lines are read, and the number of lines with titles."""
    suffix, text = path.suffix.lower(), first.decode("utf-8", "replace")
    if suffix in (".jsonl", ".ndjson"):
        return LineFormat(), 0
    if suffix == ".tsv" or (suffix != ".csv" and "\t" in text):
        plain = LineFormat("\t")
    elif suffix != ".csv" and _FILE_AND_SPACE.match(text):
        return LineFormat(" "), 0
    else:
        plain = LineFormat(next((mark for mark in ",;\t" if mark in text), ","), quoted=True)
    try:
        titles = plain.cells(first) if plain.quoted else text.split("\t")
    except BadLine:
        return plain, 0
    titled = plain.with_titles(titles)
    if titled is plain and plain.quoted and len(titles) > 2:
        raise ValueError(
            f"{path}, line 1: found {len(titles)} columns and no titles; begin it with a line "
            "such as file_name,label, or put quotes around labels with commas"
        )
    return titled, int(titled is not plain)


def _json_row(line: bytes) -> LabelRow:
    try:
        values = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise BadLine(Reason.NOT_UTF8, f"byte {error.start} of the line") from None
    except (ValueError, RecursionError) as error:
        raise BadLine(Reason.DAMAGED, f"no JSON: {error}") from None
    if not isinstance(values, dict):
        raise BadLine(Reason.DAMAGED, f"expected a JSON object, found {type(values).__name__}")
    for keys in (NAMES, LABELS):
        if text_under(values, keys) is None:
            found = {key: values[key] for key in keys if key in values}
            other = f", but {found}" if found else ""
            raise BadLine(Reason.DAMAGED, f"has no text in quotes under {', '.join(keys)}{other}")
    name, label = text_under(values, NAMES) or "", text_under(values, LABELS) or ""
    return LabelRow(name.strip(), checked_label(label), boxes_of(values))
