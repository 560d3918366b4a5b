"""``vit-str analyze characters``: where the decoder looked for each character, with scores."""

import argparse

from vit_str.analysis.arguments import add_images, add_models, add_shown

_MOST_SHOWN = 60


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of this question."""
    add_models(parser, several=False)
    add_images(parser)
    parser.add_argument(
        "--block", type=int, metavar="N", help="of the decoder, from 1 (default: the last)"
    )
    parser.add_argument(
        "--head", type=int, metavar="N", help="of the block, from 1 (default: the mean of all)"
    )
    add_shown(parser, 12)


def run(options: argparse.Namespace) -> int:
    """Watch a model read, score where it looked, and write tables and a page."""
    from vit_str.analysis.characters.page import answer
    from vit_str.analysis.results import Inspection

    if not 0 <= options.show <= _MOST_SHOWN:
        raise ValueError(f"--show must be from 0 to {_MOST_SHOWN}, found {options.show}")
    inspection = Inspection(vars(options), with_untrained=True)
    return answer(inspection, options.block, options.head, options.show)
