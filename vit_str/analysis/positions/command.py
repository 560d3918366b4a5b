"""``vit-str analyze positions``: which positions look alike to a model."""

import argparse
from pathlib import Path

from vit_str.analysis.arguments import add_models


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of this question, which looks at no images."""
    add_models(parser)
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="where to write")
    parser.add_argument("--seed", type=int, default=1, help="of untrained models (1)")


def run(options: argparse.Namespace) -> int:
    """Compare the positions of every model and write tables and a page."""
    from vit_str.analysis.positions.page import answer
    from vit_str.analysis.results import Inspection

    return answer(Inspection(vars(options)))
