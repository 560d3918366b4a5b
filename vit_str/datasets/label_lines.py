"""Lines of label files: which image, and what it says."""

import csv
import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from vit_str.datasets.source import Reason

NAMES = ("file_name", "filename", "file", "path", "image_path", "image", "img", "name")
"""What a column or a key with the image may be called."""

LABELS = ("label", "text", "word", "words", "transcription", "transcript", "ground_truth", "gt")
"""What a column or a key with the label may be called."""


class BadLine(Exception):  # noqa: N818 - it says what the line is
    """A line that cannot be understood."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(detail)
        self.reason, self.detail = reason, detail


@dataclass(frozen=True, slots=True)
class Row:
    """An image and what it says.

    Attributes:
        name: of the image file, as the label file has it; bytes that are not UTF-8 are surrogates.
        label: the text.
        boxes: of the characters, if the file has them.
    """

    name: str
    label: str
    boxes: tuple[tuple[float, ...], ...] = ()


class LineFormat(ABC):
    """How a line is understood. A line is a word: labels hold no line breaks."""

    @abstractmethod
    def parse(self, line: bytes) -> Row:
        """What a line without its end says.

        Raises:
            BadLine: it cannot be understood.
        """


@dataclass(frozen=True, slots=True)
class Separated(LineFormat):
    """An image, a separator, and all that follows is the label.

    Attributes:
        separator: a tab or a space.
        width: number of columns; the last one holds further separators too.
        name: which column is the image.
        label: which one is the label.
    """

    separator: bytes = b"\t"
    width: int = 2
    name: int = 0
    label: int = 1

    def parse(self, line: bytes) -> Row:
        cells = line.split(self.separator, self.width - 1)
        if len(cells) <= max(self.name, self.label):
            what = "a tab" if self.separator == b"\t" else "a space"
            raise BadLine(Reason.DAMAGED, f"expected the image, {what} and the label")
        return Row(file_name(cells[self.name]), decoded(cells[self.label]))


@dataclass(frozen=True, slots=True)
class Commas(LineFormat):
    """CSV, with quotes around what holds a comma or a quote (doubled then).

    Attributes:
        delimiter: a comma, or what else stands between columns.
        width: number of columns.
        name: which column is the image.
        label: which one is the label.
    """

    delimiter: str = ","
    width: int = 2
    name: int = 0
    label: int = 1

    def parse(self, line: bytes) -> Row:
        cells = self.cells(line)
        if len(cells) != self.width:
            raise BadLine(
                Reason.DAMAGED,
                f"expected {self.width} columns, found {len(cells)}; a label that holds "
                f"{self.delimiter!r} needs quotes",
            )
        return Row(file_name(cells[self.name]), decoded(cells[self.label]))

    def cells(self, line: bytes) -> list[bytes]:
        """The columns of a line.

        Raises:
            BadLine: its quotes do not close.
        """
        text = line.decode("utf-8", "surrogateescape")
        # Spaces are part of a label, but some write one between the comma and the quote.
        loose = f'{self.delimiter} "' in text
        try:
            rows = list(
                csv.reader([text], delimiter=self.delimiter, strict=True, skipinitialspace=loose)
            )
        except csv.Error as error:
            raise BadLine(Reason.DAMAGED, f"quotes of a CSV line: {error}") from None
        return [cell.encode("utf-8", "surrogateescape") for row in rows for cell in row]


@dataclass(frozen=True, slots=True)
class JsonLines(LineFormat):
    """An object with a key for the image and one for the label."""

    def parse(self, line: bytes) -> Row:
        values = _json(line)
        name, label = _needed(values, NAMES), _needed(values, LABELS)
        return Row(name.strip(), decoded(encoded(label)), boxes_of(values))


def _json(line: bytes) -> dict[str, Any]:
    try:
        values = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise BadLine(Reason.NOT_UTF8, f"byte {error.start} of the line") from None
    except (ValueError, RecursionError) as error:
        raise BadLine(Reason.DAMAGED, f"no JSON: {error}") from None
    if not isinstance(values, dict):
        raise BadLine(Reason.DAMAGED, f"expected a JSON object, found {type(values).__name__}")
    return values


def _needed(values: dict[str, Any], keys: Sequence[str]) -> str:
    text = text_under(values, keys)
    if text is None:
        found = {key: values[key] for key in keys if key in values}
        other = f", but {found}" if found else ""
        raise BadLine(Reason.DAMAGED, f"has no text in quotes under {', '.join(keys)}{other}")
    return text


def text_under(values: dict[str, Any], keys: Sequence[str]) -> str | None:
    """The first text under one of the keys; None without any."""
    return next((values[key] for key in keys if isinstance(values.get(key), str)), None)


def boxes_of(values: dict[str, Any]) -> tuple[tuple[float, ...], ...]:
    """The boxes of an object of JSON, as `LabeledWord.json_of_boxes` writes them; () if none."""
    try:
        boxes = tuple(tuple(float(side) for side in box) for box in values.get("boxes", ()))
    except (TypeError, ValueError):
        return ()
    return boxes if all(len(box) == 4 for box in boxes) else ()


def file_name(name: bytes) -> str:
    """The name of a file, whatever its bytes."""
    return name.strip().decode("utf-8", "surrogateescape")


def encoded(text: str) -> bytes:
    """UTF-8, also of half a surrogate pair, which JSON can hold and `decoded` refuses."""
    return text.encode("utf-8", "surrogatepass")


def decoded(label: bytes) -> str:
    """The text of a label, exactly as it is stored.

    Raises:
        BadLine: it is not UTF-8.
    """
    try:
        return label.decode("utf-8")
    except UnicodeDecodeError as error:
        shown = label.decode("utf-8", "backslashreplace")
        raise BadLine(Reason.NOT_UTF8, f"{shown!r} at byte {error.start}") from None
