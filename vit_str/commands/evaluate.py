"""``vit-str evaluate``: accuracy on labeled images."""

import argparse
import json
import shlex
from collections.abc import Sequence
from pathlib import Path

from vit_str import console
from vit_str.commands.evaluation_output import Output
from vit_str.comparison import Comparison
from vit_str.evaluation import Report, WordSet, evaluate, open_set
from vit_str.evaluation.markdown import Subject, report_markdown
from vit_str.evaluation.run import named
from vit_str.reading import Reader, load
from vit_str.reading.command import add_reader_arguments

_DESCRIPTION = """\
Read labeled images and compare: word accuracy under 36, 62, 94 and all
characters (full: exactly as written, in any script), character accuracy, 1-NED and the
error of the confidences, each with a 95 % interval. With --against, also how much
better --model is, word by word. JSON and pages of Markdown also have accuracy by kind
of word, accuracy if the least sure are rejected, and the most common mistakes."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``vit-str evaluate``."""
    parser.description = _DESCRIPTION
    parser.add_argument(
        "sources",
        nargs="+",
        metavar="SOURCE",
        help="folder with labels.tsv (file, tab, label) and the images, beside it or in images/; "
        "or another data set: LMDB, tar archives, ... (see vit-str data --help)",
    )
    parser.add_argument(
        "--against",
        metavar="NAME|FILE",
        help="weights to compare with on the same words",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object, fractions")
    parser.add_argument(
        "--breakdown", action="store_true", help="print accuracy by kind of word too"
    )
    parser.add_argument(
        "--markdown", metavar="FILE", help="write a page without figures, such as all.md"
    )
    parser.add_argument(
        "--report",
        metavar="FOLDER",
        help="write a page with figures: report.md and PNG files, no image of a word",
    )
    parser.add_argument(
        "--sheet",
        metavar="FILE",
        help="write a picture with the images of the surest mistakes, such as mistakes.png",
    )
    add_reader_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Read the labeled images that the command line names, print the scores, write the rest."""
    sets = _open(options.sources)
    files = (options.markdown, options.report, options.sheet)
    output = Output(*(Path(file) if file else None for file in files))
    output.prepare()
    models = [options.model, *([options.against] if options.against else [])]
    readers = [load(model, options.device, care=options.care) for model in models]
    reports = _evaluate(readers, sets, options)
    for trouble in reports[0].troubles:
        console.complain(trouble)
    comparison = _compare(models, reports) if len(reports) > 1 else None
    if options.json:
        console.write(_json(reports, comparison))
    else:
        console.write(_text(models, reports, comparison, options.breakdown))
    subject = Subject(_name(options.model), _command(options, sets), _how(readers[0]))
    section = comparison.markdown() if comparison else []
    output.write(
        reports[0],
        lambda figures: report_markdown(reports[0], subject, section, figures),
        named(sets),
    )
    return 1 if reports[0].troubles else 0


def _open(sources: Sequence[str]) -> list[WordSet]:
    try:
        return [open_set(source) for source in sources]
    except (ValueError, OSError) as error:
        raise ValueError(str(error)) from error


def _evaluate(
    readers: Sequence[Reader], sets: Sequence[WordSet], options: argparse.Namespace
) -> list[Report]:
    """One report per reader."""
    counts = [each.count for each in sets]
    # A bar without an end where only going through a set tells how many words there are.
    total = 0 if None in counts else sum(each or 0 for each in counts)
    with console.Progress(len(readers) * total) as progress:
        try:
            return [
                evaluate(reader, sets, options.batch_size, options.workers, progress.advance)
                for reader in readers
            ]
        except OSError as error:  # a data set that went away, such as one on a network
            raise ValueError(f"cannot read on: {error}") from error


def _text(
    models: Sequence[str],
    reports: Sequence[Report],
    comparison: Comparison | None,
    with_breakdown: bool,
) -> str:
    tables = [
        report.table() + (f"\n\n{report.breakdown_table()}" if with_breakdown else "")
        for report in reports
    ]
    if comparison is None:
        return tables[0]
    parts = [f"{model}\n{table}" for model, table in zip(models, tables, strict=True)]
    return "\n\n".join([*parts, comparison.table()])


def _json(reports: Sequence[Report], comparison: Comparison | None) -> str:
    values = reports[0].to_dict()
    if comparison:
        values["against"] = reports[1].to_dict()
        values["comparison"] = comparison.to_dict()
    return json.dumps(values, indent=2, allow_nan=False)


def _compare(models: Sequence[str], reports: Sequence[Report]) -> Comparison:
    """The model that was asked for minus the one it is held against."""
    names = [_name(model) for model in models]
    model, against = names if names[0] != names[1] else models
    return Comparison((against, model), reports[1].words, reports[0].words)


def _name(model: str) -> str:
    return Path(model).stem


def _command(options: argparse.Namespace, sets: Sequence[WordSet]) -> str:
    """The command to show in the page: names of sets and models, not the paths of a machine."""
    words = ["vit-str", "evaluate", *named(sets), "--model", _name(options.model)]
    if options.care:
        words += ["--care", options.care]
    if options.against:
        words += ["--against", _name(options.against)]
    if options.report:
        path = Path(options.report)
        words += ["--report", path.name if path.is_absolute() else path.as_posix()]
    return shlex.join(words)


def _how(reader: Reader) -> str:
    import vit_str

    number_format = str(reader.dtype).removeprefix("torch.")
    return f"read in {number_format} on {reader.device.type} by vit-str {vit_str.__version__}"
