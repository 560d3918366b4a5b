"""``vit-str data``: look into labeled word images on disk, convert them, see them augmented."""

import argparse
import json
import os
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

from vit_str import console
from vit_str.console import positive, whole_number
from vit_str.datasets.formats import (
    READERS,
    WRITERS,
    check_target,
    format_of,
    open_stream,
    open_words,
)
from vit_str.datasets.rules import Rules, SkipReport, judged
from vit_str.datasets.source import (
    SHARD_SIZE,
    LabeledWord,
    Layout,
    WordStream,
    words_from,
)
from vit_str.datasets.unfinished import Unfinished

_EPILOG = """\
examples:
  vit-str data inspect crops/                         what it contains, what is unusable and why
  vit-str data convert crops/ crops.lmdb              a folder to an LMDB
  vit-str data convert crops/ words-%06d.tar          archives for WebDataset
  vit-str data convert mjsynth.tar.gz mjsynth.lmdb    MJSynth as it is downloaded
  vit-str data convert SynthText/ synthtext.lmdb      the words of SynthText, cut out
  vit-str data show crops/ --augment strong --out sheet.png

A SOURCE is a folder of images with labels (labels.tsv, .csv, .jsonl), an LMDB, tar archives, also
compressed ones, MJSynth or SynthText. A word that cannot be used is left out, counted and listed;
none is changed. The same command resumes a conversion that was stopped.

exit codes: 0 all well, also if words are left out; 1 output not written;
2 wrong use; 130 interrupted with Ctrl-C."""

_LOOKED_AT = 256  # words of each source that are looked at to see whether it has boxes

