"""Order, headings and tables of 30 pages that a browser sets from HTML: printed files and scans.

    python benchmarks/page_structure.py FOLDER [--only NAME ...] [--json FILE] [--pictures FOLDER]

Ten documents of ``benchmarks/documents`` in three faces and sizes each, by Chromium. Of every six
pages three are PDF files as printed, two are scanned in software (150 dots per inch, noise, a tilt
of up to a degree and a half), and one is scanned on its side. What is there to find comes from the
HTML. Word errors are the edit distance of words in order over their number, with running heads and
page numbers in plain text, without them in Markdown. FOLDER keeps pages and results: a run that was
stopped goes on, and a system that is not installed is left out. ``--documents FOLDER`` takes other
HTML, such as ``benchmarks/documents-unseen``, which no rule was made with.
"""

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import structure_scores as scores
from PIL import Image
from structure_scores import Structure

DOCUMENTS = Path(__file__).with_name("documents")
STYLES = (
    ("'DejaVu Serif', serif", "9.5pt"),
    ("'DejaVu Sans', sans-serif", "9pt"),
    ("'Liberation Serif', 'Times New Roman', serif", "11.5pt"),
)
"""Faces and sizes of the text."""
STATES = ("digital", "scan", "digital", "turned", "digital", "scan")
DPI = 150
_TESSERACT = {"de": "deu", "es": "spa", "fr": "fra", "it": "ita"}  # else English


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
        "--documents",
        type=Path,
        default=DOCUMENTS,
        metavar="FOLDER",
        help="other pages, as HTML",
    )
    parser.add_argument(
        "--only",
        nargs="+",
        metavar="NAME",
        help="documents or pages, by name",
    )
    parser.add_argument(
        "--json",
        type=Path,
        metavar="FILE",
        help="write all numbers here too",
    )
    parser.add_argument(
        "--pictures",
        type=Path,
        metavar="FOLDER",
        help="pages and their Markdown",
    )
    options = parser.parse_args()
    from measuring import print_machine, table, write_json

    os.environ.setdefault("OMP_THREAD_LIMIT", "1")
    options.folder.mkdir(parents=True, exist_ok=True)
    documents = [
        each
        for each in all_documents(options.folder, options.documents)
        if not options.only or {each.name, each.name.rpartition("-")[0]} & {*options.only}
    ]
    if not documents:
        raise SystemExit("page_structure.py: no document has such a name")
    results: dict[str, dict[str, Any]] = {}
    for name, system in systems().items():
        results[name] = {}
        for number, document in enumerate(documents, 1):
            print(
                f"{name}: {document.name}, {number} of {len(documents)}",
                file=sys.stderr,
            )
            found = kept(
                options.folder / f"{document.name}.{name.replace(' ', '-')}.txt", document, system
            )
            if found is not None:
                results[name][document.name] = measured(found, document)
    print(table(summary(results, documents)))
    for name in ("vit-str, Markdown", "vit-str, Markdown of the text layer"):
        print(f"\n{name}\n{table(by_document(results.get(name, {})))}")
    print_machine()
    write_json(options.json, results)
    if options.pictures:
        write_pictures(options.pictures, options.folder, documents)


