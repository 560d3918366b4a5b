"""What `vit-str check` finds: texts with errors that are known, against pages set by a browser.

    python benchmarks/checking.py FOLDER [--skip N] [--pages N] [--minutes N] [--systems NAME ...]
    python benchmarks/checking.py FOLDER --fit
    python benchmarks/checking.py FOLDER --cells [--pages N]
    python benchmarks/checking.py FOLDER --long 200

Letters, reports, tables, forms and receipts (the HTML of ``benchmarks/documents`` and its
neighbors, stories in thirteen languages, and receipts and forms of random words and amounts), set
by Chromium in several faces, a third as printed, a third scanned in software and a third
photographed in software. Two long words of every page are misspelled in print. Every page is
checked against three texts: its own words with 0 to 8 errors of fourteen kinds. A text has its
words in the order of the HTML, which is not always that of the page: the first is plain, the
second Markdown; in the third, tables run down their columns, or have these in another order.

An altered word counts as found if its probability is below a threshold that 1 (or 0.2) in 100 of
the unaltered words are below, of the other half of the pages; or if it is not confirmed. A line
that was left out counts if half of its words are missing; a second row also counts words that are
read in place of contradicted ones, as where a text has another line in its place. Beside it is what
people do today: the words of the text that a comparison of words in order (difflib) with what was
read finds changed, for ``vit-str read --page``, Tesseract and RapidOCR. These have no threshold:
their share of false alarms stands beside what they find. Intervals are by bootstrap over pages.
Boxes are compared with those in the PDF files, on pages as printed: those of `check` with the ink
of words, those of pages, which are as high as their line, with what the face reserves from
ascenders to descenders.

FOLDER keeps pages, and a line of JSON for each page and each system that read it: what was stopped,
by ``--minutes`` or a person, goes on. Tables are of the pages that are done.

``--fit`` fits the weights and thresholds of ``vit_str/reading/checking/judging.py`` on other
documents, languages and random pages than are measured. ``--cells`` exchanges cells of tables and
nothing else, on the text of the PDF files, without readers. ``--long`` compares words with those of
a long PDF file, and reads and checks some of its pages in processes of their own.
"""

import argparse
import html
import json
import os
import re
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass, field, replace
from difflib import SequenceMatcher
from functools import cache
from importlib.util import find_spec
from itertools import cycle, groupby, islice
from pathlib import Path
from shutil import which
from typing import Any, NamedTuple

import numpy as np
from page_structure import (
    STYLES,
    Printed,
    drawn,
    has_font,
    print_by_chromium,
    with_light_and_noise,
)
from PIL import Image

from vit_str.decoding.boxes import Box
from vit_str.evaluation.statistics import (
    bootstrap_interval,
    percent,
    wilson_interval,
)
from vit_str.pages.page import Page, Word
from vit_str.reading.checking.absence import Absence, absences
from vit_str.reading.checking.alignment import Group
from vit_str.reading.checking.checked import Checked
from vit_str.reading.checking.checker import PageChecker, load_checking_reader
from vit_str.reading.checking.exchanges import steps_of
from vit_str.reading.checking.judging import (
    Evidence,
    absent_probability,
    together,
    verdict_of,
)
from vit_str.reading.checking.matching import find_words, match_words
from vit_str.reading.checking.places import PageWord, words_of
from vit_str.reading.checking.spelling import key, plain
from vit_str.reading.checking.steps import Step
from vit_str.reading.checking.texts import GivenText, parse_text

HERE = Path(__file__).parent
FIT_FOLDERS = ("documents", "documents-office")
MIXED = ("en", "de", "fr", "es", "pl", "cs")
"""Languages of the words of receipts and forms."""
MEASURED_FOLDERS = ("documents-fresh", "documents-more", "documents-unseen")
FIT_LANGUAGES = ("de", "en", "es", "ru", "tr", "el")
STATES = ("printed", "scanned", "photographed")
PARTS = ("", "line", "cell", "row")
"""What parts words, from the least to the most."""
DPI = 150
_EXCHANGES = 8  # of cells, of a page in each order
_READ_PAGES = 8  # of a long file, that are read
TEXTS = 3  # of a page
FIT_TEXTS = 12  # and how many more of a page of the fit, whose words are found and not looked at
OWN = "vit-str read --page"
MOST_ERRORS = 8
KINDS_OF_PAGES = 4  # documents, stories, receipts and forms, in turns
_LOOK_ALIKE = {
    "0": "O",
    "O": "0",
    "1": "l",
    "l": "1",
    "5": "6",
    "6": "5",
    "8": "3",
    "3": "8",
    "rn": "m",
    "m": "rn",
    "c": "e",
    "e": "c",
    "u": "n",
    "n": "u",
    "i": "l",
    "h": "b",
    "t": "f",
    "a": "o",
    "cl": "d",
    "vv": "w",
}
_INVENTED = (
    "Please note that all further questions should be addressed to our office",
    "This amount has already been settled by the customer in full",
    "The committee will come back to this matter at its next session",
    "A copy of the signed agreement is kept with the original documents",
)
_NAMES = (
    "Robertson",
    "Amelie",
    "Schneider",
    "Kowalski",
    "Moreau",
    "Harding",
    "Lindqvist",
)


class PageSource(NamedTuple):
    """A page to be set."""

    number: int
    name: str
    html: str


@dataclass(frozen=True)
class Cell:
    """A cell of a table, and the words in it."""

    table: int
    row: int
    column: int  # from 1
    words: tuple[int, ...]

    def moved(self, places: Mapping[int, int]) -> "Cell":
        """The same where words have other places."""
        return replace(self, words=tuple(places[place] for place in self.words))


@dataclass
class Sheet:
    """A page, and the words on it in the order of its HTML."""

    name: str
    state: str
    picture: Path
    pdf: Path
    words: list[str]
    blocks: list[int]  # the number of the block of each word
    misspelled: dict[int, str]  # words as they should be spelled
    # What parts each word from the one before: a space, or one of `PARTS`
    parts: list[str] = field(default_factory=list)
    cells: list["Cell"] = field(default_factory=list)  # of tables, row by row

    def in_order(self, order: Sequence[int]) -> "Sheet":
        """The same with its words in another order."""
        moved = {old: new for new, old in enumerate(order)}
        return replace(
            self,
            words=[self.words[old] for old in order],
            blocks=[self.blocks[old] for old in order],
            parts=[self.parts[old] for old in order],
            cells=[cell.moved(moved) for cell in self.cells],
            misspelled={moved[old]: word for old, word in self.misspelled.items()},
        )


@dataclass
class Altered:
    """A text of a page with errors."""

    words: list[str] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)  # of each word, empty if unaltered
    parts: list[str] = field(default_factory=list)  # as `Sheet.parts`
    left_out: list[list[str]] = field(default_factory=list)


