"""``vit-str analyze distance``: how far the heads of one model or several look."""

import argparse

from vit_str.analysis.arguments import add_images, add_models, add_norm


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of this question."""
    add_models(parser)
    add_images(parser)
    add_norm(parser)
    parser.add_argument(
        "--gradients",
        type=int,
        default=16,
        metavar="N",
        help="images on which to measure gradient distance too, the yardstick that convolutions "
        "have as well (16; 0 for none)",
    )


def run(options: argparse.Namespace) -> int:
    """Measure every model on the same images and write tables and a page."""
    from vit_str.analysis.distance.page import answer
    from vit_str.analysis.results import Inspection

    gradients = max(0, min(options.gradients, options.count))
    return answer(Inspection(vars(options)), options.norm, gradients)
