"""Lines, bars, spots and large letters: clutter behind a word, and what hangs in front of it.

Pictures are changed in place. Periods and widths are in pixels of the picture, angles in radians,
opacities from 0 to 1. A ``strength`` is that of an ingredient: 0 without it, 1 in the standard mix.
"""

import math
from dataclasses import dataclass

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from vit_str.synthesis.fields import Images, Mask, pixel_columns, pixel_rows
from vit_str.synthesis.ingredients import share_of
from vit_str.synthesis.random_numbers import Random, Range

Uniforms = Float[Tensor, "chosen number thing 1 1"]

_NUMBERS = 5  # that a line or a spot is made of


@dataclass(frozen=True)
class _Strokes:
    """Straight lines behind the word; all by eye."""

    count: int = 3
    half_width: Range = 0.5, 4.0  # pixels
    opacity: Range = 0.2, 0.7


@dataclass(frozen=True)
class _Wires:
    """Straight lines in front of the word; all by eye."""

    count: int = 2
    half_width: Range = 0.3, 0.9  # pixels
    dark_share: float = 0.6
    darkening: float = 0.8  # of the colors of dark ones
    opacity: float = 0.9


@dataclass(frozen=True)
class _Bars:
    """Planks, blinds, bricks, fences; all by eye."""

    tilt: float = 0.25  # deviation of the angle, in radians
    upright_share: float = 0.4
    period: Range = 3.0, 28.0  # pixels
    sharpness: Range = 0.6, 6.0  # of the edges: waves are multiplied by it, and cut
    # Added to waves from -1 to 1, for bars wider than their gaps
    balance: Range = -0.8, 0.8
    crossed_share: float = 0.4
    cross_period: float = 1.7  # over that of the bars
    opacity: Range = 0.1, 0.5


@dataclass(frozen=True)
class _LargeLetters:
    """Pale letters of other words, larger than the word; all by eye."""

    opacity: Range = 0.15, 0.5
    # Of a word that are left out at each side, before it is enlarged
    cut_tenths: int = 3


@dataclass(frozen=True)
class _Spots:
    """Ellipses, as leaves, drops and dirt; all by eye."""

    count: int = 4
    share: float = 0.7  # of these that are there
    least_radius: float = 1.0  # pixels of a picture of `height` rows
    growth: float = 2.5  # from the least radius to the largest
    height: int = 32
    sharpness: float = 2.0  # of the edge
    opacity: float = 0.9


_STROKES = _Strokes()
_WIRES = _Wires()
_BARS = _Bars()
_LARGE_LETTERS = _LargeLetters()
_SPOTS = _Spots()


def add_clutter(image: Images, words: Mask, strength: float, random: Random) -> None:
    """Bars and grids, a few strokes, or large pale letters behind the word."""
    share = share_of("clutter", strength)
    _add_bars(image, share, random)
    _add_strokes(image, share, random)
    _add_large_letters(image, words, share, random)


def add_occlusion(image: Images, strength: float, random: Random) -> None:
    """Wires, twigs and small spots in front of the word: too thin to hide a letter."""
    share = share_of("occlusion", strength)
    _add_wires(image, share, random)
    _add_spots(image, share, random)


def _add_strokes(image: Images, share: float, random: Random) -> None:
    chosen = random.subset(share)
    uniforms = _uniforms(random, _STROKES.count)[chosen]
    color = random.uniform(0, 1, 3, 1, 1)[chosen]
    opacity = random.uniform(*_STROKES.opacity, 1, 1, 1)[chosen]
    if len(chosen):
        cover = _lines(image, uniforms, _STROKES.half_width) * opacity
        image[chosen] = image.index_select(0, chosen).lerp(color, cover)


def _add_large_letters(
    image: Images, words: Mask, share: float, random: Random
) -> None:
    chosen = random.subset(share)
    source = random.permutation()[chosen]
    color = random.uniform(0, 1, 3, 1, 1)[chosen]
    opacity = random.uniform(*_LARGE_LETTERS.opacity, 1, 1, 1)[chosen]
    if len(chosen):
        cover = _enlarged(words[source]) * opacity
        image[chosen] = image.index_select(0, chosen).lerp(color, cover)


