"""The formats by name, and what reads and writes them."""

from pathlib import Path

from vit_str.datasets.folder import LABELS, FolderReader, FolderWriter
from vit_str.datasets.lmdb import LmdbReader, LmdbWriter
from vit_str.datasets.source import DatasetWriter, WordSource
from vit_str.datasets.tar import TarReader, TarWriter, is_pattern

READERS: dict[str, type[LmdbReader | TarReader | FolderReader]] = {
    "lmdb": LmdbReader,
    "tar": TarReader,
    "folder": FolderReader,
}
"""What reads each format, in the order in which formats are recognized."""

WRITERS: dict[str, type[DatasetWriter]] = {
    "folder": FolderWriter,
    "lmdb": LmdbWriter,
    "tar": TarWriter,
}
"""What writes each format."""


def format_of(path: Path) -> str:
    """The format that a path to write to stands for: by its suffix, all else is a folder."""
    name = path.suffix.lower().removeprefix(".")
    return name if name in WRITERS else "folder"


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


def open_words(path: str | Path, format: str | None = None) -> WordSource:  # noqa: A002
    """Open a data set of any format.

    Args:
        path: where it is; for tar archives also a pattern.
        format: one of ``READERS`` instead of what is recognized.
    """
    if format is None and (Path(path) / LABELS).is_file():
        format = "folder"  # noqa: A001
    if format is not None:
        if format not in READERS:
            raise ValueError(f"format must be one of {', '.join(READERS)}, found {format!r}")
        return READERS[format](path)
    for reader in READERS.values():
        if reader.recognizes(Path(path)):
            return reader(path)
    what = "found no data set there" if Path(path).exists() else "no such file or folder"
    raise ValueError(
        f"{path}: {what}; looked for labels.tsv, .csv or .jsonl with images, data.mdb and *.tar"
    )
