"""Pages that do not lie flat, photographed in software: characters read right.

    python benchmarks/bent_pages.py FOLDER [--only en de ...] [--json FILE]

The printed pages of ``printed_languages.py``, two of each language, lie on a table, seen from
somewhere above, in uneven light, a little blurred, as JPEG files. They lie flat, or are bent like
those of a book, by up to 1, 3 or 6 percent of their height. In a second set two of them lie open
beside each other and rise to the gutter between them. Character accuracy is that of
``printed_languages.py``, of whole texts in their order. FOLDER keeps the pictures.
"""

import argparse
import os
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from statistics import fmean
from typing import Any

import cv2
import numpy as np
from PIL import Image
from printed_languages import (
    TESSERACT,
    TEXTS,
    Read,
    accuracy,
    installed_systems,
    printed,
    stories,
)

from vit_str.pages.find.geometry import homography, project

BENDS = (0.0, 0.01, 0.03, 0.06)
"""How far the middle of a page is from where it would lie flat, over its height."""
RISES = (0.0, 0.02, 0.05, 0.09)
"""How far two pages rise to the gutter between them, over their height."""
_TABLE = (92, 70, 52)  # its color
_MARGIN = 1.2  # sides of the picture over those of the page
_TURN = 4  # degrees to either side
_VIEW = 0.06  # by which a corner is moved at most, over the sides of the page
_QUALITY = 75  # of JPEG


