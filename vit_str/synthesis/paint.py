"""Masks to pictures: ink and background colors, and in which order the effects are painted.

Colors, brightness and amounts are from 0 to 1, periods in pixels of the picture.
"""

import math

import torch
from jaxtyping import Float, UInt8
from torch import Tensor

from vit_str.synthesis.depth import (
    add_extrusion,
    add_neon,
    add_outlines,
    add_relief,
    add_shadows,
)
from vit_str.synthesis.fields import (
    Images,
    Mask,
    dilate,
    erode,
    luminance,
    pixel_columns,
    pixel_rows,
    spread,
)
from vit_str.synthesis.ingredients import Ingredients, share_of
from vit_str.synthesis.random_numbers import Random
from vit_str.synthesis.scenery import (
    add_frames,
    add_neighbors,
    add_texture,
    add_underlines,
    put_pictures,
)
from vit_str.synthesis.strokes import add_clutter, add_occlusion

Colors = Float[Tensor, "batch 3 1 1"]
Numbers = Float[Tensor, "batch 1 1 1"]

_LEAST_CONTRAST = 0.16  # of ink to what is behind it, in brightness from 0 to 1
_LEAST_CORE = 0.22
"""Share of the ink that must be a pixel or more from its edge before letters can be hollow."""


def paint(
    mask: Mask,
    strengths: Ingredients,
    random: Random,
    pictures: UInt8[Tensor, "picture 3 row column"] | None = None,
) -> Images:
    """Give ink and background colors, and put what is usual around a word.

    Letters that become bolder, thinner or hollow are changed in place, so that the mask shows
    afterwards what was drawn. Pictures are photographs to use as backgrounds.
    """
    words = mask.clone()
    reshape_letters(mask, strengths, random)
    background, ink = _colors(random)
    image = background.expand(-1, -1, *mask.shape[-2:]).clone()
    add_texture(image, strengths.texture, random)
    if pictures is not None:
        put_pictures(image, pictures, strengths.picture, random)
    add_clutter(image, words, strengths.clutter, random)
    add_frames(image, strengths.frame, random)
    add_neighbors(image, mask, words, ink, strengths.neighbors, random)
    add_neon(image, mask, ink, strengths.neon, random)
    add_shadows(image, mask, strengths.shadow, random)
    add_extrusion(image, mask, ink, strengths.extrusion, random)
    add_outlines(image, mask, strengths.outline, random)
    ink, behind = _readable(ink, image, mask)
    add_underlines(image, ink, strengths.underline, random)
    fill = ink.expand_as(image).clone()
    _add_gradients(fill, strengths.gradient, random)
    _add_patterns(fill, ink, behind, strengths.pattern, random)
    opacity = _opacity(ink, behind, strengths.faint, random)
    add_relief(image, fill, opacity, mask, strengths.emboss, random)
    image.lerp_(fill, mask * opacity)
    add_occlusion(image, strengths.occlusion, random)
    return image.clamp_(0, 1)


def reshape_letters(mask: Mask, strengths: Ingredients, random: Random) -> None:
    """Make some words bolder, thinner or hollow, in place."""
    _change_weight(mask, strengths.weight, random)
    _hollow(mask, strengths.hollow, random)


def _change_weight(mask: Mask, strength: float, random: Random) -> None:
    """Half of them grow by up to a pixel, half lose as much where that leaves something."""
    chosen = random.subset(share_of("weight", strength))
    amount = random.uniform(0.4, 1.0, 1, 1, 1)[chosen]
    bolder = random.bernoulli(0.5, 1, 1, 1)[chosen]
    if not len(chosen):
        return
    ink = mask[chosen]
    bold = ink.lerp(dilate(ink, 0, 1), amount)
    # Thin strokes keep their ridge: an erosion alone would wipe them out.
    thin = ink.lerp(erode(ink, 1, 1), 0.7 * amount)
    mask[chosen] = thin.lerp(bold, bolder)


def _hollow(mask: Mask, strength: float, random: Random) -> None:
    """Only the rim of the letters, where strokes are thick enough to have one."""
    chosen = random.subset(share_of("hollow", strength))
    left = random.uniform(0.0, 0.15, 1, 1, 1)[chosen]
    if not len(chosen):
        return
    ink = mask[chosen]
    core = erode(ink, 1, 1)
    thick = core.sum((2, 3), keepdim=True) > _LEAST_CORE * ink.sum((2, 3), keepdim=True)
    mask[chosen] = ink - core * (1 - left) * thick


