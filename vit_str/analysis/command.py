"""``vit-str analyze``: look into models. A file or folder for each analysis."""

import argparse
from collections.abc import Callable
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import NamedTuple

from vit_str.console import add_batch_size, add_device
from vit_str.files import check_folder

_DISTANCE = """\
Writes report.html (the pointer on a dot shows its head), distance.csv, summary.json,
and the figures as PNG, for papers also as SVG and PDF. Several models are drawn on one
scale; weights called step-*, as training keeps them with
vit_str.training.WeightsHistory, as distance against training, a panel for each layer.

examples:
  vit-str analyze distance tiny untrained:tiny --data photos/ --out out/
  vit-str analyze distance timm:vit_base_patch16_224 torchvision:swin_t \\
      --data photos/ --out out/
  vit-str analyze distance runs/vit_deep_transformer/history/step-*.safetensors \\
      --out out/

In Python and in notebooks: vit_str.analysis.attention_distance(model, images)
"""

_ATLAS = """\
WEIGHTS may be patterns ('timm:swin*', 'untrained:timm:vit_tiny*'), or 'families': one
small model of each family of timm and torchvision that is supported, which is the
default. Writes report.html with a table to sort and filter, atlas.json, and a file for
each model in models/: these models are not measured again, so the same command resumes
after an interruption. A model that cannot be measured is listed with the reason.
'merge' and files atlas.json, or their folders, in the place of WEIGHTS put atlases of
several people on one page.

examples:
  vit-str analyze atlas --count 50 --data photos/ --out atlas/
  vit-str analyze atlas untrained:families 'timm:deit3_*' --count 50 \\
      --data photos/ --out atlas/
  vit-str analyze atlas merge atlas/ theirs/atlas.json --out both/
"""


def _add_common(parser: argparse.ArgumentParser, analysis: "Analysis") -> None:
    """Which models and images, where to compute and where to write."""
    _add_models(parser, analysis)
    parser.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="folder to write to"
    )
    parser.add_argument(
        "--seed", type=int, default=1, help="same seed, same results (1)"
    )
    _add_images(parser, analysis.images)
    add_batch_size(parser)
    add_device(parser)


def _add_models(parser: argparse.ArgumentParser, analysis: "Analysis") -> None:
    """Which models, and how to open them."""
    if analysis.models is None:
        for name in ("first", "second"):
            parser.add_argument(
                name, metavar=name.upper(), help="a model, as for distance"
            )
    else:
        parser.add_argument(
            "models",
            nargs=analysis.models,
            metavar="WEIGHTS",
            help="tiny, a .safetensors file, untrained:NAME or "
            "untrained:CONFIG.yaml; for other libraries timm:NAME, hf:NAME or "
            "torchvision:NAME, with weights from their caches or hubs, or "
            "untrained:timm:NAME, which downloads nothing",
        )
    parser.add_argument(
        "--checkpoint",
        type=Path,
        metavar="FILE",
        help="file of weights (.safetensors or PyTorch) for the timm:, hf: or "
        "torchvision: model, instead of those that the library would "
        "download",
    )
    parser.add_argument(
        "--image-size",
        type=int,
        nargs=2,
        metavar=("HEIGHT", "WIDTH"),
        help="size to which images are resized, without cropping, for timm:, hf: "
        "or torchvision: models that take several sizes, and for 'line', "
        "which reads any width",
    )


def _add_images(parser: argparse.ArgumentParser, count: int) -> None:
    """Which images, and how many of them by default."""
    parser.add_argument(
        "--data",
        default="rendered",
        metavar="FOLDER",
        help="folder of images; or 'rendered': words drawn for the analysis (default)",
    )
    parser.add_argument(
        "--count", type=int, default=count, metavar="N", help=f"most images ({count})"
    )
    parser.add_argument(
        "--fonts",
        type=Path,
        nargs="+",
        metavar="DIR",
        help="folders of fonts to render with, instead of the system's",
    )


def _norm(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--norm",
        choices=("renormalized", "raw"),
        default="renormalized",
        help="leave out attention to special tokens and rescale the rest to 1 "
        "(renormalized, the default), or keep the rest as it is (raw, as in "
        "the ViT paper); equal without special tokens",
    )


def _show(parser: argparse.ArgumentParser, count: int = 4) -> None:
    parser.add_argument(
        "--show",
        type=int,
        default=count,
        metavar="N",
        help=f"words to draw with maps ({count})",
    )


