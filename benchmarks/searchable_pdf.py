"""Searchable PDF files by vit-str, and by OCRmyPDF with it and with Tesseract, on 11 drawn pages.

    python benchmarks/searchable_pdf.py FOLDER [--json FILE] [--engines NAME ...] [--photographs]

The pages are written to FOLDER, with text of this project's documentation: clean print, small
print, noise, blur, a tilted and a turned page, one in perspective, two columns, a table, dim print,
light on dark. A word counts as found if ``pdftotext -bbox`` has the same word over the middle of
its place. All engines read a page one after the other on one thread; time is that of the CPU, with
the start of the program, size that of the output.

--photographs takes pages that lie on a table in place of scans: one seen from the side, one that is
bent. There it counts the words that a plain ``pdftotext`` copies whole, those that the search of
PDFium, the viewer of Chromium, finds, and neighbors that are neighbors in what it selects.
"""

import argparse
import os
import re
import resource
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import unescape
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

ROOT = Path(__file__).parents[1]
DPI = 200
SIZE = (1654, 2339)
OWN = "vit-str --out"
_OCRMYPDF = ["ocrmypdf", "--quiet", "--jobs", "1"]
ENGINES = {
    OWN: ["vit_str", "read", "--page"],
    "OCRmyPDF with vit-str": [*_OCRMYPDF, "--plugin", "vit_str.ocrmypdf"],
    "OCRmyPDF with Tesseract": [*_OCRMYPDF, "--ocr-engine", "tesseract"],
}
# From a place on the photographed page to one on the flat page: its right side is farther away
PERSPECTIVE = (1.0, 0.0, 0.0, -0.06, 1.02, 30.0, -0.00006, 0.0)
PHOTOGRAPHS = {"in perspective": 0.0, "bent by 4 %": 0.04}
"""How far the middle of the page is from where it would lie flat, over its height."""
Box = tuple[float, float, float, float]
Places = list[tuple[str, Box]]


class Look(NamedTuple):
    """How a page is set and what happens to it."""

    name: str
    font: str = "DejaVuSerif.ttf"
    points: float = 12
    columns: int = 1
    ink: str = "black"
    paper: str = "white"
    change: Callable[[Image.Image], Image.Image] = lambda image: image
    options: tuple[str, ...] = ()


def noisy(image: Image.Image) -> Image.Image:
    """Uneven light and the noise of a cheap scanner."""
    random = np.random.default_rng(1)
    pixels = np.asarray(image, np.float32) * np.linspace(0.7, 1.0, image.width)[:, None]
    return Image.fromarray(
        (pixels + random.normal(0, 18, pixels.shape)).clip(0, 255).astype("u1")
    )


LOOKS = (
    Look("clean"),
    Look("sans, small", "DejaVuSans.ttf", 8),
    Look("noise", change=noisy),
    Look("blur", change=lambda image: image.filter(ImageFilter.GaussianBlur(2.0))),
    Look(
        "tilted by 2 degrees",
        change=lambda image: image.rotate(2, 3, fillcolor="white"),
    ),
    Look(
        "in perspective",
        change=lambda image: image.transform(
            SIZE, Image.Transform.PERSPECTIVE, PERSPECTIVE, 3, fillcolor="white"
        ),
    ),
    Look(
        "turned by a quarter",
        change=lambda image: image.transpose(Image.Transpose.ROTATE_270),
        options=("--rotate-pages",),
    ),
    Look("two columns", "STIXGeneral.ttf", 11, columns=2),
    Look("table", "DejaVuSansMono.ttf", 10, columns=4),
    Look("dim", ink="#a0a0a0"),
    Look("light on dark", "DejaVuSans-Bold.ttf", 14, ink="#f0e8d0", paper="#203050"),
)