def all_documents(folder: Path, documents: Path = DOCUMENTS) -> Iterator[Document]:
    """The pages, made where they are missing."""
    for number, source in enumerate(sorted(documents.glob("*.html"))):
        html = source.read_text("utf-8")
        language = html.partition('lang="')[2][:2]
        truth = scores.structure_of_html(html)
        for style, (face, size) in enumerate(STYLES):
            name = f"{source.stem}-{style + 1}"
            pdf = folder / f"{name}.pdf"
            if not pdf.exists():
                print_pdf(html, face, size, pdf)
            state = STATES[(number + 2 * style + style // 2) % len(STATES)]
            scan = folder / f"{name}.png"
            if not scan.exists():
                scanned(pdf, state, seed=10 * number + style).save(scan, dpi=(DPI, DPI))
                Image.open(scan).save(
                    scan.with_suffix(".scan.pdf"),
                    resolution=DPI,
                    quality=85,
                )
            yield Document(name, state, language, truth, pdf, scan)


def print_pdf(html: str, face: str, size: str, path: Path) -> None:
    """Print HTML by Chromium to a page of a PDF file."""
    browser = next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
    )
    if browser is None:
        raise SystemExit("page_structure.py: needs Chromium, install the package chromium")
    style = (DOCUMENTS / "style.css").read_text("utf-8")
    values = f":root {{ --face: {face}; --size: {size} }}"
    page = path.with_suffix(".html")
    page.write_text(
        f'<!DOCTYPE html><meta charset="utf-8"><style>{values}{style}</style>{html}', "utf-8"
    )
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer"]
    target = f"--print-to-pdf={path.resolve()}"
    subprocess.run(
        [*command, target, page.resolve().as_uri()],
        check=True,
        capture_output=True,
    )


def scanned(pdf: Path, state: str, seed: int) -> Image.Image:
    """A page as a picture: as drawn, or as a scanner sees it."""
    import pypdfium2

    document = pypdfium2.PdfDocument(pdf)
    if len(document) != 1:
        raise SystemExit(f"page_structure.py: {pdf} has {len(document)} pages; shorten its text")
    image = document[0].render(scale=DPI / 72).to_pil().convert("L")
    if state == "digital":
        return image
    random = np.random.default_rng(seed)
    tilt = random.uniform(-1.5, 1.5)
    image = image.rotate(tilt, Image.Resampling.BICUBIC, fillcolor=255)
    light = np.linspace(*random.uniform(0.85, 1.0, 2), image.width)
    pixels = np.asarray(image, np.float32) * light + random.normal(0, 9, image.size[::-1])
    image = Image.fromarray(pixels.clip(0, 255).astype("u1"))
    turn = random.choice([Image.Transpose.ROTATE_90, Image.Transpose.ROTATE_270])
    return image.transpose(turn) if state == "turned" else image


System = Callable[[Document], str | None]
"""Makes text or Markdown of a page; None for a page that it is not for."""


def systems() -> Mapping[str, System]:
    """What is installed."""
    from vit_str.reading.pages.markdown import markdown
    from vit_str.reading.pages.reader import load_page

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
            found["pdftotext of OCRmyPDF by vit-str"] = searchable(["--plugin", "vit_str.ocrmypdf"])
            if shutil.which("tesseract"):
                found["pdftotext of OCRmyPDF by Tesseract"] = searchable(
                    ["--ocr-engine", "tesseract"]
                )
    if shutil.which("tesseract"):
        found["Tesseract, text"] = tesseract
    if find_spec("docling"):
        found["docling, Markdown"] = docling
    return found


def from_text_layer(document: Document) -> str | None:
    """Markdown of the text that the printed file holds."""
    from vit_str.reading.pages.markdown import markdown
    from vit_str.reading.pages.pictures import PageOptions, page_of_text, pictures_in

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
            [*command, *language, *turn, str(source), str(target)],
            check=True,
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


def docling(document: Document) -> str:
    """What docling makes with its default models, of the picture."""
    from docling.document_converter import DocumentConverter

    return DocumentConverter().convert(document.scan).document.export_to_markdown()


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
        "cells": scores.cell_hits(read.tables, truth.tables),
        "tables": scores.table_similarity(read.tables, truth.tables),
    }


def summary(results: Mapping[str, Any], documents: list[Document]) -> list[list[str]]:
    """A row for each system; errors of each state of pages."""
    rows = [
        [
            "system",
            "pages",
            "word errors",
            *dict.fromkeys(STATES),
            "headings F1",
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
            [page[key] for page in values if page["state"] == s] for s in dict.fromkeys(STATES)
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
                f"{100 * scores.f1([page['cells'] for page in values]):.1f}",
                percent(tables),
            ]
        rows.append([*row, *[""] * (len(rows[0]) - len(row))])
    return rows


def by_document(pages: Mapping[str, Any]) -> list[list[str]]:
    """A row for each page: errors of its words, headings and cells as found / right / there are."""
    rows = [["page", "state", "word errors", "headings", "cells", "TEDS"]]
    for name, page in pages.items():
        hits = [
            " / ".join(map(str, (page[key][1], page[key][0], page[key][2])))
            for key in ("headings", "cells")
        ]
        rows.append(
            [name, page["state"], f"{page['body errors']:.1%}", *hits, percent(page["tables"])]
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
        Image.open(document.scan).resize((620, 877)).save(folder / f"{document.name}.png")
        text = results / f"{document.name}.vit-str,-Markdown.txt"
        shown = escape(text.read_text("utf-8")) if text.exists() else ""
        rows.append(f'<tr><td><img src="{document.name}.png"></td><td><pre>{shown}</pre></td></tr>')
    (folder / "index.html").write_text(
        f"<meta charset=utf-8><table>{''.join(rows)}</table>", "utf-8"
    )


if __name__ == "__main__":
    main()
