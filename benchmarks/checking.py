"""What `vit-str check` finds: texts with errors that are known, against pages set by a browser.

    python benchmarks/checking.py FOLDER [--pages N] [--json FILE] [--systems NAME ...]
    python benchmarks/checking.py FOLDER --fit

Letters, reports, tables, forms and receipts (the HTML of ``benchmarks/documents`` and its
neighbors, stories in thirteen languages, and receipts and forms of random words and amounts), set
by Chromium in several faces, a third as printed, a third scanned in software and a third
photographed in software. Two long words of every page are misspelled in print. Every page is
checked against three texts: its own words with 0 to 8 errors of twelve kinds. A text has its words
in the order of the HTML, which is not always that of the page.

An altered word counts as found if its probability is below a threshold at which 1 (or 0.2) in 100
of the unaltered words have one; a line that was left out, if half of its words are missing. Beside
it is what people do today: the words of the text that a comparison of words in order (difflib) with
what was read finds changed, for ``vit-str read --page``, Tesseract and RapidOCR. These have no
threshold: their share of false alarms stands beside what they find. Boxes are compared with those
in the PDF files, on pages as printed.

``--fit`` fits the weights and thresholds of ``vit_str/reading/checking/judging.py`` on other
documents, languages and random pages than are measured. FOLDER keeps pages and results.
"""

import argparse
import html
import json
import re
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from difflib import SequenceMatcher
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from typing import Any

import numpy as np
from page_structure import (
    STYLES,
    Printed,
    drawn,
    print_by_chromium,
    with_light_and_noise,
)
from PIL import Image

from vit_str.reading.checking.alignment import Group
from vit_str.reading.checking.checker import PageChecker, load_checking_reader
from vit_str.reading.checking.judging import (
    Evidence,
    absent_probability,
    together,
    verdict_of,
)
from vit_str.reading.checking.places import PageWord
from vit_str.reading.checking.spelling import key, plain
from vit_str.reading.checking.texts import parse_text

HERE = Path(__file__).parent
FIT_FOLDERS = ("documents", "documents-office")
MEASURED_FOLDERS = ("documents-fresh", "documents-more", "documents-unseen")
FIT_LANGUAGES = ("de", "en", "es", "ru", "tr", "el")
STATES = ("printed", "scanned", "photographed")
DPI = 150
TEXTS = 3  # of a page
MOST_ERRORS = 8
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


@dataclass
class Altered:
    """A text of a page with errors."""

    words: list[str] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)  # of each word, empty if unaltered
    left_out: list[list[str]] = field(default_factory=list)