def _add_wires(image: Images, share: float, random: Random) -> None:
    chosen = random.subset(share)
    uniforms = _uniforms(random, _WIRES.count)[chosen]
    is_dark = random.bernoulli(_WIRES.dark_share, 1, 1, 1)[chosen]
    color = random.uniform(0, 1, 3, 1, 1)[chosen]
    color = color * (1 - _WIRES.darkening * is_dark)
    if len(chosen):
        cover = _lines(image, uniforms, _WIRES.half_width) * _WIRES.opacity
        image[chosen] = image.index_select(0, chosen).lerp(color, cover)


def _add_spots(image: Images, share: float, random: Random) -> None:
    chosen = random.subset(share)
    uniforms = _uniforms(random, _SPOTS.count)[chosen]
    color = random.uniform(0, 1, 3, 1, 1)[chosen]
    if len(chosen):
        cover = _spots(image, uniforms) * _SPOTS.opacity
        image[chosen] = image.index_select(0, chosen).lerp(color, cover)


def _uniforms(random: Random, things: int) -> Uniforms:
    """Random numbers from 0 to 1, one for each of some things in each picture."""
    return random.uniform(0, 1, _NUMBERS, things, 1, 1)


def _add_bars(image: Images, share: float, random: Random) -> None:
    """Waves in one direction, at times across it too."""
    chosen = random.subset(share)
    tilt = random.normal(_BARS.tilt, 1, 1, 1)
    is_upright = random.bernoulli(_BARS.upright_share, 1, 1, 1)
    angle = (tilt + is_upright * math.pi / 2)[chosen]
    period = random.uniform(*_BARS.period, 1, 1, 1)[chosen]
    start = random.uniform(0, 1, 1, 1, 1)[chosen]
    sharpness = random.uniform(*_BARS.sharpness, 1, 1, 1)[chosen]
    balance = random.uniform(*_BARS.balance, 1, 1, 1)[chosen]
    is_crossed = random.bernoulli(_BARS.crossed_share, 1, 1, 1)[chosen]
    color = random.uniform(0, 1, 3, 1, 1)[chosen]
    opacity = random.uniform(*_BARS.opacity, 1, 1, 1)[chosen]
    if not len(chosen):
        return
    rows = pixel_rows(image)
    columns = pixel_columns(image)
    cos = angle.cos()
    sin = angle.sin()

    def wave(across: Tensor, period: Tensor) -> Tensor:
        phase = (across / period + start) * 2 * math.pi
        height = (phase.sin() + balance) * sharpness
        return height.clamp(-1, 1) * 0.5 + 0.5

    bars = wave(rows * cos + columns * sin, period)
    cross_bars = wave(columns * cos - rows * sin, _BARS.cross_period * period)
    bars = bars.maximum(cross_bars * is_crossed)
    image[chosen] = image.index_select(0, chosen).lerp(color, bars * opacity)


def _lines(image: Images, uniforms: Uniforms, half_width: Range) -> Mask:
    """Straight lines through the picture, half as wide as drawn from a range in pixels."""
    x, y, turn, width, _ = uniforms.unbind(1)
    angle = (turn - 0.5) * math.pi
    height, length = image.shape[-2:]
    across = pixel_columns(image) - x * length
    down = pixel_rows(image) - y * height
    away = across * angle.sin() - down * angle.cos()
    thinnest, thickest = half_width
    half = thinnest + width * (thickest - thinnest)
    return (half + 0.5 - away.abs()).clamp(0, 1).amax(1, keepdim=True)


def _spots(image: Images, uniforms: Uniforms) -> Mask:
    """Ellipses of a few pixels."""
    x, y, wide, high, chance = uniforms.unbind(1)
    height, length = image.shape[-2:]
    unit = height / _SPOTS.height
    wide = _SPOTS.least_radius + _SPOTS.growth * wide
    high = _SPOTS.least_radius + _SPOTS.growth * high
    across = (pixel_columns(image) - x * length) / wide / unit
    down = (pixel_rows(image) - y * height) / high / unit
    inside = 1 - across.square() - down.square()
    is_there = chance < _SPOTS.share
    cover = (_SPOTS.sharpness * inside).clamp(0, 1) * is_there
    return cover.amax(1, keepdim=True)


def _enlarged(words: Mask) -> Mask:
    """The middle of words, at two and a half times their size."""
    height, width = words.shape[-2:]
    top = height * _LARGE_LETTERS.cut_tenths // 10
    left = width * _LARGE_LETTERS.cut_tenths // 10
    middle = words[..., top : height - top, left : width - left]
    return F.interpolate(middle, (height, width), mode="bilinear", align_corners=False)
