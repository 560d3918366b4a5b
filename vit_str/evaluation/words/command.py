"""``vit-str evaluate``: how well words are read."""

import argparse
import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

import vit_str
from vit_str import console
from vit_str.datasets import WordSource
from vit_str.datasets.folder import LABEL_FILES
from vit_str.evaluation.words.comparison import Comparison
from vit_str.evaluation.words.markdown import report_markdown
from vit_str.evaluation.words.mistakes import picture_sheet, surest_mistakes
from vit_str.evaluation.words.reading import open_sets, read_words, remarks
from vit_str.evaluation.words.report import Report
from vit_str.files import check_writable, write_atomically
from vit_str.reports.sheets import check_picture, write_picture
from vit_str.words.options import check_not_read, search_of
from vit_str.words.reader import Reader, load


def run(options: argparse.Namespace) -> int:
    """Read labeled words, print the scores, write the rest; returns the exit code."""
    if options.changes and not options.against:
        raise ValueError("--changes needs --against: the weights before")
    sets = open_sets(options.sources)
    _check_outputs(options)
    models = [options.model, *([options.against] if options.against else [])]
    readers = _open_readers(options, models)
    reports = _read_sets(options, readers, sets)
    _warn_of(reports[0])
    comparison = _compare(models, reports) if options.against else None
    if options.json:
        console.write(_json(reports, comparison))
    else:
        console.write(_text(models, reports, comparison))
    if options.markdown:
        _write_markdown(options, reports[0], readers[0], comparison)
    if options.sheet:
        _write_sheet(options.sheet, reports[0], sets)
    if comparison and options.changes:
        # Draws with matplotlib
        from vit_str.evaluation.words.changes import write_changes

        console.write(
            f"what changed: {write_changes(comparison, sets, options.changes)}"
        )
    return 1 if reports[0].problems or not reports[0].whole.labels else 0


def _check_outputs(options: argparse.Namespace) -> None:
    """Find out before the reading, which may take long, whether files can be written."""
    if options.markdown:
        label_files = (
            Path(source, name)
            for source in options.sources
            for name in ("", *LABEL_FILES)
        )
        others = (options.model, options.against, options.lexicon, options.language)
        check_not_read("--markdown", options.markdown, (*label_files, *others))
    if options.sheet:
        check_picture(options.sheet)
    for path in (options.markdown, options.sheet):
        if path:
            check_writable(path)


def _open_readers(options: argparse.Namespace, models: Sequence[str]) -> list[Reader]:
    open_reader = partial(
        load,
        device=options.device,
        effort=options.effort,
        backend=options.backend,
        search=search_of(options),
    )
    return list(map(open_reader, models))


def _read_sets(
    options: argparse.Namespace,
    readers: Sequence[Reader],
    sets: Mapping[str, WordSource],
) -> list[Report]:
    """Readings of all words by each reader."""
    count = len(readers) * sum(map(len, sets.values()))
    reports = []
    with console.Progress(count, alone=True) as progress:
        for reader in readers:
            read = partial(
                read_words,
                reader,
                batch_size=options.batch_size,
                workers=options.workers,
                advance=progress.advance,
            )
            words = {name: read(source) for name, source in sets.items()}
            reports.append(Report(words))
    return reports


def _warn_of(report: Report) -> None:
    """Tell of words that could not be read, and of labels that are odd."""
    for line in report.problems:
        console.warn(line)
    for name, words in report.words.items():
        for line in remarks(name, words):
            console.warn(line)


def _compare(models: Sequence[str], reports: Sequence[Report]) -> Comparison:
    """The model that was asked for minus the one it is held against."""
    names = [_name(model) for model in models]
    model, against = names if names[0] != names[1] else models
    return Comparison((against, model), reports[1].words, reports[0].words)


def _text(
    models: Sequence[str],
    reports: Sequence[Report],
    comparison: Comparison | None,
) -> str:
    tables = [report.table() for report in reports]
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


def _write_markdown(
    options: argparse.Namespace,
    report: Report,
    reader: Reader,
    comparison: Comparison | None,
) -> None:
    """Write the page of tables."""
    page = report_markdown(
        report,
        model=_name(options.model),
        command=_command(options, report.words),
        how=_how(reader),
        comparison=comparison.markdown() if comparison else [],
    )
    with write_atomically(options.markdown) as temporary:
        temporary.write_text(page, encoding="utf-8", newline="\n")


def _write_sheet(path: Path, report: Report, sets: Mapping[str, WordSource]) -> None:
    """Write the pictures of the surest mistakes."""
    mistakes = surest_mistakes(report.words)
    captions = {(mistake.set, mistake.place): mistake.caption() for mistake in mistakes}
    picture = picture_sheet(captions, sets)
    if picture is None:
        reason = "no mistake to show: every word that can be judged is read right"
        console.warn(f"{path} is not written: {reason}")
        return
    write_picture(path, picture)


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


def _how(reader: Reader) -> str:
    read_by = reader.describe()
    place = f"{read_by.device.partition(':')[0]} with {read_by.backend}"
    return (
        f"read in {read_by.number_format} on {place} by vit-str {vit_str.__version__}"
    )
