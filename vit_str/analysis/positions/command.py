"""``vit-str analyze positions``: which positions look alike to a model."""

import argparse
import time
from pathlib import Path

from vit_str.analysis.arguments import add_models


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of this question, which looks at no images."""
    add_models(parser)
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="where to write")
    parser.add_argument("--seed", type=int, default=1, help="of untrained models (1)")


def run(options: argparse.Namespace) -> int:
    """Compare the positions of every model and write tables and a page."""
    from vit_str.analysis.positions.page import (
        ModelPositions,
        explained_table,
        pairs_table,
        positions_page,
    )
    from vit_str.analysis.results import write_page, write_summary
    from vit_str.analysis.subjects import load_subjects
    from vit_str.pages.tables import write_csv

    start = time.monotonic()
    subjects = load_subjects(options.models, options.seed)
    models = [ModelPositions.of(subject) for subject in subjects]
    write_csv(options.out / "positions.csv", *explained_table(models))
    write_csv(options.out / "similarity.csv", *pairs_table(models))
    write_summary(options.out, vars(options), subjects, None, time.monotonic() - start)
    return write_page(positions_page(models), options.out)
