"""``vit-str analyze compare``: two models on the same images, as paired differences."""

import argparse

from vit_str.analysis.arguments import add_checkpoint, add_images, add_norm


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of this question."""
    for name in ("first", "second"):
        parser.add_argument(name, metavar=name.upper(), help="a model, as for distance")
    add_checkpoint(parser)
    add_images(parser)
    add_norm(parser)


def run(options: argparse.Namespace) -> int:
    """Measure both models and write their differences."""
    from vit_str.analysis.compare.page import answer
    from vit_str.analysis.results import Inspection

    return answer(Inspection(vars(options), [options.first, options.second]), options.norm)