def _distance(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _DISTANCE
    _norm(parser)
    parser.add_argument(
        "--gradients",
        type=int,
        default=16,
        metavar="N",
        help="images on which to measure gradient distance too, which "
        "convolutions also have (16; 0 for none)",
    )
    parser.add_argument(
        "--queries",
        choices=("all", "text", "background"),
        default="all",
        help="which tokens count as queries: all (default), those on the "
        "characters of rendered words, or those beside them",
    )
    parser.add_argument(
        "--group",
        metavar="NAME",
        help="take all WEIGHTS, three or more, as trainings of one architecture: "
        "intervals are between trainings",
    )
    parser.add_argument(
        "--per-image",
        action="store_true",
        help="write the values of every image: per-image.csv",
    )
    parser.add_argument(
        "--maps",
        type=int,
        default=0,
        metavar="N",
        help="write the attention maps of the first N images: maps-1.npz for the first model (0)",
    )


def _ablation(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--by",
        choices=("mean", "zero", "resample", "noise", "equal-distance"),
        default="mean",
        help="output of a cut head: its mean over all words at that token (mean, "
        "the default), zero, its output for another word (resample), noise "
        "with its mean and deviation, or that of random attention with its "
        "entropy and its distances (equal-distance): it loses what it looked at, "
        "not how far",
    )
    parser.add_argument(
        "--orders",
        type=int,
        default=20,
        metavar="N",
        help="random orders of heads, for comparison with nearest and farthest "
        "first (20)",
    )


def _characters(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--block",
        type=int,
        metavar="N",
        help="block of the decoder, from 1 (default: the last)",
    )
    parser.add_argument(
        "--head",
        type=int,
        metavar="N",
        help="head of the block, from 1 (default: the mean of all)",
    )
    _show(parser, 12)


def _receptive_field(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--queries",
        type=int,
        default=4,
        metavar="N",
        help="tokens measured in each image (4)",
    )


def _similarity(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--examples",
        choices=("tokens", "images"),
        default="tokens",
        help="compare features of every token (default), or of images, as means over their tokens",
    )


def _rollout(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--residual",
        type=float,
        default=0.5,  # the paper's choice
        metavar="SHARE",
        help="weight of the skip connection in every layer (0.5)",
    )
    _show(parser)


def _atlas(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _ATLAS
    _norm(parser)
    parser.add_argument(
        "--from-hub",
        action="store_true",
        help="fetch the weights of one model at a time and remove them once it is "
        "measured, without the caches, so that the disk holds those of one model",
    )


class Analysis(NamedTuple):
    """A subcommand; ``report`` in ``page.py`` of its folder takes options of its own by name."""

    purpose: str
    # Its own options
    add_arguments: Callable[[argparse.ArgumentParser], None] | None = None
    models: int | str | None = "+"  # as ``nargs``; None for a first and a second
    images: int = 200  # most images, if not said otherwise
    with_untrained: bool = False
    module: str | None = None  # with ``report``, if it has another name


ANALYSES = {
    "distance": Analysis(
        "how far every head of one model or several looks, layer by layer",
        _distance,
        module="distance.page",
    ),
    "atlas": Analysis(
        "the same for many public models, on one page to sort and to filter",
        _atlas,
        models="*",
        images=50,
        module="atlas.page",
    ),
    "compare": Analysis(
        "the same for two models on the same images, as paired differences",
        _norm,
        models=None,
    ),
    "sinks": Analysis(
        "which tokens much attention goes to whatever is asked, and why",
        images=64,
        module="sinks.page",
    ),
    "ablation": Analysis(
        "whether reading needs a head: words read right while it is cut",
        _ablation,
        models=1,
        images=300,
        module="ablation.page",
    ),
    "characters": Analysis(
        "where the decoder looked for each character, with scores",
        _characters,
        models=1,
        with_untrained=True,
        module="characters.page",
    ),
    "receptive-field": Analysis(
        "how far gradients reach: ViTs and convolutions in one unit",
        _receptive_field,
        images=100,
        module="receptive_field.page",
    ),
    "vit-paper": Analysis(
        "figure 7 of the ViT paper: filters of the first layer, similarity of "
        "positions, distance",
        _norm,
        module="vit_paper.page",
    ),
    "similarity": Analysis(
        "how alike layers are, of one model and of several (linear CKA)", _similarity
    ),
    "rollout": Analysis("attention multiplied through the layers", _rollout),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add a subcommand for each analysis."""
    parser.description = (
        "Look into models: every analysis writes tables, figures and one page."
    )
    parser.epilog = "example: vit-str analyze distance tiny untrained:tiny --out out/"
    analyses = parser.add_subparsers(dest="command", metavar="ANALYSIS", required=True)
    for name, analysis in ANALYSES.items():
        purpose = analysis.purpose
        description = f"{purpose[0].upper()}{purpose[1:]}."
        added = analyses.add_parser(
            name, help=purpose, description=description, allow_abbrev=False
        )
        _add_common(added, analysis)
        if analysis.add_arguments:
            analysis.add_arguments(added)


def run(options: argparse.Namespace) -> int:
    """Run the analysis and print where the page is; returns the exit code."""
    from vit_str.analysis.results import AnalysisRun
    from vit_str.analysis.subjects import with_untrained

    check_folder(options.out)
    given = vars(options)
    analysis = ANALYSES[options.command]
    page = import_module(f"vit_str.analysis.{analysis.module or options.command}")
    two = analysis.models is None
    names = [options.first, options.second] if two else options.models
    names = with_untrained(*names) if analysis.with_untrained else names
    started = AnalysisRun(given, names)
    _, *own = signature(page.report).parameters
    code: int = page.report(started, **{name: given[name] for name in own})
    return code