def main() -> None:
    """Draw, run both engines page by page, and print a row for each page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument(
        "--json",
        type=Path,
        metavar="FILE",
        help="write all numbers here too",
    )
    parser.add_argument(
        "--engines", nargs="+", choices=tuple(ENGINES), default=list(ENGINES)
    )
    parser.add_argument(
        "--photographs", action="store_true", help="photographs in place of scans"
    )
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    os.environ["OMP_NUM_THREADS"] = "1"
    os.environ["OMP_THREAD_LIMIT"] = "1"
    measure = measure_photographs if options.photographs else measure_scans
    rows = measure(options.folder, options.engines)
    from measuring import print_machine, write_json

    print_machine()
    write_json(options.json, {"pages": rows})


def measure_scans(folder: Path, engines: Sequence[str]) -> list[dict[str, Any]]:
    """Print a row for each scan, and one for all."""
    words = prose()
    rows = []
    print(
        "page", "words", *(f"{e}: found, wrong, CPU s, kB" for e in engines), sep="\t"
    )
    for number, look in enumerate(LOOKS):
        image, places = draw(look, words[130 * number :])
        scan = folder / f"{number}.pdf"
        look.change(image).save(scan, resolution=DPI, quality=85)
        row: dict[str, Any] = {"page": look.name, "words": len(places)}
        for engine in engines:
            row[engine] = measured(scan, engine, places, look)
        rows.append(row)
        print(
            look.name,
            len(places),
            *(cells(row[e]) for e in engines),
            sep="\t",
            flush=True,
        )
    totals = {engine: summed([row[engine] for row in rows]) for engine in engines}
    print(
        "all",
        sum(row["words"] for row in rows),
        *map(cells, totals.values()),
        sep="\t",
    )
    return rows


def measure_photographs(folder: Path, engines: Sequence[str]) -> list[dict[str, Any]]:
    """Print a row for each photograph."""
    from bent_pages import photograph

    words = prose()
    rows = []
    print(
        "page",
        "words",
        *(f"{e}: copied, searched, in order" for e in engines),
        sep="\t",
    )
    for number, (name, bend) in enumerate(PHOTOGRAPHS.items()):
        image, places = draw(Look(name), words[130 * number :])
        along = np.linspace(0, 1, image.width)
        moves = bend * image.height * (2 * np.sin(np.pi * along) - 1)
        random = np.random.default_rng(number)
        picture = photograph(np.asarray(image), moves, random)
        scan = folder / f"photograph-{number}.pdf"
        picture.save(scan, resolution=DPI, quality=85)
        wanted = [word for word, _ in places]
        row: dict[str, Any] = {"page": name, "words": len(wanted)}
        for engine in engines:
            target = searchable(scan, engine)
            row[engine] = {"copied": copied(target, wanted), **selected(target, wanted)}
        rows.append(row)
        numbers = (", ".join(map(str, row[e].values())) for e in engines)
        print(name, len(wanted), *numbers, sep="\t", flush=True)
    return rows


def copied(path: Path, wanted: Sequence[str]) -> int:
    """How many words a plain ``pdftotext`` has, each as often as the page."""
    command = ["pdftotext", str(path), "-"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return (Counter(wanted) & Counter(text.split())).total()


def selected(path: Path, wanted: Sequence[str]) -> dict[str, int]:
    """How many words PDFium finds, and how many neighbors it selects one after the other."""
    import pypdfium2

    with pypdfium2.PdfDocument(path) as document:
        text = document[0].get_textpage()
        found = {word: occurrences(text, word) for word in {*wanted}}
        shown = text.get_text_range().split()
    pairs = Counter(pairwise(wanted)) & Counter(pairwise(shown))
    searched = Counter(found) & Counter(wanted)
    return {"searched": searched.total(), "in order": pairs.total()}


def occurrences(text: Any, word: str) -> int:
    """How often a search for a whole word finds it, as in a viewer."""
    search = text.search(word, match_case=True, match_whole_word=word.isalnum())
    count = 0
    while search.get_next():
        count += 1
    return count


def cells(numbers: dict[str, float]) -> str:
    """What was measured, in short."""
    found, wrong, seconds, size = numbers.values()
    return f"{found:.0f}, {wrong:.0f}, {seconds:.1f}, {size / 1000:.0f}"


def prose() -> list[str]:
    """Words of the documentation, without its tables, code and marks."""
    texts = [
        (ROOT / "docs" / name).read_text("utf-8")
        for name in ("pages.md", "rendering.md")
    ]
    plain = re.sub(
        r"```.*?```|^\|.*?$|\[|\]\(.*?\)|[*`#<>]",
        " ",
        "\n".join(texts),
        flags=re.S | re.M,
    )
    return [word for word in plain.split() if word.isascii() and word.strip('.,:;|)"')]


def draw(look: Look, words: list[str]) -> tuple[Image.Image, Places]:
    """A page, and its words with their places in pixels."""
    folder = Path(find_spec("matplotlib").origin).parent / "mpl-data/fonts/ttf"  # type: ignore[union-attr, arg-type]
    font = ImageFont.truetype(str(folder / look.font), round(look.points * DPI / 72))
    image = Image.new("RGB", SIZE, look.paper)
    pen = ImageDraw.Draw(image)
    remaining = iter(words[:130])
    places = []
    step = 1.6 * font.size
    width = (SIZE[0] - 300) / look.columns
    per_column = 130 if look.columns == 1 else 130 // look.columns
    for column in range(look.columns):
        left = 150 + column * width
        x = left
        y = 150.0
        for word in (
            each for _, each in zip(range(per_column), remaining, strict=False)
        ):
            if look.name == "table" or x + font.getlength(word) > left + width - 60:
                x = left
                y = y + step
            pen.text((x, y), word, look.ink, font)
            places.append((word, pen.textbbox((x, y), word, font)))
            x += font.getlength(f"{word} ")
    return image, places


def measured(scan: Path, engine: str, places: Places, look: Look) -> dict[str, float]:
    """Words found and words that are not there, seconds of the CPU, and bytes of the output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    is_own = engine == OWN
    target = searchable(scan, engine, look.options)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    found = list(words_in(target))
    middles = [(word, seen(box, look, is_own)) for word, box in places]
    hits = sum(
        any(
            text == word and a <= x <= c and b <= y <= d for text, (a, b, c, d) in found
        )
        for word, (x, y) in middles
    )
    size = target.stat().st_size
    return {
        "found": hits,
        "wrong": len(found) - hits,
        "seconds": seconds,
        "bytes": size,
    }


