"""``vit-str evaluate``: accuracy on labeled images."""

import argparse
import json

from vit_str.cli import console
from vit_str.cli.loading import load_reader
from vit_str.evaluation import LabeledImages, evaluate


def run(options: argparse.Namespace) -> int:
    """Read the labeled images in the folders that the command line names and print the scores."""
    try:
        sets = [LabeledImages(folder) for folder in options.folders]
    except ValueError as error:
        raise console.UsageError(str(error)) from error
    reader = load_reader(options)
    with console.Progress(sum(map(len, sets))) as progress:
        report = evaluate(reader, sets, options.batch_size, options.workers, progress.advance)
    for trouble in report.troubles:
        console.complain(trouble)
    if options.json:
        console.write(json.dumps(report.to_dict(), indent=2, allow_nan=False))
    else:
        console.write(report.table())
    return 1 if report.troubles else 0