def main() -> None:
    """Set pages, alter their texts, check them, and print tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--pages", type=int, default=300, metavar="N", help="at most")
    parser.add_argument(
        "--minutes", type=float, metavar="N", help="begin no other page after so many"
    )
    parser.add_argument(
        "--skip", type=int, default=0, metavar="N", help="leave out the first N"
    )
    parser.add_argument("--fit", action="store_true", help="fit on other pages")
    parser.add_argument(
        "--systems", nargs="*", metavar="NAME", help="to read all of these pages too"
    )
    parser.add_argument(
        "--long", type=int, metavar="N", help="a PDF file of so many pages instead"
    )
    parser.add_argument(
        "--cells", action="store_true", help="exchange cells alone, without readers"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="all numbers")
    options = parser.parse_args()
    if options.skip < 0:
        parser.error(f"--skip: expected 0 or more, found {options.skip}")
    from measuring import print_machine, table, write_json

    folder = options.folder / ("fit" if options.fit else "measured")
    folder.mkdir(parents=True, exist_ok=True)
    if options.long:
        print(table(long_file(folder, options.long)))
        print_machine()
        return
    sources = printable(page_sources(options.pages, options.fit)[options.skip :])
    if options.cells:
        print(table(exchanged_cells(folder, sources)))
        return
    end = time.monotonic() + 60 * (options.minutes or np.inf)
    others_wanted = others_of(options.systems)
    results = checked_pages(folder, sources, end, FIT_TEXTS if options.fit else 0)
    if options.fit:
        print(fitted(results))
        return
    for name, words in others_wanted.items():
        read_by(name, words, folder, results, end)
    print(f"{len(results)} of {len(sources)} pages")
    print(table(summary(results, readings_of(folder))))
    print(table(by_kind(results)))
    print(table(by_state(results)))
    print(others(results))
    print_machine()
    write_json(options.json, {"pages": results})


def checked_pages(
    folder: Path, sources: Sequence[PageSource], end: float, more: int = 0
) -> list[dict[str, Any]]:
    """What was found on each page, kept in FOLDER.

    Args:
        folder: to keep pages and results in.
        sources: the pages.
        end: by `time.monotonic`, when no other page is begun.
        more: texts of each page, see `check_page`.
    """
    kept = Rows(folder / "pages.jsonl")
    own = Rows(folder / "readings.jsonl")
    for number, name, source in sources:
        if name in kept.names or time.monotonic() > end:
            continue
        print(f"{number + 1}: {name}", file=sys.stderr)
        sheet = set_page(folder, name, source, number)
        page, words = check_page(sheet, number, more)
        own.add({"name": name, "system": OWN, "words": words})
        kept.add(page)
    wanted = {source.name for source in sources}
    return [judged(page) for page in kept.rows() if page["name"] in wanted]


class Rows:
    """A file with a line of JSON for each page, to which pages are added."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._mend()
        self.names = {row["name"] for row in self.rows()}

    def rows(self) -> Iterator[dict[str, Any]]:
        """All rows; a line that was cut when a run was stopped is left out."""
        if not self._path.exists():
            return
        with self._path.open(encoding="utf-8") as file:
            for line in file:
                with suppress(json.JSONDecodeError):
                    yield json.loads(line)

    def add(self, row: Mapping[str, Any]) -> None:
        """Write a row at once."""
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
        self.names.add(row["name"])

    def _mend(self) -> None:
        """End a line that was cut."""
        if self._path.exists() and self._path.read_bytes()[-1:] not in (b"", b"\n"):
            with self._path.open("a", encoding="utf-8") as file:
                file.write("\n")


def read_by(
    system: str,
    words: Callable[[Path], list[str]],
    folder: Path,
    pages: Sequence[Mapping[str, Any]],
    end: float,
) -> None:
    """Have another system read the pages that it has not read."""
    kept = Rows(folder / "readings.jsonl")
    done = {row["name"] for row in kept.rows() if row["system"] == system}
    for page in pages:
        if page["name"] in done or time.monotonic() > end:
            continue
        print(f"{system}: {page['name']}", file=sys.stderr)
        ending = "jpg" if page["state"] == "photographed" else "png"
        read = words(folder / f"{page['name']}.{ending}")
        kept.add({"name": page["name"], "system": system, "words": read})


def readings_of(folder: Path) -> dict[str, dict[str, list[str]]]:
    """The words that each system has read, by the names of pages."""
    found: dict[str, dict[str, list[str]]] = defaultdict(dict)
    for row in Rows(folder / "readings.jsonl").rows():
        found[row["system"]][row["name"]] = row["words"]
    return found


def judged(page: dict[str, Any]) -> dict[str, Any]:
    """What was found on a page, with what the weights of today make of the evidence."""
    for text in page["texts"]:
        pairs = zip(text["evidence"], text["absences"], strict=True)
        probabilities = [probability_of(*pair) for pair in pairs]
        text["probabilities"] = probabilities
        text["verdicts"] = [
            verdict_of(each) if parts else "absent"
            for each, parts in zip(probabilities, text["evidence"], strict=True)
        ]
    return page


def probability_of(parts: Sequence[Any], absence: Sequence[float] | None) -> float:
    """That a page says a word, from the evidence of its parts, or of its absence."""
    if parts:
        return together([Evidence(*each) for each in parts])
    return absent_probability(Absence(*absence)) if absence else 0.5  # a mark


def page_sources(most: int, fit: bool) -> list[PageSource]:
    """Pages of all kinds in turn."""
    folders = FIT_FOLDERS if fit else MEASURED_FOLDERS
    documents = [
        path for each in folders for path in sorted((HERE / each).glob("*.html"))
    ]
    texts = sorted((HERE / "languages").glob("*.txt"))
    texts = [path for path in texts if (path.stem in FIT_LANGUAGES) == fit]
    sources: list[tuple[str, str]] = []
    for turn in range(most):
        seed = 2 * turn + fit
        document = documents[turn % len(documents)]
        text = texts[turn % len(texts)]
        sources += [
            (f"{document.stem}-{turn}", document.read_text("utf-8")),
            (f"{text.stem}-{turn}", story(text, seed)),
            (f"receipt-{seed}", receipt(np.random.default_rng([1, seed]))),
            (f"form-{seed}", form(np.random.default_rng([2, seed]))),
        ]
        if len(sources) >= most:
            break
    return [PageSource(n, *source) for n, source in enumerate(sources[:most])]


def printable(sources: Sequence[PageSource]) -> list[PageSource]:
    """Pages in whose language a font is installed; Chromium prints boxes for others."""
    kept = []
    for source in sources:
        language = re.search(r'<html lang="(\w+)', source.html)
        if language is None or has_font(language[1]):
            kept.append(source)
        else:
            print(
                f"{source.name} is left out: no font has its letters", file=sys.stderr
            )
    return kept


def story(path: Path, seed: int) -> str:
    """A text in another order of its paragraphs."""
    title, *paragraphs = path.read_text("utf-8").strip().split("\n\n")
    np.random.default_rng(seed).shuffle(paragraphs)
    body = "".join(f"<p>{html.escape(each)}</p>" for each in paragraphs)
    return f'<html lang="{path.stem[:2]}"><body><h1>{html.escape(title)}</h1>{body}</body></html>'


@cache
def vocabulary() -> list[str]:
    """Words of the stories and documents, of four letters and more."""
    found: set[str] = set()
    for path in sorted((HERE / "languages").glob("*.txt")):
        if path.stem in MIXED:
            found |= set(re.findall(r"[^\W\d_]{4,}", path.read_text("utf-8")))
    return sorted(found)


