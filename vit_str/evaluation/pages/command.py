"""``vit-str evaluate --page``: how well whole pictures are read."""

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from vit_str import console
from vit_str.evaluation.pages.labels import labeled_pictures, on_page, read_labels
from vit_str.evaluation.pages.scores import PageScore, compare, score_page, summary
from vit_str.files import check_writable
from vit_str.images.loading import load_pages
from vit_str.images.refusals import UnreadableImage
from vit_str.pages.command import load_page_reader
from vit_str.pages.reader import PageReader
from vit_str.pages.write.overlay import overlay
from vit_str.reports.sheets import (
    Captioned,
    check_picture,
    framed,
    sheet,
    write_picture,
)

_WORST = 12
_COLUMNS = 3
_CELL = (640, 420)


def run(options: argparse.Namespace) -> int:
    """Read labeled pictures and print how many of their words are found and read."""
    _check(options)
    pictures: list[tuple[Path, Path]] = []
    for source in options.sources:
        pictures += labeled_pictures(Path(source))
    for _, labels in pictures:
        read_labels(labels)  # a mistake in them is told before hours of reading
    models = [options.model]
    if options.against:
        models.append(options.against)
    readers = [load_page_reader(options, model) for model in models]
    with console.Progress(len(models) * len(pictures), alone=True) as progress:
        advance = progress.advance
        scores = [score_pictures(reader, pictures, advance) for reader in readers]
    if not any(scores[0]):
        console.warn("none of the pictures could be read: there is nothing to score")
        return 1
    values = summary(scores[0])
    if options.against:
        values["against"] = summary(scores[1])
        values["difference"] = compare(scores[1], scores[0])
    console.write(json.dumps(values, indent=2) if options.json else table(values))
    if options.sheet:
        paths = [picture for picture, _ in pictures]
        write_worst(options.sheet, paths, scores[0], readers[0])
    return 1 if None in scores[0] else 0


def _check(options: argparse.Namespace) -> None:
    """Find out before the reading what cannot be written."""
    for option in ("markdown", "changes"):
        if getattr(options, option):
            raise ValueError(f"--{option} is for words: leave it out with --page")
    if options.sheet:
        check_picture(options.sheet)
        check_writable(options.sheet)


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
            scores.append(score_page(page, on_page(read_labels(labels), picture, page)))
        except UnreadableImage as error:
            console.warn(str(error))
            scores.append(None)
        advance()
    return scores


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
    pairs = zip(scores, pictures, strict=True)
    scored = [(score, picture) for score, picture in pairs if score is not None]
    worst = sorted(scored, key=lambda pair: pair[0].read - pair[0].labels)[:_WORST]
    cells = []
    for score, picture in worst:
        image = next(load_pages(picture))
        shown = framed(overlay(image, reader.read(image)), _CELL, "white")
        caption = f"{picture.name}: {score.read} of {score.labels} labels read"
        cells.append(Captioned(shown, caption))
    write_picture(path, sheet(cells, _COLUMNS))
