"""``vit-str read``: the text in image files."""

import argparse
import csv
import io
import sys
from collections.abc import Callable, Iterator

from vit_str.bulk.json_lines import json_line
from vit_str.cli import console
from vit_str.cli.loading import load_reader
from vit_str.cli.paths import STANDARD_INPUT, find_images
from vit_str.images import UnreadableImage, one_line
from vit_str.reading import Reader, Reading

_DIGITS = 6
# Options that the plain engine has no use for, and their values if they are not given.
_OF_RAY = {
    "out": None,
    "characters": False,
    "column": None,
    "part_size": None,
    "ray_address": None,
}


def run(options: argparse.Namespace) -> int:
    """Read the images that the command line names and print their text as it comes."""
    if options.engine == "ray":
        from vit_str.cli import bulk

        return bulk.run(options)
    _check(options)
    found = find_images(options.paths)
    for path, trouble in found.troubles:
        console.complain(f"{one_line(path)}: {trouble}")
    if not found.paths:
        return 2
    if STANDARD_INPUT in found.paths and (sys.stdin is None or sys.stdin.isatty()):
        raise console.UsageError("- reads an image from standard input: pipe one into it")
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
            raise console.UsageError(f"--{name.replace('_', '-')} needs --engine ray")
    options.format = options.format or "text"
    if options.format not in _FORMATS:
        raise console.UsageError(f"--format {options.format} needs --engine ray")
    if options.boxes and options.format != "jsonl":
        raise console.UsageError("--boxes needs --format jsonl: other formats have no place for it")


def _outcomes(
    reader: Reader, paths: list[str], options: argparse.Namespace
) -> Iterator[tuple[object, Reading | UnreadableImage]]:
    try:
        return reader.stream(
            _sources(paths), options.batch_size, options.workers, boxes=options.boxes
        )
    except ValueError as error:  # a decoder that does not look at the image has no boxes
        raise console.UsageError(str(error)) from error


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
