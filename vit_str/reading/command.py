"""``vit-str read``: its options, and the text of crops as it comes."""

import argparse
import csv
import io
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from vit_str import console
from vit_str.console import one_line, positive, probability, whole_number
from vit_str.decoding.readings import error_row, json_line, reading_row
from vit_str.files import write_atomically
from vit_str.words.options import (
    STANDARD_INPUT,
    UNREAD_SCRIPT,
    Inputs,
    add_reader_arguments,
    check_out,
    input_groups,
    leading_to_files,
    search_of,
)

if TYPE_CHECKING:
    from vit_str.decoding.readings import Reading
    from vit_str.words.reader import Reader

_EPILOG = """\
The formats: text is path, tab, text, tab, confidence; jsonl is one object per line with path,
text, confidence and characters, or error for an image that cannot be read; csv has a header. In
text and csv, line breaks and other control characters are escaped as in Python. Spreadsheets take
csv cells that begin with =, +, - or @ for formulas: import the columns as text.

The confidence is the probability of the whole text, 0 to 1, among the texts that the model can
write. Other characters are dropped or replaced; confidence does not show it. An image without text
may still give one; --min-confidence leaves doubtful texts empty. A box is left, top, right, bottom,
in pixels of the image turned upright.

examples:
  vit-str read word.png                             one image
  vit-str read crops/ --format jsonl --out readings.jsonl
                                                    a folder, into a file
  vit-str read --line headline.png                  an image of one line of any length
  vit-str read --page street.jpg --overlay seen/    all words of a photograph
  vit-str read --page bill.jpg --out bill.xlsx      its tables, as a spreadsheet
  vit-str read --page scan.pdf --out searchable.pdf
                                                    the same pages, to search and copy
  find . -name '*.jpg' | vit-str read --files-from - --min-confidence 0.5

exit codes: 0 success; 1 some image could not be read, or the output not written; 2 wrong use;
130 interrupted with Ctrl-C; 143 ended by SIGTERM."""

