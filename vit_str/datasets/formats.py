"""The formats by name, and what reads and writes them."""

from pathlib import Path

from vit_str import console
from vit_str.datasets.folder import LABEL_SUFFIXES, LABELS, FolderReader, FolderWriter
from vit_str.datasets.lmdb import LmdbReader, LmdbWriter
from vit_str.datasets.mjsynth import MJSynthReader
from vit_str.datasets.named_images import NamedImagesReader
from vit_str.datasets.source import DatasetWriter, WordSource, WordStream
from vit_str.datasets.synthtext import SynthTextReader
from vit_str.datasets.tar import TarReader, TarStream, TarWriter, is_pattern
from vit_str.datasets.unfinished import note_of

_Reader = (
    LmdbReader
    | SynthTextReader
    | MJSynthReader
    | TarReader
    | TarStream
    | FolderReader
    | NamedImagesReader
)

READERS: dict[str, type[_Reader]] = {
    "lmdb": LmdbReader,
    "synthtext": SynthTextReader,
    "mjsynth": MJSynthReader,
    "tar": TarReader,
    "tar.gz": TarStream,
    "folder": FolderReader,
    "names": NamedImagesReader,
}
"""The reader of each format, in the order in which formats are recognized."""

WRITERS: dict[str, type[DatasetWriter]] = {
    "folder": FolderWriter,
    "lmdb": LmdbWriter,
    "tar": TarWriter,
}
"""The writer of each format."""


def format_of(path: Path) -> str:
    """The format that a path to write to stands for: by its suffix, all else is a folder."""
    name = path.suffix.lower().removeprefix(".")
    return name if name in WRITERS else "folder"


def check_target(path: Path, name: str | None, shard_size: int | None) -> None:
    """Refuse a path that a data set cannot be written to."""
    if not path.name:  # the folder that the user is in, or the root
        raise ValueError(f"{path} names no data set; give it a name, such as words")
    name = name or format_of(path)
    if name == "tar" and path.suffix.lower() != ".tar":
        raise ValueError(f"expected a name that ends in .tar, found {path}")
    several = name == "tar" and is_pattern(path)
    if shard_size and not several:
        raise ValueError(
            "--shard-size is for several archives: name them with a place for the "
            "number, words-%06d.tar"
        )


def open_words(
    path: str | Path,
    format: str | None = None,  # noqa: A002
    images: str | Path | None = None,
) -> WordSource:
    """Open a data set in which any word can be had by its index; see `open_stream`.

    Raises:
        ValueError: for a compressed archive, and all that `open_stream` refuses.
    """
    stream = open_stream(path, format, images)
    if not isinstance(stream, WordSource):
        raise ValueError(
            f"{path}: a compressed archive can only be read from front to back; "
            f"convert it first: vit-str data convert {path} words.lmdb"
        )
    return stream


def open_stream(
    path: str | Path,
    format: str | None = None,  # noqa: A002
    images: str | Path | None = None,
) -> WordStream:
    """Open a data set of any format, to read it from front to back.

    A line on standard error tells of one whose writing was stopped.

    Args:
        path: where it is; for tar archives also a pattern.
        format: one of ``READERS`` instead of what is recognized.
        images: of a label file, the folder that its names start from.

    Raises:
        ValueError: for a path that holds no data set of a known format, or one that is damaged as
            a whole.
    """
    if format is None:
        format = _recognized(Path(path))  # noqa: A001
    if format not in READERS:
        raise ValueError(
            f"format must be one of {', '.join(READERS)}, found {format!r}"
        )
    _warn_of_unfinished(Path(path))
    if images is None:
        return READERS[format](path)
    if format != "folder":
        raise ValueError(
            f"{path}: --images is for folders with a label file, not for {format}"
        )
    return FolderReader(path, images)


def _warn_of_unfinished(path: Path) -> None:
    """Say that a data set has only some of its words, as after a conversion that was stopped."""
    if path.name and note_of(path).exists():
        console.warn(
            f"{path}: not finished, some words are missing; to go on with it, run the "
            "command that writes it again"
        )


def _recognized(path: Path) -> str:
    """The format of what is at a path."""
    if (path / LABELS).is_file():
        return "folder"
    for name, reader in READERS.items():
        if reader.recognizes(path):
            return name
    if not path.exists():
        raise ValueError(f"{path}: no such file or folder; check the path")
    raise ValueError(
        f"{path}: found no data set there; looked for labels.tsv, .csv or .jsonl "
        "with images, data.mdb, *.tar, annotation.txt of MJSynth and gt.mat of "
        f"SynthText{_advice(path)}"
    )


def _advice(path: Path) -> str:
    """Advice for a folder without a label file of a usual name."""
    if not path.is_dir():
        return ""
    other = sorted(
        entry for entry in path.iterdir() if entry.suffix.lower() in LABEL_SUFFIXES
    )
    if other:
        return f"; if {other[0].name} has the labels, give its path"
    return "; if images are named by what they say, give --format names"