def main() -> None:
    """Set pages, alter their texts, check them, and print tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--pages", type=int, default=300, metavar="N", help="at most")
    parser.add_argument("--fit", action="store_true", help="fit on other pages")
    parser.add_argument("--systems", nargs="*", metavar="NAME", help="to compare with")
    parser.add_argument("--json", type=Path, metavar="FILE", help="all numbers")
    options = parser.parse_args()
    from measuring import print_machine, table, write_json

    folder = options.folder / ("fit" if options.fit else "measured")
    folder.mkdir(parents=True, exist_ok=True)
    results = list(checked_pages(folder, options.pages, options.fit, options.systems))
    if options.fit:
        print(fitted(results))
        return
    print(table(summary(results)))
    print(table(by_kind(results)))
    print(others(results))
    print_machine()
    write_json(options.json, results)


def checked_pages(
    folder: Path, most: int, fit: bool, systems: Sequence[str] | None
) -> Iterator[dict[str, Any]]:
    """What was found on each page, kept in FOLDER."""
    sources = page_sources(most, fit)
    for number, (name, source) in enumerate(sources):
        kept = folder / f"{name}.json"
        if not kept.exists():
            print(f"{number + 1} of {len(sources)}: {name}", file=sys.stderr)
            sheet = set_page(folder, name, source, number)
            kept.write_text(json.dumps(check_page(sheet, number, systems)), "utf-8")
        yield judged(json.loads(kept.read_text("utf-8")))


def judged(page: dict[str, Any]) -> dict[str, Any]:
    """What was found on a page, with what the weights of today make of the evidence."""
    for text in page["texts"]:
        words = zip(text["words"], text["evidence"], strict=True)
        probabilities = [probability_of(word, parts) for word, parts in words]
        text["probabilities"] = probabilities
        text["verdicts"] = [
            verdict_of(each) if parts else "absent"
            for each, parts in zip(probabilities, text["evidence"], strict=True)
        ]
    return page


def probability_of(word: str, parts: Sequence[Any]) -> float:
    """That a page says a word, from the evidence of its parts."""
    if parts:
        return together([Evidence(*each) for each in parts])
    is_mark = not any(map(str.isalnum, word))
    return 0.5 if is_mark else absent_probability()


def page_sources(most: int, fit: bool) -> list[tuple[str, str]]:
    """Names and HTML of pages, of all kinds in turn."""
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
    return sources[:most]


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
        if path.stem in {"de", "en", "fr", "es", "pl", "cs"}:
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


def set_page(folder: Path, name: str, source: str, number: int) -> Sheet:
    """Print, and scan or photograph, a page with two words misspelled."""
    random = np.random.default_rng([3, number])
    source, corrections = misspelled(source, random)
    style = STYLES[(number // len(STATES)) % len(STYLES)]
    state = STATES[(number + number // 4) % len(STATES)]
    pdf = folder / f"{name}.pdf"
    picture = folder / f"{name}.{'jpg' if state == 'photographed' else 'png'}"
    if not picture.exists():
        print_by_chromium([Printed(source, style, pdf)])
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
    block = 0
    end = 0
    for word in given.words:
        between = given.text[end : word.start]
        block += bool(re.search(r"<(?!/?(b|i|em|strong|sup|sub|span)\b)", between))
        end = word.end
        blocks.append(block)
    words = [word.text for word in given.words]
    spelled = {
        n: corrections[word] for n, word in enumerate(words) if word in corrections
    }
    return Sheet(name, state, picture, pdf, words, blocks, spelled)


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
    text = Altered(left_out=left_out)
    for place, word in enumerate(sheet.words):
        added, kind = before.get(place, ([], ""))
        text.words += added
        text.kinds += [kind] * len(added)
        words, kind = edits.get(place, ([word], ""))
        text.words += words
        text.kinds += [kind] * len(words)
    return text


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
    numbers = [
        place
        for place, word in enumerate(sheet.words)
        if re.fullmatch(r"[\d.,]{3,}", word) and place not in edits
    ]
    if len(numbers) < 2:
        return
    at = int(random.integers(len(numbers) - 1))
    one, other = numbers[at : at + 2]
    if sheet.words[one] != sheet.words[other]:
        edits[one] = [sheet.words[other]], "cells exchanged"
        edits[other] = [sheet.words[one]], "cells exchanged"


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
    """Keeps the evidence of the last text."""

    def _evidence(
        self,
        groups: Sequence[Group],
        texts: Sequence[str],
        page_words: Sequence[PageWord],
        picture: Callable[[int], Image.Image],
    ) -> Any:
        self.last = super()._evidence(groups, texts, page_words, picture)
        return self.last


@cache
def checker() -> _Recording:
    """What checks, opened once."""
    return _Recording(load_checking_reader())


def check_page(
    sheet: Sheet, number: int, systems: Sequence[str] | None
) -> dict[str, Any]:
    """What is found in three texts of a page, and by other systems."""
    picture = Image.open(sheet.picture).convert("RGB")
    began = time.perf_counter()
    page = checker()._reader.read(picture)
    read = time.perf_counter() - began
    texts = []
    others_read = {
        name: words(sheet.picture) for name, words in others_of(systems).items()
    }
    others_read["vit-str read --page"] = page.text.split()
    for version in range(TEXTS):
        text = altered(sheet, np.random.default_rng([4, number, version]))
        given = parse_text("\n".join(text.words), "text")
        began = time.perf_counter()
        found = checker().compare(picture, page, given)
        seconds = time.perf_counter() - began
        evidence = [_values(checker().last.get(n, ())) for n in range(len(text.words))]
        missing = {key(word.text) for word in found.missing}
        left_out = [
            float(np.mean([key(word) in missing for word in line]))
            for line in text.left_out
        ]
        flagged = {
            name: differing(text.words, words) for name, words in others_read.items()
        }
        texts.append(
            {
                "words": text.words,
                "kinds": text.kinds,
                "probabilities": [word.probability for word in found.words],
                "verdicts": [word.verdict for word in found.words],
                "found": [word.found for word in found.words],
                "evidence": evidence,
                "left_out": left_out,
                "missing": [word.text for word in found.missing],
                "left_out_words": sum(map(len, text.left_out)),
                "flagged": flagged,
                "expected": found.expected_errors,
                "seconds": seconds,
            }
        )
    overlaps = box_overlaps(sheet, page) if sheet.state == "printed" else []
    return {
        "name": sheet.name,
        "state": sheet.state,
        "seconds": read,
        "texts": texts,
        "overlaps": overlaps,
    }


def _values(parts: Sequence[tuple[Any, Evidence]]) -> list[Any]:
    return [astuple(each) for _, each in parts]


def others_of(names: Sequence[str] | None) -> dict[str, Callable[[Path], list[str]]]:
    """What else is installed and wanted."""
    systems: dict[str, Callable[[Path], list[str]]] = {}
    if which("tesseract"):
        systems["Tesseract"] = tesseract
    if find_spec("rapidocr"):
        systems["RapidOCR"] = rapidocr
    return {n: s for n, s in systems.items() if names is None or n in names}


def tesseract(picture: Path) -> list[str]:
    """The words that Tesseract reads, with the data of the page's language if it is named."""
    from printed_languages import TESSERACT

    language = TESSERACT.get(picture.stem.partition("-")[0], "eng")
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


