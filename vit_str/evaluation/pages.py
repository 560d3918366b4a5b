"""``vit-str evaluate --page``: how well whole pictures are read."""

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from PIL import Image

from vit_str import console
from vit_str.evaluation.page_scores import PageScore, compare, read_labels, score_page, summary
from vit_str.files import find_files, write_atomically
from vit_str.reading.options import load_page_reader
from vit_str.reading.pages.output import overlay
from vit_str.reading.pages.page import Page
from vit_str.reading.pages.reader import PageReader
from vit_str.reports.sheets import Captioned, check_picture, framed, sheet
from vit_str.runtime.images import SUFFIXES, UnreadableImage, load_pages

_WORST = 12
_COLUMNS = 3
_CELL = (640, 420)


def run(options: argparse.Namespace) -> int:
    """Read labelled pictures and print how many of their words are found and read."""
    pictures = [pair for source in options.sources for pair in labelled_pictures(Path(source))]
    models = [options.model, *([options.against] if options.against else [])]
    readers = [load_page_reader(options, model) for model in models]
    with console.Progress(len(models) * len(pictures), alone=True) as progress:
        scores = [score_pictures(reader, pictures, progress.advance) for reader in readers]
    values = summary(scores[0])
    if options.against:
        values["against"] = summary(scores[1])
        values["difference"] = compare(scores[1], scores[0])
    console.write(json.dumps(values, indent=2) if options.json else table(values))
    if options.sheet:
        write_worst(options.sheet, [p for p, _ in pictures], scores[0], readers[0])
    return 1 if None in scores[0] else 0


def labelled_pictures(folder: Path) -> list[tuple[Path, Path]]:
    """Pictures in a folder's ``images``, and the files of the same name in its ``labels``."""
    pictures = find_files(folder / "images", SUFFIXES)
    if not pictures:
        raise ValueError(
            f"expected pictures in {folder / 'images'}, found none; labels of whole pictures are "
            "a folder with images/ and labels/"
        )
    labels = {path.stem: path for path in find_files(folder / "labels", (".txt", ".csv"))}
    missing = [path.name for path in pictures if path.stem not in labels]
    if missing:
        raise ValueError(f"found no labels of {missing[0]} in {folder / 'labels'}")
    return [(path, labels[path.stem]) for path in pictures]


def score_pictures(
    reader: PageReader,
    pictures: Sequence[tuple[Path, Path]],
    advance: Callable[[], object],
) -> list[PageScore | None]:
    """Read pictures and compare them with their labels; None for what cannot be read."""
    scores: list[PageScore | None] = []
    for picture, labels in pictures:
        try:
            page = reader.read(picture)
            scores.append(score_page(page, read_labels(labels, _scale(picture, page))))
        except UnreadableImage as error:
            console.warn(str(error))
            scores.append(None)
        advance()
    return scores


def _scale(path: Path, page: Page) -> float:
    """Size of a page over that of its file: large pictures are scaled down to be read."""
    with Image.open(path) as image:
        return float(((page.width * page.height) / (image.width * image.height)) ** 0.5)


def table(values: dict[str, Any]) -> str:
    """The figures of `summary` as text."""
    rows = [f"{values['pictures']:,} pictures, {values['labels']:,} labels"]
    names = ["bag_of_words", "letters_and_digits"]
    if not values["labels_are_lines"]:  # words cannot match the places of lines
        names = ["detection", "end_to_end", *names]
    rows.append(f"{'':18}{'precision':>10}{'recall':>8}{'harmonic mean':>15}")
    for name in names:
        score = values[name]
        low, high = (100 * end for end in score["interval"])
        rows.append(
            f"{name.replace('_', ' '):18}{100 * score['precision']:10.1f}"
            f"{100 * score['recall']:8.1f}{100 * score['harmonic_mean']:15.1f}"
            f"  [{low:.1f}, {high:.1f}]"
        )
    if not values["labels_are_lines"]:
        outcomes = (f"{name} {count:,}" for name, count in values["outcomes"].items())
        rows.append("labels: " + ", ".join(outcomes))
    if "difference" in values:
        low, high = (100 * end for end in values["difference"]["interval"])
        gain = 100 * values["difference"]["end_to_end"]
        rows += ["against:", table(values["against"])]
        rows.append(f"difference in end to end: {gain:+.1f} [{low:+.1f}, {high:+.1f}]")
    return "\n".join(rows)


def write_worst(
    path: Path,
    pictures: Sequence[Path],
    scores: Sequence[PageScore | None],
    reader: PageReader,
) -> None:
    """A sheet of the pictures of which most labels were lost, with what was read."""
    check_picture(path)
    scored = [(s, picture) for picture, s in zip(pictures, scores, strict=True) if s is not None]
    worst = sorted(scored, key=lambda pair: pair[0].read - pair[0].labels)[:_WORST]
    cells = []
    for score, picture in worst:
        image = next(load_pages(picture))
        shown = framed(overlay(image, reader.read(image)), _CELL, "white")
        cells.append(
            Captioned(shown, f"{picture.name}: {score.read} of {score.labels} labels read")
        )
    with write_atomically(path) as temporary:
        sheet(cells, _COLUMNS).save(temporary)
