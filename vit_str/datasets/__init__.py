"""Labeled word images on disk: one module per format, with what writes it."""

from vit_str.datasets.choose import FORMATS, format_of, writer_of
from vit_str.datasets.record import Record
from vit_str.datasets.source import IndexedSource, Reason, Skipped, WordSource
from vit_str.datasets.word import LabeledWord
from vit_str.datasets.writer import SHARD_SIZE, DatasetWriter, Layout

__all__ = [
    "FORMATS",
    "SHARD_SIZE",
    "DatasetWriter",
    "IndexedSource",
    "LabeledWord",
    "Layout",
    "Reason",
    "Record",
    "Skipped",
    "WordSource",
    "format_of",
    "writer_of",
]
