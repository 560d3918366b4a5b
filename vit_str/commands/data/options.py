"""The options of ``vit-str data``."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from vit_str.commands.arguments import positive
from vit_str.datasets.formats import FORMATS, WRITABLE

_EPILOG = """\
examples:
  vit-str data inspect crops/                         what there is, what cannot be used and why
  vit-str data convert crops/ crops.lmdb              a folder to an LMDB
  vit-str data convert mjsynth/ words-%06d.tar        MJSynth to archives for WebDataset
  vit-str data show crops/ --augment strong --out sheet.png

A SOURCE is a folder of images with labels (labels.tsv, .csv, .jsonl, or names that say it), an
LMDB, tar archives, MJSynth or SynthText as they are distributed. A word that cannot be used is
left out whole, counted and listed; none is changed.

exit codes: 0 all well, also if words are left out; 1 output not written or not what it should be;
2 wrong use; 130 interrupted with Ctrl-C."""

_Commands = argparse._SubParsersAction


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """The options of the command that is first in ``arguments``."""
    parser = argparse.ArgumentParser(
        "vit-str data",
        description="Look into labeled word images on disk, convert them, see them augmented.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    _add_inspect(commands)
    _add_convert(commands)
    _add_show(commands)
    return parser.parse_args(arguments)


def _add_inspect(commands: _Commands) -> None:
    inspect = _add(commands, "inspect", "say what a data set holds and what of it can be used")
    inspect.add_argument("source", metavar="SOURCE")
    _add_source_format(inspect)
    _add_rules(inspect)
    inspect.add_argument("--limit", type=positive, metavar="N", help="look at the first N only")
    inspect.add_argument("--json", action="store_true", help="print one JSON object")


def _add_convert(commands: _Commands) -> None:
    convert = _add(commands, "convert", "write the words of data sets to another")
    convert.add_argument("sources", nargs="+", metavar="SOURCE", help="one after the other")
    convert.add_argument(
        "target",
        type=Path,
        metavar="TARGET",
        help="NAME.lmdb, NAME.tar, NAME-%%06d.tar for several archives; all else is a folder",
    )
    convert.add_argument(
        "--format", choices=WRITABLE, help="instead of what the name of TARGET says"
    )
    _add_source_format(convert, "--source-format")
    _add_rules(convert)
    convert.add_argument(
        "--shard-size", type=positive, metavar="N", help="words in each tar archive (10000)"
    )


def _add_show(commands: _Commands) -> None:
    show = _add(commands, "show", "draw words with their labels on one picture")
    show.add_argument("source", metavar="SOURCE")
    show.add_argument("--out", type=Path, required=True, metavar="FILE", help="such as sheet.png")
    show.add_argument(
        "--augment",
        metavar="POLICY",
        help="none, light, strong or a YAML file: every word as it is, and augmented beside it",
    )
    show.add_argument("--count", type=positive, metavar="N", help="words (64; with --augment 16)")
    show.add_argument("--seed", type=_seed, default=1, metavar="N", help="which words (1)")
    _add_source_format(show)
    _add_rules(show, report=False)


def _add(commands: _Commands, name: str, purpose: str) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(
        name,
        help=purpose,
        description=f"{purpose[0].upper()}{purpose[1:]}.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    return command


def _add_source_format(command: argparse.ArgumentParser, flag: str = "--format") -> None:
    command.add_argument(
        flag,
        choices=tuple(FORMATS),
        dest="source_format",
        help="of SOURCE, instead of what is recognized",
    )
    command.add_argument(
        "--split",
        choices=("all", "train", "val", "test"),
        help="of MJSynth (default: all)",
    )


def _add_rules(command: argparse.ArgumentParser, report: bool = True) -> None:
    command.add_argument(
        "--charset",
        metavar="NAME|FILE|CHARACTERS",
        help="leave out words with other characters: ascii, latin, korean, digits, a text file, "
        "or the characters",
    )
    command.add_argument(
        "--maximum-length", type=positive, metavar="N", help="leave out longer labels"
    )
    command.add_argument(
        "--least-size",
        type=positive,
        default=4,
        metavar="N",
        help="leave out images with less height or width, in pixels (4)",
    )
    if report:
        command.add_argument(
            "--report", type=Path, metavar="FILE", help="list all words that are left out, as TSV"
        )


def _seed(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError(f"expected a whole number from 0 on, found {text!r}")
    return int(text)
