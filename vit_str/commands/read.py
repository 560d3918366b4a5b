"""``vit-str read``: the text in image files."""

import argparse
import csv
import io
import sys
from collections.abc import Callable, Iterator

from vit_str import console
from vit_str.bulk.json_lines import json_line
from vit_str.commands.arguments import add_reader, positive
from vit_str.commands.loading import load_reader
from vit_str.commands.paths import STANDARD_INPUT, find_images
from vit_str.images import UnreadableImage, one_line
from vit_str.reading import Reader, Reading

_DIGITS = 6
_EPILOG = """\
The formats: text is path, tab, text, tab, confidence; jsonl is one object per
line with path, text, confidence and characters; csv has a header. The confidence is
the probability of the whole text, 0 to 1. An image without text gives empty text.
A box is left, top, right, bottom, in pixels of the image turned upright.

exit codes: 0 all well; 1 some image could not be read, or the output not written;
2 wrong use; 130 interrupted with Ctrl-C."""
# Options that the plain engine has no use for, and their values if they are not given.
_OF_RAY = {
    "out": None,
    "characters": False,
    "column": None,
    "part_size": None,
    "ray_address": None,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``vit-str read``."""
    parser.description = "Print the text in image files, one line each: path, text, confidence."
    parser.epilog = _EPILOG
    parser.add_argument(
        "paths",
        nargs="+",
        metavar="PATH",
        help="image file, folder (with the folders in it), glob, or - for standard input",
    )
    parser.add_argument(
        "--format",
        choices=("text", "jsonl", "csv", "parquet"),
        help="default: text, or parquet with --engine ray, which writes parquet or jsonl",
    )
    parser.add_argument(
        "--boxes",
        action="store_true",
        help="say about where each character is, with --format jsonl or parquet",
    )
    add_reader(parser)
    bulk = parser.add_argument_group(
        "many images",
        "--engine ray reads with several processes, also on a cluster: images, folders of them,\n"
        "tar archives and Parquet files. The same command goes on where it was stopped.",
    )
    bulk.add_argument("--engine", choices=("plain", "ray"), default="plain")
    bulk.add_argument("--out", metavar="FOLDER", help="where the results go, a file for each part")
    bulk.add_argument(
        "--characters", action="store_true", help="write each character and its confidence too"
    )
    bulk.add_argument(
        "--column",
        metavar="NAME",
        help="of Parquet files, with image files as bytes or with their paths "
        "(default: the only one of bytes, or else path)",
    )
    bulk.add_argument(
        "--part-size", type=positive, metavar="N", help="images in a part (default: 1024)"
    )
    bulk.add_argument(
        "--ray-address",
        metavar="ADDRESS",
        help="a cluster: auto or HOST:6379 (default: this machine alone)",
    )


def run(options: argparse.Namespace) -> int:
    """Read the images that the command line names and print their text as it comes."""
    if options.engine == "ray":
        from vit_str.commands import bulk

        return bulk.run(options)
    _check(options)
    found = find_images(options.paths)
    for path, trouble in found.troubles:
        console.complain(f"{one_line(path)}: {trouble}")
    if not found.paths:
        return 2
    if STANDARD_INPUT in found.paths and (sys.stdin is None or sys.stdin.isatty()):
        raise ValueError("- reads an image from standard input: pipe one into it")
    reader = load_reader(options)
    row = _FORMATS[options.format]
    if options.format == "csv":
        console.write(_csv_line("path", "text", "confidence"))
    unreadable = len(found.troubles)
    outcomes = _outcomes(reader, found.paths, options)
    with console.Progress(len(found.paths)) as progress:
        for path, (_, outcome) in zip(found.paths, outcomes, strict=True):
            if isinstance(outcome, UnreadableImage):
                unreadable += 1
                name = "standard input" if path == STANDARD_INPUT else outcome.name
                progress.complain(str(UnreadableImage(name, outcome.trouble)))
            else:
                console.write(row(path, outcome))
            progress.advance()
    return 1 if unreadable else 0


def _check(options: argparse.Namespace) -> None:
    """Refuse what does not go together."""
    for name, without in _OF_RAY.items():
        if getattr(options, name) != without:
            raise ValueError(f"--{name.replace('_', '-')} needs --engine ray")
    options.format = options.format or "text"
    if options.format not in _FORMATS:
        raise ValueError(f"--format {options.format} needs --engine ray")
    if options.boxes and options.format != "jsonl":
        raise ValueError("--boxes needs --format jsonl: other formats have no place for it")


def _outcomes(
    reader: Reader, paths: list[str], options: argparse.Namespace
) -> Iterator[tuple[object, Reading | UnreadableImage]]:
    try:
        return reader.stream(
            _sources(paths), options.batch_size, options.workers, boxes=options.boxes
        )
    except ValueError as error:  # a decoder that does not look at the image has no boxes
        raise ValueError(str(error)) from error


def _sources(paths: list[str]) -> Iterator[str | bytes]:
    for path in paths:
        yield sys.stdin.buffer.read() if path == STANDARD_INPUT else path


def _text_line(path: str, reading: Reading) -> str:
    return f"{one_line(path)}\t{one_line(reading.text)}\t{reading.confidence:.4f}"


def _csv_line(*cells: object) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(cells)
    return line.getvalue()


def _csv_reading(path: str, reading: Reading) -> str:
    return _csv_line(path, reading.text, round(reading.confidence, _DIGITS))


_FORMATS: dict[str, Callable[[str, Reading], str]] = {
    "text": _text_line,
    "jsonl": json_line,
    "csv": _csv_reading,
}
