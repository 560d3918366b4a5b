"""Images to read in bulk: files, members of tar archives, rows of Parquet files."""

import os
import tarfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

from vit_str.console import reason_of
from vit_str.datasets.tar import members
from vit_str.runtime.images import SUFFIXES

ARCHIVES = (".tar", ".parquet", ".pq")
_COMPRESSED = (".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz", ".tar.zst", ".zip")
# Rows of a Parquet file that are in memory at once, and bytes that are read at once.
_BATCH = 64
_BUFFER = 1 << 20

Report = Callable[[str, str], object]


class ImageRef(NamedTuple):
    """Where an image is.

    Attributes:
        name: what the output calls it: its path, or archive/member, or file.parquet/row.
        path: of the image file, or of the archive.
        start: byte in a tar archive, or row of a Parquet file.
        size: bytes in a tar archive.
        column: of a Parquet file.
    """

    name: str
    path: str
    start: int | None = None
    size: int = 0
    column: str = ""


def list_images(paths: Iterable[str], column: str | None, report: Report) -> Iterator[ImageRef]:
    """All images in image files, tar archives and Parquet files, each once.

    Args:
        paths: files.
        column: of Parquet files; None for the only one of bytes, or else the one named ``path``.
        report: called with a path and what is wrong with that archive.

    Raises:
        ValueError: a Parquet file has no such column, or none that holds images.
    """
    for path in dict.fromkeys(paths):
        lower = path.lower()
        if lower.endswith(_COMPRESSED):
            report(path, "a compressed archive, which cannot be entered; unpack it to a .tar")
        elif lower.endswith(".tar"):
            yield from _tar_members(path, report)
        elif lower.endswith(ARCHIVES):
            yield from _parquet_rows(path, column, report)
        else:
            yield ImageRef(path, os.path.abspath(path))


def load_images(images: Sequence[ImageRef]) -> Iterator[tuple[str | bytes, str]]:
    """For each image its path or the bytes of its file, and why there are none if so.

    Raises:
        OSError: an archive cannot be opened.
    """
    for (path, column), group in groupby(images, attrgetter("path", "column")):
        members = list(group)
        if column:
            yield from _load_cells(path, column, [image.start or 0 for image in members])
        elif members[0].start is None:
            yield from ((image.path, "") for image in members)
        else:
            with open(path, "rb") as file:
                for image in members:
                    file.seek(image.start or 0)
                    yield file.read(image.size), ""


def _tar_members(path: str, report: Report) -> Iterator[ImageRef]:
    """The images of a tar archive; only headers are read."""
    count, absolute = 0, os.path.abspath(path)
    try:
        with open(path, "rb") as file:
            for _, member in members(file):
                if member.name.lower().endswith(SUFFIXES):
                    count += 1
                    name = f"{path}/{member.name}"
                    yield ImageRef(name, absolute, member.offset_data, member.size)
        if not count:
            report(path, "an archive without images; their names end in .jpg, .png and the like")
    except tarfile.TarError:
        damage = f"damaged or cut short after {count} images; make it again"
        report(path, damage if count else "no tar archive, or a damaged or compressed one")
    except OSError as error:
        report(path, f"cannot be read ({error.strerror}); check the file")


def _parquet_rows(path: str, column: str | None, report: Report) -> Iterator[ImageRef]:
    try:
        with _parquet(path) as file:
            column = _choose_column(path, file.schema_arrow, column)
            names = (f"{path}/{row}" for row in range(file.metadata.num_rows))
            if _holds_bytes(file.schema_arrow.field(column).type):
                for row, name in enumerate(names):
                    yield ImageRef(name, os.path.abspath(path), row, column=column)
                return
            folder = os.path.dirname(os.path.abspath(path))
            for name, cell in zip(names, _cells(file, column), strict=True):
                yield ImageRef(cell or name, os.path.join(folder, cell) if cell else "")
    except OSError as error:
        report(path, error.strerror or str(error))


def _load_cells(path: str, column: str, rows: Sequence[int]) -> Iterator[tuple[str | bytes, str]]:
    """The cells of rows in ascending order; of a damaged row group only, there are none."""
    with _parquet(path) as file:
        stop = 0
        for group in range(file.metadata.num_row_groups):
            start, stop = stop, stop + file.metadata.row_group(group).num_rows
            remaining = deque(row - start for row in rows if start <= row < stop)
            try:
                with _parquet(path) as own:
                    for index, cell in enumerate(_cells(own, column, [group]) if remaining else ()):
                        if index == remaining[0]:
                            remaining.popleft()
                            yield _image_of(cell, path), ""
                        if not remaining:
                            break
            except OSError as error:
                yield from ((b"", str(error)) for _ in remaining)


def _cells(file: Any, column: str, groups: list[int] | None = None) -> Iterator[Any]:
    for batch in file.iter_batches(_BATCH, row_groups=groups, columns=[column]):
        yield from batch.column(0).to_pylist()


def _image_of(cell: Any, path: str) -> str | bytes:
    if isinstance(cell, dict):  # as the datasets of Hugging Face have it: {"bytes", "path"}
        cell = cell.get("bytes") or cell.get("path")
    return os.path.join(os.path.dirname(path), cell) if isinstance(cell, str) else cell or b""


def _choose_column(path: str, schema: Any, column: str | None) -> str:
    """The column that holds the images; ValueError if there is none, or it cannot be told."""
    listed = ", ".join(schema.names)
    if column is None:
        of_bytes = [field.name for field in schema if _holds_bytes(field.type)]
        if len(of_bytes) == 1:
            return str(of_bytes[0])
        if not of_bytes and "path" in schema.names and _is_text(schema.field("path").type):
            return "path"
        raise ValueError(f"{path}: say with --column which of {listed} holds the images")
    if column not in schema.names:
        raise ValueError(f"{path} has no column {column!r}; it has {listed}")
    found = schema.field(column).type
    if not (_holds_bytes(found) or _is_text(found)):
        raise ValueError(
            f"{path}: column {column!r} holds {found}; images are bytes, or paths as text"
        )
    return column


@contextmanager
def _parquet(path: str) -> Iterator[Any]:
    """The file, read piece by piece; what pyarrow says of damage is an OSError of one line."""
    import pyarrow
    from pyarrow.parquet import ParquetFile

    try:
        with ParquetFile(path, buffer_size=_BUFFER, pre_buffer=False) as file:
            yield file
    except (pyarrow.ArrowException, OSError) as error:
        if getattr(error, "errno", None) is not None:  # of the disk, not of what is on it
            raise
        reason = reason_of(error)
        raise OSError(f"damaged, or no Parquet file; write it again ({reason})") from error


def _holds_bytes(column_type: Any) -> bool:
    from pyarrow import types

    if types.is_struct(column_type):
        return any(field.name == "bytes" and _holds_bytes(field.type) for field in column_type)
    tests = (types.is_binary, types.is_large_binary, types.is_binary_view)
    return any(test(column_type) for test in tests)


def _is_text(column_type: Any) -> bool:
    from pyarrow import types

    tests = (types.is_string, types.is_large_string, types.is_string_view)
    return any(test(column_type) for test in tests)
