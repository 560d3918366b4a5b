"""``vit-str data show``: words with their labels on one picture, augmented if asked."""

import argparse
import random
from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import chain
from pathlib import Path

from PIL import Image

from vit_str import console
from vit_str.commands.data.words import CHUNK, Entry, judged, number_of, open_source, rules_of
from vit_str.datasets import IndexedSource, LabeledWord, Skipped, WordSource
from vit_str.sheets import Cell, caption_font, check_picture, sheet

_COUNT, _COUNT_AUGMENTED = 64, 16
_COLUMNS, _VERSIONS = 8, 7
_SIZE = 160, 48
_BACKGROUND = (225, 225, 225)

Change = Callable[[Image.Image, int], Image.Image]
Shown = tuple[Image.Image, str]


def run(options: argparse.Namespace) -> int:
    """Write the sheet."""
    check_picture(options.out)
    source, rules = open_source(options.source, options), rules_of(options)
    change = _change_of(options)
    count = options.count or (_COUNT_AUGMENTED if change else _COUNT)

    def show(word: LabeledWord, image: Image.Image) -> Shown:
        image.thumbnail((1024, 1024))  # enough to look at; photographs are larger
        return image, word.label

    entries = _some(source, count, options.seed)
    results = chain.from_iterable(judged(entries, rules, show, min(CHUNK, 2 * count)))
    words, skipped = _usable(results, count)
    if not words:
        why = f"; the first: {skipped.name}: {skipped.reason} {skipped.detail}" if skipped else ""
        raise ValueError(f"{options.source}: no word to show{why}")
    cells = list(_cells(words, change))
    font = caption_font("".join(cell.caption for cell in cells), _fonts)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    sheet(cells, _COLUMNS, font).save(options.out)
    console.write(f"{options.out}: {len(words):,} words")
    return 0


def _change_of(options: argparse.Namespace) -> Change | None:
    if options.augment is None:
        return None
    # By name: this library is not needed for anything else here.
    augmentation = import_module("vit_str.datasets.augmentation").Augmentation
    change: Change = augmentation(options.augment, options.seed)
    return change


def _some(source: WordSource, count: int, seed: int) -> Iterator[Entry]:
    """Words from anywhere in the data set; the first ones if it can only be read in order."""
    number = number_of([source])
    if number is None or not isinstance(source, IndexedSource):
        yield from source
        return
    # More than are wanted, and all others if even so too few can be used.
    places = random.Random(seed).sample(range(number), min(number, 2 * count))
    chosen = set(places)
    yield from (source[place] for place in places)
    yield from (source[place] for place in range(number) if place not in chosen)


def _usable(results: Iterator[Shown | Skipped], count: int) -> tuple[list[Shown], Skipped | None]:
    """Words to show, and the first that is not."""
    words: list[Shown] = []
    first: Skipped | None = None
    for result in results:
        if isinstance(result, Skipped):
            first = first or result
        else:
            words.append(result)
        if len(words) == count:
            break
    return words, first


def _cells(words: list[Shown], change: Change | None) -> Iterator[Cell]:
    for row, (image, label) in enumerate(words):
        yield Cell(_framed(image), label)
        if change:
            for version in range(_VERSIONS):
                changed = change(image, row * _VERSIONS + version)
                yield Cell(_framed(changed), "")


def _framed(image: Image.Image) -> Image.Image:
    """A picture in the middle of a frame, scaled to fit, its aspect kept."""
    width, height = _SIZE
    scale = min(width / image.width, height / image.height)
    size = max(1, round(image.width * scale)), max(1, round(image.height * scale))
    frame = Image.new("RGB", _SIZE, _BACKGROUND)
    frame.paste(
        image.resize(size, Image.Resampling.BICUBIC),
        ((width - size[0]) // 2, (height - size[1]) // 2),
    )
    return frame


def _fonts() -> list[Path]:
    from vit_str.synthesis.fonts import find_fonts

    return find_fonts()
