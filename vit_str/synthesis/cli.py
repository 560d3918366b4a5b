"""``vit-str render``: rendered words as a data set that any trainer can use, or as a sheet."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont
from tqdm import tqdm

from vit_str.charset import PRINTABLE_ASCII, Charset
from vit_str.synthesis.glyphs import GlyphAtlas
from vit_str.synthesis.lexicon import Lexicon
from vit_str.synthesis.pictures import load_pictures
from vit_str.synthesis.renderer import RenderedBatch, Renderer

_BATCH = 64
_SHEET_COLUMNS = 8


def main(arguments: Sequence[str]) -> int:
    """Render as the arguments say; returns the exit code."""
    options = _parser().parse_args(arguments)
    try:
        renderer = _renderer(options)
        if options.sheet:
            sheet(renderer, options.count, options.seed).save(options.sheet)
        else:
            write_folder(renderer, options.count, options.seed, options.out)
    except (ValueError, OSError) as error:
        sys.stderr.write(f"vit-str render: {error}\n")
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("vit-str render", description=__doc__)
    target = parser.add_mutually_exclusive_group(required=True)
    target.add_argument("--out", type=Path, help="folder for images/ and labels.tsv")
    target.add_argument("--sheet", type=Path, help="one picture with all words, to look at")
    parser.add_argument("--count", type=int, default=160, help="number of words (160)")
    parser.add_argument("--seed", type=int, default=1, help="same seed, same words (1)")
    parser.add_argument("--fonts", type=Path, nargs="+", help="folders of fonts to use instead")
    parser.add_argument("--pictures", type=Path, nargs="+", help="folders of backgrounds")
    parser.add_argument("--words", type=Path, help="text file of words to use instead")
    parser.add_argument("--language", default="en", help="language of the words (en)")
    parser.add_argument("--charset", default=PRINTABLE_ASCII, help="characters to write")
    parser.add_argument("--height", type=int, default=32, help="of an image, in pixels (32)")
    parser.add_argument("--width", type=int, default=128, help="of an image, in pixels (128)")
    parser.add_argument("--held-out", action="store_true", help="fonts that training never sees")
    return parser


def _renderer(options: argparse.Namespace) -> Renderer:
    if options.count < 1:
        raise ValueError(f"--count must be at least 1, found {options.count}")
    charset = Charset(options.charset)
    atlas = GlyphAtlas.load_or_build(charset, options.fonts)
    atlas = atlas.held_out() if options.held_out else atlas
    lexicon = Lexicon(charset, options.language, options.words)
    pictures = load_pictures(options.pictures) if options.pictures else None
    return Renderer(atlas, lexicon, (options.height, options.width), pictures=pictures)


def write_folder(renderer: Renderer, count: int, seed: int, folder: Path) -> None:
    """Write ``images/000000000.png``, ... and ``labels.tsv``, and go on where a run was cut.

    The labels of a batch are written after its images: a line in the file means that the image
    is there.
    """
    (folder / "images").mkdir(parents=True, exist_ok=True)
    labels = folder / "labels.tsv"
    done = _whole_batches(labels)
    with (
        labels.open("a", encoding="utf-8", newline="\n") as file,
        tqdm(total=count, initial=done, unit="word", disable=None) as bar,
    ):
        for index in range(done // _BATCH, -(-count // _BATCH)):
            batch = renderer.batch(_BATCH, seed, index)
            words = _words(renderer, batch)[: count - index * _BATCH]
            lines = []
            for place, (image, label) in enumerate(words):
                name = f"{index * _BATCH + place:09d}.png"
                image.save(folder / "images" / name)
                lines.append(f"{name}\t{label}\n")
            file.write("".join(lines))
            file.flush()
            bar.update(len(words))


def _whole_batches(labels: Path) -> int:
    """Number of words in whole batches that are written already; the file is cut to them."""
    if not labels.exists():
        return 0
    lines = labels.read_text(encoding="utf-8").splitlines(keepends=True)
    done = len(lines) // _BATCH * _BATCH
    labels.write_text("".join(lines[:done]), encoding="utf-8", newline="\n")
    return done


def sheet(renderer: Renderer, count: int, seed: int) -> Image.Image:
    """The first words of a seed in a grid, with their labels."""
    batches = [renderer.batch(_BATCH, seed, index) for index in range(-(-count // _BATCH))]
    words = [word for batch in batches for word in _words(renderer, batch)][:count]
    height, width = renderer.image_size
    cell = width + 6, height + 18
    rows = -(-count // _SHEET_COLUMNS)
    picture = Image.new("RGB", (cell[0] * _SHEET_COLUMNS, cell[1] * rows), "white")
    pen, font = ImageDraw.Draw(picture), ImageFont.load_default(11)
    for place, (image, label) in enumerate(words):
        x, y = place % _SHEET_COLUMNS * cell[0], place // _SHEET_COLUMNS * cell[1]
        picture.paste(image, (x, y))
        pen.text((x, y + height + 2), label, fill="black", font=font)
    return picture


def _words(renderer: Renderer, batch: RenderedBatch) -> list[tuple[Image.Image, str]]:
    pixels = batch.images.permute(0, 2, 3, 1).cpu().numpy()
    labels = [renderer.charset.decode(row) for row in batch.labels.tolist()]
    return [(Image.fromarray(image), label) for image, label in zip(pixels, labels, strict=True)]