_DIGITS = 6  # of confidences, after the point
# A crop of a word is flatter or smaller than a page, not as long as a line, or read more surely.
_PAGE_SIDE = 300
_PAGE_ASPECT = 2.5
_LINE_ASPECT = 12.0
_PAGE_CONFIDENCE = 0.5
_PAGE_FORMATS = ("hocr", "html", "md", "pdf", "tsv", "xlsx")
_PAGE_OPTIONS = (
    "overlay",
    "pages",
    "dpi",
    "password",
    "text_layer",
    "arranger",
    "detector",
)
_RAY_OPTIONS = ("characters", "column", "part_size", "ray_address")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``vit-str read``."""
    parser.description = (
        "Print the text in image files, one line each: path, text, confidence."
    )
    parser.epilog = _EPILOG
    _add_files_and_formats(parser)
    add_reader_arguments(parser)
    parser.add_argument(
        "--line",
        action="store_const",
        const="line",
        dest="model",
        help="images of one line of any length: the same as --model line",
    )
    _add_page_options(parser)
    _add_ray_options(parser)


def _add_files_and_formats(parser: argparse.ArgumentParser) -> None:
    """Which images are read, and what is written of them."""
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        help="image file, folder (with its subfolders), glob, or - for standard input",
    )
    parser.add_argument(
        "--files-from",
        metavar="FILE",
        help="also read the files that this file lists, one path a line",
    )
    parser.add_argument(
        "--out",
        metavar="FILE",
        help="file to write once everything is read; with --engine ray a folder, "
        "which gets a file for each part",
    )
    parser.add_argument(
        "--min-confidence",
        type=probability,
        metavar="P",
        help="leave the text empty where the confidence is below P, 0 to 1; with "
        "--page, leave out words whose characters have a lower geometric mean (default "
        "there: 0.8)",
    )
    parser.add_argument(
        "--format",
        choices=(
            "text",
            "jsonl",
            "csv",
            "hocr",
            "tsv",
            "md",
            "html",
            "xlsx",
            "pdf",
            "parquet",
        ),
        help="default: text, or jsonl with --boxes or --n-best; with --page also hocr, "
        "tsv, md, html, pdf, and csv or xlsx of its tables; parquet (default) or jsonl "
        "with --engine ray",
    )
    parser.add_argument(
        "--boxes",
        action="store_true",
        help="give the approximate place of each character, in jsonl or parquet",
    )
    parser.add_argument(
        "--n-best",
        type=positive,
        default=1,
        metavar="N",
        help="give the N most probable texts, in jsonl",
    )


def _add_page_options(parser: argparse.ArgumentParser) -> None:
    pages = parser.add_argument_group(
        "whole pictures",
        "Photographs, scans, TIFF and PDF files: words are found, put in reading "
        "order and read.\n--out is then a folder that gets a file for each picture, and "
        "the same command\nresumes; or a file whose ending says what is written: text.md, "
        "tables.xlsx, scan.pdf.",
    )
    pages.add_argument(
        "--page",
        action="store_true",
        help="read whole pictures, not cropped words",
    )
    pages.add_argument(
        "--overlay",
        metavar="FOLDER",
        help="write pictures that show the words found, into this folder",
    )
    pages.add_argument(
        "--pages",
        metavar="N-M",
        help="read these only, such as 3-5 or 1,7-",
    )
    pages.add_argument(
        "--dpi",
        type=partial(whole_number, least=30, end=1201),
        metavar="N",
        help="resolution at which PDF pages are drawn, in dots per inch (default: that of the "
        "images on them, at least 200)",
    )
    pages.add_argument(
        "--password", metavar="TEXT", help="password of locked PDF files"
    )
    pages.add_argument(
        "--text-layer",
        action="store_true",
        help="use the text of PDF pages that have some, and read only the others",
    )
    pages.add_argument(
        "--arranger",
        metavar="FILE",
        help="a network of your own that arranges pages, an .onnx file of vit-str export",
    )
    pages.add_argument(
        "--detector",
        metavar="NAME|FILE",
        help="what finds lines: auto (default: ours in print, rapidocr in photographs, if it is "
        "installed), ours, rapidocr, or a file of a network that vit-str train and export made",
    )


def _add_ray_options(parser: argparse.ArgumentParser) -> None:
    ray = parser.add_argument_group(
        "many images",
        "--engine ray reads with several processes, also on a cluster: images, "
        "folders of them,\ntar archives and Parquet files. The same command resumes "
        "where it was stopped.",
    )
    ray.add_argument("--engine", choices=("plain", "ray"), default="plain")
    ray.add_argument(
        "--characters",
        action="store_true",
        help="also write each character and its confidence",
    )
    ray.add_argument(
        "--column",
        metavar="NAME",
        help="column of Parquet files with image files as bytes (default: the "
        "only such column)",
    )
    ray.add_argument(
        "--part-size",
        type=positive,
        metavar="N",
        help="images in a part (default: 1024)",
    )
    ray.add_argument(
        "--ray-address",
        metavar="ADDRESS",
        help="a cluster: auto or HOST:6379 (default: this machine alone)",
    )


def run(options: argparse.Namespace) -> int:
    """Read the images that the command line names and print their text as it comes."""
    if options.page:
        from vit_str.pages.command import run_pages

        return run_pages(options)
    if options.engine == "ray":
        from vit_str.reading.bulk.command import run_ray

        return run_ray(options)
    return _run_crops(options)


def _run_crops(options: argparse.Namespace) -> int:
    """Read images of one word or short line each, and print or write their text."""
    _check(options)
    groups = leading_to_files(input_groups(options))
    if groups is None:
        return 2
    if options.out is None:
        return _read_all(options, groups, console.write)
    with (
        write_atomically(options.out) as temporary,
        temporary.open(
            "w", encoding="utf-8", errors="surrogateescape", newline="\n"
        ) as file,
    ):
        return _read_all(options, groups, lambda line: file.write(f"{line}\n"))


def _read_all(
    options: argparse.Namespace,
    groups: Iterator[Inputs],
    write: Callable[[str], object],
) -> int:
    from vit_str.words.reader import load

    reader = load(
        options.model,
        options.device,
        effort=options.effort,
        backend=options.backend,
        search=search_of(options),
    )
    if options.format == "csv":
        write(_csv_line("path", "text", "confidence"))
    unreadable = 0
    pages: list[str] = []
    scripts: Counter[bool] = Counter()
    with console.Progress() as progress:
        for inputs in groups:
            progress.expect(len(inputs.paths))
            for path, problem in inputs.problems if options.format == "jsonl" else ():
                write(json_line(error_row(path, problem)))
            unreadable += len(inputs.problems)
            unreadable += _read_group(
                options,
                inputs.paths,
                reader,
                write,
                progress,
                pages,
                scripts,
            )
    if scripts[True] > scripts[False]:
        console.warn(UNREAD_SCRIPT)
    if pages:
        others = f" and {len(pages) - 1:,} others look" if len(pages) > 1 else " looks"
        console.warn(
            f"{pages[0]}{others} like a whole picture or a long line: --page finds "
            "its words, --line reads one line; without them each image is read as "
            "one word"
        )
    return 1 if unreadable else 0


def _read_group(
    options: argparse.Namespace,
    paths: list[str],
    reader: "Reader",
    write: Callable[[str], object],
    progress: console.Progress,
    pages: list[str],
    scripts: Counter[bool],
) -> int:
    """Read some images; returns how many are unreadable.

    Args:
        options: of the command.
        paths: of the images.
        reader: what reads them.
        write: takes a line of the output.
        progress: of all images.
        pages: gets what looks like pages.
        scripts: counts texts in scripts that nothing reads, and other texts.
    """
    from vit_str.images.refusals import UnreadableImage

    if STANDARD_INPUT in paths and (sys.stdin is None or sys.stdin.isatty()):
        raise ValueError("- reads an image from standard input: pipe one into it")
    sources = (sys.stdin.buffer if p == STANDARD_INPUT else p for p in paths)
    outcomes = reader.stream(
        sources,
        options.batch_size,
        options.workers,
        boxes=options.boxes,
    )
    unreadable = 0
    for path, (_, outcome) in zip(paths, outcomes, strict=True):
        if isinstance(outcome, UnreadableImage):
            unreadable += 1
            name = "standard input" if path == STANDARD_INPUT else outcome.name
            progress.warn(str(UnreadableImage(name, outcome.reason)))
            if options.format == "jsonl":
                write(json_line(error_row(path, outcome.reason)))
        else:
            if outcome.text or outcome.is_left_out:
                scripts[outcome.is_left_out] += 1
            reading = outcome.with_minimum_confidence(options.min_confidence)
            write(_FORMATS[options.format](path, reading))
            if not reader.reads_lines and _looks_like_a_page(path, outcome):
                pages.append(path)
        progress.advance()
    return unreadable


def _looks_like_a_page(path: str, reading: "Reading") -> bool:
    """Whether an image has not the shape of a word, and is read with little confidence."""
    is_file = os.path.isfile(path)  # what comes through a pipe cannot be opened again
    if reading.confidence >= _PAGE_CONFIDENCE or not is_file:
        return False
    from vit_str.images.headers import upright_size

    size = upright_size(path)
    if size is None:
        return False
    short, long = sorted(size)
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
        raise ValueError(
            f"{option} needs --format jsonl: other formats have no place for it"
        )
    if options.out is not None:
        check_out(options)


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