def receipt(random: np.random.Generator) -> str:
    """A slip of random goods, with a sum that is right."""
    rows = []
    total = 0
    for _ in range(random.integers(6, 22)):
        count = int(random.integers(1, 5))
        price = int(random.integers(29, 4000))
        total += count * price
        name = " ".join(random.choice(vocabulary(), 2))
        rows.append((f"{count} x {name}", _amount(count * price)))
    rows += [
        ("Total", _amount(total)),
        ("VAT 19 %", _amount(round(total * 0.19 / 1.19))),
    ]
    cells = "".join(
        f'<tr><td>{a}</td><td class="number">{b}</td></tr>' for a, b in rows
    )
    shop = " ".join(random.choice(vocabulary(), 2)).upper()
    number = random.integers(10_000, 999_999)
    return (
        f'<html lang="en"><body><div class="slip"><p>{shop}<br>{random.choice(_NAMES)} Street '
        f"{random.integers(1, 200)}<br>Tel. 0{random.integers(10**8, 10**9)}</p>"
        f"<p>Receipt {number} Till {random.integers(1, 9)}<br>{_date(random)} "
        f"{random.integers(8, 20):02}:{random.integers(0, 60):02}</p>"
        f"<table>{cells}</table><p>You were served by {random.choice(_NAMES)}</p>"
        f"</div></body></html>"
    )


def form(random: np.random.Generator) -> str:
    """A form that is filled in, and a table of amounts."""
    labels = (
        "Name",
        "Street",
        "City",
        "Date of birth",
        "Customer number",
        "Contract from",
    )
    values = (
        f"{random.choice(_NAMES)}, {str(random.choice(vocabulary())).title()}",
        f"{str(random.choice(vocabulary())).title()} Road {random.integers(1, 150)}",
        f"{random.integers(10_000, 99_999)} {str(random.choice(vocabulary())).title()}",
        _date(random),
        f"K-{random.integers(10**6, 10**7)}",
        _date(random),
    )
    fields = "".join(
        f"<tr><th>{a}</th><td>{b}</td></tr>"
        for a, b in zip(labels, values, strict=True)
    )
    rows = "".join(
        f"<tr><td>{' '.join(random.choice(vocabulary(), 2))}</td><td>{_date(random)}</td>"
        f'<td class="number">{_amount(int(random.integers(100, 900_000)))}</td></tr>'
        for _ in range(random.integers(5, 18))
    )
    remarks = " ".join(random.choice(vocabulary(), random.integers(20, 60)))
    return (
        f'<html lang="en"><body><h1>Statement of {random.choice(vocabulary())}</h1>'
        f'<table class="ruled">{fields}</table><h2>Payments</h2><table class="ruled wide">'
        f"<tr><th>What</th><th>Date</th><th>Amount</th></tr>{rows}</table>"
        f"<p>Remarks: {remarks}.</p></body></html>"
    )


def _amount(cents: int) -> str:
    return f"{cents // 100:,}.{cents % 100:02}"


def _date(random: np.random.Generator) -> str:
    return f"{random.integers(1, 29):02}.{random.integers(1, 13):02}.{random.integers(1950, 2026)}"


