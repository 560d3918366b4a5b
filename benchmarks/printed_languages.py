"""Print of many languages, set by a browser and not by our renderer: characters read right.

    python benchmarks/printed_languages.py FOLDER [--only de ru+en ...] [--json FILE]
    python benchmarks/printed_languages.py FOLDER --documents benchmarks/korean-pages

The same small story in each language (``benchmarks/languages``), and a page of Russian with English
words in it, in two faces: 11 points of serifs at 200 dots per inch, and 10 points without serifs at
150, turned by a degree. Both get the uneven light and the noise of a scanner. Character accuracy is
one minus the edit distance to the whole text in its order over its length, white space as single
spaces, nothing else forgiven. vit-str is not told the language, and told it; Tesseract is, with the
data of its package for it (``apt-get install tesseract-ocr-ell``). Texts whose letters
no font has are left out. FOLDER keeps the pages.

``--documents`` takes other pages, HTML with looks of its own and the code of its language, with
English in it: a blog post, a receipt, a form, a notice and a table in Korean, which need
``apt-get install fonts-nanum fonts-nanum-extra fonts-noto-cjk``.
"""

import argparse
import html
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from page_structure import (
    Printed,
    drawn,
    has_font,
    print_by_chromium,
    with_light_and_noise,
)

from vit_str.characters.distances import edit_distance
from vit_str.decoding.search import Search
from vit_str.pages.reader import PageReader, load_page

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
    """How a text is printed, if its page does not say that, and scanned."""

    face: str
    kind: str  # of what a browser takes without the face
    size: float  # points
    dpi: int  # dots per inch
    tilt: float  # degrees to the left


STYLES = (
    Style("DejaVu Serif", "serif", size=11, dpi=200, tilt=0.0),
    Style("Liberation Sans", "sans-serif", size=10, dpi=150, tilt=1.0),
)


class Text(NamedTuple):
    """What is printed.

    Attributes:
        name: of its file.
        language: codes as in ``ru+en``.
        wanted: its characters in their order, white space as single spaces.
        html: a page of HTML.
        has_own_style: whether this says how it looks.
    """

    name: str
    language: str
    wanted: str
    html: str
    has_own_style: bool


def main() -> None:
    """Print, scan, read, and print a row for each text."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--documents", type=Path, metavar="FOLDER", help="other pages")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="some texts, by name")
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="write all numbers here too"
    )
    options = parser.parse_args()
    from measuring import print_machine, table, write_json

    os.environ.setdefault("OMP_THREAD_LIMIT", "1")
    options.folder.mkdir(parents=True, exist_ok=True)
    source = options.documents or TEXTS
    texts = {text.name: text for text in documents(source) or stories(source)}
    if not texts:
        raise SystemExit(f"printed_languages.py: no .html or .txt files in {source}")
    unknown = set(options.only or ()) - texts.keys()
    if unknown:
        raise SystemExit(f"printed_languages.py: no {', '.join(unknown)} in {source}")
    systems = installed_systems()
    rows = [["text", "characters", *systems]]
    results: dict[str, dict[str, list[float]]] = {}
    for name in options.only or sorted(texts):
        print(name, file=sys.stderr)
        text = texts[name]
        if not has_font(text.language[:2]):
            print(f"{name} is left out: no font has its letters", file=sys.stderr)
            continue
        pages = printed(options.folder, text)
        results[name] = {
            system: [accuracy(read(page, text.language), text.wanted) for page in pages]
            for system, read in systems.items()
        }
        found = [
            " and ".join(f"{share:.2%}" for share in shares)
            for shares in results[name].values()
        ]
        rows.append([name, f"2 x {len(text.wanted):,}", *found])
    print(table(rows))
    print_machine()
    write_json(options.json, results)


def stories(folder: Path) -> list[Text]:
    """Plain texts, each named by its languages."""
    found = []
    for file in folder.glob("*.txt"):
        text = file.read_text("utf-8")
        title, *paragraphs = text.strip().split("\n\n")
        body = "".join(f"<p>{html.escape(each)}</p>" for each in paragraphs)
        # Korean would be broken within words, where no space is to be read
        style = "<style>body { word-break: keep-all }</style>"
        heading = f"<h1>{html.escape(title)}</h1>"
        page = f'<html lang="{file.stem[:2]}">{style}{heading}{body}</html>'
        wanted = " ".join(text.split())
        found.append(Text(file.stem, file.stem, wanted, page, has_own_style=False))
    return found


def documents(folder: Path) -> list[Text]:
    """Pages of HTML, in a language each and in English."""
    found = []
    for file in folder.glob("*.html"):
        page = file.read_text("utf-8")
        language = page.partition('lang="')[2][:2]
        codes = language if language == "en" else f"{language}+en"
        found.append(Text(file.stem, codes, text_of_html(page), page, True))
    return found


def text_of_html(page: str) -> str:
    """The characters of the body of a page in their order, white space as single spaces."""
    body = page.partition("<body")[2].partition(">")[2]
    within_words = re.sub(r"</?(a|b|code|em|i|span|strong|sub|sup)\b[^>]*>", "", body)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", within_words)).split())


def printed(folder: Path, text: Text) -> list[Path]:
    """The pages of a text as pictures, made where they are missing."""
    pages = []
    for number, style in enumerate(STYLES):
        picture = folder / f"{text.name}-{style.dpi}.png"
        pages.append(picture)
        if picture.exists():
            continue
        pdf = picture.with_suffix(".pdf")
        looks = None if text.has_own_style else (style.face, style.kind, style.size)
        print_by_chromium([Printed(text.html, looks, pdf, "scan", number)])
        random = np.random.default_rng(number)
        scan = with_light_and_noise(drawn(pdf, style.dpi), style.tilt, random)
        scan.save(picture, dpi=(style.dpi, style.dpi))
    return pages


Read = Callable[[Path, str], str]
"""The text of a picture in a language."""


def installed_systems() -> Mapping[str, Read]:
    """What reads."""
    systems: dict[str, Read] = {
        "vit-str": lambda page, _: page_reader(None).read(page).text,
        "vit-str, told": lambda page, language: page_reader(language).read(page).text,
    }
    if shutil.which("tesseract"):
        systems["Tesseract"] = tesseract
    return systems


@cache
def page_reader(language: str | None) -> PageReader:
    """What reads pages in a language, or in any."""
    return load_page(search=Search(language=language))


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
