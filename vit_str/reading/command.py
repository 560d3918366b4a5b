"""``vit-str read``: the text in image files."""

import argparse
import csv
import io
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from vit_str import console
from vit_str.arguments import add_batch_size, add_device, positive, probability
from vit_str.files import one_line, write_atomically
from vit_str.reading.rows import error_row, json_line, reading_row

if TYPE_CHECKING:
    from vit_str.reading import Reading, Search
    from vit_str.reading.inputs import Inputs

_EPILOG = """\
The formats: text is path, tab, text, tab, confidence; jsonl is one object per line with path,
text, confidence and characters, or error for an image that cannot be read; csv has a header. In
text and csv, line breaks and other control characters are escaped as in Python. A cell of csv that
begins with =, +, - or @ is a formula to spreadsheets: import the columns as text.

The confidence is the probability of the whole text, 0 to 1, among the texts that the model can
write. Characters that it does not know are left out or replaced, and the confidence does not tell.
An image without text may give some text; --min-confidence leaves the text of doubtful ones empty.
A box is left, top, right, bottom, in pixels of the image turned upright.

examples:
  vit-str read word.png                             one image
  vit-str read crops/ --format jsonl --out readings.jsonl
                                                    a folder, into a file
  vit-str read --page street.jpg --overlay seen/      all words of a photograph
  find . -name '*.jpg' | vit-str read --files-from - --min-confidence 0.5

exit codes: 0 success; 1 some image could not be read, or the output not written; 2 wrong use;
130 interrupted with Ctrl-C."""

_DIGITS = 6
# A crop of a word is flatter or smaller than a page, not as long as a line, or read more surely.
_PAGE_SIDE, _PAGE_ASPECT, _LINE_ASPECT, _PAGE_CONFIDENCE = 300, 2.5, 12.0, 0.5
_RAY_OPTIONS = ("characters", "column", "part_size", "ray_address")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``vit-str read``."""
    parser.description = "Print the text in image files, one line each: path, text, confidence."
    parser.epilog = _EPILOG
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        help="image file, folder (with the folders in it), glob, or - for standard input",
    )
    parser.add_argument(
        "--files-from", metavar="FILE", help="read what this file lists too, a path per line"
    )
    parser.add_argument(
        "--out",
        metavar="FILE",
        help="write the results there when all are read; with --engine ray a folder, which gets a "
        "file for each part",
    )
    parser.add_argument(
        "--min-confidence",
        type=probability,
        metavar="P",
        help="leave the text empty where the confidence is below P, 0 to 1; with --page, leave out "
        "words whose characters have a lower geometric mean (default there: 0.8)",
    )
    parser.add_argument(
        "--format",
        choices=("text", "jsonl", "csv", "hocr", "parquet"),
        help="default: text, or jsonl with --boxes or --n-best; hocr with --page only; parquet "
        "(default) or jsonl with --engine ray",
    )
    parser.add_argument(
        "--boxes",
        action="store_true",
        help="say about where each character is, in jsonl or parquet",
    )
    parser.add_argument(
        "--n-best",
        type=positive,
        default=1,
        metavar="N",
        help="give the N likeliest texts, in jsonl",
    )
    add_reader_arguments(parser)
    pages = parser.add_argument_group(
        "whole pictures",
        "Photographs, scans, TIFF and PDF files: words are found, put in reading order and read.\n"
        "--out is then a folder that gets a file for each picture; the same command resumes.",
    )
    pages.add_argument("--page", action="store_true", help="read whole pictures, not cropped words")
    pages.add_argument(
        "--overlay", metavar="FOLDER", help="write pictures with the words that were found there"
    )
    ray = parser.add_argument_group(
        "many images",
        "--engine ray reads with several processes, also on a cluster: images, folders of them,\n"
        "tar archives and Parquet files. The same command resumes where it was stopped.",
    )
    ray.add_argument("--engine", choices=("plain", "ray"), default="plain")
    ray.add_argument(
        "--characters", action="store_true", help="write each character and its confidence too"
    )
    ray.add_argument(
        "--column",
        metavar="NAME",
        help="of Parquet files, with image files as bytes or with their paths "
        "(default: the only one of bytes, or else path)",
    )
    ray.add_argument(
        "--part-size", type=positive, metavar="N", help="images in a part (default: 1024)"
    )
    ray.add_argument(
        "--ray-address",
        metavar="ADDRESS",
        help="a cluster: auto or HOST:6379 (default: this machine alone)",
    )


def add_reader_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the model, which texts it may read, and ``--batch-size`` and ``--workers``."""
    add_model_arguments(parser)
    add_batch_size(parser)
    parser.add_argument(
        "--workers",
        type=positive,
        metavar="N",
        help="threads that decode images (default: one per CPU, 4 at most); with --engine ray, "
        "processes that read (default: one per GPU, or else per CPU)",
    )
    choice = parser.add_argument_group(
        "what may be read",
        "Confidence is then among what is allowed; jsonl has the free reading too.",
    )
    choice.add_argument("--lexicon", metavar="FILE", help="only the words in it, one a line")
    choice.add_argument(
        "--pattern",
        metavar="REGEX",
        help="only what it matches as a whole, such as '[A-Z]{2}[0-9]+'",
    )
    choice.add_argument("--alphabet", metavar="CHARACTERS", help="only these, such as 0123456789")
    choice.add_argument(
        "--language",
        metavar="CODES|FILE",
        help="whose words to expect where the image leaves doubts: en, en+fr, a file of words, or "
        "none for serial numbers and codes (default: the languages of the model; none with a "
        "lexicon, pattern or alphabet)",
    )
    choice.add_argument(
        "--beams",
        type=positive,
        metavar="N",
        help="texts to keep while writing (default: 1; 5 with a lexicon or a pattern)",
    )


