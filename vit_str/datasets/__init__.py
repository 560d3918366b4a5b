"""Labeled word images on disk: what reads and writes each format, mixtures and rules."""

from vit_str.datasets.formats import (
    FORMATS,
    WRITABLE,
    format_of,
    open_words,
    reader_of,
    writer_of,
)
from vit_str.datasets.mixture import Mixture
from vit_str.datasets.rules import Rules, SkipReport
from vit_str.datasets.source import (
    SHARD_SIZE,
    DatasetWriter,
    LabeledWord,
    Layout,
    Reason,
    Skipped,
    WordSource,
)

__all__ = [
    "FORMATS",
    "SHARD_SIZE",
    "WRITABLE",
    "DatasetWriter",
    "LabeledWord",
    "Layout",
    "Mixture",
    "Reason",
    "Rules",
    "SkipReport",
    "Skipped",
    "WordSource",
    "format_of",
    "open_words",
    "reader_of",
    "writer_of",
]