def searchable(scan: Path, engine: str, options: Sequence[str] = ()) -> Path:
    """The file that an engine makes of a scan; options are those of OCRmyPDF."""
    target = scan.with_name(f"{scan.stem}-{engine}.pdf")
    is_own = engine == OWN
    command = [sys.executable, "-m", *ENGINES[engine]]
    files = [str(scan), "--out", str(target)] if is_own else [str(scan), str(target)]
    own = [] if is_own else options
    subprocess.run([*command, *own, *files], check=True, stdout=subprocess.DEVNULL)
    return target


def summed(measured: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Counts, seconds and bytes of all pages together."""
    return {kind: sum(page[kind] for page in measured) for kind in measured[0]}


def seen(box: Box, look: Look, stays: bool) -> tuple[float, float]:
    """The middle of a word on the page as it lies in the end, in points.

    Args:
        box: of the word as it was drawn, in pixels.
        look: of the page.
        stays: whether a page that is turned stays so.
    """
    x = (box[0] + box[2]) / 2
    y = (box[1] + box[3]) / 2
    if look.name.startswith("tilted"):
        angle = np.radians(-2)
        right = x - SIZE[0] / 2
        down = y - SIZE[1] / 2
        cos = np.cos(angle)
        sin = np.sin(angle)
        x = SIZE[0] / 2 + right * cos - down * sin
        y = SIZE[1] / 2 + right * sin + down * cos
    if look.name.startswith("turned") and stays:
        x, y = SIZE[1] - y, x
    if look.name == "in perspective":
        to_flat = np.reshape([*PERSPECTIVE, 1.0], (3, 3))
        x, y, scale = np.linalg.solve(to_flat, [x, y, 1.0])
        x, y = x / scale, y / scale
    return float(x) * 72 / DPI, float(y) * 72 / DPI


def words_in(path: Path) -> Iterator[tuple[str, Box]]:
    """Words of a PDF file and their boxes, in points."""
    command = ["pdftotext", "-bbox", str(path), "-"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    pattern = r'<word xMin="(.+?)" yMin="(.+?)" xMax="(.+?)" yMax="(.+?)">(.*?)</word>'
    for *box, word in re.findall(pattern, text):
        yield unescape(word), tuple(map(float, box))  # type: ignore[misc]


if __name__ == "__main__":
    main()
