"""Characters of Korean crops and lines that are read wrong, by kind, beside Tesseract.

    python benchmarks/korean.py FOLDER [--language ko] [--tesseract kor+eng] [--json FILE]

FOLDER holds ``labels.tsv`` (file, tab, text) beside the pictures; what stands before the first
hyphen of a file's name is its kind. White space is left out before texts are compared; there is one
kind each of quotation marks, dashes, middle dots, tildes, full-width marks and filled squares, and
₩ counts as W. Characters wrong are the edit distance over the length of the labels; intervals draw
lines with replacement. vit-str reads each picture as a line and as a page, with ``--language`` and
without any; Tesseract gets the data of ``--tesseract`` (``apt-get install tesseract-ocr-kor``) and
``--psm 7``, one line.
"""

import argparse
import unicodedata
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from measuring import (
    add_json,
    described_parser,
    pin,
    print_machine,
    table,
    write_json,
)
from old_print import Read, errors_of, reads_as_line
from peers import Tesseract

from vit_str.decoding.search import Search
from vit_str.evaluation.statistics import bootstrap_interval, percent
from vit_str.pages.reader import load_page
from vit_str.words.reader import load

_ONE_KIND = {
    '"': "“”„‟″",
    "'": "‘’‚‛′",
    "-": "‐‑‒–—―−─",
    "·": "ㆍ・･‧∙⋅•ᆞ",
    "~": "∼～〜˜",
    "■": "▪◼⬛◾",
    "□": "☐▢◻▫",
    "W": "₩￦",
    "...": "…",
}
_LINE = 7  # of Tesseract's modes of segmentation


def main() -> None:
    """Compare, or say in one line why that cannot be."""
    try:
        compare(parsed_options())
    except (OSError, ValueError, RuntimeError) as error:
        raise SystemExit(f"korean.py: {error}") from None


def parsed_options() -> argparse.Namespace:
    """What the command line says."""
    parser = described_parser(__doc__)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument(
        "--model",
        help="a folder with weights of the names of the package, instead of these",
    )
    parser.add_argument("--language", default="ko", help="for vit-str (ko)")
    parser.add_argument(
        "--tesseract", default="kor+eng", help="of Tesseract's data (kor+eng)"
    )
    add_json(parser)
    return parser.parse_args()


def compare(options: argparse.Namespace) -> None:
    """Read everything with every system, and print a row for each."""
    pin()
    files, labels = labeled_files(options.folder)
    if not files:
        raise ValueError(f"{options.folder}/labels.tsv names no pictures")
    wanted = list(map(compared, labels))
    kinds = [file.name.partition("-")[0] for file in files]
    names = list(dict.fromkeys(kinds))
    rows = [["", "characters wrong, %", "lines right, %", *names]]
    results = {}
    for name, errors in errors_of(systems(options), files, wanted, compared):
        results[name] = scored(errors, wanted, kinds)
        rate = results[name]["wrong"]
        shown = percent(rate, results[name]["interval"])
        of_kinds = [f"{100 * results[name]['kinds'][kind]:.1f}" for kind in names]
        rows.append([name, shown, f"{100 * results[name]['right']:.1f}", *of_kinds])
    print(f"{len(files)} pictures, {sum(map(len, wanted)):,} characters")
    print(table(rows))
    print_machine()
    write_json(options.json, {"pictures": len(files), "systems": results})


def labeled_files(folder: Path) -> tuple[list[Path], list[str]]:
    """The pictures of a folder, and what each says."""
    text = (folder / "labels.tsv").read_text(encoding="utf-8")
    rows = [line.split("\t", 1) for line in text.split("\n") if line]
    return [folder / name for name, _ in rows], [label for _, label in rows]


def compared(text: str) -> str:
    """A text without white space, its marks each of one kind."""
    text = unicodedata.normalize("NFC", text)
    for one, others in _ONE_KIND.items():
        for other in others:
            text = text.replace(other, one)
    narrow = (_narrow(character) for character in text if not character.isspace())
    return "".join(narrow)


def _narrow(character: str) -> str:
    is_wide = "\uff01" <= character <= "\uff5e"
    return chr(ord(character) - 0xFEE0) if is_wide else character


def scored(
    errors: np.ndarray, wanted: Sequence[str], kinds: Sequence[str]
) -> dict[str, Any]:
    """Share of characters wrong, with its interval and by kind, and of lines right."""
    lengths = np.array(list(map(len, wanted)), dtype=float)
    of_kinds = {}
    for kind in dict.fromkeys(kinds):
        places = [place for place, each in enumerate(kinds) if each == kind]
        of_kinds[kind] = errors[places].sum() / lengths[places].sum()
    return {
        "wrong": errors.sum() / lengths.sum(),
        "interval": bootstrap_interval(errors, lengths),
        "right": float((errors == 0).mean()),
        "kinds": of_kinds,
    }


def systems(options: argparse.Namespace) -> Mapping[str, Read]:
    """What reads, as far as it is installed."""
    found: dict[str, Read] = {}
    for language in (options.language, None):
        search = Search(language=language)
        told = language or "no language"
        found[f"vit-str, lines, {told}"] = partial(as_lines, options.model, search)
        found[f"vit-str, pages, {told}"] = partial(as_pages, options.model, search)
    if Tesseract.version():
        found[f"Tesseract, {options.tesseract}"] = reads_as_line(
            options.tesseract, mode=_LINE
        )
    return found


def as_lines(model: str | None, search: Search, files: Sequence[Path]) -> list[str]:
    """What the reader of lines reads."""
    reader = load(model or "line", "cpu", search=search)
    return [reading.text for reading in reader.read(list(files))]


def as_pages(model: str | None, search: Search, files: Sequence[Path]) -> list[str]:
    """What is read of the pictures as pages, of any confidence."""
    reader = load_page(model or "tiny", "cpu", search=search, minimum_confidence=0.0)
    return [reader.read(file).text for file in files]


if __name__ == "__main__":
    main()
