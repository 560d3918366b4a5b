"""Order, headings and tables of pages that are set from HTML: printed files and scans.

    python benchmarks/page_structure.py FOLDER [--only NAME ...] [--json FILE] [--pictures FOLDER]
    python benchmarks/page_structure.py FOLDER --set-by libreoffice

Ten documents of ``benchmarks/documents`` in three faces and sizes each, by Chromium. Of every six
pages three are PDF files as printed, two are scanned in software (150 dots per inch, noise, a tilt
of up to a degree and a half), and one is scanned on its side. What is there to find comes from the
HTML. Word errors are the edit distance of words in order over their number, with running heads and
page numbers in plain text, without them in Markdown. FOLDER keeps pages and results: a run that was
stopped goes on, but what an older vit-str made is made anew. A system that is not installed is left
out. ``--documents FOLDER`` takes other HTML, such as ``benchmarks/documents-unseen``, which no rule
was made with, or ``benchmarks/documents-more``, with tables that are hard to copy, or
``benchmarks/documents-fresh``, of other looks. HTML that begins with ``<!DOCTYPE html>`` has looks
and a size of its own and is printed once: half of ``benchmarks/documents-new``, 40 pages as 40
people would make them, is as printed, a quarter scanned and a quarter photographed in software, and
so are 40 others of ``benchmarks/documents-strangers``, 40 of ``benchmarks/documents-elsewhere``,
40 of ``benchmarks/documents-abroad``, ``-afar`` and ``-beyond`` each.
``--set-by libreoffice`` has Writer and Calc set twelve other documents, those of
``benchmarks/documents-office``, or the HTML that ``--documents`` names.
"""

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import structure_scores as scores
from office_pages import flat_document
from PIL import Image
from structure_scores import Structure

import vit_str

DOCUMENTS = Path(__file__).with_name("documents")
OFFICE_DOCUMENTS = Path(__file__).with_name("documents-office")
STYLES = (
    ("DejaVu Serif", "serif", 9.5),
    ("DejaVu Sans", "sans-serif", 9.0),
    ("Liberation Serif", "serif", 11.5),
)
"""Faces of the text, what they are like, and their sizes in points."""
STATES = ("digital", "scan", "digital", "turned", "digital", "scan")
OWN_STATES = ("digital", "scan", "digital", "photographed")
"""Of pages with looks of their own."""
DPI = 150
_PHOTOGRAPHED_DPI = 200
# Names of languages; others are read as English
_TESSERACT = {
    "de": "deu",
    "es": "spa",
    "fr": "fra",
    "it": "ita",
    "pl": "pol",
    "ru": "rus",
}


class Printed(NamedTuple):
    """A page to print."""

    html: str
    style: tuple[str, str, float] | None  # see `STYLES`; None if the page has its own
    pdf: Path
    state: str = "digital"
    seed: int = 0


class Document(NamedTuple):
    """A page and what is on it."""

    name: str
    state: str
    language: str
    truth: Structure
    pdf: Path  # as printed
    scan: Path  # a picture, and a PDF file of it beside it


