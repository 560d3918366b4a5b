"""The lines of the output, as Parquet or as JSON."""

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from vit_str.bulk.json_lines import json_line, json_of
from vit_str.images import one_line
from vit_str.readings import Reading


class Format(StrEnum):
    """What the files of the output are; the value is their suffix too."""

    PARQUET = "parquet"
    JSONL = "jsonl"


@dataclass(frozen=True, slots=True)
class Row:
    """What came of one image: a reading, or why there is none."""

    path: str
    reading: Reading | None = None
    error: str | None = None


def encode(rows: Sequence[Row], file_format: Format, characters: bool) -> bytes:
    """The file of a part: path, text, confidence and error, and characters if wanted.

    Text and confidence are null where there is an error, and error where there is none.
    """
    if file_format is Format.PARQUET:
        return _parquet(rows, characters)
    return "".join(f"{_json(row, characters)}\n" for row in rows).encode()


def unreadable(path: Path) -> int:
    """How many lines of the file of a part are errors.

    Raises:
        ValueError: it is no such file, or a damaged one.
        OSError: it cannot be read.
    """
    try:
        if path.suffix == f".{Format.JSONL}":
            with path.open("rb") as lines:
                return sum(json.loads(line)["error"] is not None for line in lines)
        from pyarrow import parquet

        column = parquet.read_table(path, columns=["error"], memory_map=False).column("error")
        return len(column) - int(column.null_count)
    except (ValueError, KeyError, TypeError) as error:
        reason = one_line(str(error).partition("\n")[0])
        raise ValueError(
            f"{path} is not as it was written ({reason}); delete it to have its images read again"
        ) from error


def _json(row: Row, characters: bool) -> str:
    if row.reading is not None:
        return json_line(row.path, row.reading, characters, error=None)
    values = {"path": row.path, "text": None, "confidence": None, "error": row.error}
    return json_of({**values, "characters": None} if characters else values)


def _parquet(rows: Sequence[Row], characters: bool) -> bytes:
    import pyarrow
    from pyarrow import parquet

    fields = [
        ("path", pyarrow.string()),
        ("text", pyarrow.string()),
        ("confidence", pyarrow.float32()),
        ("error", pyarrow.string()),
    ]
    if characters:
        box = pyarrow.list_(pyarrow.float32())  # left, top, right, bottom; null if not wanted
        character = [
            ("character", pyarrow.string()),
            ("confidence", pyarrow.float32()),
            ("box", box),
        ]
        fields.append(("characters", pyarrow.list_(pyarrow.struct(character))))
    values = [_values(row, characters) for row in rows]
    table = pyarrow.Table.from_pylist(values, schema=pyarrow.schema(fields))
    file = io.BytesIO()
    parquet.write_table(table, file, compression="zstd")
    return file.getvalue()


def _values(row: Row, characters: bool) -> dict[str, Any]:
    values: dict[str, Any] = {"path": _utf8(row.path), "error": row.error and _utf8(row.error)}
    if row.reading is not None:
        values |= {"text": row.reading.text, "confidence": row.reading.confidence}
        if characters:
            values["characters"] = [
                {"character": each.character, "confidence": each.confidence, "box": each.box}
                for each in row.reading.characters
            ]
    return values


def _utf8(text: str) -> str:
    """Spell out what is not UTF-8 in a file name, which Parquet could not hold."""
    return text.encode("utf-8", "backslashreplace").decode()
