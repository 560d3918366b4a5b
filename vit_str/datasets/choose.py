"""The formats by name, and what reads and writes them."""

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from vit_str.datasets.source import WordSource
from vit_str.datasets.writer import DatasetWriter


@dataclass(frozen=True, slots=True)
class Format:
    """How data sets of a format are read and written.

    Attributes:
        reader: module and class.
        writer: module and class, for a format that can be written.
        sign: what a data set of it is recognized by.
    """

    reader: tuple[str, str]
    writer: tuple[str, str] | None
    sign: str


# In the order in which they are recognized: a tree of images is a folder only if it is no more.
FORMATS = {
    "lmdb": Format(
        ("vit_str.datasets.lmdb_reader", "LmdbReader"),
        ("vit_str.datasets.lmdb", "LmdbWriter"),
        "data.mdb",
    ),
    "tar": Format(
        ("vit_str.datasets.tar_reader", "TarReader"),
        ("vit_str.datasets.tar", "TarWriter"),
        "*.tar",
    ),
    "tar.gz": Format(("vit_str.datasets.tar_stream", "TarStream"), None, "*.tar.gz"),
    "mjsynth": Format(("vit_str.datasets.mjsynth", "MJSynthReader"), None, "annotation*.txt"),
    "synthtext": Format(("vit_str.datasets.synthtext", "SynthTextReader"), None, "gt.mat"),
    "folder": Format(
        ("vit_str.datasets.folder_reader", "FolderReader"),
        ("vit_str.datasets.folder", "FolderWriter"),
        "labels.tsv, .csv, .jsonl or images",
    ),
}
"""Every format by its name."""

WRITABLE = tuple(sorted(name for name, each in FORMATS.items() if each.writer))
"""Names of the formats that can be written."""


def format_of(path: Path) -> str:
    """The format that a path to write to stands for: by its ending, all else is a folder."""
    name = path.suffix.lower().removeprefix(".")
    return name if name in WRITABLE else "folder"


def writer_of(name: str) -> type[DatasetWriter]:
    """What writes a format.

    Raises:
        ValueError: there is no such format, or it is only read.
    """
    if name not in WRITABLE:
        raise ValueError(f"format must be one of {', '.join(WRITABLE)}, found {name!r}")
    writer = FORMATS[name].writer
    assert writer is not None
    return _load(writer)


def reader_of(name: str) -> type[WordSource]:
    """What reads a format.

    Raises:
        ValueError: there is no such format.
    """
    if name not in FORMATS:
        raise ValueError(f"format must be one of {', '.join(FORMATS)}, found {name!r}")
    return _load(FORMATS[name].reader)


def open_words(path: str | Path, format: str | None = None) -> WordSource:  # noqa: A002
    """Open a data set of any format.

    Args:
        path: where it is; for tar archives also a pattern.
        format: one of ``FORMATS`` instead of what is recognized.

    Raises:
        ValueError: nothing is there that can be read as a data set.
    """
    if format is not None:
        return reader_of(format)(path)
    for name in FORMATS:
        reader: Any = reader_of(name)
        if reader.recognizes(Path(path)):
            return reader(path)
    signs = "; ".join(f"{name}: {each.sign}" for name, each in FORMATS.items())
    what = "found no data set there" if Path(path).exists() else "no such file or folder"
    raise ValueError(f"{path}: {what}; looked for {signs}")


def _load(place: tuple[str, str]) -> Any:
    module, name = place
    return getattr(import_module(module), name)
