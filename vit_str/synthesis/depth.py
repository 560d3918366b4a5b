"""Letters as things: with a shadow, a border, sides, a relief, or a light of their own.

Pictures are changed in place. Shifts are in pixels of the picture; colors, brightness and opacities
from 0 to 1. A ``strength`` is that of an ingredient: 0 without it, 1 in the standard mix.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from vit_str.synthesis.fields import Images, Mask, dilate, luminance, shifted, smooth
from vit_str.synthesis.ingredients import share_of
from vit_str.synthesis.random_numbers import Random, Range

Colors = Float[Tensor, "batch 3 1 1"]


@dataclass(frozen=True)
class _Neon:
    """Letters that glow, and the dark wall behind them; all by eye."""

    wall: Range = 0.1, 0.5  # brightness that is left of the wall
    core: Range = 0.2, 0.9  # how white the letters are
    power: Range = 0.5, 1.6  # of the glow
    brightest_glow: float = 0.85
    reach: int = 4  # of the glow, in pixels
    least_ink: float = 0.05  # brightness by which a color is divided at most


@dataclass(frozen=True)
class _Shadow:
    """Whole shifts down and to the right, in pixels, drawn evenly; all by eye."""

    first_down: int = -1  # the least shift; above the letters
    shifts_down: int = 4  # how many there are, from the least on
    first_right: int = -3
    shifts_right: int = 7
    depth: Range = 0.3, 0.9  # opacity
    color: Range = 0.0, 0.4  # of a dark one; of a light one, from 1 down
    light_share: float = 0.2  # of the shadows
    softness: Range = 0.0, 0.8  # share of the blurred letters
    reach: int = 2  # of the blur, in pixels


@dataclass(frozen=True)
class _Extrusion:
    """Sides of letters, one layer for each pixel of depth; all by eye."""

    least_depth: int = 2  # pixels
    deepest: int = 4  # pixels
    shade: Range = 0.25, 0.7  # brightness of the sides over that of the front
    painted_share: float = 0.4  # with sides of a color of their own
    black: float = 0.3  # brightness of ink, below which sides are brighter than it
    black_side: float = 0.25  # least brightness of these sides
    black_color: float = 0.6  # how much of a random color is added to it
    front: float = 1.3  # brightness of a layer without depth
    falloff: float = 0.12  # how much darker each layer is than the one before it


@dataclass(frozen=True)
class _Outline:
    """A border of letters, by eye."""

    wide_share: float = 0.5  # two pixels wide from side to side instead of one


@dataclass(frozen=True)
class _Relief:
    """Letters pressed in or out; all by eye."""

    light: Range = 0.25, 0.6  # how much brighter the lit edges are
    ink_left: Range = 0.0, 0.35  # opacity of the ink of pressed letters
    bevel_share: float = 0.4  # of the letters have all of their ink, and edges in it


_NEON = _Neon()
_SHADOW = _Shadow()
_EXTRUSION = _Extrusion()
_OUTLINE = _Outline()
_RELIEF = _Relief()


def add_neon(
    image: Images,
    mask: Mask,
    ink: Colors,
    strength: float,
    random: Random,
) -> None:
    """A dark wall, letters nearly white, and their color around them; changes the ink too."""
    chosen = random.subset(share_of("neon", strength))
    dark = random.uniform(*_NEON.wall, 1, 1, 1)[chosen]
    core = random.uniform(*_NEON.core, 1, 1, 1)[chosen]
    power = random.uniform(*_NEON.power, 1, 1, 1)[chosen]
    if not len(chosen):
        return
    brightest = ink[chosen].amax(1, keepdim=True).clamp(min=_NEON.least_ink)
    color = ink[chosen] / brightest
    wall = image.index_select(0, chosen) * dark
    near = smooth(mask[chosen], _NEON.reach, _NEON.reach)
    glow = (near * power).clamp(max=_NEON.brightest_glow)
    image[chosen] = wall + (color - wall) * glow
    ink[chosen] = color.lerp(torch.ones_like(color), core)


def add_shadows(image: Images, mask: Mask, strength: float, random: Random) -> None:
    """The letters again, to one side, soft or sharp, mostly dark."""
    chosen = random.subset(share_of("shadow", strength))
    down = random.integers(_SHADOW.shifts_down)[chosen] + _SHADOW.first_down
    right = random.integers(_SHADOW.shifts_right)[chosen] + _SHADOW.first_right
    depth = random.uniform(*_SHADOW.depth, 1, 1, 1)[chosen]
    color = random.uniform(*_SHADOW.color, 3, 1, 1)[chosen]
    is_light = random.bernoulli(_SHADOW.light_share, 1, 1, 1)[chosen]
    softness = random.uniform(*_SHADOW.softness, 1, 1, 1)[chosen]
    if not len(chosen):
        return
    letters = mask[chosen]
    blurred = smooth(letters, _SHADOW.reach, _SHADOW.reach)
    shadow = shifted(letters.lerp(blurred, softness), down, right)
    color = (color - is_light).abs()
    image[chosen] = image.index_select(0, chosen).lerp(color, shadow * depth)


def add_extrusion(
    image: Images,
    mask: Mask,
    ink: Colors,
    strength: float,
    random: Random,
) -> None:
    """Sides of letters that stand out from the wall, darker towards it."""
    least = _EXTRUSION.least_depth
    most = _EXTRUSION.deepest
    chosen = random.subset(share_of("extrusion", strength))
    down = random.integers(3)[chosen] - 1
    right = random.integers(2)[chosen] * 2 - 1
    depth = random.integers(most - least + 1)[chosen] + least
    shade = random.uniform(*_EXTRUSION.shade, 1, 1, 1)[chosen]
    color = random.uniform(0, 1, 3, 1, 1)[chosen]
    is_painted = random.bernoulli(_EXTRUSION.painted_share, 1, 1, 1)[chosen]
    if not len(chosen):
        return
    side = ink[chosen].lerp(color, is_painted) * shade
    # Black letters have sides that are brighter than they are.
    bright_side = _EXTRUSION.black_side + _EXTRUSION.black_color * color
    is_black = luminance(ink[chosen]) < _EXTRUSION.black
    side = torch.where(is_black, bright_side, side)
    letters = mask.index_select(0, chosen)
    behind = image[chosen]
    for step in range(most, 0, -1):
        is_reached = (depth >= step).float()[:, None, None, None]
        layer = shifted(letters, down * step, right * step) * is_reached
        brightness = _EXTRUSION.front - _EXTRUSION.falloff * step
        behind = behind.lerp(side * brightness, layer)
    image[chosen] = behind


def add_outlines(image: Images, mask: Mask, strength: float, random: Random) -> None:
    """A border of another color around the letters."""
    chosen = random.subset(share_of("outline", strength))
    color = random.uniform(0, 1, 3, 1, 1)[chosen]
    is_wide = random.bernoulli(_OUTLINE.wide_share, 1, 1, 1)[chosen]
    if not len(chosen):
        return
    near = dilate(mask.index_select(0, chosen), 1, 1)
    border = near.lerp(dilate(near, 0, 1), is_wide)
    image[chosen] = image.index_select(0, chosen).lerp(color, border)


def add_relief(
    image: Images,
    fill: Images,
    opacity: Float[Tensor, "batch 1 1 1"],
    mask: Mask,
    strength: float,
    random: Random,
) -> None:
    """Letters pressed in or out, lit from one side; most of them have no ink of their own.

    Their edges are lit in what lies behind them (``image``) and in the color of the ink (``fill``),
    of which little is seen (``opacity``) where letters are only pressed.
    """
    chosen = random.subset(share_of("emboss", strength))
    right = random.integers(2)[chosen] * 2 - 1
    down = random.integers(2)[chosen] * 2 - 1
    light = random.uniform(*_RELIEF.light, 1, 1, 1)[chosen]
    left = random.uniform(*_RELIEF.ink_left, 1, 1, 1)[chosen]
    bevel = random.bernoulli(_RELIEF.bevel_share, 1, 1, 1)[chosen]
    if not len(chosen):
        return
    letters = mask.index_select(0, chosen)
    slope = shifted(letters, down, right) - shifted(letters, -down, -right)
    lit = slope * light
    # Where the wall is bright the dark side carries the relief, where it is dark the lit one.
    image[chosen] += lit * (1 - bevel)
    fill[chosen] += lit
    opacity[chosen] *= left.lerp(torch.ones_like(left), bevel)
