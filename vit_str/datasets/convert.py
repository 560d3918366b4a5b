"""Write the words of data sets to another."""

import os
from collections.abc import Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

from tqdm import tqdm

from vit_str import console
from vit_str.datasets.formats import check_target, format_of, writer_of
from vit_str.datasets.record import begin_or_resume, shown
from vit_str.datasets.rules import Rules, SkipReport, judged
from vit_str.datasets.source import LabeledWord, WordSource
from vit_str.datasets.writer import SHARD_SIZE, DatasetWriter, Layout
from vit_str.files import exclusive

_LOOKED_AT = 256
"""Words of each source that are looked at to see whether it has boxes."""

_OTHER_SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".tsv", ".csv", ".gz"})


def convert(
    sources: Sequence[WordSource],
    target: Path,
    rules: Rules,
    report: SkipReport,
    name: str | None = None,
    shard_size: int | None = None,
) -> int:
    """Write a data set, or what of it is not there yet.

    Words that were written before are skipped, but judged again. Prints its progress.

    Args:
        sources: the data sets, one after the other.
        target: where to write.
        rules: which words can be used.
        report: gets the words that cannot be used.
        name: of the format of the target; by default what its path says.
        shard_size: words in each of several tar archives.

    Returns:
        Number of words in the target; 0 if none of the sources can be used.

    Raises:
        ValueError: the target cannot be written like that, was made from something else or by
            someone else, or another process writes there.
        OSError: it cannot be written.
    """
    check_target(target, name, shard_size)
    if target.suffix.lower() in _OTHER_SUFFIXES:
        raise ValueError(f"{target} would be a folder; give a name without that suffix")
    if os.path.realpath(target) in (os.path.realpath(source.path) for source in sources):
        raise ValueError(f"{target} cannot be converted to itself; give another TARGET")
    name = name or format_of(target)
    writer = writer_of(name)
    first_words = chain.from_iterable(islice(source, _LOOKED_AT) for source in sources)
    boxes = any(isinstance(word, LabeledWord) and word.boxes for word in first_words)
    record = writer.record_path(target)
    record = record.with_name(record.name.removesuffix("render.json") + "convert.json")
    blocking = None if record.exists() else writer.in_the_way(target)
    if blocking:
        raise ValueError(
            f"{blocking} is there and was not made by vit-str data convert; give another TARGET"
        )
    layout = Layout(0, "", boxes, shard_size or SHARD_SIZE)
    record.parent.mkdir(parents=True, exist_ok=True)
    with exclusive(record.with_name(f".{record.name}.lock")):
        _begin(record, _made_with(sources, name, target, rules, layout))
        return _fill(writer(target, layout), sources, rules, report)


def _made_with(
    sources: Sequence[WordSource], name: str, target: Path, rules: Rules, layout: Layout
) -> dict[str, Any]:
    """What decides which words are written."""
    # The last source may grow; before it, a word more would shift all others.
    lengths = [*(source.known_length for source in sources[:-1]), None]
    return {
        "sources": [_identity(*pair) for pair in zip(sources, lengths, strict=True)],
        "--format": name,
        "--shard-size": layout.shard_size if "%" in target.name else None,
        "--charset": rules.charset.characters if rules.charset else None,
        "--maximum-length": rules.maximum_length,
        "--least-size": rules.least_size,
        "boxes": layout.boxes,
    }


def _begin(path: Path, made_with: dict[str, Any]) -> None:
    """Write a record, or compare it with what is there."""
    differences = begin_or_resume(path, made_with, 0, "vit-str data convert")
    if differences:
        said = "; ".join(
            f"{name} {shown(before)}, not {shown(now)}"
            for name, (before, now) in differences.items()
        )
        raise ValueError(
            f"{path} says that the conversion was begun with {said}: give the same arguments "
            "to resume, or another TARGET"
        )


def _fill(
    writer: DatasetWriter, sources: Sequence[WordSource], rules: Rules, report: SkipReport
) -> int:
    """Write the words that are not there yet; returns how many there are then."""
    words = 0
    if writer.done:
        console.warn(f"{writer.path}: resuming after {writer.done:,} words")
    lengths = [source.known_length for source in sources]
    total = None if None in lengths else sum(filter(None, lengths))
    entries = chain.from_iterable(sources)
    with writer, tqdm(entries, total=total, unit="word", disable=None) as bar:
        for usable in judged(bar, rules, lambda word, _: word, report):
            writer.add(usable[max(0, writer.done - words) :])
            words += len(usable)
        if writer.done > words:
            raise ValueError(
                f"{writer.path} holds {writer.done:,} words, the sources only {words:,}: "
                "they have been changed; convert to another TARGET"
            )
    return words


def _identity(source: WordSource, count: int | None) -> str:
    words = None if count is None else f"({count} words)"
    split = getattr(source, "split", None)
    return " ".join(filter(None, [os.path.realpath(source.path), source.format, split, words]))
