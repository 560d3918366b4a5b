"""``vit-str analyze relevance``: which tokens made the decoder write a character, by gradients."""

import argparse

from vit_str.analysis.arguments import add_images, add_models, add_shown


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of this question."""
    add_models(parser, several=False)
    add_images(parser, count=50)
    parser.add_argument(
        "--hide",
        type=float,
        default=0.1,
        metavar="SHARE",
        help="of the tokens to paint over in the test whether the model minds (0.1)",
    )
    add_shown(parser, 4)


def run(options: argparse.Namespace) -> int:
    """Ask a model by every method why it wrote what it wrote, and write a table and a page."""
    from vit_str.analysis.relevance.page import answer
    from vit_str.analysis.results import Inspection

    if not 0 < options.hide <= 1:
        raise ValueError(f"--hide must be above 0 and at most 1, found {options.hide}")
    inspection = Inspection(vars(options), with_untrained=True)
    return answer(inspection, options.hide, options.show)
