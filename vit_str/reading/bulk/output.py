"""The folder that results of bulk reading go to.

One process writes it, a file for each part, atomically. What has a row in these files is done: a
run that was stopped resumes with the images that have none.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from vit_str.decoding.readings import json_line
from vit_str.files import write_atomically

# Readers of whole folders, such as pandas, pass over what begins like these.
_SETTINGS = "_reading.json"
LOCK = ".lock"


class OutputFolder:
    """The folder that results go to, ``part-000000.parquet`` and so on.

    A run that resumes must have the same settings: what decides how results look.

    Raises:
        ValueError: the path is a file, or a folder with other files.
    """

    def __init__(
        self,
        path: Path,
        file_format: str,
        settings: Mapping[str, Any],
    ) -> None:
        self.path = path
        self.format = file_format
        settings = {"format": file_format, **settings}
        record = path / _SETTINGS
        if path.exists() and not path.is_dir():
            raise ValueError(f"{path} is a file; --out is a folder")
        if record.exists():
            _compare(record, settings)
        elif _holds_files(path):
            raise ValueError(
                f"{path} holds other files; give an empty or a new folder as --out"
            )
        else:
            with write_atomically(record) as temporary:
                content = json.dumps(settings, indent=2) + "\n"
                temporary.write_text(content, encoding="utf-8")

    def parts(self) -> dict[int, Path]:
        """The files, by their numbers."""
        name = re.compile(rf"part-(\d{{6,}})\.{self.format}")
        parts = {}
        for path in sorted(self.path.iterdir()):
            match = name.fullmatch(path.name)
            if match:
                parts[int(match[1])] = path
        return parts

    def done(self) -> dict[str, bool]:
        """Names of the images that have a row, and whether they could be read."""
        rows = chain.from_iterable(map(self._rows, self.parts().values()))
        return {row["path"]: row["error"] is None for row in rows}

    def write(self, rows: Sequence[dict[str, Any]]) -> None:
        """Write a file with these rows, atomically."""
        number = max(self.parts(), default=-1) + 1
        path = self.path / f"part-{number:06d}.{self.format}"
        with write_atomically(path) as temporary:
            if self.format == "jsonl":
                lines = "".join(f"{json_line(row)}\n" for row in rows)
                temporary.write_text(lines, encoding="utf-8")
            else:
                _write_parquet(temporary, rows)

    def _rows(self, path: Path) -> Iterable[dict[str, Any]]:
        if self.format == "jsonl":
            with path.open(encoding="utf-8") as lines:
                return [json.loads(line) for line in lines]
        from pyarrow import parquet

        columns = ["path", "error"]
        return parquet.read_table(path, columns=columns, memory_map=False).to_pylist()


def _holds_files(path: Path) -> bool:
    """Whether it is a folder with something in it that is not hidden."""
    if not path.is_dir():
        return False
    return any(not entry.name.startswith(".") for entry in path.iterdir())


def _compare(record: Path, settings: Mapping[str, Any]) -> None:
    """Refuse a folder that was begun with other settings."""
    try:
        before = dict(json.loads(record.read_text(encoding="utf-8")))
    except (ValueError, TypeError):
        raise ValueError(f"{record}: damaged; take another --out") from None
    for name, value in settings.items():
        if before.get(name) != value:
            raise ValueError(
                f"{record.parent} was begun with {name} {before.get(name)}, not "
                f"{value}; take what it was begun with, or another --out"
            )


def _write_parquet(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    import pyarrow
    from pyarrow import parquet

    text = pyarrow.string()
    number = pyarrow.float32()
    fields = [("path", text), ("text", text), ("confidence", number), ("error", text)]
    if rows and "characters" in rows[0]:
        box = pyarrow.list_(number)  # left, top, right, bottom; null if not wanted
        character = pyarrow.struct(
            [
                ("character", text),
                ("confidence", number),
                ("box", box),
            ]
        )
        fields.append(("characters", pyarrow.list_(character)))
    values = [{**row, "path": utf8(row["path"])} for row in rows]
    table = pyarrow.Table.from_pylist(values, schema=pyarrow.schema(fields))
    parquet.write_table(table, path, compression="zstd")


def utf8(text: str) -> str:
    """Escape what is not UTF-8 in a file name, which Parquet could not hold."""
    return text.encode("utf-8", "backslashreplace").decode()
