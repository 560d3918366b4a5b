"""Options that several commands share."""

import argparse
import math


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
    return whole_number(text, 1)


def whole_number(text: str, least: int = 0, end: int | None = None) -> int:
    """A whole number from ``least`` on, below ``end``."""
    if text.isascii() and text.isdigit() and least <= int(text) < (end or math.inf):
        return int(text)
    upper = f" below {end:,}" if end else ""
    raise argparse.ArgumentTypeError(
        f"expected a whole number from {least} on{upper}, found {text!r}"
    )