def _colors(random: Random) -> tuple[Colors, Colors]:
    """Background and ink: muted mostly, as the world is, and a third of them grey."""
    background, ink = (_muted(random) for _ in range(2))
    # Print and signs: white, black and near-white are far more common than chance.
    plain = random.bernoulli(0.3, 1, 1, 1)
    bright = random.bernoulli(0.6, 1, 1, 1)
    background = torch.lerp(background, 0.85 * bright + 0.15 * background, plain)
    ink = torch.lerp(ink, 0.9 * (1 - bright) + 0.1 * ink, plain * random.bernoulli(0.6, 1, 1, 1))
    return background, ink


def _muted(random: Random) -> Colors:
    vivid = random.uniform(0, 1, 3, 1, 1)
    grey = random.bernoulli(0.35, 1, 1, 1)
    return torch.lerp(vivid[:, :1], vivid, random.uniform(0.1, 1, 1, 1, 1) * (1 - grey))


def _readable(ink: Colors, image: Images, mask: Mask) -> tuple[Colors, Numbers]:
    """Move ink that is too close to what lies around it away, to the brighter or darker side.

    Every second pixel is looked at. Returns the ink and how bright it is around the letters.
    """
    image = image[..., ::2, ::2]
    mask = mask[..., ::2, ::2]
    around = dilate(mask, 1, 1) - mask + 1e-4
    behind = (luminance(image) * around).sum((2, 3), keepdim=True)
    behind = behind / around.sum((2, 3), keepdim=True)
    close = (luminance(ink) - behind).abs() < _LEAST_CONTRAST
    moved = torch.where(behind > 0.5, ink * 0.3, 1 - (1 - ink) * 0.3)
    return torch.where(close, moved, ink), behind


def _opacity(ink: Colors, behind: Numbers, strength: float, random: Random) -> Numbers:
    """How much of the ink is seen: little where it is faint, so that a hint of contrast is left."""
    chosen = random.subset(share_of("faint", strength))
    wanted = random.uniform(0.09, 0.22, 1, 1, 1)[chosen]
    opacity = torch.ones_like(behind)
    contrast = (luminance(ink) - behind).abs()[chosen]
    opacity[chosen] = (wanted / contrast.clamp(min=1e-3)).clamp(max=1)
    return opacity


def _add_gradients(fill: Images, strength: float, random: Random) -> None:
    chosen = random.subset(share_of("gradient", strength))
    change = random.normal(1.0, 1, 2, 4)[chosen]
    tint = random.normal(0.1, 3, 1, 1)[chosen]
    if len(chosen):
        fill.index_add_(0, chosen, spread(change * strength, fill.shape[-2:]) * tint)


def _add_patterns(
    fill: Images, ink: Colors, behind: Numbers, strength: float, random: Random
) -> None:
    """Stripes, dots or patches of a second color, further away from the background's."""
    chosen = random.subset(share_of("pattern", strength))
    angle = random.uniform(0, math.pi, 1, 1, 1)[chosen]
    period = random.uniform(2.5, 9, 1, 1, 1)[chosen]
    patches = random.normal(1.0, 1, 8, 24)[chosen]
    kind = random.integers(3, 1, 1, 1)[chosen]
    amount = random.uniform(0.5, 1.0, 1, 1, 1)[chosen]
    second = random.uniform(0, 1, 3, 1, 1)[chosen]
    if not len(chosen):
        return
    rows = pixel_rows(fill)
    columns = pixel_columns(fill)
    turn = 2 * math.pi / period
    stripes = ((rows * angle.cos() + columns * angle.sin()) * turn).sin()
    dots = (rows * turn).sin() * (columns * turn).sin() * 2 - 0.3
    blots = spread(patches, fill.shape[-2:])
    wave = torch.where(kind == 0, stripes, torch.where(kind == 1, dots, blots))
    color = ink[chosen]
    bright = (luminance(color) > behind[chosen]).float()
    # Half way to white or to black: the letters stay on their side of the background.
    color = color.lerp(second, 0.6).lerp(bright.expand_as(color), 0.35)
    fill[chosen] = fill.index_select(0, chosen).lerp(color, (wave * 3 + 0.5).clamp(0, 1) * amount)