def main() -> None:
    """Set pages, read them, and print tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument(
        "--documents", type=Path, metavar="FOLDER", help="other pages, as HTML"
    )
    parser.add_argument(
        "--set-by",
        choices=TYPESETTERS,
        default="chromium",
        help="the program that prints pages",
    )
    parser.add_argument(
        "--systems", nargs="+", metavar="NAME", help="read by these only"
    )
    parser.add_argument(
        "--only", nargs="+", metavar="NAME", help="documents or pages, by name"
    )
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="write all numbers here too"
    )
    parser.add_argument(
        "--pictures", type=Path, metavar="FOLDER", help="pages and their Markdown"
    )
    options = parser.parse_args()
    from measuring import print_machine, table, write_json

    os.environ.setdefault("OMP_THREAD_LIMIT", "1")
    default, _ = TYPESETTERS[options.set_by]
    folder = options.folder / options.set_by
    folder.mkdir(parents=True, exist_ok=True)
    documents = [
        each
        for each in all_documents(folder, options.documents or default, options.set_by)
        if not options.only
        or {each.name, each.name.rpartition("-")[0]} & {*options.only}
    ]
    if not documents:
        source = options.documents or default
        raise SystemExit(f"page_structure.py: no such document in {source}")
    results: dict[str, dict[str, Any]] = {}
    for name, system in systems().items():
        if options.systems and name not in options.systems:
            continue
        results[name] = {}
        for number, document in enumerate(documents, 1):
            print(
                f"{name}: {document.name}, {number} of {len(documents)}",
                file=sys.stderr,
            )
            path = folder / f"{document.name}.{name.replace(' ', '-')}.txt"
            if "vit-str" in name and is_outdated(path):
                path.unlink()
            found = kept(path, document, system)
            if found is not None:
                results[name][document.name] = measured(found, document)
    print(table(summary(results, documents)))
    for name in ("vit-str, Markdown", "vit-str, Markdown of the text layer"):
        print(f"\n{name}\n{table(by_document(results.get(name, {})))}")
    print_machine()
    write_json(options.json, results)
    if options.pictures:
        write_pictures(options.pictures, folder, documents)


def all_documents(
    folder: Path, documents: Path = DOCUMENTS, set_by: str = "chromium"
) -> Iterator[Document]:
    """The pages, made where they are missing."""
    pages = list(printed_pages(folder, documents))
    missing = [page for page in pages if not page.pdf.exists()]
    if missing:
        _, print_pages = TYPESETTERS[set_by]
        print_pages(missing)
    for page in pages:
        scan = page.pdf.with_suffix(".png")
        if not scan.exists():
            scanned(page.pdf, page.state, page.seed).save(scan, dpi=(DPI, DPI))
            Image.open(scan).save(
                scan.with_suffix(".scan.pdf"), resolution=DPI, quality=85
            )
        language = page.html.partition('lang="')[2][:2]
        truth = scores.structure_of_html(page.html)
        yield Document(page.pdf.stem, page.state, language, truth, page.pdf, scan)


def printed_pages(folder: Path, documents: Path) -> Iterator[Printed]:
    """What to print: each document in three styles, or once if it has its own."""
    for number, source in enumerate(sorted(documents.glob("*.html"))):
        html = source.read_text("utf-8")
        if has_own_style(html):
            state = OWN_STATES[number % len(OWN_STATES)]
            yield Printed(html, None, folder / f"{source.stem}.pdf", state, number)
            continue
        for place, style in enumerate(STYLES):
            pdf = folder / f"{source.stem}-{place + 1}.pdf"
            state = STATES[(number + 2 * place + place // 2) % len(STATES)]
            yield Printed(html, style, pdf, state, seed=10 * number + place)


def has_own_style(html: str) -> bool:
    """Whether a document is a whole one, and not what ``style.css`` is put before."""
    return html.lower().startswith("<!doctype html>")


def print_by_chromium(pages: Sequence[Printed]) -> None:
    """Print HTML by Chromium, each to a page of a PDF file."""
    browser = program("Chromium", "chromium", "chromium-browser", "google-chrome")
    style = (DOCUMENTS / "style.css").read_text("utf-8")
    command = [
        browser,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--no-pdf-header-footer",
    ]
    for each in pages:
        page = each.pdf.with_suffix(".html")
        page.write_text(_whole_document(each, style), "utf-8")
        target = f"--print-to-pdf={each.pdf.resolve()}"
        subprocess.run(
            [*command, target, page.resolve().as_uri()], check=True, capture_output=True
        )


def _whole_document(page: Printed, style: str) -> str:
    if page.style is None:
        return page.html
    face, kind, size = page.style
    values = f":root {{ --face: '{face}', {kind}; --size: {size}pt }}"
    return f'<!DOCTYPE html><meta charset="utf-8"><style>{values}{style}</style>{page.html}'


def print_by_libreoffice(pages: Sequence[Printed]) -> None:
    """Print HTML by Writer or Calc, each to a page of a PDF file.

    Raises:
        SystemExit: a page has looks of its own.
    """
    office = program("LibreOffice", "soffice", "libreoffice")
    sources = []
    for page in pages:
        if page.style is None:
            raise SystemExit(
                f"{page.pdf.stem} has CSS of its own: use --set-by chromium"
            )
        face, _, size = page.style
        ending, text = flat_document(page.html, face, size)
        sources.append(page.pdf.with_suffix(ending))
        sources[-1].write_text(text, "utf-8")
    folder = pages[0].pdf.parent.resolve()
    # Beside an open LibreOffice
    profile = f"-env:UserInstallation={(folder / 'profile').as_uri()}"
    command = [
        office,
        profile,
        "--headless",
        "--convert-to",
        "pdf",
        "--outdir",
        str(folder),
    ]
    subprocess.run([*command, *map(str, sources)], check=True, capture_output=True)


@cache
def has_font(language: str) -> bool:
    """Whether a font has the letters of a language, as far as fontconfig knows."""
    if not shutil.which("fc-list"):
        return True
    command = ["fc-list", f":lang={language}"]
    return bool(subprocess.run(command, check=True, capture_output=True).stdout)


def program(name: str, *commands: str) -> str:
    """The path of the first of some commands that is installed."""
    found = next(filter(None, map(shutil.which, commands)), None)
    if found is None:
        raise SystemExit(
            f"{Path(sys.argv[0]).name}: needs {name}, install the package {name.lower()}"
        )
    return found


TYPESETTERS = {
    "chromium": (DOCUMENTS, print_by_chromium),
    "libreoffice": (OFFICE_DOCUMENTS, print_by_libreoffice),
}
"""What prints pages, and the documents that it prints if no others are asked for."""


def scanned(pdf: Path, state: str, seed: int) -> Image.Image:
    """A page as a picture: as drawn, or as a scanner or a camera sees it."""
    random = np.random.default_rng(seed)
    if state == "photographed":
        return _photographed(drawn(pdf, _PHOTOGRAPHED_DPI), random)
    image = drawn(pdf, DPI)
    if state == "digital":
        return image
    image = with_light_and_noise(image, random.uniform(-1.5, 1.5), random)
    turn = random.choice([Image.Transpose.ROTATE_90, Image.Transpose.ROTATE_270])
    return image.transpose(turn) if state == "turned" else image


def _photographed(image: Image.Image, random: np.random.Generator) -> Image.Image:
    """A gray page that lies flat on a table."""
    from bent_pages import photograph

    paper = np.asarray(image.convert("RGB"))
    return photograph(paper, np.zeros(paper.shape[1]), random)


def drawn(pdf: Path, dpi: int) -> Image.Image:
    """The only page of a file, in gray.

    Raises:
        SystemExit: it has several pages.
    """
    import pypdfium2

    document = pypdfium2.PdfDocument(pdf)
    if len(document) != 1:
        raise SystemExit(
            f"{pdf} has {len(document)} pages, expected one; shorten its text"
        )
    return document[0].render(scale=dpi / 72).to_pil().convert("L")


def with_light_and_noise(
    image: Image.Image, tilt: float, random: np.random.Generator
) -> Image.Image:
    """A gray page as a scanner sees it, turned to the left by some degrees."""
    image = image.rotate(tilt, Image.Resampling.BICUBIC, fillcolor=255)
    light = np.linspace(*random.uniform(0.85, 1.0, 2), image.width)
    lit = np.asarray(image, np.float32) * light
    pixels = lit + random.normal(0, 9, image.size[::-1])
    return Image.fromarray(pixels.clip(0, 255).astype("u1"))


System = Callable[[Document], str | None]
"""Makes text or Markdown of a page; None for a page that it is not for."""


def systems() -> Mapping[str, System]:
    """What is installed."""
    from vit_str.pages.reader import load_page
    from vit_str.pages.write.markdown import markdown

    pages: dict[str, Any] = {}

    def read(document: Document) -> Any:
        if document.name not in pages:
            pages[document.name] = reader.read(document.scan)
        return pages[document.name]

    reader = load_page()
    found: dict[str, System] = {
        "vit-str, text": lambda document: read(document).text,
        "vit-str, Markdown": lambda document: markdown([read(document)]),
        "vit-str, Markdown of the text layer": from_text_layer,
    }
    if shutil.which("pdftotext"):
        found["pdftotext of the printed file"] = lambda d: (
            None if d.state != "digital" else pdftotext(d.pdf)
        )
        if find_spec("ocrmypdf"):
            found["pdftotext of OCRmyPDF by vit-str"] = searchable(
                ["--plugin", "vit_str.ocrmypdf"]
            )
            if shutil.which("tesseract"):
                found["pdftotext of OCRmyPDF by Tesseract"] = searchable(
                    ["--ocr-engine", "tesseract"]
                )
    if shutil.which("tesseract"):
        found["Tesseract, text"] = tesseract
    if find_spec("rapidocr"):
        found["RapidOCR, text"] = rapidocr
    if find_spec("docling"):
        found["docling, Markdown"] = docling
    return found


def from_text_layer(document: Document) -> str | None:
    """Markdown of the text that the printed file holds."""
    from vit_str.pages.pictures import PageOptions, pictures_in
    from vit_str.pages.read.own_text import page_of_text
    from vit_str.pages.write.markdown import markdown

    if document.state != "digital":
        return None
    picture = next(iter(pictures_in(str(document.pdf), PageOptions(text_layer=True))))
    assert isinstance(picture, Image.Image)
    page = page_of_text(picture)
    return markdown([page]) if page else ""


def pdftotext(path: Path) -> str:
    """What people copy out of a PDF file."""
    command = ["pdftotext", "-enc", "UTF-8", str(path), "-"]
    return subprocess.run(command, check=True, capture_output=True).stdout.decode()


def searchable(arguments: list[str]) -> System:
    """What people copy out of a file that OCRmyPDF has made searchable."""

    def system(document: Document) -> str:
        target = document.scan.with_suffix(".searchable.pdf")
        command = [
            sys.executable,
            "-m",
            "ocrmypdf",
            *arguments,
            "--output-type",
            "pdf",
            "-j1",
            "-q",
        ]
        language = ["-l", _TESSERACT.get(document.language, "eng")]
        turn = ["--rotate-pages"] if document.state == "turned" else []
        source = document.scan.with_suffix(".scan.pdf")
        subprocess.run(
            [*command, *language, *turn, str(source), str(target)], check=True
        )
        return pdftotext(target)

    return system


def tesseract(document: Document) -> str:
    """What Tesseract writes, with its own layout and the turn of the page found by it."""
    command = [
        "tesseract",
        str(document.scan),
        "-",
        "-l",
        _TESSERACT.get(document.language, "eng"),
        "--psm",
        "1",
    ]
    return subprocess.run(command, check=True, capture_output=True).stdout.decode()


@cache
def _rapidocr() -> Any:
    from rapidocr import RapidOCR

    return RapidOCR(params={"Global.log_level": "error"})


def rapidocr(document: Document) -> str:
    """The lines that RapidOCR reads with its default models, as it orders them."""
    return "\n".join(_rapidocr()(str(document.scan)).txts or ())


def docling(document: Document) -> str:
    """What docling makes with its default models, of the picture."""
    from docling.document_converter import DocumentConverter

    return DocumentConverter().convert(document.scan).document.export_to_markdown()


def is_outdated(path: Path) -> bool:
    """Whether there is a result that is older than a file of the package: its code or weights."""
    return path.exists() and path.stat().st_mtime < _last_change()


@cache
def _last_change() -> float:
    """When the newest file of the package was changed."""
    files = filter(Path.is_file, Path(vit_str.__file__).parent.rglob("*"))
    return max(file.stat().st_mtime for file in files if file.suffix != ".pyc")


def kept(path: Path, document: Document, system: System) -> str | None:
    """What a system makes of a page, from the file of a run before if there is one."""
    if path.exists():
        return path.read_text("utf-8")
    try:
        found = system(document)
    except (subprocess.CalledProcessError, OSError) as error:
        print(f"{path.stem}: {error}", file=sys.stderr)
        return None
    if found is not None:
        path.write_text(found, "utf-8")
    return found


def measured(found: str, document: Document) -> dict[str, Any]:
    """Scores of one page."""
    read = scores.structure_of_markdown(found)
    truth = document.truth
    return {
        "state": document.state,
        "text errors": scores.word_errors(read.text, truth.text),
        "body errors": scores.word_errors(read.text, truth.body),
        "headings": scores.heading_hits(read.headings, truth.headings),
        "levels": scores.heading_hits(read.headings, truth.headings, of_one_level=True),
        "items": scores.heading_hits(read.items, truth.items),
        "cells": scores.cell_hits(read.tables, truth.tables),
        "tables": scores.table_similarity(read.tables, truth.tables),
    }


def summary(results: Mapping[str, Any], documents: list[Document]) -> list[list[str]]:
    """A row for each system; errors of each state of pages."""
    all_states = [*dict.fromkeys((*STATES, *OWN_STATES))]
    all_states = [s for s in all_states if s in {each.state for each in documents}]
    rows = [
        [
            "system",
            "pages",
            "word errors",
            *all_states,
            "headings F1",
            "with levels",
            "items F1",
            "cells F1",
            "TEDS",
        ]
    ]
    for name, pages in results.items():
        if not pages:
            continue
        is_markdown = "Markdown" in name
        key = "body errors" if is_markdown else "text errors"
        values = list(pages.values())
        states = [
            [page[key] for page in values if page["state"] == s] for s in all_states
        ]
        row = [
            name,
            str(len(pages)),
            percent([page[key] for page in values]),
            *map(percent, states),
        ]
        if is_markdown:
            tables = list(chain.from_iterable(page["tables"] for page in values))
            row += [
                f"{100 * scores.f1([page['headings'] for page in values]):.1f}",
                f"{100 * scores.f1([page['levels'] for page in values]):.1f}",
                f"{100 * scores.f1([page['items'] for page in values]):.1f}",
                f"{100 * scores.f1([page['cells'] for page in values]):.1f}",
                percent(tables),
            ]
        rows.append([*row, *[""] * (len(rows[0]) - len(row))])
    return rows


def by_document(pages: Mapping[str, Any]) -> list[list[str]]:
    """A row for each page: errors of its words; headings, items and cells as found / right / true.

    With levels, headings are right if their level is too.
    """
    rows = [
        [
            "page",
            "state",
            "word errors",
            "headings",
            "with levels",
            "items",
            "cells",
            "TEDS",
        ]
    ]
    for name, page in pages.items():
        hits = [
            " / ".join(map(str, (page[key][1], page[key][0], page[key][2])))
            for key in ("headings", "levels", "items", "cells")
        ]
        rows.append(
            [
                name,
                page["state"],
                f"{page['body errors']:.1%}",
                *hits,
                percent(page["tables"]),
            ]
        )
    return rows


def percent(values: list[float]) -> str:
    """The mean in percent."""
    return f"{100 * float(np.mean(values)):.1f}" if values else ""


def write_pictures(folder: Path, results: Path, documents: list[Document]) -> None:
    """A web page with every page beside its Markdown."""
    from html import escape

    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for document in documents:
        picture = Image.open(document.scan)
        picture.thumbnail((877, 877))
        picture.save(folder / f"{document.name}.png")
        text = results / f"{document.name}.vit-str,-Markdown.txt"
        shown = escape(text.read_text("utf-8")) if text.exists() else ""
        rows.append(
            f'<tr><td><img src="{document.name}.png"></td><td><pre>{shown}</pre></td></tr>'
        )
    (folder / "index.html").write_text(
        f"<meta charset=utf-8><table>{''.join(rows)}</table>", "utf-8"
    )


if __name__ == "__main__":
    main()
