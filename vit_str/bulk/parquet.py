"""Images in Parquet files: a column of image files as bytes, or of their paths."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from vit_str.bulk.item import Item, Stretch
from vit_str.images import one_line

# Rows that are in memory at once, and bytes that are read at once.
_ROWS = 64
_BUFFER = 1 << 20


class DamagedError(Exception):
    """The file is no Parquet file, or a damaged one."""


def choose_column(path: Path, column: str | None) -> str:
    """The column that holds the images.

    Args:
        path: a Parquet file.
        column: its name; None for the only column of bytes, or else the one named ``path``.

    Raises:
        ValueError: there is no such column, or it cannot hold images.
        DamagedError: the file cannot be read.
    """
    with _opened(path) as file:
        fields = {field.name: field.type for field in file.schema_arrow}
    if column is None:
        of_bytes = [name for name, kind in fields.items() if _holds_bytes(kind)]
        if len(of_bytes) == 1:
            return of_bytes[0]
        if not of_bytes and _is_text(fields.get("path")):
            return "path"
        raise ValueError(f"{path}: say with --column which of {_listed(fields)} holds the images")
    if column not in fields:
        raise ValueError(f"{path} has no column {column!r}; it has {_listed(fields)}")
    if not (_holds_bytes(fields[column]) or _is_text(fields[column])):
        raise ValueError(
            f"{path}: column {column!r} holds {fields[column]}; images are bytes, or paths as text"
        )
    return column


def stretches(path: Path, size: int) -> Iterator[Stretch]:
    """Runs of ``size`` rows.

    Raises:
        DamagedError: the file cannot be read.
    """
    with _opened(path) as file:
        rows = file.metadata.num_rows
    for start in range(0, rows, size):
        stop = min(start + size, rows)
        yield Stretch(start, stop, stop - start)


def items(name: str, path: Path, stretch: Stretch, column: str) -> Iterator[Item]:
    """The images of some rows, as ``file.parquet/row``; a path in a cell is its own name.

    Relative paths start from the folder of the Parquet file. An empty cell is an image of 0 bytes.

    Raises:
        OSError: the file cannot be opened.
    """
    try:
        with _opened(path) as file:
            groups = list(_groups(file.metadata, stretch))
    except DamagedError as error:  # since it was divided
        groups = []
        yield from _lost(name, stretch.start, stretch.stop, str(error))
    for group, rows in groups:
        row = max(rows.start, stretch.start)
        stop = min(rows.stop, stretch.stop)
        try:
            for cell in islice(_cells(path, group, column), row - rows.start, stop - rows.start):
                yield _item(f"{name}/{row}", cell, path.parent)
                row += 1
        except DamagedError as error:
            yield from _lost(name, row, stop, str(error))


def _lost(name: str, start: int, stop: int, trouble: str) -> Iterator[Item]:
    return (Item(f"{name}/{row}", b"", trouble) for row in range(start, stop))


def _cells(path: Path, group: int, column: str) -> Iterator[object]:
    """The cells of one row group, a few in memory at a time."""
    with _opened(path) as file:
        for batch in file.iter_batches(_ROWS, row_groups=[group], columns=[column]):
            yield from batch.column(0).to_pylist()


def _item(name: str, cell: object, folder: Path) -> Item:
    if isinstance(cell, dict):  # as the datasets of Hugging Face have it: {"bytes", "path"}
        cell = cell.get("bytes") or cell.get("path")
    if isinstance(cell, str):
        return Item(cell, str(folder / cell)) if cell else Item(name, b"")
    return Item(name, cell if isinstance(cell, bytes) else b"")


def _groups(metadata: Any, stretch: Stretch) -> Iterator[tuple[int, range]]:
    """Row groups that a stretch lies in, and their rows."""
    stop = 0
    for group in range(metadata.num_row_groups):
        start, stop = stop, stop + metadata.row_group(group).num_rows
        if start < stretch.stop and stop > stretch.start:
            yield group, range(start, stop)


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """The file, read piece by piece; what pyarrow says of damage is one line."""
    import pyarrow
    from pyarrow.parquet import ParquetFile

    try:
        with ParquetFile(path, buffer_size=_BUFFER, pre_buffer=False) as file:
            yield file
    except (pyarrow.ArrowException, OSError) as error:
        if getattr(error, "errno", None) is not None:  # of the disk, not of what is on it
            raise
        reason = one_line(str(error).partition("\n")[0])
        raise DamagedError(f"damaged, or no Parquet file; write it again ({reason})") from error


def _holds_bytes(kind: Any) -> bool:
    from pyarrow import types

    if types.is_struct(kind):
        return any(each.name == "bytes" and _holds_bytes(each.type) for each in kind)
    return bool(types.is_binary(kind) or types.is_large_binary(kind) or types.is_binary_view(kind))


def _is_text(kind: Any) -> bool:
    from pyarrow import types

    if kind is None:
        return False
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _listed(fields: dict[str, Any]) -> str:
    return ", ".join(fields)
