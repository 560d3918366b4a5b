"""``vit-str analyze receptive-field``: how far gradients reach, in one unit for all models."""

import argparse

from vit_str.analysis.arguments import add_images, add_models


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of this question."""
    add_models(parser)
    add_images(parser, count=100)
    parser.add_argument(
        "--queries", type=int, default=4, metavar="N", help="tokens of each image to ask (4)"
    )


def run(options: argparse.Namespace) -> int:
    """Measure every model on the same images and write tables and a page."""
    from vit_str.analysis.receptive_field.page import answer
    from vit_str.analysis.results import Inspection

    return answer(Inspection(vars(options)), options.queries)
