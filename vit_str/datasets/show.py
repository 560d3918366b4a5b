"""Words with their labels on one picture, augmented if asked."""

import random
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from PIL import Image

from vit_str.datasets.augmentation import Augmentation
from vit_str.datasets.rules import Rules
from vit_str.datasets.source import LabeledWord, Skipped, WordSource
from vit_str.reports.sheets import Captioned, framed, sheet

_COUNT = 64  # words, unless another number is asked for
_COUNT_AUGMENTED = 16
_COLUMNS = 8  # cells of a row
_VERSIONS = 7  # augmented ones among them
_SIZE = (160, 48)  # width and height of a cell, in pixels
_BACKGROUND = (225, 225, 225)
_LARGEST_SHOWN = (1024, 1024)  # enough to look at; photographs are larger


def word_sheet(
    source: WordSource, rules: Rules, count: int | None, seed: int, augment: str | None
) -> tuple[Image.Image, int]:
    """A picture of words that can be used, and how many there are on it.

    Args:
        source: of the words.
        rules: which of them can be used.
        count: most words; None for the usual number.
        seed: of the choice, and of the augmentation.
        augment: name of a pipeline, see `pipeline_of`; None for the words as they are.

    Raises:
        ValueError: if no word can be used.
    """
    change = None if augment is None else Augmentation(augment, seed)
    count = count or (_COUNT_AUGMENTED if change else _COUNT)
    cells: list[Captioned] = []
    words = 0
    problem = ""
    for word in _some(source, count, seed):
        image = word if isinstance(word, Skipped) else rules.decode(word)
        if isinstance(word, Skipped) or isinstance(image, Skipped):
            problem = problem or f"; the first: {image}"
            continue
        image.thumbnail(_LARGEST_SHOWN)
        cells.append(Captioned(framed(image, _SIZE, _BACKGROUND), word.label))
        if change:
            numbers = range(words * _VERSIONS, (words + 1) * _VERSIONS)
            for number in numbers:
                version = change(image, number)
                cells.append(Captioned(framed(version, _SIZE, _BACKGROUND)))
        words += 1
        if words == count:
            break
    if not words:
        raise ValueError(f"{source.path}: no word to show{problem}")
    return sheet(cells, _COLUMNS, _fonts), words


def _some(source: WordSource, count: int, seed: int) -> Iterator[LabeledWord | Skipped]:
    """Words from anywhere in the data set."""
    number = len(source)
    # More than are wanted, and all others if even so too few can be used.
    chosen = random.Random(seed).sample(range(number), min(number, 2 * count))
    first = set(chosen)
    others = (index for index in range(number) if index not in first)
    yield from (source[index] for index in chain(chosen, others))


def _fonts() -> list[Path]:
    from matplotlib.font_manager import findSystemFonts

    return [Path(path) for path in findSystemFonts()]
