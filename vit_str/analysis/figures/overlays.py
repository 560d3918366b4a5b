"""Pictures of words with what a decoder looked at: boxes, and a map of attention per character.

Beside each map of attention stands one of gradients, because attention is not explanation.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from einops import rearrange
from jaxtyping import Float64
from matplotlib import font_manager
from PIL import Image, ImageDraw, ImageFont
from torch import Tensor

from vit_str.analysis.characters import Word
from vit_str.analysis.figures.map_sheet import stacked
from vit_str.analysis.localization import Looks
from vit_str.pages.style import COLORS, INK, MUTED, PLATE

CAUTION = (
    "Attention is not explanation: a map shows where the decoder took features from, not that the "
    "pixels there decided what it wrote; the map of gradients beside it often differs."
)
"""To be said wherever maps are shown."""

_WIDTH = 1040  # of a sheet, in pixels
_PAIRS = 3  # of maps in a row
_GAP, _LINE, _HEAD = 10, 18, 24
_WHITE = (255, 255, 255)
_HEAT = np.array([196, 30, 74])
_Color = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Shown:
    """A word to be shown.

    Attributes:
        word: the word.
        looks: where the decoder looked for the characters of its text.
        saliency: maps of gradients for the same characters.
    """

    word: Word
    looks: Looks
    saliency: Float64[Tensor, "character row column"]


def contact_sheet(shown: Sequence[Shown]) -> Image.Image:
    """Words one below the other: enlarged with boxes, and without; then the maps in pairs.

    Boxes from attention are colored, true ones white in black. The left map of a pair is
    attention, the right one gradients; red is the most of each map.
    """
    return stacked([_block(each) for each in shown], _WIDTH, _GAP)


def _block(shown: Shown) -> Image.Image:
    """One word with all of its maps."""
    image = Image.fromarray(rearrange(shown.word.pixels, "c h w -> h w c").numpy())
    large = _enlarged(image, (_WIDTH - _GAP) // 2)
    maps = [_pair(shown, image, place) for place in range(len(shown.word.text))]
    head = _HEAD + large.height + _GAP // 2
    rows = -(-len(maps) // _PAIRS)
    below = rows * (maps[0].height + _GAP // 2) if maps else 0
    block = Image.new("RGB", (_WIDTH, head + below), PLATE)
    pen = ImageDraw.Draw(block)
    pen.text((0, 2), _title(shown.word), fill=INK, font=_font(14))
    block.paste(_with_boxes(large, shown, large.width / image.width), (0, _HEAD))
    block.paste(large, (large.width + _GAP, _HEAD))
    for place, pair in enumerate(maps):
        x = place % _PAIRS * (_WIDTH + _GAP) // _PAIRS
        block.paste(pair, (x, head + place // _PAIRS * (pair.height + _GAP // 2)))
    return block


def _title(word: Word) -> str:
    if word.label is None:
        return f"{word.text}    ({word.name})"
    verdict = "read right" if word.right else f"the label is {word.label}"
    return f"{word.text}    {verdict}    ({word.name})"


def _with_boxes(large: Image.Image, shown: Shown, scale: float) -> Image.Image:
    picture = large.copy()
    pen = ImageDraw.Draw(picture)
    truth = shown.word.true_boxes
    for box in [] if truth is None else truth.tolist():
        _rectangle(pen, box, scale, (0, 0, 0), 3)
        _rectangle(pen, box, scale, _WHITE, 1)
    looks = zip(shown.looks.boxes.tolist(), shown.looks.centers.tolist(), strict=True)
    for place, (box, (x, y)) in enumerate(looks):
        color = _color(place)
        _rectangle(pen, box, scale, _WHITE, 4)
        _rectangle(pen, box, scale, color, 3)
        pen.circle((x * scale, y * scale), 4, fill=color, outline=_WHITE)
    return picture


def _pair(shown: Shown, image: Image.Image, place: int) -> Image.Image:
    """Attention to a character, and its gradients, side by side under its name."""
    width = (_WIDTH - (_PAIRS - 1) * _GAP) // _PAIRS
    half = (width - 4) // 2
    word = shown.word
    maps = [_heated(image, each[place], half) for each in (shown.looks.maps, shown.saliency)]
    pair = Image.new("RGB", (width, _LINE + maps[0].height), PLATE)
    pen = ImageDraw.Draw(pair)
    title = f"{word.text[place]}  {word.confidences[place]:.2f}"
    pen.text((0, 1), title, fill=_color(place), font=_font(13))
    pen.text((half, 3), "attention", fill=MUTED, font=_font(10), anchor="ra")
    pen.text((width, 3), "|gradient × input|", fill=MUTED, font=_font(10), anchor="ra")
    box = shown.looks.boxes[place].tolist()
    _rectangle(ImageDraw.Draw(maps[0]), box, half / image.width, _color(place), 1)
    pair.paste(maps[0], (0, _LINE))
    pair.paste(maps[1], (half + 4, _LINE))
    return pair


def _heated(image: Image.Image, map_: Float64[Tensor, "row column"], width: int) -> Image.Image:
    """The picture in gray, tokens the redder the larger their share is."""
    gray = np.asarray(_enlarged(image, width).convert("L"), dtype=float)
    shares = map_ / map_.max().clamp(min=1e-12)
    heat = torch.nn.functional.interpolate(shares[None, None], gray.shape, mode="nearest-exact")
    strength = 0.8 * heat[0, 0].numpy()[..., None]
    pale = (0.35 * gray + 0.65 * 255)[..., None]
    return Image.fromarray((pale * (1 - strength) + _HEAT * strength).round().astype(np.uint8))


def _enlarged(image: Image.Image, width: int) -> Image.Image:
    height = max(1, round(image.height * width / image.width))
    return image.resize((width, height), Image.Resampling.BICUBIC)


def _rectangle(
    pen: ImageDraw.ImageDraw, box: Sequence[float], scale: float, color: _Color, width: int
) -> None:
    left, top, right, bottom = (side * scale for side in box)
    corners = (left, top, max(left, right - 1), max(top, bottom - 1))
    pen.rectangle(corners, outline=color, width=width)


def _color(place: int) -> _Color:
    code = COLORS[place % len(COLORS)]
    return int(code[1:3], 16), int(code[3:5], 16), int(code[5:7], 16)


def _font(size: int) -> ImageFont.FreeTypeFont:
    """The font of our figures, which comes with matplotlib and knows many scripts."""
    return ImageFont.truetype(font_manager.findfont("DejaVu Sans"), size)