def set_page(
    folder: Path, name: str, source: str, number: int, is_drawn: bool = True
) -> Sheet:
    """Print, and scan or photograph, a page with two words misspelled.

    Args:
        folder: for the PDF file and the picture; what is there already is kept.
        name: of the page.
        source: its HTML.
        number: of the page, which chooses its face, its state and its misspellings.
        is_drawn: whether there is a picture; else only the PDF file.
    """
    random = np.random.default_rng([3, number])
    source, corrections = misspelled(source, random)
    style = STYLES[(number // len(STATES)) % len(STYLES)]
    state = STATES[(number + number // 4) % len(STATES)]
    pdf = folder / f"{name}.pdf"
    picture = folder / f"{name}.{'jpg' if state == 'photographed' else 'png'}"
    if not pdf.exists():
        print_by_chromium([Printed(source, style, pdf, state, number)])
    if is_drawn and not picture.exists():
        page = drawn(pdf, DPI if state != "photographed" else 200)
        if state == "scanned":
            page = with_light_and_noise(page, random.uniform(-1.5, 1.5), random)
        elif state == "photographed":
            from bent_pages import photograph

            paper = np.asarray(page.convert("RGB"))
            page = photograph(paper, np.zeros(paper.shape[1]), random)
        page.save(picture)
    given = parse_text(_numbered(source), "html")
    blocks = []
    parts = []
    columns = []
    block = end = column = 0
    for word in given.words:
        between = given.text[end : word.start]
        is_new = bool(re.search(r"<(?!/?(b|i|em|strong|sup|sub|span)\b)", between))
        block += is_new
        end = word.end
        blocks.append(block)
        parts.append(_part(between, is_new or not blocks[1:]))
        begun = len(re.findall(r"<t[dh]\b", between.rpartition("<tr")[2]))
        column = begun if parts[-1] == "row" else column + begun
        columns.append(column)
    words = [word.text for word in given.words]
    spelled = {
        n: corrections[word] for n, word in enumerate(words) if word in corrections
    }
    cells = cells_of(parts, columns)
    return Sheet(name, state, picture, pdf, words, blocks, spelled, parts, cells)


def _part(between: str, is_block: bool) -> str:
    """What parts two words, by what HTML has between them."""
    if "<tr" in between:
        return "row"
    if re.search(r"<t[dh]\b", between):
        return "cell"
    return "line" if is_block else ""


def cells_of(parts: Sequence[str], columns: Sequence[int]) -> list[Cell]:
    """The cells of all tables, row by row.

    Args:
        parts: what parts each word from the one before.
        columns: of the cells that words are in.
    """
    cells: list[Cell] = []
    table = row = 0
    is_open = False
    for place, (part, column) in enumerate(zip(parts, columns, strict=True)):
        if part in ("row", "cell"):
            row += part == "row"
            table += not is_open
            is_open = True
            cells.append(Cell(table, row, column, (place,)))
        elif part == "line":
            is_open = False
        elif is_open:
            last = cells.pop()
            cells.append(replace(last, words=(*last.words, place)))
    return cells


def rearranged(sheet: Sheet, random: np.random.Generator) -> Sheet:
    """A page with its tables down their columns, or with these in another order."""
    goes_down = bool(random.integers(2))
    order = list(range(len(sheet.words)))
    part_of: dict[int, str] = {}  # of the first words of cells
    for _, group in groupby(sheet.cells, lambda cell: cell.table):
        cells = list(group)
        count = 1 + max(cell.column for cell in cells)
        places = random.permutation(count).tolist() if not goes_down else range(count)
        by_column = sorted(cells, key=lambda cell: places[cell.column])
        moved = by_column if goes_down else sorted(by_column, key=lambda cell: cell.row)
        start = cells[0].words[0]
        words = [word for cell in moved for word in cell.words]
        order[start : start + len(words)] = words
        for _, row in groupby(moved, lambda cell: cell.row):
            for number, cell in enumerate(row):
                in_row = "cell" if number else "row"
                part_of[cell.words[0]] = "line" if goes_down else in_row
    parts = [part_of.get(place, sheet.parts[place]) for place in order]
    return replace(sheet.in_order(order), parts=parts)


def _numbered(source: str) -> str:
    """HTML with the numbers of lists that a browser prints."""
    source = source.replace(
        "</span><span", "</span> <span"
    )  # as a flexible box parts them

    counts: list[int | None] = []  # of the lists that are open; None for bullets

    def numbered(found: re.Match[str]) -> str:
        end, tag = found[1], found[2]
        if tag == "li":
            if end or counts[-1] is None:
                return found[0]
            counts[-1] += 1
            return f"{found[0]}{counts[-1]}. "
        if end:
            counts.pop()
        else:
            counts.append(0 if tag == "ol" else None)
        return found[0]

    return re.sub(r"<(/?)(ol|ul|li)\b[^>]*>", numbered, source)


def misspelled(source: str, random: np.random.Generator) -> tuple[str, dict[str, str]]:
    """HTML with two long words misspelled, and how these should be spelled."""
    places = list(re.finditer(r"(?<=[ >])[^\W\d_]{7,}(?=[ <])(?![^<]*>)", source))
    body = source.find("<body")
    places = [found for found in places if found.start() > body]
    corrections = {}
    if len(places) < 4:
        return source, {}
    chosen = sorted(random.choice(len(places), 2, replace=False), reverse=True)
    for index in chosen:
        found = places[index]
        word = found[0]
        at = int(random.integers(1, len(word) - 2))
        wrong = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
        if wrong != word:
            corrections[wrong] = word
            source = source[: found.start()] + wrong + source[found.end() :]
    return source, corrections


def altered(sheet: Sheet, random: np.random.Generator) -> Altered:
    """A text of a page with 0 to 8 errors."""
    count = int(random.integers(0, MOST_ERRORS + 1))
    edits: dict[int, tuple[list[str], str]] = {}  # words in place of one, and the kind
    # Words that are added before one, and the kind
    before: dict[int, tuple[list[str], str]] = {}
    left_out: list[list[str]] = []
    kinds = random.permutation(list(ALTERATIONS))[:count]
    for kind in kinds:
        ALTERATIONS[kind](sheet, random, edits, before, left_out)
    return replace(with_edits(sheet, edits, before), left_out=left_out)


def with_edits(
    sheet: Sheet,
    edits: Mapping[int, tuple[list[str], str]],
    before: Mapping[int, tuple[list[str], str]],
) -> Altered:
    """A text of a page with words in place of some, and before some."""
    text = Altered()
    part = "line"
    for place, word in enumerate(sheet.words):
        part = max(part, sheet.parts[place], key=PARTS.index)
        for words, kind in (
            before.get(place, ([], "")),
            edits.get(place, ([word], "")),
        ):
            for each in words:
                text.words.append(each)
                text.kinds.append(kind)
                text.parts.append(part)
                part = ""
    return text


def plain_text(text: Altered) -> str:
    """A text as a person types it: a row of a table in a line."""
    between = {"": " ", "line": "\n", "cell": "  ", "row": "\n"}
    pairs = zip(text.words, text.parts, strict=True)
    return "".join(between[part] + word for word, part in pairs).strip()


def markdown(text: Altered) -> str:
    """A text as a language model writes it; without lines of dashes under headings of tables."""
    pieces = []
    is_open = False
    for word, part in zip(text.words, text.parts, strict=True):
        in_table = is_open if part in ("", "cell") else part == "row"
        if is_open and part in ("line", "row"):
            pieces.append(" |")
        before = {"": " ", "line": "\n\n", "cell": " | ", "row": "\n| "}[part]
        is_open = in_table
        pieces += [before, re.sub(r"([\\`*_~|<>\[\]#-])", r"\\\1", word)]
    return "".join(pieces).strip()


def given_text(text: Altered, version: int) -> GivenText:
    """A text as it is checked: Markdown, or plain where that would lose a mark."""
    if version == 1:
        given = parse_text(markdown(text), "markdown")
        if [word.text for word in given.words] == text.words:
            return given
    return parse_text(plain_text(text), "text")


def _word_edit(
    kind: str, edit: Callable[[str, np.random.Generator], str | None]
) -> Any:
    def alter(sheet: Sheet, random: np.random.Generator, edits: Any, *_: Any) -> None:
        for place in random.permutation(len(sheet.words))[:60].tolist():
            word = sheet.words[place]
            if place in edits or place in sheet.misspelled:
                continue
            new = edit(word, random)
            if new and plain(new).casefold() != plain(word).casefold():
                edits[place] = [new], kind
                return

    return alter


def _look_alike(word: str, random: np.random.Generator) -> str | None:
    able = [each for each in _LOOK_ALIKE if each in word]
    if not able or len(word) < 2:
        return None
    old = str(random.choice(able))
    return word.replace(old, _LOOK_ALIKE[old], 1)


def _letter(word: str, random: np.random.Generator) -> str | None:
    places = [n for n, each in enumerate(word) if each.isalpha()]
    if len(places) < 3:
        return None
    at = int(random.choice(places))
    return word[:at] + chr(ord("a") + int(random.integers(26))) + word[at + 1 :]


def _digit(word: str, random: np.random.Generator) -> str | None:
    places = [n for n, each in enumerate(word) if each in "0123456789"]
    if not places:
        return None
    at = int(random.choice(places))
    return (
        word[:at]
        + str((int(word[at]) + int(random.integers(1, 10))) % 10)
        + word[at + 1 :]
    )


def _amount_or_date(word: str, random: np.random.Generator) -> str | None:
    return _digit(word, random) if re.search(r"\d[.,]\d\d", word) else None


def _less_or_doubled(word: str, random: np.random.Generator) -> str | None:
    if len(word) < 4 or not word.isalpha():
        return None
    at = int(random.integers(len(word)))
    return word[:at] + word[at] * 2 * int(random.integers(2)) + word[at + 1 :]


def _near(word: str, random: np.random.Generator) -> str | None:
    first = _letter(word, random)
    return first and _letter(first, random)


def _other(word: str, random: np.random.Generator) -> str | None:
    same = [each for each in vocabulary() if len(each) == len(word)]
    return str(random.choice(same)) if same and word.isalpha() else None


def _name(word: str, random: np.random.Generator) -> str | None:
    is_name = re.fullmatch(r"[^\W\d_]{4,}", word) and word.istitle()
    return str(random.choice(_NAMES)) if is_name else None


def _corrected(sheet: Sheet, random: np.random.Generator, edits: Any, *_: Any) -> None:
    places = [place for place in sheet.misspelled if place not in edits]
    if places:
        place = int(random.choice(places))
        edits[place] = [sheet.misspelled[place]], "misspelling corrected"


def _stretch(sheet: Sheet, random: np.random.Generator, edits: Any) -> range | None:
    """Six to eleven words of a block."""
    for start in random.permutation(len(sheet.words))[:60].tolist():
        end = start + int(random.integers(6, 12))
        inside = sheet.blocks[start:end]
        is_free = not any(place in edits for place in range(start, end))
        if end <= len(sheet.words) and inside[-1] - inside[0] <= 3 and is_free:
            return range(start, end)
    return None


def _left_out(
    sheet: Sheet, random: np.random.Generator, edits: Any, _: Any, left_out: Any
) -> None:
    places = _stretch(sheet, random, edits)
    if places:
        left_out.append([sheet.words[place] for place in places])
        edits.update({place: ([], "line left out") for place in places})


def _twice(
    sheet: Sheet, random: np.random.Generator, edits: Any, before: Any, _: Any
) -> None:
    places = _stretch(sheet, random, edits)
    if places and places.stop < len(sheet.words) and places.stop not in before:
        # Either of both copies is too many
        before[places.stop] = [sheet.words[place] for place in places], "line twice"
        edits.update({place: ([sheet.words[place]], "line twice") for place in places})


def _invented(
    sheet: Sheet, random: np.random.Generator, edits: Any, before: Any, _: Any
) -> None:
    place = int(random.integers(1, len(sheet.words)))
    if place not in edits and place not in before:
        before[place] = str(random.choice(_INVENTED)).split(), "invented"


def _paraphrased(
    sheet: Sheet, random: np.random.Generator, edits: Any, *_: Any
) -> None:
    places = _stretch(sheet, random, edits)
    if places:
        words = random.choice(vocabulary(), len(places)).tolist()
        for place, word in zip(places, words, strict=True):
            if key(word) != key(sheet.words[place]):
                edits[place] = [word], "paraphrased"


def _exchanged(sheet: Sheet, random: np.random.Generator, edits: Any, *_: Any) -> None:
    by_place = {(cell.table, cell.row, cell.column): cell for cell in sheet.cells}
    pairs = []
    # Within a row only where columns are in their order
    is_in_order = [each.words for each in sheet.cells] == sorted(
        each.words for each in sheet.cells
    )
    steps = ((1, 0), (0, 1)) if is_in_order else ((1, 0),)
    for cell in sheet.cells:
        for row, column in steps:
            other = by_place.get((cell.table, cell.row + row, cell.column + column))
            if other and _may_be_exchanged(sheet, cell, other, edits):
                pairs.append((cell, other))
    if not pairs:
        return
    one, other = pairs[int(random.integers(len(pairs)))]
    for here, there in ((one, other), (other, one)):
        words = [sheet.words[place] for place in there.words]
        edits.update({place: ([], "cells exchanged") for place in here.words})
        edits[here.words[0]] = words, "cells exchanged"


def _may_be_exchanged(sheet: Sheet, one: Cell, other: Cell, edits: Any) -> bool:
    """Whether two cells are short, hold other words, and are not the names of their rows."""
    texts = [{key(sheet.words[place]) for place in cell.words} for cell in (one, other)]
    is_free = not any(place in edits for place in (*one.words, *other.words))
    is_short = max(len(one.words), len(other.words)) <= 4
    return is_free and is_short and one.column > 1 and not texts[0] & texts[1]


ALTERATIONS: Mapping[str, Callable[..., None]] = {
    "look-alike": _word_edit("look-alike", _look_alike),
    "letter": _word_edit("letter", _letter),
    "digit": _word_edit("digit", _digit),
    "amount or date": _word_edit("amount or date", _amount_or_date),
    "letter less or doubled": _word_edit("letter less or doubled", _less_or_doubled),
    "near word": _word_edit("near word", _near),
    "other word": _word_edit("other word", _other),
    "name": _word_edit("name", _name),
    "misspelling corrected": _corrected,
    "line left out": _left_out,
    "line twice": _twice,
    "invented": _invented,
    "paraphrased": _paraphrased,
    "cells exchanged": _exchanged,
}


class _Recording(PageChecker):
    """Keeps the evidence of the last text, also of the words that have no place."""

    def _evidence(
        self,
        groups: Sequence[Group],
        texts: Sequence[str],
        page_words: Sequence[PageWord],
        picture: Callable[[int], Image.Image],
    ) -> Any:
        self.last = super()._evidence(groups, texts, page_words, picture)
        self.absences = absences(groups, texts, page_words)
        return self.last


@cache
def checker() -> _Recording:
    """What checks, opened once."""
    return _Recording(load_checking_reader())


def check_page(
    sheet: Sheet, number: int, more: int = 0
) -> tuple[dict[str, Any], list[str]]:
    """What is found in three texts of a page, and the words that are read on it.

    Args:
        sheet: the page.
        number: of the page, which chooses the errors.
        more: other texts, of which only the words that have no place are kept.
    """
    picture = Image.open(sheet.picture).convert("RGB")
    began = time.process_time()
    page = checker()._reader.read(picture)
    read = time.process_time() - began
    texts = []
    for version in range(TEXTS):
        text, given = text_of(sheet, number, version)
        began = time.process_time()
        found = checker().compare(picture, page, given)
        seconds = time.process_time() - began
        evidence = [_values(checker().last.get(n, ())) for n in range(len(text.words))]
        steps = counted_steps(page, given)
        missing = {key(word.text) for word in found.missing}
        shown = missing | words_instead(found)
        texts.append(
            {
                "words": text.words,
                "kinds": text.kinds,
                "found": [word.found for word in found.words],
                "evidence": evidence,
                "absences": _listed(checker().absences, len(text.words)),
                "left_out": [_share_in(missing, line) for line in text.left_out],
                "left_out_shown": [_share_in(shown, line) for line in text.left_out],
                "missing": [word.text for word in found.missing],
                "left_out_words": sum(map(len, text.left_out)),
                "seconds": seconds,
                "steps": steps,
            }
        )
    others = range(TEXTS, TEXTS + more)
    row = {
        "name": sheet.name,
        "state": sheet.state,
        "seconds": read,
        "texts": texts,
        "absences": [unplaced(page, *text_of(sheet, number, n)) for n in others],
        "overlaps": box_overlaps(sheet, page) if sheet.state == "printed" else [],
    }
    return row, page.text.split()


def words_instead(found: Checked) -> set[str]:
    """What is read in place of the words of a text that are contradicted."""
    wrong = [word for word in found.words if word.verdict == "contradicted"]
    return {key(part) for word in wrong for part in (word.found or "").split()}


def _share_in(words: Container[str], line: Sequence[str]) -> float:
    return float(np.mean([key(word) in words for word in line]))


def text_of(sheet: Sheet, number: int, version: int) -> tuple[Altered, GivenText]:
    """A text of a page with errors, and how it is given: plain, Markdown, or rearranged."""
    random = np.random.default_rng([4, number, version])
    way = version % TEXTS
    own = rearranged(sheet, random) if way == 2 else sheet
    text = altered(own, random)
    return text, given_text(text, way)


def unplaced(page: Page, text: Altered, given: GivenText) -> dict[str, Any]:
    """What is known of the words of a text that have no place on a page."""
    printed = list(words_of(page, 1))
    groups = match_words(text.words, printed, given.begin_lines())
    known = absences(groups, text.words, printed)
    return {"kinds": text.kinds, "absences": _listed(known, len(text.words))}


def _listed(values: Mapping[int, Any], count: int) -> list[Any]:
    """Values by their numbers, and None where there is none."""
    return [values.get(number) for number in range(count)]


def counted_steps(page: Page, given: GivenText) -> list[list[int]]:
    """How often a text takes each `Step`, within its lines and from line to line."""
    printed = list(words_of(page, 1))
    begin_lines = given.begin_lines()
    groups = find_words([word.text for word in given.words], printed, begin_lines)
    counts = np.zeros((2, len(Step)), int)
    for begins, step in steps_of(groups, printed, begin_lines):
        counts[int(begins), step] += 1
    found: list[list[int]] = counts.tolist()
    return found


def _values(parts: Sequence[tuple[Any, Evidence]]) -> list[Any]:
    return [astuple(each) for _, each in parts]


def others_of(names: Sequence[str] | None) -> dict[str, Callable[[Path], list[str]]]:
    """What else is installed and wanted."""
    systems: dict[str, Callable[[Path], list[str]]] = {}
    if which("tesseract"):
        systems["Tesseract"] = tesseract
    if find_spec("rapidocr"):
        systems["RapidOCR"] = rapidocr
    unknown = {*(names or ())} - systems.keys()
    if unknown:
        known = ", ".join(systems) or "none"
        wanted = ", ".join(sorted(unknown))
        raise SystemExit(
            f"checking.py: --systems {wanted}: not installed; those that are: {known}"
        )
    return {name: systems[name] for name in systems if name in (names or ())}


def tesseract(picture: Path) -> list[str]:
    """The words that Tesseract reads, with the data of the languages of the page."""
    from printed_languages import TESSERACT

    data = {**TESSERACT, "it": "ita"}
    named = [part for part in picture.stem.split("-") if part in data]
    language = "+".join(data[each] for each in named or MIXED)
    command = ["tesseract", str(picture), "-", "--psm", "1", "-l"]
    found = subprocess.run([*command, language], check=False, capture_output=True)
    if found.returncode:
        found = subprocess.run([*command, "eng"], check=True, capture_output=True)
    return found.stdout.decode().split()


@cache
def _rapidocr() -> Any:
    from rapidocr import RapidOCR

    return RapidOCR()


def rapidocr(picture: Path) -> list[str]:
    """The words that RapidOCR reads."""
    return " ".join(_rapidocr()(str(picture)).txts or ()).split()


def differing(words: Sequence[str], read: Sequence[str]) -> list[bool]:
    """Which words of a text a comparison with what was read shows as changed."""
    one = [plain(word) for word in words]
    other = [plain(word) for word in read]
    flagged = np.ones(len(one), bool)
    for block in SequenceMatcher(None, one, other, False).get_matching_blocks():
        flagged[block.a : block.a + block.size] = False
    return flagged.tolist()


def box_overlaps(sheet: Sheet, page: Any) -> list[tuple[float, float]]:
    """Intersections over unions with true boxes, of words that a page has once.

    The first is of the boxes of `check` with ink, the second of those of pages with faces.
    """
    truth: dict[str, list[Any]] = defaultdict(list)
    for text, ink, face in true_words(sheet.pdf):
        truth[text].append((ink, face))
    found: dict[str, list[Any]] = defaultdict(list)
    for each in words_of(page, 1):
        found[each.word.text].append((each.box(), each.word.box))
    overlaps = []
    for text, boxes in truth.items():
        if len(boxes) == len(found.get(text, ())) == 1:
            ink, face = map(_overlap, boxes[0], found[text][0])
            overlaps.append((ink, face))
    return overlaps


def true_words(pdf: Path) -> list[tuple[str, Box, Box]]:
    """The words of a page as printed, with their boxes in pixels.

    The first is that of the ink, the second as wide, from ascenders to descenders of the face.
    """
    import pypdfium2

    page = pypdfium2.PdfDocument(pdf)[0]
    height = page.get_height()
    letters = page.get_textpage()
    words: list[tuple[str, list[Any], list[Any]]] = [("", [], [])]
    for index in range(letters.count_chars()):
        letter = letters.get_text_range(index, 1)
        if not letter.isprintable() or letter.isspace():
            words.append(("", [], []))
            continue
        text, ink, face = words.pop()
        ink.append(letters.get_charbox(index))
        face.append(letters.get_charbox(index, loose=True))
        words.append((text + letter, ink, face))
    found = []
    for text, ink, face in words:
        if not text:
            continue
        own, high = _around(ink, height), _around(face, height)
        found.append((text, own, Box(own.left, high.top, own.right, high.bottom)))
    return found


def _around(sides: Sequence[tuple[float, ...]], height: float) -> Box:
    """The box of letters, given as left, bottom, right and top in points from below."""
    left, bottom, right, top = zip(*sides, strict=True)
    points = min(left), height - max(top), max(right), height - min(bottom)
    return Box(*(DPI / 72 * each for each in points))


def _overlap(one: Any, other: Any) -> float:
    width = min(one.right, other.right) - max(one.left, other.left)
    height = min(one.bottom, other.bottom) - max(one.top, other.top)
    shared = max(0.0, width) * max(0.0, height)
    areas = [(b.right - b.left) * (b.bottom - b.top) for b in (one, other)]
    return shared / (sum(areas) - shared)


def exchanged_cells(folder: Path, sources: Sequence[PageSource]) -> list[list[str]]:
    """What is found of exchanged cells where all words are read, in three orders of a text."""
    counts: dict[str, np.ndarray] = defaultdict(lambda: np.zeros(4, int))
    for number, name, source in sources:
        if "<td" not in source:
            continue
        print(f"{number + 1}: {name}", file=sys.stderr)
        sheet = set_page(folder, name, source, number, is_drawn=False)
        printed = list(words_of(page_as_printed(sheet), 1))
        for seed in range(_EXCHANGES):
            random = np.random.default_rng([5, number, seed])
            moved = rearranged(sheet, random)
            parts = [part for part in moved.parts if part == "row"]
            other = "columns in another order" if parts else "down columns"
            for order, own in (("as printed", sheet), (other, moved)):
                counts[order] += _outcomes(own, printed, random)
    rows = [["order", "right words", "taken for exchanged", "exchanged words", "found"]]
    for order, (right, wrong, altered_words, found) in sorted(counts.items()):
        shares = wrong / right, found / max(1, altered_words)
        rows.append(
            [
                order,
                f"{right:,}",
                f"{shares[0]:.2%}",
                f"{altered_words:,}",
                f"{shares[1]:.1%}",
            ]
        )
    return rows


def page_as_printed(sheet: Sheet) -> Page:
    """A page with the text of its PDF file, in reading order."""
    from vit_str.pages.pictures import PageOptions, pictures_in
    from vit_str.pages.read.own_text import page_of_text

    options = PageOptions(resolution=DPI, text_layer=True)
    page = page_of_text(next(pictures_in(str(sheet.pdf), options)))
    assert page is not None
    return page


def _outcomes(
    sheet: Sheet, printed: Sequence[PageWord], random: np.random.Generator
) -> np.ndarray:
    """Words of a right text, and of these not at their own; exchanged words, and of these found."""
    edits: dict[int, tuple[list[str], str]] = {}
    _exchanged(sheet, random, edits)
    right = Altered(sheet.words, [""] * len(sheet.words), sheet.parts)
    at_home = _at_their_own(right, printed)
    text = with_edits(sheet, edits, {})
    exchanged = np.array(text.kinds) != ""
    found = exchanged & ~_at_their_own(text, printed)
    return np.array([len(at_home), (~at_home).sum(), exchanged.sum(), found.sum()])


def _at_their_own(text: Altered, printed: Sequence[PageWord]) -> np.ndarray:
    """Whether each word of a text stands for the same word of a page, or a part of it."""
    words = [each.word.text for each in printed]
    given = parse_text(plain_text(text), "text")
    groups = match_words(text.words, printed, given.begin_lines())
    own = np.zeros(len(text.words), bool)
    for places, page in groups:
        one = "".join(key(text.words[place]) for place in places)
        own[list(places)] = one == "".join(key(words[place]) for place in page)
    return own


def long_file(folder: Path, count: int) -> list[list[str]]:
    """How time and memory grow with the pages of a file, from the printed ones of a folder."""
    import pypdfium2

    printed = sorted(path.with_suffix(".pdf") for path in folder.glob("*.png"))
    if not printed:
        raise SystemExit("checking.py: no pages yet; run without --long first")
    texts = {path: true_words(path) for path in printed}
    pages = list(islice(cycle(printed), count))
    rows = [["what", "pages", "words", "seconds", "MiB"]]
    for some in (count // 4, count):
        words = [texts[path] for path in pages[:some]]
        total = sum(map(len, words))
        seconds = _seconds_to_compare(words)
        rows.append(["compare words", str(some), f"{total:,}", f"{seconds:.1f}", ""])
    file = pypdfium2.PdfDocument.new()
    for path in pages:
        file.import_pages(pypdfium2.PdfDocument(path))
    long = folder / "long.pdf"
    file.save(long)
    text = folder / "long.txt"
    for some in (_READ_PAGES // 2, _READ_PAGES):
        words = [[word for word, *_ in texts[path]] for path in pages[:some]]
        text.write_text("\n".join(map(" ".join, words)), "utf-8")
        asked = ["--pages", f"1-{some}"]
        commands = {
            "read --page": ["read", "--page", str(long), *asked],
            "check": ["check", str(long), str(text), *asked, "--dpi", "150"],
        }
        for name, command in commands.items():
            seconds, peak = _cost_of([sys.executable, "-m", "vit_str", *command])
            total = sum(map(len, words))
            rows.append(
                [name, str(some), f"{total:,}", f"{seconds:.1f}", f"{peak:.0f}"]
            )
    return rows


def _seconds_to_compare(pages: Sequence[Sequence[tuple[str, Box, Box]]]) -> float:
    """How long it takes to find all words of a text, one in fifty of which is another."""
    printed = []
    for number, page in enumerate(pages, 1):
        for word, _, (left, top, right, bottom) in page:
            is_new = not printed or left < printed[-1].word.box.right
            line = is_new + (printed[-1].line if printed else 0)
            corners = (left, top), (right, top), (right, bottom), (left, bottom)
            own = Word(word, 1.0, corners)
            printed.append(PageWord(own, number, 1.0, (9.0, 9.0), line))
    random = np.random.default_rng(0)
    texts = [each.word.text for each in printed]
    for place in random.choice(len(texts), len(texts) // 50, replace=False):
        texts[place] = str(random.choice(vocabulary()))
    began = time.process_time()
    match_words(texts, printed)
    return time.process_time() - began


def _cost_of(command: Sequence[str]) -> tuple[float, float]:
    """Seconds of processor time and MiB of memory that a command takes."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, _, used = os.wait4(process.pid, 0)
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


@dataclass(frozen=True)
class Outcomes:
    """What was found of all words that count, in the order of pages, texts and words.

    Of two copies of a word, that with the higher probability does not count.

    Attributes:
        counted: which of all words these are.
        kinds: of the errors, empty for words that were not altered.
        probabilities: that the page says so.
        doubted: whether the verdict is another than confirmed.
        pages: the number of the page of each word.
    """

    counted: np.ndarray
    kinds: np.ndarray
    probabilities: np.ndarray
    doubted: np.ndarray
    pages: np.ndarray

    @classmethod
    def of(cls, results: Sequence[Any]) -> "Outcomes":
        """Those of pages."""
        texts = [text for page in results for text in page["texts"]]
        counted = np.concatenate([_counted(text) for text in texts])
        kinds = np.array([kind for text in texts for kind in text["kinds"]], object)
        probabilities = np.array([p for text in texts for p in text["probabilities"]])
        verdicts = np.array([v for text in texts for v in text["verdicts"]], object)
        pages = [n for n, page in enumerate(results) for text in page["texts"]]
        lengths = [len(text["words"]) for text in texts]
        return cls(
            counted=counted,
            kinds=kinds[counted],
            probabilities=probabilities[counted],
            doubted=verdicts[counted] != "confirmed",
            pages=np.repeat(pages, lengths)[counted],
        )

    @property
    def altered(self) -> np.ndarray:
        """Which words are errors."""
        return self.kinds != ""

    def below(self, share: float) -> np.ndarray:
        """Which words are less probable than a share of the unaltered ones on other pages.

        These are the pages of the other half, in turns of all kinds; all, if there are so few.
        """
        half = self.pages // KINDS_OF_PAGES % 2
        found = np.zeros(len(half), bool)
        for own in (half == 0, half == 1):
            others = ~own if (~own).any() else own
            usual = self.probabilities[others & ~self.altered]
            least = np.quantile(usual, share, method="lower")
            found[own] = self.probabilities[own] < least
        return found

    def share(self, flagged: np.ndarray, which: np.ndarray, digits: int = 1) -> str:
        """The share of flagged words, in percent, with its interval over pages."""
        pages = np.unique(self.pages[which], return_inverse=True)[1]
        numbers = np.bincount(pages).astype(float)
        counts = np.bincount(pages, flagged[which])
        low, high = bootstrap_interval(counts, numbers)
        shown = (counts.sum() / numbers.sum(), low, high)
        value, low_shown, high_shown = (f"{100 * each:.{digits}f}" for each in shown)
        return f"{value} [{low_shown}, {high_shown}]"


def _counted(text: Mapping[str, Any]) -> np.ndarray:
    """Which words of a text count."""
    counted = np.ones(len(text["words"]), bool)
    copies = np.flatnonzero(np.array(text["kinds"], object) == "line twice")
    first, second = np.split(copies, [len(copies) // 2])
    probabilities = np.array(text["probabilities"])
    is_first = probabilities[first] > probabilities[second]
    counted[np.where(is_first, first, second)] = False
    return counted


LEFT_OUT = {
    "line left out, missing": "left_out",
    "line left out, missing or in place of contradicted words": "left_out_shown",
}
"""How lines that were left out are found, and what the shares of their words are called."""
SHARES = (0.01, 0.002)
"""False alarms that thresholds are chosen for."""
PROBABILITIES = (0.003, 0.01, 0.03)
"""Thresholds that are the same for all pages."""


def summary(
    results: Sequence[Any], readings: Mapping[str, Mapping[str, list[str]]]
) -> list[list[str]]:
    """A row for each system, of the pages that it has read; shares in percent, by pages."""
    words = Outcomes.of(results)
    titles = ["false alarms", "altered words found", "altered", "unaltered", "pages"]
    rows = [["system", *titles]]
    for share in SHARES:
        name = f"check, threshold for {share:.1%}"
        rows.append(_summary_row(name, words, words.below(share)))
    for most in PROBABILITIES:
        flagged = words.probabilities < most
        rows.append(_summary_row(f"check, below {most}", words, flagged))
    rows.append(_summary_row("check, not confirmed", words, words.doubted))
    for name, read in readings.items():
        pages = [page for page in results if page["name"] in read]
        if pages:
            own = Outcomes.of(pages)
            texts = [(text, page["name"]) for page in pages for text in page["texts"]]
            flagged = [differing(text["words"], read[page]) for text, page in texts]
            flags = np.concatenate(flagged)[own.counted]
            rows.append(_summary_row(f"difference to {name}", own, flags))
    return rows


def _summary_row(name: str, words: Outcomes, flagged: np.ndarray) -> list[str]:
    altered = words.altered
    return [
        name,
        words.share(flagged, ~altered, digits=2),
        words.share(flagged, altered),
        f"{altered.sum():,}",
        f"{(~altered).sum():,}",
        f"{len(np.unique(words.pages))}",
    ]


def by_kind(results: Sequence[Any]) -> list[list[str]]:
    """What is found of each kind of error, in percent, with intervals over pages."""
    words = Outcomes.of(results)
    flags = [*map(words.below, SHARES), words.doubted]
    rows = [["error", "n", *(f"found at {s:.1%}" for s in SHARES), "not confirmed"]]
    for kind in sorted({*words.kinds} - {""}):
        own = words.kinds == kind
        shares = [words.share(flagged, own) for flagged in flags]
        rows.append([kind, f"{own.sum():,}", *shares])
    texts = [text for page in results for text in page["texts"]]
    for name, what in LEFT_OUT.items():
        lines = [share for text in texts for share in text[what]]
        count = sum(share >= 0.5 for share in lines)
        found = percent(count / max(1, len(lines)), wilson_interval(count, len(lines)))
        rows.append([name, f"{len(lines)}", "", "", found])
    return rows


def by_state(results: Sequence[Any]) -> list[list[str]]:
    """What is not confirmed of pages that are printed, scanned and photographed, in percent."""
    rows = [["pages", "n", "false alarms", "altered words found", "calibration error"]]
    for state in STATES:
        pages = [page for page in results if page["state"] == state]
        if not pages:
            continue
        words = Outcomes.of(pages)
        altered = words.altered
        error = calibration_error(~altered, words.probabilities)
        alarms = words.share(words.doubted, ~altered, digits=2)
        found = words.share(words.doubted, altered)
        rows.append([state, str(len(pages)), alarms, found, f"{error:.4f}"])
    return rows


def others(results: Sequence[Any]) -> str:
    """Boxes, time, calibration, and words that are missing by mistake."""
    words = Outcomes.of(results)
    count = len(words.kinds)
    overlaps = np.array([each for page in results for each in page["overlaps"]])
    boxes = [
        f"boxes of {name}: {(own >= 0.8).mean():.1%} of {len(own):,} overlap by 0.8 or more, "
        f"median {np.median(own):.2f}"
        for name, own in zip(("ink", "face"), overlaps.T, strict=False)
    ]
    read = sum(page["seconds"] for page in results)
    checked = sum(text["seconds"] for page in results for text in page["texts"]) / TEXTS
    texts = [text for page in results for text in page["texts"]]
    extra = sum(max(0, len(t["missing"]) - t["left_out_words"]) for t in texts)
    error = calibration_error(~words.altered, words.probabilities)
    lines = [
        *boxes,
        f"time: {1 + checked / read:.2f} of reading the page",
        f"expected calibration error: {error:.4f}",
        f"missing by mistake: {extra / count:.2%} of {count:,} words",
    ]
    return "\n".join(lines)


def calibration_error(
    right: np.ndarray, probabilities: np.ndarray, bins: int = 15
) -> float:
    """Expected calibration error over bins of one width (Guo et al. 2017)."""
    place = np.minimum((probabilities * bins).astype(int), bins - 1)
    error = 0.0
    for each in range(bins):
        own = place == each
        if own.any():
            error += own.mean() * abs(right[own].mean() - probabilities[own].mean())
    return error


def fitted(results: Sequence[Any]) -> str:
    """Weights of what decides: of words as read, of others, and of those without a place."""
    rows: dict[str, list[tuple[Sequence[float], bool]]] = defaultdict(list)
    for page in results:
        for text in page["texts"]:
            pairs = zip(text["kinds"], text["evidence"], strict=True)
            for kind, parts in pairs:
                if kind != "line twice" and len(parts) == 1:
                    evidence = Evidence(*parts[0])
                    name = "_SAME" if evidence.is_same else "_OTHER"
                    rows[name].append((evidence.features, not kind))
        for text in [*page["texts"], *page["absences"]]:
            rows["_ABSENT"] += absent_words(text)
    lines = []
    for name, own in rows.items():
        values = np.array([features for features, _ in own])
        right = np.array([each for _, each in own])
        counts = f"{len(own)} words, {(~right).sum()} wrong"
        if len(set(right.tolist())) < 2:
            lines.append(f"{name}: {counts}")
            continue
        shown = ", ".join(f"{each:.3f}" for each in _weights(values, right))
        lines.append(f"{name} = ({shown}): {counts}")
    steps = np.sum([text["steps"] for page in results for text in page["texts"]], 0)
    for where, counts in zip(("within lines", "to new lines"), steps, strict=True):
        shares = ", ".join(f"{each:.4f}" for each in counts / counts.sum())
        lines.append(f"steps {where}: {shares} of {counts.sum():,}")
    return "\n".join(lines)


def absent_words(text: Mapping[str, Any]) -> list[tuple[Sequence[float], bool]]:
    """What is known of words without a place, and whether the page has them.

    A copy is wrong if the other one has a place; if neither has, one is right, nobody knows which.
    """
    copies = [n for n, kind in enumerate(text["kinds"]) if kind == "line twice"]
    half = len(copies) // 2
    twins = dict(zip(copies, copies[half:] + copies[:half], strict=True))
    found = []
    for place, absence in enumerate(text["absences"]):
        has_twin = place in twins and text["absences"][twins[place]] is None
        if absence is not None and (has_twin or place not in twins):
            found.append((absence, not text["kinds"][place]))
    return found


def _weights(values: np.ndarray, right: np.ndarray) -> list[float]:
    """Intercept and weights of a logistic regression; what would count against a text is 0."""
    from sklearn.linear_model import LogisticRegression

    kept = list(range(values.shape[1]))
    while kept:
        model = LogisticRegression(C=1.0).fit(values[:, kept], right)
        against = int(model.coef_[0].argmin())
        if model.coef_[0][against] >= 0:
            weights = np.zeros(values.shape[1])
            weights[kept] = model.coef_[0]
            return [float(model.intercept_[0]), *weights.tolist()]
        kept.pop(against)
    share = right.mean()
    return [float(np.log(share / (1 - share))), *[0.0] * values.shape[1]]


if __name__ == "__main__":
    main()
