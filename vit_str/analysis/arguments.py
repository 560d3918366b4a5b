"""Arguments that the questions of ``vit-str analyze`` share."""

import argparse
from pathlib import Path

NORMS = ("renormalized", "raw")
"""What becomes of attention to special tokens, see `statistics`."""


def add_models(parser: argparse.ArgumentParser, several: bool = True) -> None:
    """The models to look into, by name."""
    parser.add_argument(
        "models",
        nargs="+" if several else 1,
        metavar="WEIGHTS",
        help="tiny, a .safetensors file, untrained:NAME or untrained:CONFIG.yaml; of other "
        "libraries timm:NAME, hf:NAME or torchvision:NAME, with the weights that these find in "
        "their caches or fetch from their hubs, or untrained:timm:NAME, for which nothing is "
        "fetched",
    )
    add_checkpoint(parser)


def add_checkpoint(parser: argparse.ArgumentParser) -> None:
    """Weights for a model of another library."""
    parser.add_argument(
        "--checkpoint",
        type=Path,
        metavar="FILE",
        help="weights for the timm:, hf: or torchvision: model, .safetensors or of torch, instead "
        "of those that the library would fetch",
    )


def add_images(parser: argparse.ArgumentParser, count: int = 200) -> None:
    """Which images, how many, where to compute and where to write."""
    parser.add_argument(
        "--data",
        default="rendered",
        metavar="FOLDER",
        help="folder of images to look at; or 'rendered': words drawn for it (default)",
    )
    parser.add_argument(
        "--count", type=int, default=count, metavar="N", help=f"most images ({count})"
    )
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="where to write")
    parser.add_argument(
        "--fonts", type=Path, nargs="+", metavar="DIR", help="to render with, not the system's"
    )
    parser.add_argument("--seed", type=int, default=1, help="same seed, same results (1)")
    parser.add_argument("--batch-size", type=int, default=32, metavar="N", help="at once (32)")
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda, cuda:1 or mps (auto)")


def add_norm(parser: argparse.ArgumentParser) -> None:
    """What becomes of attention to special tokens."""
    parser.add_argument(
        "--norm",
        choices=NORMS,
        default=NORMS[0],
        help="attention to special tokens left out and the rest scaled to 1 (renormalized, the "
        "default), or the rest as it is (raw, as the ViT paper); the same without special tokens",
    )


def add_shown(parser: argparse.ArgumentParser, count: int) -> None:
    """How many words to draw."""
    parser.add_argument(
        "--show", type=int, default=count, metavar="N", help=f"words to draw with maps ({count})"
    )
