"""``vit-str analyze distance``: how far the heads of one model or several look."""

import argparse

from vit_str.analysis.arguments import add_images, add_models, add_norm

_EPILOG = """\
Writes report.html (the pointer on a dot shows its head), distance.csv, summary.json, and the
figures as PNG, for papers also as SVG and PDF. Several models are drawn on one scale; weights
called step-*, as training keeps them with vit_str.training.WeightsHistory, as distance against
training, a panel for each layer.

examples:
  vit-str analyze distance tiny untrained:tiny --data photos/ --out out/
  vit-str analyze distance runs/vit_deep_transformer/history/step-*.safetensors --out out/

In Python and in notebooks: vit_str.analysis.attention_distance(model, images)
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of this question."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
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
