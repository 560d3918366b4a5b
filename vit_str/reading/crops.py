"""``vit-str read`` of crops: the text of each image as it comes."""

import argparse
import csv
import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from vit_str import console
from vit_str.console import one_line
from vit_str.files import write_atomically
from vit_str.reading.options import search_of
from vit_str.runtime.readings import error_row, json_line, reading_row

if TYPE_CHECKING:
    from vit_str.reading.inputs import Inputs
    from vit_str.runtime import Reading

_DIGITS = 6
# A crop of a word is flatter or smaller than a page, not as long as a line, or read more surely.
_PAGE_SIDE, _PAGE_ASPECT, _LINE_ASPECT, _PAGE_CONFIDENCE = 300, 2.5, 12.0, 0.5
_PAGE_FORMATS = ("hocr", "md", "tsv")
_PAGE_OPTIONS = ("overlay", "pages", "dpi", "password", "text_layer")
_RAY_OPTIONS = ("characters", "column", "part_size", "ray_address")


def run_crops(options: argparse.Namespace) -> int:
    """Read images of one word or short line each, and print or write their text."""
    _check(options)
    from vit_str.reading.inputs import find_inputs, report

    inputs = find_inputs(options.paths)
    report(inputs.problems)
    if not inputs.paths:
        return 2
    if options.out is None:
        return _read_all(options, inputs, console.write)
    with (
        write_atomically(options.out) as temporary,
        temporary.open("w", encoding="utf-8", errors="surrogateescape", newline="\n") as file,
    ):
        return _read_all(options, inputs, lambda line: file.write(f"{line}\n"))


def _read_all(options: argparse.Namespace, inputs: "Inputs", write: Callable[[str], object]) -> int:
    from vit_str.reading.inputs import STANDARD_INPUT
    from vit_str.runtime import load
    from vit_str.runtime.images import UnreadableImage

    if STANDARD_INPUT in inputs.paths and (sys.stdin is None or sys.stdin.isatty()):
        raise ValueError("- reads an image from standard input: pipe one into it")
    reader = load(
        options.model,
        options.device,
        effort=options.effort,
        backend=options.backend,
        search=search_of(options),
    )
    sources = (sys.stdin.buffer if p == STANDARD_INPUT else p for p in inputs.paths)
    outcomes = reader.stream(sources, options.batch_size, options.workers, boxes=options.boxes)
    row = _FORMATS[options.format]
    if options.format == "csv":
        write(_csv_line("path", "text", "confidence"))
    for path, problem in inputs.problems if options.format == "jsonl" else ():
        write(json_line(error_row(path, problem)))
    unreadable, pages = len(inputs.problems), []
    with console.Progress(len(inputs.paths)) as progress:
        for path, (_, outcome) in zip(inputs.paths, outcomes, strict=True):
            if isinstance(outcome, UnreadableImage):
                unreadable += 1
                name = "standard input" if path == STANDARD_INPUT else outcome.name
                progress.warn(str(UnreadableImage(name, outcome.reason)))
                if options.format == "jsonl":
                    write(json_line(error_row(path, outcome.reason)))
            else:
                write(row(path, outcome.with_minimum_confidence(options.min_confidence)))
                if not reader.reads_lines and _looks_like_a_page(path, outcome):
                    pages.append(path)
            progress.advance()
    if pages:
        others = f" and {len(pages) - 1:,} others look" if len(pages) > 1 else " looks"
        console.warn(
            f"{pages[0]}{others} like a whole picture or a long line: --page finds its words, "
            "--line reads one line; without them each image is read as one word"
        )
    return 1 if unreadable else 0


def _looks_like_a_page(path: str, reading: "Reading") -> bool:
    """Whether an image has not the shape of a word, and is read with little confidence."""
    if reading.confidence >= _PAGE_CONFIDENCE or path == "-":
        return False
    from PIL import Image

    try:
        with Image.open(path) as image:
            short, long = sorted(image.size)
    except Exception:  # read before, and not needed now
        return False
    is_page = short >= _PAGE_SIDE and long <= _PAGE_ASPECT * short
    return is_page or long >= _LINE_ASPECT * short


def _check(options: argparse.Namespace) -> None:
    """Refuse what does not go together."""
    for name in _RAY_OPTIONS:
        if getattr(options, name):
            raise ValueError(f"--{name.replace('_', '-')} needs --engine ray")
    given = [name for name in _PAGE_OPTIONS if getattr(options, name)]
    if given or options.format in _PAGE_FORMATS:
        option = given[0].replace("_", "-") if given else f"format {options.format}"
        raise ValueError(f"--{option} needs --page")
    rich = options.boxes or options.n_best > 1
    options.format = options.format or ("jsonl" if rich else "text")
    if options.format not in _FORMATS:
        raise ValueError(f"--format {options.format} needs --engine ray")
    if rich and options.format != "jsonl":
        option = "--boxes" if options.boxes else "--n-best"
        raise ValueError(f"{option} needs --format jsonl: other formats have no place for it")
    if options.out and Path(options.out).is_dir():
        raise ValueError(f"--out {options.out} is a folder; give a file")


def _text_line(path: str, reading: "Reading") -> str:
    return f"{one_line(path)}\t{one_line(reading.text)}\t{reading.confidence:.4f}"


def _csv_line(*cells: object) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(cells)
    return line.getvalue()


def _csv_reading(path: str, reading: "Reading") -> str:
    confidence = round(reading.confidence, _DIGITS)
    return _csv_line(one_line(path), one_line(reading.text), confidence)


_FORMATS: dict[str, Callable[[str, "Reading"], str]] = {
    "text": _text_line,
    "jsonl": lambda path, reading: json_line(reading_row(path, reading)),
    "csv": _csv_reading,
}
