"""``vit-str render --sheet``: words with their labels, to look at."""

import argparse
from itertools import islice

from PIL import Image
from tqdm import tqdm

from vit_str.commands.render.material import BATCH, material_of
from vit_str.sheets import Cell, caption_font, sheet
from vit_str.synthesis.fonts import find_fonts
from vit_str.synthesis.renderer import RenderedBatch, Renderer

_COUNT, _COLUMNS = 160, 8


def run(options: argparse.Namespace) -> int:
    """Write the sheet."""
    options.sheet.parent.mkdir(parents=True, exist_ok=True)
    renderer = material_of(options).renderer
    count = options.count or _COUNT
    first, end = options.start, options.start + count
    indices = range(first // BATCH, -(-end // BATCH))
    words = (
        word
        for index in tqdm(indices, unit="batch", disable=None, leave=False, delay=2)
        for word in labeled_images(renderer, renderer.batch(BATCH, options.seed, index))
    )
    skipped = first % BATCH
    cells = [Cell(image, label) for image, label in islice(words, skipped, skipped + count)]
    font = caption_font("".join(cell.caption for cell in cells), lambda: find_fonts(options.fonts))
    sheet(cells, _COLUMNS, font).save(options.sheet)
    return 0


def labeled_images(renderer: Renderer, batch: RenderedBatch) -> list[tuple[Image.Image, str]]:
    """The pictures of a batch with what they say."""
    pixels = batch.images.permute(0, 2, 3, 1).cpu().numpy()
    labels = [renderer.charset.decode(row) for row in batch.labels.tolist()]
    return [(Image.fromarray(image), label) for image, label in zip(pixels, labels, strict=True)]
