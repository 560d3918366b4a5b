"""Options that several commands share."""

import argparse


def add_device(parser: argparse.ArgumentParser) -> None:
    """Add ``--device`` and ``--batch-size``."""
    parser.add_argument(
        "--device", default="auto", help="auto, cpu, cuda, cuda:1 or mps (default: auto)"
    )
    parser.add_argument(
        "--batch-size",
        type=positive,
        default=32,
        metavar="N",
        help="images read at once (default: 32)",
    )


def add_reader(parser: argparse.ArgumentParser) -> None:
    """Add what a reader is made of: ``--model``, ``--care``, ``--device`` and more."""
    parser.add_argument(
        "--model",
        default="tiny",
        metavar="NAME|FILE",
        help="weights of the package or a .safetensors file (default: tiny)",
    )
    parser.add_argument(
        "--care",
        choices=("fast", "careful"),
        help="how to read, for models that can choose (default: as they were saved)",
    )
    add_device(parser)
    parser.add_argument(
        "--workers",
        type=positive,
        metavar="N",
        help="threads that decode images (default: one per CPU, 4 at most); with --engine ray, "
        "processes that read (default: one per GPU, or else per CPU)",
    )


def positive(text: str) -> int:
    """A whole number from 1 on."""
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"expected a whole number from 1 on, found {text!r}")
    return int(text)