def box_overlaps(sheet: Sheet, page: Any) -> list[float]:
    """Intersection over union with the boxes in the PDF file, of words that it has once."""
    from vit_str.pages.pictures import PageOptions, pictures_in
    from vit_str.pages.read.own_text import page_of_text

    options = PageOptions(resolution=DPI, text_layer=True)
    printed = page_of_text(next(pictures_in(str(sheet.pdf), options)))
    if printed is None:
        return []
    truth: dict[str, list[Any]] = defaultdict(list)
    for word in printed.words:
        truth[word.text].append(word.box)
    found: dict[str, list[Any]] = defaultdict(list)
    for word in page.words:
        found[word.text].append(word.box)
    return [
        _overlap(boxes[0], found[text][0])
        for text, boxes in truth.items()
        if len(boxes) == len(found.get(text, ())) == 1
    ]


def _overlap(one: Any, other: Any) -> float:
    width = min(one.right, other.right) - max(one.left, other.left)
    height = min(one.bottom, other.bottom) - max(one.top, other.top)
    shared = max(0.0, width) * max(0.0, height)
    areas = [(b.right - b.left) * (b.bottom - b.top) for b in (one, other)]
    return shared / (sum(areas) - shared)


def _words(results: Sequence[Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Kinds, probabilities, and which count, of all words of all texts.

    Of two copies of a word, that with the higher probability does not count.
    """
    texts = [text for page in results for text in page["texts"]]
    kinds = np.array([kind for text in texts for kind in text["kinds"]], object)
    probabilities = np.array([p for text in texts for p in text["probabilities"]])
    counts = np.ones(len(kinds), bool)
    start = 0
    for text in texts:
        own = np.arange(start, start + len(text["words"]))
        start += len(own)
        copies = own[kinds[own] == "line twice"]
        first, second = copies[: len(copies) // 2], copies[len(copies) // 2 :]
        is_first = probabilities[first] > probabilities[second]
        counts[np.where(is_first, first, second)] = False
    return kinds, probabilities, counts


def threshold_of(kinds: np.ndarray, probabilities: np.ndarray, share: float) -> float:
    """Below it are a share of the unaltered words."""
    return float(np.quantile(probabilities[kinds == ""], share, method="lower"))


def summary(results: Sequence[Any]) -> list[list[str]]:
    """A row for each system."""
    kinds, probabilities, counted = _words(results)
    is_altered = kinds[counted] != ""
    rows = [
        ["system", "false alarms", "altered words found", "n altered", "n unaltered"]
    ]
    counts = [f"{is_altered.sum():,}", f"{(~is_altered).sum():,}"]
    for share in (0.01, 0.002):
        flagged = (probabilities < threshold_of(kinds, probabilities, share))[counted]
        found = f"{flagged[is_altered].mean():.1%}"
        alarms = f"{flagged[~is_altered].mean():.2%}"
        rows.append([f"check, threshold for {share:.1%}", alarms, found, *counts])
    verdicts = [
        v for page in results for text in page["texts"] for v in text["verdicts"]
    ]
    flagged = (np.array(verdicts) != "confirmed")[counted]
    rows.append(
        [
            "check, not confirmed",
            f"{flagged[~is_altered].mean():.2%}",
            f"{flagged[is_altered].mean():.1%}",
            *counts,
        ]
    )
    for name in results[0]["texts"][0]["flagged"]:
        texts = [text for page in results for text in page["texts"]]
        flagged = np.array([f for text in texts for f in text["flagged"][name]])[
            counted
        ]
        alarms = f"{flagged[~is_altered].mean():.2%}"
        found = f"{flagged[is_altered].mean():.1%}"
        rows.append([f"difference to {name}", alarms, found, *counts])
    return rows


def by_kind(results: Sequence[Any]) -> list[list[str]]:
    """What is found of each kind of error, at 1 false alarm in 100."""
    kinds, probabilities, counted = _words(results)
    least = [threshold_of(kinds, probabilities, share) for share in (0.01, 0.002)]
    rows = [["error", "n", "found at 1 %", "at 0.2 %"]]
    for kind in sorted(set(kinds) - {""}):
        own = probabilities[(kinds == kind) & counted]
        shares = [f"{(own < each).mean():.1%}" for each in least]
        rows.append([kind, f"{len(own):,}", *shares])
    lines = [s for page in results for text in page["texts"] for s in text["left_out"]]
    found = f"{np.mean(np.array(lines) >= 0.5):.1%}" if lines else "-"
    return [*rows, ["line left out", f"{len(lines)}", found, found]]


def others(results: Sequence[Any]) -> str:
    """Boxes, time, calibration, and words that are missing by mistake."""
    kinds, probabilities, counted = _words(results)
    kinds, probabilities = kinds[counted], probabilities[counted]
    overlaps = np.array([each for page in results for each in page["overlaps"]])
    read = sum(page["seconds"] for page in results)
    checked = sum(text["seconds"] for page in results for text in page["texts"]) / TEXTS
    texts = [text for page in results for text in page["texts"]]
    extra = sum(max(0, len(t["missing"]) - t["left_out_words"]) for t in texts)
    lines = [
        f"boxes: {(overlaps >= 0.8).mean():.1%} of {len(overlaps):,} overlap by 0.8 or more, "
        f"median {np.median(overlaps):.2f}"
        if len(overlaps)
        else "boxes: none",
        f"time: {1 + checked / read:.2f} of reading the page",
        f"expected calibration error: {calibration_error(kinds == '', probabilities):.4f}",
        f"missing by mistake: {extra / len(kinds):.2%} of {len(kinds):,} words",
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
    """Weights of what decides, and what share of absent words are on the page."""
    rows: dict[bool, list[tuple[list[float], bool]]] = {True: [], False: []}
    absent = []
    for page in results:
        for text in page["texts"]:
            pairs = zip(text["kinds"], text["evidence"], text["words"], strict=True)
            for kind, parts, word in pairs:
                if kind == "line twice":
                    continue
                if not parts and any(map(str.isalnum, word)):
                    absent.append(not kind)
                if len(parts) == 1:
                    evidence = Evidence(*parts[0])
                    rows[evidence.is_same].append((evidence.features, not kind))
    lines = [f"absent: {np.mean(absent):.3f} of {len(absent)}"]
    for is_same, own in rows.items():
        values = np.array([features for features, _ in own])
        right = np.array([each for _, each in own])
        if len(set(right.tolist())) < 2:
            lines.append(f"same {is_same}: {len(own)} words, {(~right).sum()} wrong")
            continue
        weights = _weights(values, right)
        shown = ", ".join(f"{each:.3f}" for each in weights)
        lines.append(f"same {is_same}: ({shown}) of {len(own)}, {(~right).sum()} wrong")
    return "\n".join(lines)


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
