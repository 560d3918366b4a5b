"""``vit-str data convert``: the words of data sets, written to another and read back."""

import argparse
import os
from contextlib import ExitStack, closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from tqdm import tqdm

import vit_str
from vit_str import console
from vit_str.commands.data.journal import Journal, Stage, digest_of
from vit_str.commands.data.words import entries_from, judged, number_of, open_source, rules_of
from vit_str.datasets import (
    SHARD_SIZE,
    DatasetWriter,
    LabeledWord,
    Layout,
    Rules,
    Skipped,
    SkipReport,
    WordSource,
    format_of,
    reader_of,
    writer_of,
)
from vit_str.datasets.tar import is_pattern

_LOOKED_AT = 256
"""Words of each source that are looked at to see whether it has boxes."""


@dataclass(frozen=True, slots=True)
class _Conversion:
    """What is converted to what."""

    sources: list[WordSource]
    rules: Rules
    target: Path
    format: str
    layout: Layout

    def made_with(self) -> dict[str, Any]:
        """Everything that decides which words are written."""
        charset = self.rules.charset
        return {
            "sources": [
                *(_identity(source, number_of([source])) for source in self.sources[:-1]),
                _identity(self.sources[-1]),
            ],
            "--format": self.format,
            "--shard-size": self.layout.shard_size if "%" in self.target.name else None,
            "--charset": charset.characters if charset else None,
            "--maximum-length": self.rules.maximum_length,
            "--least-size": self.rules.least_size,
            "boxes": self.layout.boxes,
        }


def run(options: argparse.Namespace) -> int:
    """Write the data set, or what of it is not there yet, and read it back."""
    conversion = _conversion_of(options)
    kind, target = writer_of(conversion.format), conversion.target
    journal_path = journal_of(kind, target)
    in_the_way = None if journal_path.exists() else kind.in_the_way(target)
    if in_the_way:
        raise ValueError(
            f"{in_the_way} is there and was not made by vit-str data convert; give another TARGET"
        )
    made_by = f"vit-str {vit_str.__version__}"
    with ExitStack() as stack:
        journal = Journal(journal_path, conversion.made_with(), made_by)
        stack.enter_context(closing(journal))
        report = stack.enter_context(SkipReport(file=options.report))
        try:
            _fill(kind(target, conversion.layout), journal, report, conversion)
            words = journal.stages[-1].words if journal.stages else 0
            if not words:
                trouble = f"no word of {report.total:,} can be used; {_first(report)}"
                return console.fail(trouble, 1)
            trouble = _verify(conversion, journal)
        except KeyboardInterrupt:
            return console.fail("interrupted; the same command goes on", 130)
    if trouble:
        return console.fail(f"{target}: {trouble}; convert to another TARGET", 1)
    console.write(f"{target}: {words:,} words, read back and equal in labels and bytes of images")
    if report.total:
        console.complain(f"words left out: {report.total:,}")
        for line in report.table().splitlines():
            console.complain(line)
    return 0


def journal_of(kind: type[DatasetWriter], target: Path) -> Path:
    """Where the journal of a conversion is."""
    record = kind.record_path(target)
    return record.with_name(record.name.removesuffix("render.json") + "convert.journal")


def _conversion_of(options: argparse.Namespace) -> _Conversion:
    name = options.format or format_of(options.target)
    several = name == "tar" and is_pattern(options.target)
    if name == "tar" and options.target.suffix.lower() != ".tar":
        raise ValueError(f"expected a name that ends in .tar, found {options.target}")
    if options.shard_size and not several:
        raise ValueError(
            "--shard-size is for several archives: name them with a place for the number, "
            "words-%06d.tar"
        )
    if options.target.suffix.lower() in {".png", ".jpg", ".jpeg", ".tsv", ".csv", ".gz"}:
        raise ValueError(f"{options.target} would be a folder; give a name without that ending")
    sources = [open_source(path, options) for path in options.sources]
    _refuse_itself(options)
    boxes = any(_has_boxes(source) for source in sources)
    layout = Layout(suffix="", boxes=boxes, shard_size=options.shard_size or SHARD_SIZE)
    return _Conversion(sources, rules_of(options), options.target, name, layout)


def _refuse_itself(options: argparse.Namespace) -> None:
    target = os.path.realpath(options.target)
    for source in options.sources:
        if os.path.realpath(source) == target:
            raise ValueError(f"{source} cannot be converted to itself; give another TARGET")


def _has_boxes(source: WordSource) -> bool:
    return any(isinstance(each, LabeledWord) and each.boxes for each in islice(source, _LOOKED_AT))


def _identity(source: WordSource, count: int | None = None) -> str:
    """Which data set it is. The last one may grow; before it, a word more would shift all."""
    words = None if count is None else f"({count} words)"
    split = getattr(source, "split", None)
    return " ".join(filter(None, [os.path.realpath(source.path), source.format, split, words]))


def _fill(
    writer: DatasetWriter, journal: Journal, report: SkipReport, conversion: _Conversion
) -> None:
    """Write the words that are not there yet, from where the journal says that they begin."""
    last = journal.go_back(writer.done)
    for known in (each for stage in journal.stages for each in stage.skipped):
        report.add(known)
    total = number_of(conversion.sources)
    if writer.done and last.entries == total:
        console.complain(f"{conversion.target}: all {writer.done:,} words are there already")
    elif writer.done:
        console.complain(f"{conversion.target}: going on after {writer.done:,} words")
    with writer, tqdm(total=total, initial=last.entries, unit="word", disable=None) as bar:
        entries = entries_from(conversion.sources, last.entries)
        for results in judged(entries, conversion.rules, lambda word, _: word):
            words = [each for each in results if isinstance(each, LabeledWord)]
            # Words that a killed run wrote after its last stage are there already.
            writer.add(words[max(0, writer.done - last.words) :])
            skipped = tuple(each for each in results if isinstance(each, Skipped))
            for each in skipped:
                report.add(each)
            digest = digest_of(words, conversion.layout.boxes)
            last = Stage(last.entries + len(results), last.words + len(words), digest, skipped)
            journal.add(last)
            bar.update(len(results))
        if writer.done > last.words:
            raise ValueError(
                f"{conversion.target} holds {writer.done:,} words, the sources only "
                f"{last.words:,}: they have been changed; convert to another TARGET"
            )


def _verify(conversion: _Conversion, journal: Journal) -> str:
    """Read everything back; says what is wrong, nothing if all is as it should be."""
    stages, done = journal.stages, 0
    words = iter(reader_of(conversion.format)(conversion.target))
    with tqdm(total=stages[-1].words, desc="reading back", unit="word", disable=None) as bar:
        for stage in stages:
            expected = stage.words - done
            read = list(islice(words, expected))
            whole = [each for each in read if isinstance(each, LabeledWord)]
            if len(whole) < expected or digest_of(whole, conversion.layout.boxes) != stage.digest:
                return f"words {done + 1:,} to {stage.words:,} are not as they were in the source"
            done = stage.words
            bar.update(expected)
    return "" if next(words, None) is None else f"it holds more than {done:,} words"


def _first(report: SkipReport) -> str:
    return next(iter(report.lines()), "there is none")
