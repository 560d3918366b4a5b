"""``vit-str analyze filters``: what the first layer looks for."""

import argparse

from vit_str.analysis.arguments import add_images, add_models


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of this question."""
    add_models(parser)
    add_images(parser)


def run(options: argparse.Namespace) -> int:
    """Measure the filters of every model and the patches of the images; write tables and a page."""
    from vit_str.analysis.filters.page import answer
    from vit_str.analysis.results import Inspection

    return answer(Inspection(vars(options)))
