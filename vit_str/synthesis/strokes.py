"""Lines, bars, spots and large letters: clutter behind a word, and what hangs in front of it.

Periods and widths are in pixels of the picture, angles in radians, opacities from 0 to 1.
"""

import math

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from vit_str.synthesis.fields import Images, Mask, pixel_columns, pixel_rows
from vit_str.synthesis.ingredients import share_of
from vit_str.synthesis.random_numbers import Random

Uniforms = Float[Tensor, "chosen number thing 1 1"]


def add_clutter(image: Images, words: Mask, strength: float, random: Random) -> None:
    """Bars and grids, a few strokes, or large pale letters behind the word."""
    share = share_of("clutter", strength)
    _add_bars(image, share, random)
    chosen = random.subset(share)
    uniforms = _uniforms(random, 5, 3)
    color = random.uniform(0, 1, 3, 1, 1)
    opacity = random.uniform(0.2, 0.7, 1, 1, 1)
    if len(chosen):
        cover = _lines(image, uniforms[chosen], 0.5, 4.0) * opacity[chosen]
        image[chosen] = image.index_select(0, chosen).lerp(color[chosen], cover)
    chosen = random.subset(share)
    source = random.permutation()
    color = random.uniform(0, 1, 3, 1, 1)
    opacity = random.uniform(0.15, 0.5, 1, 1, 1)
    if len(chosen):
        cover = _enlarged(words[source[chosen]]) * opacity[chosen]
        image[chosen] = image.index_select(0, chosen).lerp(color[chosen], cover)


def add_occlusion(image: Images, strength: float, random: Random) -> None:
    """Wires, twigs and small spots in front of the word: too thin to hide a letter."""
    share = share_of("occlusion", strength)
    chosen = random.subset(share)
    uniforms = _uniforms(random, 5, 2)
    dark = random.bernoulli(0.6, 1, 1, 1)
    color = random.uniform(0, 1, 3, 1, 1)
    color = color * (1 - 0.8 * dark)
    if len(chosen):
        cover = _lines(image, uniforms[chosen], 0.3, 0.9) * 0.9
        image[chosen] = image.index_select(0, chosen).lerp(color[chosen], cover)
    chosen = random.subset(share)
    uniforms = _uniforms(random, 5, 4)
    color = random.uniform(0, 1, 3, 1, 1)
    if len(chosen):
        cover = _spots(image, uniforms[chosen]) * 0.9
        image[chosen] = image.index_select(0, chosen).lerp(color[chosen], cover)


def _uniforms(random: Random, count: int, things: int) -> Uniforms:
    """From 0 to 1, for each of some things in each picture."""
    return random.uniform(0, 1, count, things, 1, 1)


def _add_bars(image: Images, share: float, random: Random) -> None:
    """Planks, blinds, bricks, fences: waves in one direction, at times across it too."""
    chosen = random.subset(share)
    angle = (random.normal(0.25, 1, 1, 1) + random.bernoulli(0.4, 1, 1, 1) * math.pi / 2)[chosen]
    period = random.uniform(3, 28, 1, 1, 1)[chosen]
    start = random.uniform(0, 1, 1, 1, 1)[chosen]
    sharp = random.uniform(0.6, 6, 1, 1, 1)[chosen]
    balance = random.uniform(-0.8, 0.8, 1, 1, 1)[chosen]
    crossed = random.bernoulli(0.4, 1, 1, 1)[chosen]
    color = random.uniform(0, 1, 3, 1, 1)[chosen]
    opacity = random.uniform(0.1, 0.5, 1, 1, 1)[chosen]
    if not len(chosen):
        return
    rows = pixel_rows(image)
    columns = pixel_columns(image)
    cos = angle.cos()
    sin = angle.sin()

    def wave(across: Tensor, period: Tensor) -> Tensor:
        phase = across / period + start
        return (((phase * 2 * math.pi).sin() + balance) * sharp).clamp(-1, 1) * 0.5 + 0.5

    bars = wave(rows * cos + columns * sin, period)
    bars = bars.maximum(wave(columns * cos - rows * sin, 1.7 * period) * crossed)
    image[chosen] = image.index_select(0, chosen).lerp(color, bars * opacity)


def _lines(image: Images, uniforms: Uniforms, thinnest: float, thickest: float) -> Mask:
    """Straight lines through the picture, half as wide in pixels as the last two say."""
    x, y, turn, width, _ = uniforms.unbind(1)
    angle = (turn - 0.5) * math.pi
    height, length = image.shape[-2:]
    across = pixel_columns(image) - x * length
    down = pixel_rows(image) - y * height
    away = across * angle.sin() - down * angle.cos()
    half = thinnest + width * (thickest - thinnest)
    return (half + 0.5 - away.abs()).clamp(0, 1).amax(1, keepdim=True)


def _spots(image: Images, uniforms: Uniforms) -> Mask:
    """Ellipses of a few pixels."""
    x, y, wide, high, chance = uniforms.unbind(1)
    height, length = image.shape[-2:]
    unit = height / 32
    across = (pixel_columns(image) - x * length) / (1 + 2.5 * wide) / unit
    down = (pixel_rows(image) - y * height) / (1 + 2.5 * high) / unit
    cover = (2 * (1 - across.square() - down.square())).clamp(0, 1) * (chance < 0.7)
    return cover.amax(1, keepdim=True)


def _enlarged(words: Mask) -> Mask:
    """The middle of words, at two and a half times their size."""
    height, width = words.shape[-2:]
    top = height * 3 // 10
    left = width * 3 // 10
    middle = words[..., top : height - top, left : width - left]
    return F.interpolate(middle, (height, width), mode="bilinear", align_corners=False)
