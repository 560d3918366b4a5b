"""What a worker reads in one go: image files, or a stretch of a tar archive or Parquet file."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from vit_str.bulk import parquet, tar
from vit_str.bulk.item import Item, Stretch


class Kind(StrEnum):
    """Where the images of a part are."""

    FILES = "files"
    TAR = "tar"
    PARQUET = "parquet"


_SUFFIXES = {".tar": Kind.TAR, ".parquet": Kind.PARQUET, ".pq": Kind.PARQUET}


def kind_of(path: str) -> Kind:
    """What a file is by its name; every other is an image."""
    return _SUFFIXES.get(Path(path).suffix.lower(), Kind.FILES)


@dataclass(frozen=True, slots=True)
class Part:
    """Images that are read together.

    Attributes:
        kind: where they are.
        names: the image files, or the one archive.
        stretch: which images of the archive; for files their number.
        size: of the archive in bytes, to notice that it was changed; 0 for files.
        column: of a Parquet file.
        trouble: why images after these, in the same archive, cannot be had.
    """

    kind: Kind
    names: tuple[str, ...]
    stretch: Stretch
    size: int = 0
    column: str = ""
    trouble: str = ""

    @property
    def count(self) -> int:
        """Number of lines that the part will have in the output."""
        return self.stretch.count + bool(self.trouble)

    def to_json(self) -> str:
        """One line."""
        return json.dumps(asdict(self), separators=(",", ":"))

    @classmethod
    def from_json(cls, line: str | bytes) -> "Part":
        """Inverse of `to_json`; ValueError for anything else."""
        try:
            values: dict[str, Any] = json.loads(line)
            stretch = Stretch(**values.pop("stretch"))
            names = tuple(values.pop("names"))
            return cls(kind=Kind(values.pop("kind")), names=names, stretch=stretch, **values)
        except (TypeError, KeyError, AttributeError) as error:
            raise ValueError(f"not a part: {error}") from error

    def items(self, folder: Path) -> Iterator[Item]:
        """The images, in order.

        Args:
            folder: what relative paths start from.

        Raises:
            OSError: the archive cannot be opened or read.
            ValueError: the Parquet file is damaged.
        """
        if self.kind is Kind.FILES:
            return (Item(name, str(folder / name)) for name in self.names)
        name, path = self.names[0], folder / self.names[0]
        if self.kind is Kind.TAR:
            return tar.items(name, path, self.stretch)
        return parquet.items(name, path, self.stretch, self.column)


def divide(paths: Iterable[str], size: int, column: str | None = None) -> Iterator[Part]:
    """Parts of about ``size`` images each: the same paths give the same parts.

    Image files that follow each other are put together; a part never holds images of two archives.

    Args:
        paths: image files, tar archives and Parquet files.
        size: images in a part at most.
        column: of Parquet files; None to find it.

    Raises:
        ValueError: a Parquet file has no such column, or none that holds images.
    """
    files: list[str] = []
    for path in paths:
        kind = kind_of(path)
        if kind is Kind.FILES:
            files.append(path)
            if len(files) == size:
                yield _of_files(files)
                files = []
            continue
        if files:
            yield _of_files(files)
            files = []
        yield from _of_archive(kind, path, size, column)
    if files:
        yield _of_files(files)


def _of_files(paths: list[str]) -> Part:
    return Part(Kind.FILES, tuple(paths), Stretch(0, len(paths), len(paths)))


def _of_archive(kind: Kind, path: str, size: int, column: str | None) -> Iterator[Part]:
    """Parts of one archive; the last says what is wrong with it."""
    place = Path(path)
    size_in_bytes, found, trouble = 0, "", ""
    before: Stretch | None = None
    try:
        size_in_bytes = place.stat().st_size
        if kind is Kind.PARQUET:
            found = parquet.choose_column(place, column)
        stretches = (tar if kind is Kind.TAR else parquet).stretches(place, size)
        for stretch in stretches:
            if before:
                yield Part(kind, (path,), before, size_in_bytes, found)
            before = stretch
    except (tar.DamagedError, parquet.DamagedError) as error:
        trouble = str(error)
    except OSError as error:
        trouble = f"cannot be read ({error.strerror}); check the file"
    if before or trouble:
        yield Part(kind, (path,), before or Stretch(0, 0, 0), size_in_bytes, found, trouble)