def main() -> None:
    """Print, bend, photograph and read pages, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument(
        "--only",
        nargs="+",
        choices=sorted(TESSERACT),
        default=["de", "en", "fr"],
        help="languages of the pages (de en fr)",
    )
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="write all numbers here too"
    )
    options = parser.parse_args()
    if options.folder.is_file():
        parser.error(f"{options.folder} is a file, expected a folder")
    from measuring import print_machine, table, write_json

    os.environ.setdefault("OMP_THREAD_LIMIT", "1")
    options.folder.mkdir(parents=True, exist_ok=True)
    sheets = []
    texts = {text.name: text for text in stories(TEXTS)}
    for language in options.only:
        pages = printed(options.folder, texts[language])
        sheets += [(page, language, texts[language].wanted) for page in pages]
    pictures = [*bent(sheets, options.folder), *open_books(sheets, options.folder)]
    systems = with_rapidocr(installed_systems())
    results: dict[str, dict[str, list[float]]] = {}
    for name, picture, language, wanted in pictures:
        print(picture.name, file=sys.stderr)
        row = results.setdefault(name, {system: [] for system in systems})
        for system, read in systems.items():
            row[system].append(accuracy(read(picture, language), wanted))
    rows = [["pages", "n", *systems]]
    for name, found in results.items():
        means = [f"{fmean(shares):.1%}" for shares in found.values()]
        rows.append([name, str(len(next(iter(found.values())))), *means])
    print(table(rows))
    print_machine()
    write_json(options.json, results)


Sheet = tuple[Path, str, str]
"""A printed page, its language and its text."""
Picture = tuple[str, Path, str, str]
"""The name of its row, the file, the language and the text."""


def bent(sheets: list[Sheet], folder: Path) -> list[Picture]:
    """Single pages, in every bend."""
    pictures = []
    for bend in BENDS:
        for number, (page, language, text) in enumerate(sheets):
            target = folder / f"{page.stem}-bent-{bend:.2f}.jpg"
            if not target.exists():
                paper = np.asarray(Image.open(page).convert("RGB"))
                along = np.linspace(0, 1, paper.shape[1])
                moves = bend * len(paper) * (2 * np.sin(np.pi * along) - 1)
                random = np.random.default_rng([number, round(100 * bend)])
                photograph(paper, moves, random).save(target, quality=_QUALITY)
            pictures.append((f"bent by {bend:.0%}", target, language, text))
    return pictures


def open_books(sheets: list[Sheet], folder: Path) -> list[Picture]:
    """Pages beside each other, the narrow margins of both at the gutter."""
    pictures = []
    smaller = sheets[1::2]  # those of 150 dots per inch
    for rise in RISES:
        for number, left in enumerate(smaller):
            right = smaller[(number + 1) % len(smaller)]
            target = folder / f"{left[1]}-{right[1]}-book-{rise:.2f}.jpg"
            if not target.exists():
                both = [
                    np.asarray(Image.open(each[0]).convert("RGB"))
                    for each in (left, right)
                ]
                cut = both[0].shape[1] // 20
                paper = np.concatenate([both[0][:, :-cut], both[1][:, cut:]], 1)
                from_gutter = np.abs(np.linspace(-1, 1, paper.shape[1]))
                moves = -rise * len(paper) * np.exp(-from_gutter / 0.3)
                random = np.random.default_rng([number, round(100 * rise)])
                photograph(paper, moves, random).save(target, quality=_QUALITY)
            text = f"{left[2]} {right[2]}"
            languages = "+".join(sorted({left[1], right[1]}))
            pictures.append(
                (f"open book, rises by {rise:.0%}", target, languages, text)
            )
    return pictures


def photograph(
    paper: np.ndarray, moves: np.ndarray, random: np.random.Generator
) -> Image.Image:
    """A page on a table, from somewhere above.

    Args:
        paper: its pixels.
        moves: how far down each column of it has moved, in pixels.
        random: decides on view, light and noise.
    """
    height, width = paper.shape[:2]
    size = round(_MARGIN * width), round(_MARGIN * height)
    to_paper = view(width, height, size, random)
    x, y = np.meshgrid(np.arange(size[0]), np.arange(size[1]))
    column, row = np.moveaxis(project(to_paper, np.stack([x, y], -1)), -1, 0)
    row = row - np.interp(column, np.arange(width), moves)
    seen = cv2.remap(
        paper.astype(np.float32),
        column.astype(np.float32),
        row.astype(np.float32),
        cv2.INTER_CUBIC,
    )
    is_paper = (column >= 0) & (column < width) & (row >= 0) & (row < height)
    grain = cv2.GaussianBlur(random.normal(0, 40, size[::-1]), (0, 0), 3)[..., None]
    seen = np.where(is_paper[..., None], seen, np.add(_TABLE, grain))
    along = x / size[0] * np.cos(1.1) + y / size[1] * np.sin(1.1)
    light = 1 / (
        1 + np.exp(-random.uniform(6, 14) * (along - random.uniform(0.3, 0.6)))
    )
    seen = seen * (0.55 + 0.4 * light)[..., None]
    seen = cv2.GaussianBlur(seen, (0, 0), random.uniform(0.6, 1.1))
    seen += random.normal(0, 5, seen.shape)
    return Image.fromarray(seen.clip(0, 255).astype(np.uint8))


def view(
    width: int, height: int, size: tuple[int, int], random: np.random.Generator
) -> np.ndarray:
    """The perspective map from the pixels of a photograph to those of the page in it."""
    corners = np.array([(0, 0), (width, 0), (width, height), (0, height)], float)
    moved = corners - (width / 2, height / 2)
    moved += random.uniform(-_VIEW, _VIEW, (4, 2)) * (width, height)
    turn = np.deg2rad(random.uniform(-_TURN, _TURN))
    moved = moved @ [[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]]
    moved += np.array(size) / 2
    return homography(moved, corners)


def with_rapidocr(systems: Mapping[str, Read]) -> Mapping[str, Read]:
    """What reads, and RapidOCR if it is installed."""
    if not find_spec("rapidocr"):
        return systems
    from rapidocr import RapidOCR

    engine: Any = RapidOCR(params={"Global.log_level": "error"})
    return {**systems, "RapidOCR": lambda page, _: " ".join(engine(page).txts or ())}


if __name__ == "__main__":
    main()
