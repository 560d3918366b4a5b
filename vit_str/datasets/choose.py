"""The formats by name."""

from importlib import import_module
from pathlib import Path

from vit_str.datasets.writer import DatasetWriter

FORMATS = {
    "folder": ("vit_str.datasets.folder", "FolderWriter"),
    "lmdb": ("vit_str.datasets.lmdb", "LmdbWriter"),
    "tar": ("vit_str.datasets.tar", "TarWriter"),
}
"""Module and class of what writes each format."""


def format_of(path: Path) -> str:
    """The format that a path stands for: ``.lmdb`` and ``.tar`` say so, all else is a folder."""
    name = path.suffix.lower().removeprefix(".")
    return name if name in FORMATS else "folder"


def writer_of(name: str) -> type[DatasetWriter]:
    """What writes a format.

    Raises:
        ValueError: there is no such format.
    """
    if name not in FORMATS:
        raise ValueError(f"format must be one of {', '.join(FORMATS)}, found {name!r}")
    module, class_name = FORMATS[name]
    writer: type[DatasetWriter] = getattr(import_module(module), class_name)
    return writer
