"""Images to read in bulk: files, members of tar archives, rows of Parquet files."""

import os
import tarfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

from vit_str.console import reason_of
from vit_str.datasets.tar import members
from vit_str.images.loading import SUFFIXES

ARCHIVES = (".tar", ".parquet", ".pq")
_COMPRESSED = (
    ".tar.gz",
    ".tgz",
    ".tar.bz2",
    ".tbz2",
    ".tar.xz",
    ".txz",
    ".tar.zst",
    ".zip",
)

Report = Callable[[str, str], object]


class ImageRef(NamedTuple):
    """Where an image is."""

    # What the output calls it: its path, or archive/member, or file.parquet/row
    name: str
    path: str  # of the image file, or of the archive
    start: int | None = None  # byte in a tar archive, or row of a Parquet file
    size: int = 0  # bytes in a tar archive
    column: str = ""  # of a Parquet file


def list_images(
    paths: Iterable[str],
    column: str | None,
    report: Report,
) -> Iterator[ImageRef]:
    """All images in image files, tar archives and Parquet files, each once."""
    for path in dict.fromkeys(paths):
        lower = path.lower()
        if lower.endswith(_COMPRESSED):
            report(
                path,
                "a compressed archive, which cannot be entered; unpack it to a .tar",
            )
        elif lower.endswith(".tar"):
            yield from _tar_members(path, report)
        elif lower.endswith(ARCHIVES):
            yield from _parquet_rows(path, column, report)
        else:
            yield ImageRef(path, os.path.abspath(path))


def load_images(images: Sequence[ImageRef]) -> Iterator[str | bytes]:
    """For each image its path or the bytes of its file."""
    for (path, column), group in groupby(images, attrgetter("path", "column")):
        members = list(group)
        if column:
            yield from _load_cells(
                path, column, [image.start or 0 for image in members]
            )
        elif members[0].start is None:
            yield from (image.path for image in members)
        else:
            with open(path, "rb") as file:
                for image in members:
                    file.seek(image.start or 0)
                    yield file.read(image.size)


def _tar_members(path: str, report: Report) -> Iterator[ImageRef]:
    """The images of a tar archive; only headers are read."""
    count = 0
    absolute = os.path.abspath(path)
    try:
        with open(path, "rb") as file:
            for _, member in members(file):
                if member.name.lower().endswith(SUFFIXES):
                    count += 1
                    name = f"{path}/{member.name}"
                    yield ImageRef(name, absolute, member.offset_data, member.size)
        if not count:
            report(
                path,
                "an archive without images; their names end in .jpg, .png and the like",
            )
    except tarfile.TarError:
        damage = f"damaged or cut short after {count} images; make it again"
        report(
            path, damage if count else "no tar archive, or a damaged or compressed one"
        )
    except OSError as error:
        report(path, f"cannot be read ({error.strerror}); check the file")


def _parquet_rows(path: str, column: str | None, report: Report) -> Iterator[ImageRef]:
    import pyarrow
    from pyarrow.parquet import ParquetFile

    try:
        with ParquetFile(path) as file:
            schema = file.schema_arrow
            count = file.metadata.num_rows
    except (pyarrow.ArrowException, OSError) as error:
        report(
            path, f"damaged, or no Parquet file; write it again ({reason_of(error)})"
        )
        return
    column = _choose_column(path, schema, column)
    absolute = os.path.abspath(path)
    for row in range(count):
        yield ImageRef(f"{path}/{row}", absolute, row, column=column)


def _load_cells(path: str, column: str, rows: list[int]) -> Iterator[bytes]:
    from pyarrow import dataset

    table = dataset.dataset(path, format="parquet").take(rows, columns=[column])
    cells = table.column(0)
    for cell in cells.to_pylist():
        # As the datasets of Hugging Face have it: {"bytes", "path"}.
        yield (cell.get("bytes") if isinstance(cell, dict) else cell) or b""


def _choose_column(path: str, schema: Any, column: str | None) -> str:
    """The column that holds the images."""
    of_bytes = [field.name for field in schema if _holds_bytes(field.type)]
    if column is not None and column in of_bytes:
        return column
    if column is None and len(of_bytes) == 1:
        return str(of_bytes[0])
    raise ValueError(
        f"{path}: say with --column which of {', '.join(schema.names)} holds images "
        f"as bytes; those with bytes are {', '.join(of_bytes) or 'none'}"
    )


def _holds_bytes(column_type: Any) -> bool:
    from pyarrow import types

    if types.is_struct(column_type):
        named = (field for field in column_type if field.name == "bytes")
        return any(_holds_bytes(field.type) for field in named)
    tests = (types.is_binary, types.is_large_binary, types.is_binary_view)
    return any(test(column_type) for test in tests)
