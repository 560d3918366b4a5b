"""The words that `vit-str check` trusts least among the labels of pictures, to look at them.

    python benchmarks/checked_labels.py FOLDER... [--count 50] [--sheets FOLDER]

Each folder holds ``images/`` and ``labels/`` as for ``vit-str evaluate --page``. The labels of a
picture, in the order in which their places are read, are the text that is checked. Capitals count
as the letters that are printed, as many sets are labeled in capitals whatever the print, and words
that no place has are left out. ``--sheets`` draws each word as it
is labeled, with what is read there above it: whose fault it is, a person has to say.
"""

import argparse
import csv
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from vit_str.decoding.boxes import Box
from vit_str.evaluation.pages.labels import (
    Label,
    labeled_pictures,
    on_page,
    read_labels,
)
from vit_str.pages.page import Page
from vit_str.pages.pictures import PageOptions, pictures_in
from vit_str.pages.reader import PageReader
from vit_str.reading.checking.checker import PageChecker, load_checking_reader
from vit_str.reading.checking.texts import parse_text

_COLUMNS = 2
_ROWS = 13
_CELL = (620, 110)
_DOWN = 4.0  # how much farther other lines are than other words of a line
_MARGIN = 0.6  # of the height of a label, that a sheet shows around it


@dataclass(frozen=True)
class Doubt:
    """A labeled word, and what the picture says.

    Attributes:
        picture: that it is in.
        label: around the word; of a line, where lines are labeled.
        text: the word.
        found: what is read in its place.
        probability: that the picture says the word.
        box: of what is read.
    """

    picture: Path
    label: Box
    text: str
    found: str
    probability: float
    box: Box

    def crop(self) -> Image.Image:
        """The label, what is read, and some of what is around."""
        boxes = [self.label, self.box] if self._is_near() else [self.label]
        lefts, tops, rights, bottoms = zip(*boxes, strict=True)
        room = _MARGIN * (self.label.bottom - self.label.top)
        sides = (
            min(lefts) - room,
            min(tops) - room,
            max(rights) + room,
            max(bottoms) + room,
        )
        return page_of(self.picture).crop(tuple(map(round, sides)))

    def _is_near(self) -> bool:
        """Whether what is read is where the label is."""
        height = self.label.bottom - self.label.top
        return abs(self.box.top - self.label.top) < 2 * height


def main() -> None:
    """Check all labels, and print those that are trusted least."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--count", type=int, default=50, metavar="N", help="(50)")
    parser.add_argument(
        "--sheets", type=Path, metavar="FOLDER", help="to draw these words in"
    )
    options = parser.parse_args()
    try:
        pairs = [pair for each in options.folders for pair in labeled_pictures(each)]
    except ValueError as error:
        parser.error(str(error))
    reader = load_checking_reader()
    doubts: list[Doubt] = []
    for number, (picture, labels) in enumerate(pairs, 1):
        print(f"{number} of {len(pairs)}: {picture}", file=sys.stderr)
        doubts += doubts_of(reader, picture, read_labels(labels))
    least = sorted(doubts, key=lambda doubt: doubt.probability)[: options.count]
    rows = csv.writer(sys.stdout, delimiter="\t", lineterminator="\n")
    rows.writerow(["", "probability", "label", "read", "picture"])
    for place, doubt in enumerate(least, 1):
        shown = f"{doubt.probability:.2e}"
        rows.writerow([place, shown, doubt.text, doubt.found, doubt.picture.name])
    print(f"of {len(doubts):,} words on {len(pairs)} pictures", file=sys.stderr)
    if options.sheets:
        options.sheets.mkdir(parents=True, exist_ok=True)
        for place, sheet in enumerate(sheets(least), 1):
            sheet.save(options.sheets / f"{place}.png")


def doubts_of(
    reader: PageReader, picture: Path, labels: Sequence[Label]
) -> Iterator[Doubt]:
    """All labeled words of a picture."""
    checker = PageChecker(reader)
    image = page_of(picture)
    page = reader.read(image)
    judged = [each for each in on_page(labels, picture, page) if each.is_judged]
    judged = in_reading_order(judged, page)
    words = [word for label in judged for word in label.text.split()]
    homes = [label for label in judged for _ in label.text.split()]
    if not words:
        return
    first = checker.compare(image, page, parse_text("\n".join(words), "text"))
    pairs = zip(words, first.words, strict=True)
    printed = [cased(word, found.found) for word, found in pairs]
    checked = checker.compare(image, page, parse_text("\n".join(printed), "text"))
    for label, word in zip(homes, checked.words, strict=True):
        if word.box is None or word.found is None:
            continue
        left, top = label.polygon.min(0)
        right, bottom = label.polygon.max(0)
        yield Doubt(
            picture=picture,
            label=Box(left, top, right, bottom),
            text=word.text,
            found=word.found,
            probability=word.probability,
            box=word.box,
        )


def page_of(path: Path) -> Image.Image:
    """A picture as pages are read."""
    return next(pictures_in(str(path), PageOptions())).convert("RGB")


def in_reading_order(labels: Sequence[Label], page: Page) -> list[Label]:
    """Labels in the order of the words of a page that are nearest to their left ends."""
    if not page.words:
        return list(labels)
    starts = np.array([np.mean([w.polygon[0], w.polygon[3]], 0) for w in page.words])
    nearest = []
    for label in labels:
        start = label.polygon[[0, 3]].mean(0)
        away = np.abs(starts - start) * (1, _DOWN)
        nearest.append(int(away.sum(1).argmin()))
    order = np.argsort(nearest, kind="stable")
    return [labels[place] for place in order]


def cased(label: str, found: str | None) -> str:
    """A label in capitals as what is read, if that has small letters."""
    if found is None or not label.isupper():
        return label
    if label == found.upper():
        return found
    capitals = sum(map(str.isupper, found))
    small = sum(map(str.islower, found))
    if small <= capitals:
        return label
    return label.capitalize() if found[0].isupper() else label.lower()


def sheets(doubts: Sequence[Doubt]) -> Iterator[Image.Image]:
    """Pictures of words, with what is labeled and read above each."""
    width, height = _CELL
    font = ImageFont.load_default(14)
    for start in range(0, len(doubts), _COLUMNS * _ROWS):
        sheet = Image.new("RGB", (_COLUMNS * width, _ROWS * height), "white")
        draw = ImageDraw.Draw(sheet)
        for place, doubt in enumerate(doubts[start : start + _COLUMNS * _ROWS]):
            left = place // _ROWS * width
            top = place % _ROWS * height
            crop = doubt.crop()
            scale = min((width - 10) / crop.width, (height - 26) / crop.height, 3)
            size = max(1, round(scale * crop.width)), max(1, round(scale * crop.height))
            sheet.paste(crop.resize(size), (left + 4, top + 22))
            words = f"{doubt.text} | {doubt.found}"
            name = f"{start + place + 1}: {words}   {doubt.picture.stem}"
            draw.text((left + 4, top + 3), name, fill="black", font=font)
        yield sheet


if __name__ == "__main__":
    main()
