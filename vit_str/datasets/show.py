"""Words with their labels on one picture, augmented if asked."""

import random
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

from PIL import Image

from vit_str.datasets.judging import CHUNK, judged
from vit_str.datasets.rules import Rules
from vit_str.datasets.source import IndexedSource, LabeledWord, Skipped, WordSource
from vit_str.sheets import Cell, caption_font, sheet

_COUNT, _COUNT_AUGMENTED = 64, 16
_COLUMNS, _VERSIONS = 8, 7
_SIZE = 160, 48
_BACKGROUND = (225, 225, 225)

Change = Callable[[Image.Image, int], Image.Image]
Shown = tuple[Image.Image, str]


def word_sheet(
    source: WordSource, rules: Rules, count: int | None, seed: int, augment: str | None
) -> tuple[Image.Image, int]:
    """A picture of words that can be used, and how many there are on it.

    Args:
        source: where they are from.
        rules: which can be used.
        count: how many; 64 by default, 16 with an augmentation.
        seed: which ones, and of the augmentation.
        augment: a policy: every word as it is, and changed several times in its row.

    Raises:
        ValueError: there is no word to show, or the policy cannot be used.
    """
    change: Change | None = None
    if augment is not None:
        from vit_str.datasets.augmentation import Augmentation

        change = Augmentation(augment, seed)
    count = count or (_COUNT_AUGMENTED if change else _COUNT)

    def show(word: LabeledWord, image: Image.Image) -> Shown:
        image.thumbnail((1024, 1024))  # enough to look at; photographs are larger
        return image, word.label

    entries = _some(source, count, seed)
    results = chain.from_iterable(judged(entries, rules, show, min(CHUNK, 2 * count)))
    words, skipped = _usable(results, count)
    if not words:
        why = f"; the first: {skipped.name}: {skipped.reason} {skipped.detail}" if skipped else ""
        raise ValueError(f"{source.path}: no word to show{why}")
    cells = list(_cells(words, change))
    font = caption_font("".join(cell.caption for cell in cells), _fonts)
    return sheet(cells, _COLUMNS, font), len(words)


def _some(source: WordSource, count: int, seed: int) -> Iterator[LabeledWord | Skipped]:
    """Words from anywhere in the data set; the first ones if it can only be read in order."""
    number = source.known_length
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
    from matplotlib.font_manager import findSystemFonts

    return [Path(path) for path in findSystemFonts()]
