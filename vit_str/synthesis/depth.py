"""Letters as things: with a shadow, a border, sides, a relief, or a light of their own.

Shifts are in pixels of the picture; colors, brightness and opacities from 0 to 1.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from vit_str.synthesis.fields import Images, Mask, dilate, luminance, shifted, smooth
from vit_str.synthesis.ingredients import share_of
from vit_str.synthesis.random_numbers import Random

Colors = Float[Tensor, "batch 3 1 1"]

_DEEPEST = 4  # side of a letter, in pixels


def add_neon(image: Images, mask: Mask, ink: Colors, strength: float, random: Random) -> None:
    """A dark wall, letters nearly white, and their color around them; changes the ink too."""
    chosen = random.subset(share_of("neon", strength))
    dark = random.uniform(0.1, 0.5, 1, 1, 1)[chosen]
    core = random.uniform(0.2, 0.9, 1, 1, 1)[chosen]
    power = random.uniform(0.5, 1.6, 1, 1, 1)[chosen]
    if not len(chosen):
        return
    brightest = ink[chosen].amax(1, keepdim=True).clamp(min=0.05)
    color = ink[chosen] / brightest
    wall = image.index_select(0, chosen) * dark
    letters = mask[chosen]
    image[chosen] = wall + (color - wall) * (smooth(letters, 4, 4) * power).clamp(max=0.85)
    ink[chosen] = color.lerp(torch.ones_like(color), core)


def add_shadows(image: Images, mask: Mask, strength: float, random: Random) -> None:
    """The letters again, to one side, soft or sharp, mostly dark."""
    chosen = random.subset(share_of("shadow", strength))
    down = random.integers(4)[chosen] - 1
    right = random.integers(7)[chosen] - 3
    depth = random.uniform(0.3, 0.9, 1, 1, 1)[chosen]
    color = random.uniform(0, 0.4, 3, 1, 1)[chosen]
    light = random.bernoulli(0.2, 1, 1, 1)[chosen]
    soft = random.uniform(0, 0.8, 1, 1, 1)[chosen]
    if not len(chosen):
        return
    letters = mask[chosen]
    shadow = shifted(letters.lerp(smooth(letters, 2, 2), soft), down, right)
    image[chosen] = image.index_select(0, chosen).lerp((color - light).abs(), shadow * depth)


def add_extrusion(image: Images, mask: Mask, ink: Colors, strength: float, random: Random) -> None:
    """Sides of letters that stand out from the wall, darker towards it."""
    chosen = random.subset(share_of("extrusion", strength))
    down = random.integers(3)[chosen] - 1
    right = random.integers(2)[chosen] * 2 - 1
    deepest = random.integers(_DEEPEST - 1)[chosen] + 2
    shade = random.uniform(0.25, 0.7, 1, 1, 1)[chosen]
    color = random.uniform(0, 1, 3, 1, 1)[chosen]
    painted = random.bernoulli(0.4, 1, 1, 1)[chosen]
    if not len(chosen):
        return
    side = ink[chosen].lerp(color, painted) * shade
    # Black letters have sides that are brighter than they are.
    side = torch.where(luminance(ink[chosen]) < 0.3, 0.25 + 0.6 * color, side)
    letters = mask.index_select(0, chosen)
    behind = image[chosen]
    for step in range(_DEEPEST, 0, -1):
        reached = (deepest >= step).float()[:, None, None, None]
        layer = shifted(letters, down * step, right * step) * reached
        behind = behind.lerp(side * (1.3 - 0.12 * step), layer)
    image[chosen] = behind


def add_outlines(image: Images, mask: Mask, strength: float, random: Random) -> None:
    """A border of another color around the letters."""
    chosen = random.subset(share_of("outline", strength))
    color = random.uniform(0, 1, 3, 1, 1)[chosen]
    wide = random.bernoulli(0.5, 1, 1, 1)[chosen]
    if not len(chosen):
        return
    near = dilate(mask.index_select(0, chosen), 1, 1)
    border = near.lerp(dilate(near, 0, 1), wide)
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
    down = random.integers(2)[chosen]
    light = random.uniform(0.25, 0.6, 1, 1, 1)[chosen]
    left = random.uniform(0.0, 0.35, 1, 1, 1)[chosen]
    bevel = random.bernoulli(0.4, 1, 1, 1)[chosen]
    if not len(chosen):
        return
    letters = mask.index_select(0, chosen)
    down = down * 2 - 1
    slope = shifted(letters, down, right) - shifted(letters, -down, -right)
    lit = slope * light
    # Where the wall is bright the dark side carries the relief, where it is dark the lit one.
    image[chosen] += lit * (1 - bevel)
    fill[chosen] += lit
    opacity[chosen] *= left.lerp(torch.ones_like(left), bevel)
