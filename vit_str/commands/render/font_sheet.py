"""``vit-str render --show fonts``: a sample of every font in use, and why others are not."""

import argparse

import torch
from jaxtyping import Int64
from PIL import Image
from torch import Tensor

from vit_str import console
from vit_str.charset import PADDING, Charset
from vit_str.commands.render.material import FontBar, charset_of
from vit_str.sheets import Cell, caption_font, sheet
from vit_str.synthesis.fonts import NO_FONTS, find_fonts
from vit_str.synthesis.glyphs import GlyphAtlas
from vit_str.synthesis.layout import Typesetter

_COLUMNS = 8
_SAMPLE = "RabgQe25&a"
_SIZE = 160, 40
_AT_ONCE = 256


def run(options: argparse.Namespace) -> int:
    """Write the sheet, and the rejected fonts to a text file of the same name."""
    paths = find_fonts(options.fonts)
    with FontBar() as progress:
        atlas, rejections = GlyphAtlas.build(paths, charset_of(options), progress)
    rejected = options.out.with_suffix(".rejected.tsv")
    lines = [f"{rejection.path}\t{rejection.reason}\n" for rejection in rejections]
    rejected.write_text("font\treason\n" + "".join(lines), encoding="utf-8")
    if not atlas.names:
        raise ValueError(f"none of {len(paths)} fonts can be used, see {rejected}; {NO_FONTS}")
    atlas = atlas.held_out() if options.held_out else atlas
    captions = [name.partition("/")[2] for name in atlas.names]
    cells = [Cell(image, caption) for image, caption in zip(_samples(atlas), captions, strict=True)]
    font = caption_font("".join(captions), lambda: paths)
    sheet(cells, _COLUMNS, font).save(options.out)
    console.write(
        f"{len(atlas):,} fonts: {options.out}; {len(rejections):,} are not used: {rejected}"
    )
    return 0


def _samples(atlas: GlyphAtlas) -> list[Image.Image]:
    """The same few characters in every font, those that it does not show truly left out."""
    typesetter = Typesetter(atlas)
    sample = _sample_ids(atlas.charset)
    images = []
    for first in range(0, len(atlas), _AT_ONCE):
        fonts = torch.arange(first, min(first + _AT_ONCE, len(atlas)))
        lines = typesetter.lay_out(
            _honest(atlas, sample, fonts), fonts, torch.full((len(fonts),), 2.0)
        )
        widths = lines.widths.long().tolist()
        for mask, width in zip(lines.masks, widths, strict=True):
            images.append(_framed(Image.fromarray(255 - mask[:, :width].numpy())))
    return images


def _sample_ids(charset: Charset) -> list[int]:
    known = [character for character in _SAMPLE if not charset.unknown(character)]
    step = max(1, len(charset) // len(_SAMPLE))
    return charset.encode("".join(known) if len(known) > 3 else charset.characters[::step][:10])


def _honest(
    atlas: GlyphAtlas, sample: list[int], fonts: Int64[Tensor, " font"]
) -> Int64[Tensor, "font position"]:
    """The sample for each font; characters that it must not be used for are left out."""
    rows = []
    for font in fonts.tolist():
        shown = [character for character in sample if atlas.honest[font, character]]
        shown = shown or atlas.honest[font].nonzero()[: len(sample), 0].tolist()
        rows.append(shown + [PADDING] * (len(sample) - len(shown)))
    return torch.tensor(rows)


def _framed(line: Image.Image) -> Image.Image:
    """A line of text within a picture of the size of all samples."""
    width, height = _SIZE
    scale = min(width / line.width, height / line.height)
    small = line.resize((max(1, round(line.width * scale)), max(1, round(line.height * scale))))
    picture = Image.new("RGB", _SIZE, "white")
    picture.paste(small, (0, (height - small.height) // 2))
    return picture
