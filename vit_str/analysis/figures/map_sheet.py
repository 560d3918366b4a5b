"""Words with maps over them: a row for each character or token, a column for each method."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from einops import rearrange
from jaxtyping import Float, UInt8
from matplotlib import font_manager
from PIL import Image, ImageDraw, ImageFont
from torch import Tensor

from vit_str.pages.style import HEAT, INK, MUTED, PLATE

_WIDTH = 1040  # of a sheet, in pixels
_LABEL = 44  # left of the maps
_GAP, _HEAD, _NAMES = 8, 24, 18
_MOST_ROWS = 12
_STRONGEST = 0.85  # of the color over the picture


@dataclass(frozen=True, slots=True)
class MappedWord:
    """A word to be shown.

    Attributes:
        title: what to write over it.
        pixels: of the image.
        rows: a few letters for each row, such as the characters.
        maps: by method, one map for each row; larger is more.
    """

    title: str
    pixels: UInt8[Tensor, "3 height width"]
    rows: Sequence[str]
    maps: Mapping[str, Float[Tensor, "character row column"]]


def mapped_words(
    names: Sequence[str],
    pixels: UInt8[Tensor, "batch 3 height width"],
    texts: Sequence[str],
    maps: Mapping[str, Float[Tensor, "batch character row column"]],
) -> list[MappedWord]:
    """The words of a batch in which anything was read, with their maps by method."""
    return [
        MappedWord(
            f"{text}    ({names[place]})",
            pixels[place],
            text,
            {method: each[place] for method, each in maps.items()},
        )
        for place, text in enumerate(texts)
        if text
    ]


def map_sheet(words: Sequence[MappedWord]) -> Image.Image:
    """Words one below the other; the darkest color is the largest value of each map."""
    return stacked([_block(word) for word in words], _WIDTH, _GAP)


def stacked(blocks: Sequence[Image.Image], width: int, gap: int) -> Image.Image:
    """Pictures one below the other, with a line after each."""
    height = sum(block.height + 2 * gap for block in blocks)
    sheet = Image.new("RGB", (width, max(height, 1)), PLATE)
    pen = ImageDraw.Draw(sheet)
    top = 0
    for block in blocks:
        sheet.paste(block, (0, top))
        top += block.height + gap
        pen.line((0, top, width, top), fill="#e0ddd5")
        top += gap
    return sheet


def _block(word: MappedWord) -> Image.Image:
    """The picture as it is, and one row of maps after the other."""
    picture = Image.fromarray(rearrange(word.pixels, "c h w -> h w c").cpu().numpy())
    columns = len(word.maps) + 1
    across = (_WIDTH - _LABEL - (columns - 1) * _GAP) // columns
    down = max(1, round(picture.height * across / picture.width))
    large = picture.resize((across, down), Image.Resampling.BICUBIC)
    rows = word.rows[:_MOST_ROWS]
    block = Image.new("RGB", (_WIDTH, _HEAD + _NAMES + len(rows) * (down + _GAP)), PLATE)
    pen = ImageDraw.Draw(block)
    pen.text((0, 2), word.title, fill=INK, font=_font(14))
    if len(rows) < len(word.rows):
        more = f"the first {len(rows)} of {len(word.rows)}"
        pen.text((_WIDTH, 5), more, fill=MUTED, font=_font(11), anchor="ra")
    for column, name in enumerate(["image", *word.maps]):
        x = _LABEL + column * (across + _GAP)
        pen.text((x, _HEAD), name, fill=MUTED, font=_font(11))
    for row, label in enumerate(rows):
        y = _HEAD + _NAMES + row * (down + _GAP)
        pen.text((_LABEL - 8, y + down / 2), label, fill=INK, font=_font(15), anchor="rm")
        if not row:
            block.paste(large, (_LABEL, y))
        for column, maps in enumerate(word.maps.values(), 1):
            block.paste(_heated(large, maps[row]), (_LABEL + column * (across + _GAP), y))
    return block


def _heated(picture: Image.Image, values: Float[Tensor, "row column"]) -> Image.Image:
    """The picture in pale gray, under the color of each token."""
    gray = np.asarray(picture.convert("L"), dtype=float)
    shares = (values / values.max().clamp(min=1e-12)).float().cpu()
    size = picture.height, picture.width
    spread = torch.nn.functional.interpolate(shares[None, None], size, mode="nearest-exact")
    shares_of_pixels = spread[0, 0].numpy()
    colors = HEAT(shares_of_pixels)[..., :3] * 255
    pale = np.repeat((0.45 * gray + 0.55 * 255)[..., None], 3, 2)
    strength = _STRONGEST * np.sqrt(shares_of_pixels)[..., None]
    return Image.fromarray((pale * (1 - strength) + colors * strength).round().astype(np.uint8))


def _font(size: int) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(font_manager.findfont("DejaVu Sans"), size)
