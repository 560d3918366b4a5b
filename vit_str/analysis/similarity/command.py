"""``vit-str analyze similarity``: how alike layers are, of one model and of several."""

import argparse

from vit_str.analysis.arguments import add_images, add_models


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of this question."""
    add_models(parser)
    add_images(parser)
    parser.add_argument(
        "--examples",
        choices=("tokens", "images"),
        default="tokens",
        help="compare what layers say about every token (default), or about images, as means "
        "over their tokens",
    )


def run(options: argparse.Namespace) -> int:
    """Compare every two layers of all models and write a table and a page."""
    from vit_str.analysis.results import Inspection
    from vit_str.analysis.similarity.page import answer

    return answer(Inspection(vars(options)), options.examples)