_Commands = argparse._SubParsersAction


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add a subcommand for inspect, convert and show."""
    parser.description = (
        "Look into labeled word images on disk, convert them, see them augmented."
    )
    parser.epilog = _EPILOG
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    _add_inspect(commands)
    _add_convert(commands)
    _add_show(commands)


def _add_inspect(commands: _Commands) -> None:
    inspect = _add(
        commands, "inspect", "say what a data set holds and what of it can be used"
    )
    inspect.add_argument("source", metavar="SOURCE")
    _add_common(inspect)
    inspect.add_argument(
        "--limit",
        type=positive,
        metavar="N",
        help="look at the first N only",
    )
    inspect.add_argument("--json", action="store_true", help="print one JSON object")


def _add_convert(commands: _Commands) -> None:
    convert = _add(commands, "convert", "write the words of data sets to another")
    convert.add_argument(
        "sources",
        nargs="+",
        metavar="SOURCE",
        help="data sets to read, one after the other",
    )
    convert.add_argument(
        "target",
        type=Path,
        metavar="TARGET",
        help="NAME.lmdb, NAME.tar, NAME-%%06d.tar for several archives; all else is a folder",
    )
    convert.add_argument(
        "--format",
        choices=tuple(WRITERS),
        help="format to write (default: by the name of TARGET)",
    )
    _add_common(convert, source_format="--source-format")
    convert.add_argument(
        "--shard-size",
        type=positive,
        metavar="N",
        help="words in each tar archive (10000)",
    )


def _add_show(commands: _Commands) -> None:
    show = _add(commands, "show", "draw words with their labels on one picture")
    show.add_argument("source", metavar="SOURCE")
    show.add_argument(
        "--out",
        type=Path,
        required=True,
        metavar="FILE",
        help="picture to write, such as sheet.png",
    )
    show.add_argument(
        "--augment",
        metavar="NAME",
        help="none, light, strong or module.function (docs/data.md): shows every "
        "word unchanged and augmented",
    )
    show.add_argument(
        "--count",
        type=positive,
        metavar="N",
        help="words (64; with --augment 16)",
    )
    show.add_argument(
        "--seed",
        type=whole_number,
        default=1,
        metavar="N",
        help="seed that selects the words (1)",
    )
    _add_common(show, report=False)


def run(options: argparse.Namespace) -> int:
    """Run the subcommand; returns the exit code."""
    commands = {"inspect": _inspect, "convert": _convert, "show": _show}
    return commands[options.command](options)


def _inspect(options: argparse.Namespace) -> int:
    from vit_str.datasets.inspection import as_text, inspect

    source = open_stream(options.source, options.source_format, options.images)
    with SkipReport(file=options.report) as report:
        values = inspect(source, _rules(options), report, options.limit)
    if options.json:
        console.write(json.dumps(values, ensure_ascii=False))
    else:
        for line in as_text(values, report):
            console.write(line)
    return 0


def _convert(options: argparse.Namespace) -> int:
    sources = [
        open_stream(path, options.source_format, options.images)
        for path in options.sources
    ]
    check_target(options.target, options.format, options.shard_size)
    format_name = options.format or format_of(options.target)
    writer = WRITERS[format_name]
    layout = Layout(
        start=0,
        suffix="",
        boxes=_have_boxes(sources),
        shard_size=options.shard_size or SHARD_SIZE,
    )
    made_with = _made_with(sources, format_name, layout, options)
    with Unfinished.beside(options.target, writer, made_with) as note:
        before = note.progress.report if note.progress else None
        with (
            SkipReport(options.report, before) as report,
            note.writer(writer, options.target, layout) as target,
        ):
            words = _usable(sources, target.done, report, _rules(options))
            note.fill(target, words, report)
    return _say_converted(options.target, target.done, report)


def _have_boxes(sources: Sequence[WordStream]) -> bool:
    """Whether one of the first words has boxes of its characters."""
    first_words = chain.from_iterable(islice(source, _LOOKED_AT) for source in sources)
    return any(isinstance(word, LabeledWord) and word.boxes for word in first_words)


def _made_with(
    sources: Sequence[WordStream],
    format_name: str,
    layout: Layout,
    options: argparse.Namespace,
) -> dict[str, Any]:
    """Settings that decide which words are written."""
    rules = _rules(options)
    return {
        "sources": [
            (os.path.realpath(source.path), source.format, source.known_length)
            for source in sources
        ],
        "--images": options.images and os.path.realpath(options.images),
        "--format": format_name,
        "--shard-size": layout.shard_size,
        "--charset": rules.charset and rules.charset.characters,
        "--maximum-length": rules.maximum_length,
        "--least-size": rules.least_size,
        "boxes": layout.boxes,
    }


def _usable(
    sources: Sequence[WordStream], done: int, report: SkipReport, rules: Rules
) -> Iterator[list[LabeledWord]]:
    """The words that can be used and were not looked at yet, with a bar."""
    start = done + report.total
    lengths = [source.known_length for source in sources]
    unknown = [source for source in sources if source.known_length is None]
    total = None if unknown else sum(length or 0 for length in lengths)
    entries = words_from(sources, start)
    with console.Progress(total, alone=True, unit="word", done=start) as progress:
        counted = progress.over(entries)
        for words in judged(counted, rules, lambda word, _: word, report):
            if unknown:
                share = sum(source.share_read for source in unknown) / len(unknown)
                progress.note(f"{share:.0%} of what is compressed")
            yield words


def _say_converted(target: Path, words: int, report: SkipReport) -> int:
    """Print what was written and what was left out; returns the exit code."""
    if not words:
        reason = report.first or "there is none"
        console.warn(f"no word of {report.total:,} can be used; {reason}")
        return 1
    console.write(f"{target}: {words:,} words")
    if report.total:
        console.warn(f"words left out: {report.total:,}")
        for line in report.table():
            console.warn(line)
    return 0


def _show(options: argparse.Namespace) -> int:
    from vit_str.datasets.show import word_sheet
    from vit_str.reports.sheets import check_picture, write_picture

    check_picture(options.out)
    source = open_words(options.source, options.source_format, options.images)
    rules = _rules(options)
    picture, words = word_sheet(
        source, rules, options.count, options.seed, options.augment
    )
    write_picture(options.out, picture)
    console.write(f"{options.out}: {words:,} words")
    return 0


def _rules(options: argparse.Namespace) -> Rules:
    """The rules for words that the options give."""
    from vit_str.characters.charset import charset_of

    charset = None if options.charset is None else charset_of(options.charset)
    return Rules(charset, options.maximum_length, options.least_size)


def _add(commands: _Commands, name: str, purpose: str) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(
        name,
        help=purpose,
        description=f"{purpose[0].upper()}{purpose[1:]}.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    return command


def _add_common(
    command: argparse.ArgumentParser,
    source_format: str = "--format",
    report: bool = True,
) -> None:
    """Options that say how a source is read, and which of its words can be used."""
    command.add_argument(
        source_format,
        choices=tuple(READERS),
        dest="source_format",
        help="format of SOURCE (default: detected); names: the file names of "
        "images are their labels",
    )
    command.add_argument(
        "--images",
        type=Path,
        metavar="FOLDER",
        help="folder that the names in a label file are relative to, if not its own",
    )
    command.add_argument(
        "--charset",
        metavar="NAME|FILE|CHARACTERS",
        help="leave out words with other characters: digits, ascii, european, latin, "
        "cyrillic-greek, korean, several joined by +, a text file, or the characters",
    )
    command.add_argument(
        "--maximum-length", type=positive, metavar="N", help="leave out longer labels"
    )
    command.add_argument(
        "--least-size",
        type=positive,
        default=4,
        metavar="N",
        help="leave out images with less height or width, in pixels (4)",
    )
    if report:
        command.add_argument(
            "--report",
            type=Path,
            metavar="FILE",
            help="list all words that are left out, as TSV",
        )
