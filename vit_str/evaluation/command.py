"""``vit-str evaluate``: accuracy on labeled images."""

import argparse
import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from vit_str import console
from vit_str.files import check_writable, write_atomically
from vit_str.reading.options import add_reader_arguments, search_of

if TYPE_CHECKING:
    from vit_str.datasets import WordSource
    from vit_str.evaluation.comparison import Comparison
    from vit_str.evaluation.report import Report
    from vit_str.runtime import Reader

_DESCRIPTION = """\
Read labeled images and compare: word accuracy under 36, 62, 94 and all
characters (full: exactly as written, in any script), character accuracy, 1-NED and the
error of the confidences, each with a 95 % interval. With --against, also how much
better --model is, word by word. JSON and pages of Markdown also have accuracy by kind
of word, accuracy if the least sure are rejected, and the most common mistakes."""

_EPILOG = """\
examples:
  vit-str evaluate crops/ words.lmdb                accuracy on two sets, and on both together
  vit-str evaluate crops/ --model new.safetensors --against tiny
                                                    which weights read them better
  vit-str evaluate crops/ --markdown report.md      a page of tables"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``vit-str evaluate``."""
    parser.description = _DESCRIPTION
    parser.epilog = _EPILOG
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
    parser.add_argument(
        "--changes",
        type=Path,
        metavar="FOLDER",
        help="with --against: write a page with the words that --model has won and lost, beside "
        "their pictures, report.html",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object, fractions")
    parser.add_argument(
        "--markdown",
        type=Path,
        metavar="FILE",
        help="write a page of tables, without an image of a word, such as report.md",
    )
    parser.add_argument(
        "--sheet",
        type=Path,
        metavar="FILE",
        help="write a picture with the images of the surest mistakes, such as mistakes.png",
    )
    parser.add_argument(
        "--page",
        action="store_true",
        help="each SOURCE is a folder of whole pictures, images/, with labels/: eight corner "
        "coordinates and a text per line",
    )
    add_reader_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Read the labeled images that the command line names, print the scores, write the rest."""
    if options.page:
        from vit_str.evaluation import pages

        return pages.run(options)
    from vit_str.evaluation.markdown import report_markdown
    from vit_str.evaluation.report import Report
    from vit_str.evaluation.run import open_sets, read_words, remarks
    from vit_str.runtime import load

    if options.changes and not options.against:
        raise ValueError("--changes needs --against: the weights before")
    sets = open_sets(options.sources)
    _check_outputs(options)
    models = [options.model, *([options.against] if options.against else [])]
    search = search_of(options)
    readers = [
        load(model, options.device, effort=options.effort, backend=options.backend, search=search)
        for model in models
    ]
    count = len(readers) * sum(map(len, sets.values()))
    with console.Progress(count, alone=True) as progress:
        how = options.batch_size, options.workers, progress.advance
        reports = [
            Report({name: read_words(reader, source, *how) for name, source in sets.items()})
            for reader in readers
        ]
    for line in reports[0].problems:
        console.warn(line)
    for name, words in reports[0].words.items():
        for line in remarks(name, words):
            console.warn(line)
    comparison = _compare(models, reports) if options.against else None
    if options.json:
        console.write(_json(reports, comparison))
    else:
        console.write(_text(models, reports, comparison))
    if options.markdown:
        subject = _name(options.model), _command(options, sets), _how(readers[0])
        page = report_markdown(reports[0], *subject, comparison.markdown() if comparison else [])
        with write_atomically(options.markdown) as temporary:
            temporary.write_text(page, encoding="utf-8", newline="\n")
    if options.sheet:
        _write_sheet(options.sheet, reports[0], sets)
    if comparison and options.changes:
        from vit_str.evaluation.changes import write_changes

        console.write(f"what changed: {write_changes(comparison, sets, options.changes)}")
    return 1 if reports[0].problems or not reports[0].whole.labels else 0


def _check_outputs(options: argparse.Namespace) -> None:
    """Find out before the reading, which may take long, whether files can be written."""
    if options.sheet:
        from vit_str.reports.sheets import check_picture

        check_picture(options.sheet)
    for path in (options.markdown, options.sheet):
        if path:
            check_writable(path)


def _write_sheet(path: Path, report: "Report", sets: "Mapping[str, WordSource]") -> None:
    """Write the pictures of the surest mistakes."""
    from vit_str.evaluation.mistakes import picture_sheet, surest_mistakes

    mistakes = surest_mistakes(report.words)
    captions = {(mistake.set, mistake.place): mistake.caption() for mistake in mistakes}
    picture = picture_sheet(captions, sets)
    if picture is None:
        reason = "no mistake to show: every word that can be judged is read right"
        console.warn(f"{path} is not written: {reason}")
        return
    with write_atomically(path) as temporary:
        picture.save(temporary)


def _text(
    models: Sequence[str],
    reports: "Sequence[Report]",
    comparison: "Comparison | None",
) -> str:
    tables = [report.table() for report in reports]
    if comparison is None:
        return tables[0]
    parts = [f"{model}\n{table}" for model, table in zip(models, tables, strict=True)]
    return "\n\n".join([*parts, comparison.table()])


def _json(reports: "Sequence[Report]", comparison: "Comparison | None") -> str:
    values = reports[0].to_dict()
    if comparison:
        values["against"] = reports[1].to_dict()
        values["comparison"] = comparison.to_dict()
    return json.dumps(values, indent=2, allow_nan=False)


def _compare(models: Sequence[str], reports: "Sequence[Report]") -> "Comparison":
    """The model that was asked for minus the one it is held against."""
    from vit_str.evaluation.comparison import Comparison

    names = [_name(model) for model in models]
    model, against = names if names[0] != names[1] else models
    return Comparison((against, model), reports[1].words, reports[0].words)


def _name(model: str) -> str:
    return Path(model).stem


def _command(options: argparse.Namespace, names: Iterable[str]) -> str:
    """The command to show in the page: names of sets and models, not the paths of a machine."""
    path = options.markdown
    values = {
        "model": _name(options.model),
        "effort": options.effort,
        "lexicon": options.lexicon and Path(options.lexicon).name,
        "pattern": options.pattern,
        "alphabet": options.alphabet,
        "beams": options.beams,
        "against": options.against and _name(options.against),
        "markdown": path.name if path.is_absolute() else path.as_posix(),
    }
    words = ["vit-str", "evaluate", *names]
    for name, value in values.items():
        if value is not None:
            words += [f"--{name}", str(value)]
    return shlex.join(words)


def _how(reader: "Reader") -> str:
    import vit_str

    read_by = reader.describe()
    place = f"{read_by.device.partition(':')[0]} with {read_by.backend}"
    return f"read in {read_by.number_format} on {place} by vit-str {vit_str.__version__}"
