"""The formats by name, and what reads and writes them."""

from pathlib import Path

from vit_str.datasets.folder import LABELS, FolderReader, FolderWriter
from vit_str.datasets.lmdb import LmdbReader, LmdbWriter
from vit_str.datasets.source import DatasetWriter, WordSource
from vit_str.datasets.tar import TarReader, TarWriter, is_pattern

# In the order in which formats are recognized.
_READERS: dict[str, type[LmdbReader | TarReader | FolderReader]] = {
    "lmdb": LmdbReader,
    "tar": TarReader,
    "folder": FolderReader,
}
_WRITERS: dict[str, type[DatasetWriter]] = {
    "folder": FolderWriter,
    "lmdb": LmdbWriter,
    "tar": TarWriter,
}

FORMATS = tuple(_READERS)
"""Names of the formats that can be read."""

WRITABLE = tuple(_WRITERS)
"""Names of the formats that can be written."""


def format_of(path: Path) -> str:
    """The format that a path to write to stands for: by its suffix, all else is a folder."""
    name = path.suffix.lower().removeprefix(".")
    return name if name in WRITABLE else "folder"


def check_target(path: Path, name: str | None, shard_size: int | None) -> None:
    """Refuse a path that a data set cannot be written to."""
    name = name or format_of(path)
    if name == "tar" and path.suffix.lower() != ".tar":
        raise ValueError(f"expected a name that ends in .tar, found {path}")
    several = name == "tar" and is_pattern(path)
    if shard_size and not several:
        raise ValueError(
            "--shard-size is for several archives: name them with a place for the number, "
            "words-%06d.tar"
        )


def writer_of(name: str) -> type[DatasetWriter]:
    """What writes a format."""
    return _WRITERS[name]


def reader_of(name: str) -> type[WordSource]:
    """What reads a format."""
    if name not in _READERS:
        raise ValueError(f"format must be one of {', '.join(_READERS)}, found {name!r}")
    return _READERS[name]


def open_words(path: str | Path, format: str | None = None) -> WordSource:  # noqa: A002
    """Open a data set of any format.

    Args:
        path: where it is; for tar archives also a pattern.
        format: one of ``FORMATS`` instead of what is recognized.
    """
    if format is None and (Path(path) / LABELS).is_file():
        format = "folder"  # noqa: A001
    if format is not None:
        return reader_of(format)(path)
    for reader in _READERS.values():
        if reader.recognizes(Path(path)):
            return reader(path)
    what = "found no data set there" if Path(path).exists() else "no such file or folder"
    raise ValueError(
        f"{path}: {what}; looked for labels.tsv, .csv or .jsonl with images, data.mdb and *.tar"
    )
