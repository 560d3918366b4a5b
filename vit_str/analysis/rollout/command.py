"""``vit-str analyze rollout``: attention multiplied through the layers."""

import argparse

from vit_str.analysis.arguments import add_images, add_models, add_shown

_RESIDUAL = 0.5  # the paper's choice


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of this question."""
    add_models(parser)
    add_images(parser)
    parser.add_argument(
        "--residual",
        type=float,
        default=_RESIDUAL,
        metavar="SHARE",
        help=f"of the skip connection in every layer ({_RESIDUAL})",
    )
    add_shown(parser, 4)


def run(options: argparse.Namespace) -> int:
    """Roll out the attention of every model on the same images and write a table and a page."""
    from vit_str.analysis.results import Inspection
    from vit_str.analysis.rollout.page import answer

    return answer(Inspection(vars(options)), options.residual, options.show)
