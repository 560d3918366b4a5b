"""``vit-str read``: the text in image files."""

import argparse
import csv
import hashlib
import io
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from vit_str import console
from vit_str.files import one_line

if TYPE_CHECKING:
    from vit_str.reading import Reading
    from vit_str.reading.archives import ImageRef
    from vit_str.reading.output import OutputFolder

_EPILOG = """\
The formats: text is path, tab, text, tab, confidence; jsonl is one object per line with path,
text, confidence and characters; csv has a header. The confidence is the probability of the whole
text, 0 to 1. An image without text gives empty text. A box is left, top, right, bottom, in pixels
of the image turned upright.

exit codes: 0 success; 1 some image could not be read, or the output not written; 2 wrong use;
130 interrupted with Ctrl-C."""

_DIGITS = 6
_RAY_DEVICES = ("auto", "cpu", "cuda", "mps")
# A multiple of the usual batch, so that batches are those of the plain engine.
_PART_SIZE = 1024
# Options that the plain engine has no use for, and their values if they are not given.
_RAY_OPTIONS = {
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
    add_reader_arguments(parser)
    ray = parser.add_argument_group(
        "many images",
        "--engine ray reads with several processes, also on a cluster: images, folders of them,\n"
        "tar archives and Parquet files. The same command resumes where it was stopped.",
    )
    ray.add_argument("--engine", choices=("plain", "ray"), default="plain")
    ray.add_argument("--out", metavar="FOLDER", help="where the results go, a file for each part")
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
    """Add what `load_reader` needs, and ``--batch-size`` and ``--workers``."""
    parser.add_argument(
        "--model",
        default="tiny",
        metavar="NAME|FILE",
        help="weights of the package or a .safetensors file (default: tiny)",
    )
    parser.add_argument(
        "--device", default="auto", help="auto, cpu, cuda, cuda:1 or mps (default: auto)"
    )
    parser.add_argument(
        "--care",
        choices=("fast", "careful"),
        help="how to read, for models that can choose (default: as they were saved)",
    )
    parser.add_argument(
        "--batch-size",
        type=positive,
        default=32,
        metavar="N",
        help="images read at once (default: 32)",
    )
    parser.add_argument(
        "--workers",
        type=positive,
        metavar="N",
        help="threads that decode images (default: one per CPU, 4 at most); with --engine ray, "
        "processes that read (default: one per GPU, or else per CPU)",
    )


def positive(text: str) -> int:
    """A whole number from 1 on."""
    if not (text.isascii() and text.isdigit() and 0 < len(text) < 19 and int(text) > 0):
        raise argparse.ArgumentTypeError(f"expected a whole number from 1 on, found {text!r}")
    return int(text)


def run(options: argparse.Namespace) -> int:
    """Read the images that the command line names and print their text as it comes."""
    if options.engine == "ray":
        return _run_ray(options)
    _check(options)
    from vit_str.images import UnreadableImage
    from vit_str.reading import load
    from vit_str.reading.inputs import STANDARD_INPUT, find_inputs

    inputs = find_inputs(options.paths)
    _report(inputs.problems)
    if not inputs.paths:
        return 2
    if STANDARD_INPUT in inputs.paths and (sys.stdin is None or sys.stdin.isatty()):
        raise ValueError("- reads an image from standard input: pipe one into it")
    reader = load(options.model, options.device, care=options.care)
    sources = (sys.stdin.buffer.read() if p == STANDARD_INPUT else p for p in inputs.paths)
    outcomes = reader.stream(sources, options.batch_size, options.workers, boxes=options.boxes)
    if options.format == "csv":
        console.write(_csv_line("path", "text", "confidence"))
    unreadable = len(inputs.problems)
    with console.Progress(len(inputs.paths)) as progress:
        for path, (_, outcome) in zip(inputs.paths, outcomes, strict=True):
            if isinstance(outcome, UnreadableImage):
                unreadable += 1
                name = "standard input" if path == STANDARD_INPUT else outcome.name
                progress.complain(str(UnreadableImage(name, outcome.trouble)))
            else:
                console.write(_FORMATS[options.format](path, outcome))
            progress.advance()
    return 1 if unreadable else 0


def _check(options: argparse.Namespace) -> None:
    """Refuse what does not go together."""
    for name, default in _RAY_OPTIONS.items():
        if getattr(options, name) != default:
            raise ValueError(f"--{name.replace('_', '-')} needs --engine ray")
    options.format = options.format or "text"
    if options.format not in _FORMATS:
        raise ValueError(f"--format {options.format} needs --engine ray")
    if options.boxes and options.format != "jsonl":
        raise ValueError("--boxes needs --format jsonl: other formats have no place for it")


def _report(problems: Iterable[tuple[str, str]]) -> None:
    for path, problem in problems:
        console.complain(f"{one_line(path)}: {problem}")


def _text_line(path: str, reading: "Reading") -> str:
    return f"{one_line(path)}\t{one_line(reading.text)}\t{reading.confidence:.4f}"


def _json_line(path: str, reading: "Reading") -> str:
    from vit_str.reading.rows import json_line, reading_row

    return json_line(reading_row(path, reading, characters=True))


def _csv_line(*cells: object) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(cells)
    return line.getvalue()


def _csv_reading(path: str, reading: "Reading") -> str:
    return _csv_line(path, reading.text, round(reading.confidence, _DIGITS))


_FORMATS: dict[str, Callable[[str, "Reading"], str]] = {
    "text": _text_line,
    "jsonl": _json_line,
    "csv": _csv_reading,
}


def _run_ray(options: argparse.Namespace) -> int:
    """Read what has no result in the folder ``--out``, and report what is there then."""
    _check_ray(options)
    from vit_str.images import SUFFIXES
    from vit_str.reading.archives import ARCHIVES, list_images
    from vit_str.reading.inputs import find_inputs
    from vit_str.reading.output import OutputFolder, lock, utf8
    from vit_str.weights import resolve

    inputs = find_inputs(options.paths, (*SUFFIXES, *ARCHIVES))
    if not inputs.paths:
        _report(inputs.problems)
        return 2
    weights = _usable_weights(resolve(options.model), options)
    folder = OutputFolder(
        Path(options.out), options.format or "parquet", _settings(options, weights)
    )
    with lock(folder.path):
        images = list(list_images(inputs.paths, options.column, inputs.add_problem))
        _report(inputs.problems)
        done = folder.done()
        left = [image for image in images if utf8(image.name) not in done]
        if done and left:
            console.complain(f"{len(done):,} images are read already, {len(left):,} are left")
        if left:
            _read_and_write(left, folder, weights, options)
        return _summarize(folder, [image.name for image in images]) or bool(inputs.problems)


def _check_ray(options: argparse.Namespace) -> None:
    """Refuse what can be seen from the command alone."""
    if not options.out:
        raise ValueError("--engine ray needs --out FOLDER, which the results go to")
    if options.format not in (None, "parquet", "jsonl"):
        raise ValueError(f"--engine ray writes --format parquet or jsonl, found {options.format}")
    if "-" in options.paths:
        raise ValueError("--engine ray reads no standard input; name files or folders")
    if options.device not in _RAY_DEVICES:
        raise ValueError(
            f"--engine ray assigns GPUs itself: --device {', '.join(_RAY_DEVICES)}, "
            f"not {options.device}"
        )
    out = Path(options.out).resolve()
    for path in map(Path, options.paths):
        if path.is_dir() and out.is_relative_to(path.resolve()):
            raise ValueError(f"--out lies in {path}, which is read; give one outside it")
    for package in ("ray", "pyarrow"):
        if find_spec(package) is None:
            raise ValueError(f'--engine ray needs {package}, run: pip install "vit-str[ray]"')


def _usable_weights(path: Path, options: argparse.Namespace) -> bytes:
    """The content of a weights file; ValueError if it cannot be read as the options say."""
    from vit_str.models.character_boxes import looking_blocks
    from vit_str.reading import Reader
    from vit_str.weights import load_weights

    reader = Reader(load_weights(path), "cpu", care=options.care)
    if options.boxes:
        looking_blocks(reader.recognizer.decoder)
    return path.read_bytes()


def _settings(options: argparse.Namespace, weights: bytes) -> dict[str, object]:
    """What decides how the results look."""
    return {
        "weights (SHA-256)": hashlib.sha256(weights).hexdigest(),
        "care": options.care,
        "boxes": options.boxes,
        "characters": options.characters or options.boxes,
        "column": options.column,
    }


def _read_and_write(
    images: "Sequence[ImageRef]",
    folder: "OutputFolder",
    weights: bytes,
    options: argparse.Namespace,
) -> None:
    """Read images and write a file for each part; say why if it ends early."""
    from vit_str.reading.bulk import Job, RayError, noticing_interrupts, ray_workers, read_parts

    characters = options.characters or options.boxes
    job = Job(characters, options.boxes, options.batch_size, options.care)
    began, count = time.monotonic(), 0
    with noticing_interrupts() as interrupted, console.Progress(len(images)) as progress:
        try:
            with ray_workers(options.ray_address, options.device, options.workers) as workers:
                size = options.part_size or _PART_SIZE
                for rows, problem in read_parts(images, size, job, weights, workers):
                    if problem:
                        progress.complain(f"a part is not read: {problem}")
                    else:
                        folder.write(rows)
                        count += len(rows)
                        progress.advance(len(rows))
                    if interrupted.is_set():
                        raise KeyboardInterrupt
        except RayError as error:
            if interrupted.is_set():
                raise KeyboardInterrupt from error
            progress.complain(str(error))
    seconds = time.monotonic() - began
    console.write(
        f"read now: {count:,} images in {seconds:,.0f} s, {count / seconds:,.1f} per second"
    )


def _summarize(folder: "OutputFolder", names: "Sequence[str]") -> int:
    """Print what is in the folder; returns the exit code."""
    from vit_str.reading.output import utf8

    done = folder.done()
    unreadable = sum(not is_readable for is_readable in done.values())
    missing = sum(utf8(name) not in done for name in names)
    console.write(f"{folder.path}: {len(done):,} images, {unreadable:,} of them unreadable")
    if missing:
        console.complain(f"{missing:,} images are not read; the same command resumes")
    if unreadable:
        console.complain(f"{unreadable:,} images could not be read; error says why in their lines")
    return 1 if missing or unreadable else 0
