"""``vit-str analyze``: look into models; one module of ``commands`` per subcommand."""

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType

from vit_str.analysis.material import RENDERED, Material

COMMANDS = {
    "distance": "how far every head of one model or several looks, layer by layer",
    "compare": "the same for two models on the same images, as paired differences",
    "characters": "where the decoder looked for each character, with scores",
    "receptive-field": "how far gradients reach: ViTs and convolutions in one unit",
    "filters": "what the first layer looks for",
    "positions": "which positions look alike to a model",
    "similarity": "how alike layers are, of one model and of several (linear CKA)",
    "rollout": "attention multiplied through the layers",
    "relevance": "which tokens made the decoder write a character, by gradients",
}


def main(arguments: Sequence[str]) -> int:
    """Analyze as the arguments say; returns the exit code."""
    options = _parser(arguments).parse_args(arguments)
    try:
        _command(options.command).run(options)
    except (ValueError, OSError) as error:
        line = " ".join(str(error).split())
        sys.stderr.write(f"vit-str analyze {options.command}: {line}\n")
        return 2
    return 0


def common(parser: argparse.ArgumentParser, count: int = 200) -> None:
    """Arguments that all subcommands share: which images, how many, where to write."""
    parser.add_argument(
        "--data",
        default=RENDERED,
        metavar="FOLDER",
        help=f"folder of images to look at; or {RENDERED!r}: words drawn for it (default)",
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


def models(parser: argparse.ArgumentParser, several: bool = True) -> None:
    """The models to look into, by name."""
    parser.add_argument(
        "models",
        nargs="+" if several else 1,
        metavar="WEIGHTS",
        help="tiny, a .safetensors file, untrained:NAME or untrained:CONFIG.yaml",
    )


def report(page: Path, looked_at: Material | None = None) -> None:
    """Say where the page is, and which images could not be read."""
    for line in looked_at.skipped if looked_at else []:
        sys.stderr.write(f"vit-str analyze: {line}\n")
    sys.stdout.write(f"{page}\n")


def _parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "vit-str analyze",
        description="Look into models: every subcommand writes tables, pictures and one page.",
        allow_abbrev=False,
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, purpose in COMMANDS.items():
        command = commands.add_parser(
            name, help=purpose, description=f"{purpose.capitalize()}.", allow_abbrev=False
        )
        if name in arguments:  # the others would import what they need for nothing
            _command(name).add_arguments(command)
    return parser


def _command(name: str) -> ModuleType:
    return import_module(f"vit_str.analysis.commands.{name.replace('-', '_')}")
