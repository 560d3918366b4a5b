"""Labeled word images on disk: what reads and writes each format, mixtures and rules."""

from vit_str.datasets.formats import READERS, WRITERS, open_stream, open_words
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
    WordStream,
)

__all__ = [
    "READERS",
    "SHARD_SIZE",
    "WRITERS",
    "DatasetWriter",
    "LabeledWord",
    "Layout",
    "Mixture",
    "Reason",
    "Rules",
    "SkipReport",
    "Skipped",
    "WordSource",
    "WordStream",
    "open_stream",
    "open_words",
]
