"""``vit-str render --show``: the same words without an ingredient and with it."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from PIL import Image
from tqdm import tqdm

from vit_str import console
from vit_str.commands.render.material import BATCH, material_of
from vit_str.commands.render.options import ALL, FONTS, INGREDIENTS
from vit_str.commands.render.word_sheet import labeled_images
from vit_str.sheets import Cell, caption_font, sheet
from vit_str.synthesis.fonts import find_fonts
from vit_str.synthesis.renderer import Renderer

STRENGTHS = (0.0, 0.5, 1.0, 2.0)
_COUNT = 24
_ROWS_ACROSS = 2
_ZOOM = 2
# Some ingredients are rare: look at this many batches at least, and at most.
_FEWEST_BATCHES, _MOST_BATCHES = 4, 24
# Mean difference of a color value, 0 to 255, from which on a change can be seen.
_VISIBLE = 1.0


@dataclass(frozen=True, slots=True)
class ShownWord:
    """A word at every strength, and how much the pictures differ from the first.

    Attributes:
        label: the word.
        images: one for each strength.
        change: mean difference of a color value, 0 to 255, over all strengths.
    """

    label: str
    images: tuple[Image.Image, ...]
    change: float


def run(options: argparse.Namespace) -> int:
    """Write one sheet, or one for each ingredient."""
    (options.out if options.show == ALL else options.out.parent).mkdir(parents=True, exist_ok=True)
    if options.show == FONTS:
        from vit_str.commands.render.font_sheet import run as show_fonts

        return show_fonts(options)
    # Other ingredients would hide what this one does: clean words, if nothing else is asked for.
    renderer = material_of(options, difficulty=0.0).renderer
    if options.show != ALL:
        if not _write(renderer, options.show, options.out, options):
            raise ValueError(_nothing(options.show))
        return 0
    for name in tqdm(INGREDIENTS, unit="sheet", disable=None):
        if not _write(renderer, name, options.out / f"{name}.png", options):
            console.complain(_nothing(name))
    return 0


def _nothing(name: str) -> str:
    need = "; give --pictures DIR" if name == "picture" else ""
    return f"{name} changes none of the first {_MOST_BATCHES * BATCH:,} words{need}"


def _write(renderer: Renderer, name: str, path: Path, options: argparse.Namespace) -> bool:
    words = changed_words(renderer, name, options.count or _COUNT, options.seed)
    if not words:
        return False
    captions = [f"{name} {strength:g}" for strength in STRENGTHS]
    cells = [
        Cell(image.resize((image.width * _ZOOM, image.height * _ZOOM)), caption)
        for word in words
        for image, caption in zip(word.images, [word.label, *captions[1:]], strict=True)
    ]
    text = "".join(cell.caption for cell in cells)
    font = caption_font(text, lambda: find_fonts(options.fonts))
    sheet(cells, len(STRENGTHS) * _ROWS_ACROSS, font).save(path)
    return True


def changed_words(renderer: Renderer, name: str, count: int, seed: int) -> list[ShownWord]:
    """The words that one ingredient changes most, all else the same.

    Args:
        renderer: what draws; its other ingredients stay as they are.
        name: of the ingredient.
        count: most words.
        seed: of the stream to look in.
    """
    found: list[ShownWord] = []
    usual = renderer.ingredients
    try:
        for index in range(_MOST_BATCHES):
            if index >= _FEWEST_BATCHES and len(found) == count:
                break
            found += _changes(renderer, name, seed, index)
            found = sorted(found, key=lambda word: -word.change)[:count]
    finally:
        renderer.ingredients = usual
    return found


def _changes(renderer: Renderer, name: str, seed: int, index: int) -> Sequence[ShownWord]:
    usual = renderer.ingredients
    batches = []
    for strength in STRENGTHS:
        renderer.ingredients = replace(usual, **{name: strength})
        batches.append(renderer.batch(BATCH, seed, index))
    renderer.ingredients = usual
    without = batches[0].images.float()
    changes = [(batch.images.float() - without).abs().mean((1, 2, 3)) for batch in batches[1:]]
    mean = sum(changes[1:], changes[0]) / len(changes)
    drawn = [labeled_images(renderer, batch) for batch in batches]
    rows = zip(*drawn, strict=True)
    return [
        ShownWord(row[0][1], tuple(image for image, _ in row), change)
        for row, change in zip(rows, mean.tolist(), strict=True)
        if change > _VISIBLE
    ]
