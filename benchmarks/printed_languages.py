"""Print of many languages, set by a browser and not by our renderer: characters read right.

    python benchmarks/printed_languages.py FOLDER [--only de ru+en ...] [--json FILE]

The same small story in each language (``benchmarks/languages``), and a page of Russian with English
words in it, in two faces: 11 points of serifs at 200 dots per inch, and 10 points without serifs at
150, turned by a degree. Both get the uneven light and the noise of a scanner. Character accuracy is
one minus the edit distance to the whole text in its order over its length, white space as single
spaces, nothing else forgiven. vit-str is not told the language; Tesseract is, with the data of
its package for it (``apt-get install tesseract-ocr-ell``). FOLDER keeps the pages.
"""

import argparse
import html
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from page_structure import Printed, drawn, print_by_chromium, with_light_and_noise

from vit_str.characters.distances import edit_distance

TEXTS = Path(__file__).with_name("languages")
TESSERACT = {
    "bg": "bul",
    "cs": "ces",
    "de": "deu",
    "el": "ell",
    "en": "eng",
    "es": "spa",
    "fr": "fra",
    "ko": "kor",
    "pl": "pol",
    "ru": "rus",
    "ru+en": "rus+eng",
    "tr": "tur",
    "uk": "ukr",
    "vi": "vie",
}
"""The names of languages in Tesseract."""


class Style(NamedTuple):
    """How a text is printed and scanned."""

    face: str
    kind: str  # of what a browser takes without the face
    size: float  # points
    dpi: int  # dots per inch
    tilt: float  # degrees to the left


STYLES = (
    Style("DejaVu Serif", "serif", size=11, dpi=200, tilt=0.0),
    Style("Liberation Sans", "sans-serif", size=10, dpi=150, tilt=1.0),
)


def main() -> None:
    """Print, scan, read, and print a row for each language."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument(
        "--only", nargs="+", choices=sorted(TESSERACT), help="some languages"
    )
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="write all numbers here too"
    )
    options = parser.parse_args()
    from measuring import print_machine, table, write_json

    os.environ.setdefault("OMP_THREAD_LIMIT", "1")
    options.folder.mkdir(parents=True, exist_ok=True)
    systems = installed_systems()
    rows = [["language", "characters", *systems]]
    results: dict[str, dict[str, list[float]]] = {}
    for language in options.only or sorted(TESSERACT):
        print(language, file=sys.stderr)
        text = (TEXTS / f"{language}.txt").read_text("utf-8")
        wanted = " ".join(text.split())
        pages = printed(options.folder, language, text)
        results[language] = {
            name: [accuracy(read(page, language), wanted) for page in pages]
            for name, read in systems.items()
        }
        found = [
            " and ".join(f"{share:.2%}" for share in shares)
            for shares in results[language].values()
        ]
        rows.append([language, f"2 x {len(wanted):,}", *found])
    print(table(rows))
    print_machine()
    write_json(options.json, results)


def printed(folder: Path, language: str, text: str) -> list[Path]:
    """The pages of a text as pictures, made where they are missing."""
    title, *paragraphs = text.strip().split("\n\n")
    body = "".join(f"<p>{html.escape(each)}</p>" for each in paragraphs)
    pages = []
    for number, style in enumerate(STYLES):
        picture = folder / f"{language}-{style.dpi}.png"
        pages.append(picture)
        if picture.exists():
            continue
        pdf = picture.with_suffix(".pdf")
        # Korean would be broken within words, where no space is to be read
        style_of_all = "<style>body { word-break: keep-all }</style>"
        heading = f"<h1>{html.escape(title)}</h1>"
        article = f'<html lang="{language[:2]}">{style_of_all}{heading}{body}</html>'
        print_by_chromium([Printed(article, (style.face, style.kind, style.size), pdf)])
        random = np.random.default_rng(number)
        scan = with_light_and_noise(drawn(pdf, style.dpi), style.tilt, random)
        scan.save(picture, dpi=(style.dpi, style.dpi))
    return pages


Read = Callable[[Path, str], str]
"""The text of a picture in a language."""


def installed_systems() -> Mapping[str, Read]:
    """What reads."""
    from vit_str.pages.reader import load_page

    reader = load_page()
    systems: dict[str, Read] = {"vit-str": lambda page, _: reader.read(page).text}
    if shutil.which("tesseract"):
        systems["Tesseract"] = tesseract
    return systems


def tesseract(page: Path, language: str) -> str:
    """What Tesseract reads with the data of a language, or of several; nothing without them."""
    data = "+".join(TESSERACT[each] for each in language.split("+"))
    command = ["tesseract", str(page), "-", "-l", data, "--psm", "1"]
    found = subprocess.run(command, check=False, capture_output=True)
    if found.returncode:
        print(f"Tesseract has no data of {data}", file=sys.stderr)
    return found.stdout.decode()


def accuracy(found: str, wanted: str) -> float:
    """The share of characters that are right."""
    return max(0.0, 1 - edit_distance(" ".join(found.split()), wanted) / len(wanted))


if __name__ == "__main__":
    main()
