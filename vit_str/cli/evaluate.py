"""``vit-str evaluate``: accuracy on labeled images."""

import argparse
import json
from pathlib import Path

from vit_str.cli import console
from vit_str.cli.loading import load_reader
from vit_str.comparison import Comparison
from vit_str.evaluation import LabeledImages, Report, evaluate


def run(options: argparse.Namespace) -> int:
    """Read the labeled images in the folders that the command line names and print the scores."""
    try:
        sets = [LabeledImages(folder) for folder in options.folders]
    except ValueError as error:
        raise console.UsageError(str(error)) from error
    models = [options.model]
    if options.against:
        models.append(options.against)
    reports = _evaluate(models, sets, options)
    for trouble in reports[0].troubles:
        console.complain(trouble)
    console.write(_json(models, reports) if options.json else _text(models, reports))
    return 1 if reports[0].troubles else 0


def _evaluate(
    models: list[str], sets: list[LabeledImages], options: argparse.Namespace
) -> list[Report]:
    """One report per model."""
    readers = [load_reader(argparse.Namespace(**vars(options) | {"model": m})) for m in models]
    with console.Progress(len(models) * sum(map(len, sets))) as progress:
        return [
            evaluate(reader, sets, options.batch_size, options.workers, progress.advance)
            for reader in readers
        ]


def _text(models: list[str], reports: list[Report]) -> str:
    if len(reports) == 1:
        return reports[0].table()
    parts = [f"{model}\n{report.table()}" for model, report in zip(models, reports, strict=True)]
    return "\n\n".join([*parts, _compare(models, reports).table()])


def _json(models: list[str], reports: list[Report]) -> str:
    values = reports[0].to_dict()
    if len(reports) > 1:
        values["against"] = reports[1].to_dict()
        values["comparison"] = _compare(models, reports).to_dict()
    return json.dumps(values, indent=2, allow_nan=False)


def _compare(models: list[str], reports: list[Report]) -> Comparison:
    """The model that was asked for minus the one it is held against."""
    names = [Path(model).stem for model in models]
    model, against = names if names[0] != names[1] else models
    return Comparison((against, model), reports[1].words, reports[0].words)
