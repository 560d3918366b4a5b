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


def positive(text: str) -> int:
    """A whole number from 1 on."""
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"expected a whole number from 1 on, found {text!r}")
    return int(text)
