"""Words of data sets one after the other, judged by the rules on several threads."""

import argparse
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import islice
from typing import TypeVar

from PIL import Image

from vit_str.charset import charset_of
from vit_str.datasets import (
    IndexedSource,
    LabeledWord,
    MJSynthReader,
    Rules,
    Skipped,
    WordSource,
    open_words,
)

CHUNK = 256
"""Words that are judged together."""

_THREADS = 4

Entry = LabeledWord | Skipped
Seen = TypeVar("Seen")


def rules_of(options: argparse.Namespace) -> Rules:
    """What the options say a word has to be."""
    charset = None if options.charset is None else charset_of(options.charset)
    return Rules(charset, options.maximum_length, options.least_size)


def open_source(path: str, options: argparse.Namespace) -> WordSource:
    """A data set, of the format and the split that the options say.

    Raises:
        ValueError: there is none, or it has no splits.
    """
    if options.split is None:
        return open_words(path, options.source_format)
    if options.source_format not in (None, MJSynthReader.format):
        raise ValueError(f"--split is for mjsynth, not for {options.source_format}")
    return MJSynthReader(path, options.split)


def number_of(sources: Sequence[WordSource]) -> int | None:
    """Number of words, usable or not; None where counting takes as long as reading."""
    if not all(isinstance(each, IndexedSource) and each.format != "tar" for each in sources):
        return None
    return sum(len(source) for source in sources if isinstance(source, IndexedSource))


def entries_from(sources: Iterable[WordSource], start: int) -> Iterator[Entry]:
    """All words of several sources from a number on."""
    for source in sources:
        if start and isinstance(source, IndexedSource):
            count = len(source)
            for place in range(start, count):
                yield source[place]
            start = max(0, start - count)
            continue
        for entry in source:
            if start:
                start -= 1  # read but not judged: there is no other way into a stream
            else:
                yield entry


def judged(
    entries: Iterable[Entry],
    rules: Rules,
    look: Callable[[LabeledWord, Image.Image], Seen],
    size: int = CHUNK,
) -> Iterator[list[Seen | Skipped]]:
    """What ``look`` makes of every word that can be used, and why others cannot be.

    Args:
        entries: the words.
        rules: what a word has to be.
        look: called on several threads; no decoded image is kept but by it.
        size: of the lists.

    Returns:
        Lists of results in the order of the words; the last one may be shorter.
    """
    remaining = iter(entries)
    with ThreadPoolExecutor(min(_THREADS, os.cpu_count() or 1)) as pool:
        while chunk := list(islice(remaining, size)):
            yield list(pool.map(partial(_judge, rules, look), chunk))


def _judge(
    rules: Rules, look: Callable[[LabeledWord, Image.Image], Seen], entry: Entry
) -> Seen | Skipped:
    if isinstance(entry, Skipped):
        return entry
    image = rules.decode(entry)
    return image if isinstance(image, Skipped) else look(entry, image)
