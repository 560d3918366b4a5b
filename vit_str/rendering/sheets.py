"""Sheets to look at: rendered words, what an ingredient does to them, and the fonts."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from PIL import Image

from vit_str import console
from vit_str.rendering.dataset import BATCH, labeled_images
from vit_str.reports.sheets import Captioned, sheet, write_picture
from vit_str.synthesis.fonts import find_fonts
from vit_str.synthesis.renderer import Renderer

Fonts = list[Path] | None
"""Folders of fonts for captions too; None for the system's."""
STRENGTHS = (0.0, 0.5, 1.0, 2.0)
_WORD_COLUMNS = 8  # of a sheet
_ZOOM = 2  # times the pixels of words
# Some ingredients are rare: look at this many batches at least, and at most.
_FEWEST_BATCHES = 4
_MOST_BATCHES = 24
# Mean difference of a color value, 0 to 255, from which on a change can be seen.
_VISIBLE = 1.0


def write_word_sheet(
    path: Path, renderer: Renderer, fonts: Fonts, seed: int, start: int, count: int
) -> None:
    """Words with their labels."""
    indices = range(start // BATCH, -(-(start + count) // BATCH))
    words: list[tuple[Image.Image, str]] = []
    with console.Progress(len(indices), alone=True, unit="batch") as progress:
        for index in progress.over(indices):
            words += labeled_images(renderer, renderer.batch(BATCH, seed, index))
    skipped = start % BATCH
    shown = words[skipped : skipped + count]
    cells = [Captioned(image, label) for image, label in shown]
    _save(path, cells, _WORD_COLUMNS, fonts)


@dataclass(frozen=True, slots=True)
class ShownWord:
    """A word at every strength, and how much the pictures differ from the first."""

    label: str
    images: tuple[Image.Image, ...]
    change: float  # mean difference of a color value, 0 to 255


def write_ingredient_sheet(
    path: Path, renderer: Renderer, fonts: Fonts, name: str, seed: int, count: int
) -> None:
    """The same words without an ingredient and with it.

    Raises:
        ValueError: for an ingredient that changes no word, such as pictures where there are none.
    """
    words = changed_words(renderer, name, count, seed)
    if not words:
        need = "; give --pictures DIR" if name == "picture" else ""
        raise ValueError(
            f"{name} changes none of the first {_MOST_BATCHES * BATCH:,} words{need}"
        )
    captions = [f"{name} {strength:g}" for strength in STRENGTHS]
    cells = []
    for word in words:
        of_word = [word.label, *captions[1:]]
        for image, caption in zip(word.images, of_word, strict=True):
            enlarged = image.resize((image.width * _ZOOM, image.height * _ZOOM))
            cells.append(Captioned(enlarged, caption))
    _save(path, cells, 2 * len(STRENGTHS), fonts)


def changed_words(
    renderer: Renderer,
    name: str,
    count: int,
    seed: int,
) -> list[ShownWord]:
    """The words that one ingredient changes most, all else the same."""
    words: list[ShownWord] = []
    usual = renderer.ingredients
    try:
        for index in range(_MOST_BATCHES):
            if index >= _FEWEST_BATCHES and len(words) == count:
                break
            words += _changes(renderer, name, seed, index)
            words = sorted(words, key=lambda word: -word.change)[:count]
    finally:
        renderer.ingredients = usual
    return words


def _changes(
    renderer: Renderer,
    name: str,
    seed: int,
    index: int,
) -> Sequence[ShownWord]:
    batches = []
    for strength in STRENGTHS:
        renderer.ingredients = replace(renderer.ingredients, **{name: strength})
        batches.append(renderer.batch(BATCH, seed, index))
    without = batches[0].images.float()
    changes = []
    for batch in batches[1:]:
        difference = batch.images.float() - without
        changes.append(difference.abs().mean((1, 2, 3)))
    mean = sum(changes[1:], changes[0]) / len(changes)
    drawn = [labeled_images(renderer, batch) for batch in batches]
    by_word = zip(*drawn, strict=True)
    words = []
    for at_strengths, change in zip(by_word, mean.tolist(), strict=True):
        if change > _VISIBLE:
            images, labels = zip(*at_strengths, strict=True)
            words.append(ShownWord(labels[0], images, change))
    return words


def _save(path: Path, cells: Sequence[Captioned], columns: int, fonts: Fonts) -> None:
    write_picture(path, sheet(cells, columns, lambda: find_fonts(fonts)))