def add_model_arguments(parser: argparse.ArgumentParser) -> None:
    """Add ``--model``, ``--device``, ``--backend`` and ``--care``."""
    parser.add_argument(
        "--model",
        default="tiny",
        metavar="NAME|FILE",
        help="weights of the package, a .safetensors file, or a folder of vit-str export "
        "(default: tiny)",
    )
    add_device(parser)
    parser.add_argument(
        "--backend",
        choices=("auto", "onnx", "torch"),
        default="auto",
        help="what computes: torch on a GPU, on a CPU onnxruntime if it can (default: auto)",
    )
    parser.add_argument(
        "--care",
        choices=("fast", "careful"),
        help="fast: read no doubtful image a second time, search pages for lines once, and decode "
        "in parallel if the model can (default: as the model was saved)",
    )


def search_of(options: argparse.Namespace) -> "Search":
    """What `add_reader_arguments` says about which readings to look for."""
    from vit_str.reading import Search
    from vit_str.reading.constraints import read_lexicon

    lexicon = None if options.lexicon is None else read_lexicon(options.lexicon)
    count = getattr(options, "n_best", 1)
    return Search(
        n_best=count,
        beams=options.beams,
        lexicon=lexicon,
        pattern=options.pattern,
        alphabet=options.alphabet,
        language=options.language,
    )


def run(options: argparse.Namespace) -> int:
    """Read the images that the command line names and print their text as it comes."""
    if not options.paths and not options.files_from:
        raise ValueError("name image files or folders to read, or a list of them with --files-from")
    if options.files_from:
        from vit_str.reading.inputs import listed

        options.paths = [*options.paths, *listed(options.files_from)]
    if options.page:
        from vit_str.reading.pages.command import run_pages

        return run_pages(options)
    if options.engine == "ray":
        from vit_str.reading.bulk_command import run_ray

        return run_ray(options)
    _check(options)
    from vit_str.reading.inputs import find_inputs

    inputs = find_inputs(options.paths)
    report(inputs.problems)
    if not inputs.paths:
        return 2
    if options.out is None:
        return _run_plain(options, inputs, console.write)
    with (
        write_atomically(options.out) as temporary,
        temporary.open("w", encoding="utf-8", errors="surrogateescape", newline="\n") as file,
    ):
        return _run_plain(options, inputs, lambda line: file.write(f"{line}\n"))


def _run_plain(
    options: argparse.Namespace, inputs: "Inputs", write: Callable[[str], object]
) -> int:
    from vit_str.images import UnreadableImage
    from vit_str.reading import load
    from vit_str.reading.inputs import STANDARD_INPUT

    if STANDARD_INPUT in inputs.paths and (sys.stdin is None or sys.stdin.isatty()):
        raise ValueError("- reads an image from standard input: pipe one into it")
    reader = load(
        options.model,
        options.device,
        care=options.care,
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
                progress.complain(str(UnreadableImage(name, outcome.reason)))
                if options.format == "jsonl":
                    write(json_line(error_row(path, outcome.reason)))
            else:
                write(row(path, outcome.if_surer_than(options.min_confidence)))
                if _looks_like_a_page(path, outcome):
                    pages.append(path)
            progress.advance()
    if pages:
        others = f" and {len(pages) - 1:,} others look" if len(pages) > 1 else " looks"
        console.complain(
            f"{pages[0]}{others} like a whole picture or a long line: --page finds its words; "
            "without it each image is read as one word or short line"
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
    if options.overlay or options.format == "hocr":
        raise ValueError(f"{'--overlay' if options.overlay else '--format hocr'} needs --page")
    rich = options.boxes or options.n_best > 1
    options.format = options.format or ("jsonl" if rich else "text")
    if options.format not in _FORMATS:
        raise ValueError(f"--format {options.format} needs --engine ray")
    if rich and options.format != "jsonl":
        option = "--boxes" if options.boxes else "--n-best"
        raise ValueError(f"{option} needs --format jsonl: other formats have no place for it")
    if options.out and Path(options.out).is_dir():
        raise ValueError(f"--out {options.out} is a folder; give a file")


def report(problems: Iterable[tuple[str, str]]) -> None:
    """Say what is wrong with paths, a line each."""
    for path, problem in problems:
        console.complain(f"{one_line(path)}: {problem}")


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
