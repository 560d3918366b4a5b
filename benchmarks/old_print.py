"""Characters of scanned lines of old print that are read wrong, beside Tesseract and RapidOCR.

    python benchmarks/old_print.py FOLDER [--model line] [--language frk] [--json FILE]

FOLDER holds ``labels.tsv`` (file, tab, text) beside the pictures or in front of a folder
``images``. Nobody prints the long s, an e above a vowel or quotation marks today, and readers spell
them in several ways, so they are made one before texts are compared: ſ is s, an e above a vowel is
an umlaut, quotation marks are one kind, and so are dashes and hyphens. Then characters wrong are
the edit distance over the length of the label, over all lines; intervals draw lines with
replacement. vit-str and RapidOCR are not told a language; Tesseract gets the data of
``--language`` (``apt-get install tesseract-ocr-frk``) and ``--psm 13``, a line as it is. RapidOCR
is left out unless ``--rapidocr-python`` names a Python that has it.
"""

import argparse
import re
import subprocess
import sys
import tempfile
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from measuring import (
    add_json,
    described_parser,
    pin,
    print_machine,
    table,
    write_json,
)
from peers import RapidOCR, Tesseract

from vit_str.characters.distances import edit_distance
from vit_str.evaluation.statistics import bootstrap_interval, percent
from vit_str.words.reader import load

_E_ABOVE = "\N{COMBINING LATIN SMALL LETTER E}"
_DOTS_ABOVE = "\N{COMBINING DIAERESIS}"
_DOUBLE_QUOTES = re.compile("[„“”‟»«]|,,|''")
_SINGLE_QUOTES = re.compile("[‘’‚‛›‹]")
_DASHES = re.compile("[–—−⸗=¬‐-]")


Read = Callable[[Sequence[Path]], list[str]]
"""The text of every file."""


def main() -> None:
    """Compare, or say in one line why that cannot be."""
    try:
        compare(parsed_options())
    except (OSError, ValueError, RuntimeError) as error:
        raise SystemExit(f"old_print.py: {error}") from None


def parsed_options() -> argparse.Namespace:
    """What the command line says."""
    parser = described_parser(__doc__)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument(
        "--model",
        default="line",
        help="weights that read lines (line)",
    )
    parser.add_argument(
        "--language",
        default="frk",
        help="of Tesseract's data (frk)",
    )
    parser.add_argument(
        "--rapidocr-python",
        metavar="PYTHON",
        help="of an environment with RapidOCR",
    )
    add_json(parser)
    return parser.parse_args()


def compare(options: argparse.Namespace) -> None:
    """Read all lines with every system, and print a row for each."""
    pin()
    files, labels = labeled_lines(options.folder)
    if not files:
        raise ValueError(f"{options.folder}/labels.tsv names no lines")
    wanted = [one_spelling(label) for label in labels]
    lengths = np.array([len(text) for text in wanted], dtype=float)
    rows = [["", "characters wrong, %", "lines without a fault, %"]]
    results = {}
    for name, errors in errors_of(systems(options), files, wanted, one_spelling):
        rate = errors.sum() / lengths.sum()
        interval = bootstrap_interval(errors, lengths)
        whole = (errors == 0).mean()
        rows.append([name, percent(rate, interval), f"{100 * whole:.1f}"])
        results[name] = {"wrong": rate, "interval": interval, "whole": whole}
    print(f"{len(files)} lines, {int(lengths.sum()):,} characters")
    print(table(rows))
    print_machine()
    write_json(options.json, {"lines": len(files), "systems": results})


def labeled_lines(folder: Path) -> tuple[list[Path], list[str]]:
    """The pictures of a folder, and what each says."""
    images = folder / "images" if (folder / "images").is_dir() else folder
    text = (folder / "labels.tsv").read_text(encoding="utf-8")
    rows = [line.split("\t", 1) for line in text.split("\n") if line]
    return [images / name for name, _ in rows], [label for _, label in rows]


def errors_of(
    systems: Mapping[str, Read],
    files: Sequence[Path],
    wanted: Sequence[str],
    spelled: Callable[[str], str],
) -> Iterator[tuple[str, np.ndarray]]:
    """The characters that are wrong in each picture, for one system after the other."""
    for name, read in systems.items():
        print(name, file=sys.stderr)
        pairs = zip(map(spelled, read(files)), wanted, strict=True)
        yield name, np.array([edit_distance(*pair) for pair in pairs], dtype=float)


def one_spelling(text: str) -> str:
    """A text whose letters and marks are those of today, each written in one way."""
    text = text.replace("ſ", "s").replace(_E_ABOVE, _DOTS_ABOVE)
    text = unicodedata.normalize("NFC", text)
    text = _DOUBLE_QUOTES.sub('"', text)
    text = _SINGLE_QUOTES.sub("'", text)
    text = _DASHES.sub("-", text)
    return " ".join(text.split())


def systems(options: argparse.Namespace) -> Mapping[str, Read]:
    """What reads, as far as it is installed."""
    found: dict[str, Read] = {f"vit-str, {options.model}": reads_lines(options.model)}
    if Tesseract.version():
        found[f"Tesseract, {options.language}"] = reads_as_line(options.language)
    if options.rapidocr_python:
        found["RapidOCR"] = reads_in(options.rapidocr_python)
    return found


def reads_lines(model: str) -> Read:
    """vit-str with some weights."""
    reader = load(model)
    return lambda files: [
        reading.text for reading in reader.read([str(file) for file in files])
    ]


def reads_as_line(language: str, mode: int = 13) -> Read:
    """Tesseract with the data of a language, in a mode of segmentation."""

    def read(file: Path) -> str:
        command = ["tesseract", str(file), "-", "-l", language, "--psm", str(mode)]
        answer = subprocess.run(command, check=False, capture_output=True)
        if answer.returncode:
            reason = answer.stderr.decode().partition("\n")[0]
            raise RuntimeError(f"Tesseract failed: {reason}")
        return answer.stdout.decode()

    return lambda files: [read(file) for file in files]


def reads_in(python: str) -> Read:
    """RapidOCR's recognizer in the environment of a Python."""

    def read(files: Sequence[Path]) -> list[str]:
        with tempfile.TemporaryDirectory() as folder:
            listed = Path(folder) / "files.txt"
            names = "".join(f"{file.resolve()}\n" for file in files)
            listed.write_text(names, encoding="utf-8")
            with RapidOCR(python, listed, batch_size=1) as recognizer:
                _, texts = recognizer.read()
        return texts

    return read


if __name__ == "__main__":
    main()
