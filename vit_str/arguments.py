"""Options that several commands share."""

import argparse


def add_device(parser: argparse.ArgumentParser) -> None:
    """Add ``--device``."""
    parser.add_argument(
        "--device", default="auto", help="auto, cpu, cuda, cuda:1 or mps (default: auto)"
    )


def add_batch_size(parser: argparse.ArgumentParser) -> None:
    """Add ``--batch-size``."""
    parser.add_argument(
        "--batch-size",
        type=positive,
        default=32,
        metavar="N",
        help="images read at once (default: 32)",
    )


def positive(text: str) -> int:
    """A whole number from 1 on."""
    if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text) > 0):
        raise argparse.ArgumentTypeError(f"expected a whole number from 1 on, found {text[:20]!r}")
    return int(text)


def probability(text: str) -> float:
    """A number from 0 to 1."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"expected a number from 0 to 1, found {text[:20]!r}")
    return value


def whole_number(text: str, least: int = 0, end: int = 10**9) -> int:
    """A whole number from ``least`` on, below ``end``."""
    if text.isascii() and text.isdigit() and len(text) < 10 and least <= int(text) < end:
        return int(text)
    raise argparse.ArgumentTypeError(
        f"expected a whole number from {least} on, below {end:,}, found {text[:20]!r}"
    )
