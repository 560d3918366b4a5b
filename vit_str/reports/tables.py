"""Tables as CSV and values as JSON, written atomically."""

import csv
import io
import json
from collections.abc import Iterable, Sequence
from dataclasses import astuple, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vit_str.files import write_atomically

if TYPE_CHECKING:
    import pandas as pd

Table = tuple[list[str], list[list[object]]]
"""Names of the columns, and rows."""


def write_rows(path: Path, row_type: type, rows: Iterable[Any]) -> None:
    """Write dataclasses as CSV, their fields being the columns."""
    columns = [field.name for field in fields(row_type)]
    write_csv(path, columns, (astuple(row) for row in rows))


def write_frame(path: Path, frame: "pd.DataFrame") -> None:
    """Write a pandas table as CSV atomically, without its index."""
    with write_atomically(path) as file:
        text: dict[str, Any] = {"lineterminator": "\n", "errors": "backslashreplace"}
        frame.to_csv(file, index=False, float_format="%.6g", **text)


def write_csv(path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a table with a header atomically; None is an empty cell.

    Names of files may hold bytes that are not UTF-8: they are escaped.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_cell(value) for value in row] for row in rows)
    with write_atomically(path) as file:
        file.write_bytes(text.getvalue().encode(errors="backslashreplace"))


def write_json(path: Path, values: object) -> None:
    """Write values as JSON atomically; what JSON does not know becomes text.

    Names of files may hold bytes that are not UTF-8: they are escaped.
    """
    text = json.dumps(values, indent=1, ensure_ascii=False, default=str)
    with write_atomically(path) as file:
        file.write_bytes(f"{text}\n".encode(errors="backslashreplace"))


def _cell(value: object) -> object:
    return f"{value:.6g}" if isinstance(value, float) else "" if value is None else value
