"""``vit-str evaluate``: accuracy on labeled words, or with ``--page`` on labeled pages."""

import argparse
from pathlib import Path

from vit_str.words.options import add_reader_arguments

_DESCRIPTION = """\
Read labeled images and compare: word accuracy under 36, 62, 94 and all
characters (full: exactly as written, in any script), character accuracy, 1-NED and the
error of the confidences, each with a 95 % interval. With --against, also how much
better --model is, word by word. JSON and pages of Markdown also have accuracy by kind
of word, accuracy if the least sure are rejected, and the most common mistakes."""

_EPILOG = """\
examples:
  vit-str evaluate crops/ words.lmdb                accuracy on two sets, and on both together
  vit-str evaluate crops/ --model new.safetensors --against tiny
                                                    which weights read them better
  vit-str evaluate crops/ --markdown report.md      a page of tables"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``vit-str evaluate``."""
    parser.description = _DESCRIPTION
    parser.epilog = _EPILOG
    parser.add_argument(
        "sources",
        nargs="+",
        metavar="SOURCE",
        help="folder with labels.tsv (file, tab, label) and the images, beside it or "
        "in images/; or another data set: LMDB, tar archives, ... (see vit-str data "
        "--help)",
    )
    parser.add_argument(
        "--against",
        metavar="NAME|FILE",
        help="weights to compare with on the same words",
    )
    parser.add_argument(
        "--changes",
        type=Path,
        metavar="FOLDER",
        help="with --against: write a page, report.html, with the words that "
        "--model wins and loses and their pictures",
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="print one JSON object, with shares as fractions",
    )
    parser.add_argument(
        "--markdown",
        type=Path,
        metavar="FILE",
        help="write a page of tables without images of words, such as report.md",
    )
    parser.add_argument(
        "--sheet",
        type=Path,
        metavar="FILE",
        help="write a picture with the most confident mistakes, such as mistakes.png",
    )
    parser.add_argument(
        "--page",
        action="store_true",
        help="each SOURCE is a folder of whole pictures, images/, with labels/: eight "
        "corner coordinates and a text per line",
    )
    parser.add_argument(
        "--detector",
        metavar="NAME|FILE",
        help="with --page: what finds lines, as for vit-str read --page",
    )
    add_reader_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Read what the command line names, print the scores, write the rest; returns the exit code.

    Raises:
        ValueError: options that do not go together.
    """
    if options.page:
        from vit_str.evaluation.pages import command as pages

        return pages.run(options)
    if options.detector:
        raise ValueError("--detector finds lines on pages: give it with --page")
    from vit_str.evaluation.words import command as words

    return words.run(options)
