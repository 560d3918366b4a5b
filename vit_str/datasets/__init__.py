"""Labeled word images on disk: what reads and writes each format, mixtures and rules."""

from importlib import import_module
from typing import TYPE_CHECKING

from vit_str.datasets.choose import (
    FORMATS,
    WRITABLE,
    Format,
    format_of,
    open_words,
    reader_of,
    writer_of,
)
from vit_str.datasets.mixture import Mixture
from vit_str.datasets.record import Record
from vit_str.datasets.rules import Rules
from vit_str.datasets.skip_report import SkipReport
from vit_str.datasets.source import IndexedSource, Reason, Skipped, WordSource
from vit_str.datasets.word import LabeledWord
from vit_str.datasets.writer import SHARD_SIZE, DatasetWriter, Layout

if TYPE_CHECKING:
    from vit_str.datasets.folder_reader import FolderReader
    from vit_str.datasets.lmdb_reader import LmdbReader
    from vit_str.datasets.mjsynth import MJSynthReader
    from vit_str.datasets.synthtext import SynthTextReader
    from vit_str.datasets.tar_reader import TarReader
    from vit_str.datasets.tar_stream import TarStream

__all__ = [
    "FORMATS",
    "SHARD_SIZE",
    "WRITABLE",
    "DatasetWriter",
    "FolderReader",
    "Format",
    "IndexedSource",
    "LabeledWord",
    "Layout",
    "LmdbReader",
    "MJSynthReader",
    "Mixture",
    "Reason",
    "Record",
    "Rules",
    "SkipReport",
    "Skipped",
    "SynthTextReader",
    "TarReader",
    "TarStream",
    "WordSource",
    "format_of",
    "open_words",
    "reader_of",
    "writer_of",
]

_READERS = {name: module for module, name in (each.reader for each in FORMATS.values())}


def __getattr__(name: str) -> object:
    """Import readers at their first use (PEP 562): most runs need one of them or none."""
    if name in _READERS:
        return getattr(import_module(_READERS[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
