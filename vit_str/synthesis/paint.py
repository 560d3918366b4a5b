"""Masks to pictures: ink and background colors, and in which order the effects are painted."""

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
from vit_str.synthesis.draw import Draw
from vit_str.synthesis.fields import (
    Images,
    Mask,
    dilate,
    luminance,
    pixel_columns,
    pixel_rows,
    spread,
)
from vit_str.synthesis.ingredients import Ingredients
from vit_str.synthesis.letters import reshape_letters
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

_LEAST_CONTRAST = 0.16


def paint(
    mask: Mask,
    strengths: Ingredients,
    draw: Draw,
    pictures: UInt8[Tensor, "picture 3 row column"] | None = None,
) -> Images:
    """Give ink and background colors, and put what is usual around a word.

    Args:
        mask: how much ink each pixel holds; letters that become bolder, thinner or hollow are
            changed in place, so that it shows afterwards what was drawn.
        strengths: of the ingredients.
        draw: random source.
        pictures: photographs to use as backgrounds.
    """
    words = mask.clone()
    reshape_letters(mask, strengths, draw)
    background, ink = _colors(draw)
    image = background.expand(-1, -1, *mask.shape[-2:]).clone()
    add_texture(image, strengths.texture, draw)
    if pictures is not None:
        put_pictures(image, pictures, strengths.picture, draw)
    add_clutter(image, words, strengths.clutter, draw)
    add_frames(image, strengths.frame, draw)
    add_neighbors(image, mask, words, ink, strengths.neighbors, draw)
    add_neon(image, mask, ink, strengths.neon, draw)
    add_shadows(image, mask, strengths.shadow, draw)
    add_extrusion(image, mask, ink, strengths.extrusion, draw)
    add_outlines(image, mask, strengths.outline, draw)
    ink, behind = _readable(ink, image, mask)
    add_underlines(image, ink, strengths.underline, draw)
    fill = ink.expand_as(image).clone()
    _add_gradients(fill, strengths.gradient, draw)
    _add_patterns(fill, ink, behind, strengths.pattern, draw)
    opacity = _opacity(ink, behind, strengths.faint, draw)
    add_relief(image, fill, opacity, mask, strengths.emboss, draw)
    image.lerp_(fill, mask * opacity)
    add_occlusion(image, strengths.occlusion, draw)
    return image.clamp_(0, 1)


def _colors(draw: Draw) -> tuple[Colors, Colors]:
    """Background and ink: muted mostly, as the world is, and a third of them grey."""
    background, ink = (_muted(draw) for _ in range(2))
    # Print and signs: white, black and near-white are far more common than chance.
    plain = draw.some(0.3, 1, 1, 1)
    bright = draw.some(0.6, 1, 1, 1)
    background = torch.lerp(background, 0.85 * bright + 0.15 * background, plain)
    ink = torch.lerp(ink, 0.9 * (1 - bright) + 0.1 * ink, plain * draw.some(0.6, 1, 1, 1))
    return background, ink


def _muted(draw: Draw) -> Colors:
    vivid = draw.uniform(0, 1, 3, 1, 1)
    grey = draw.some(0.35, 1, 1, 1)
    return torch.lerp(vivid[:, :1], vivid, draw.uniform(0.1, 1, 1, 1, 1) * (1 - grey))


def _readable(ink: Colors, image: Images, mask: Mask) -> tuple[Colors, Numbers]:
    """Move ink that is too close to what lies around it away, to the brighter or darker side.

    Every second pixel is looked at. Returns the ink and how bright it is around the letters.
    """
    image, mask = image[..., ::2, ::2], mask[..., ::2, ::2]
    around = dilate(mask, 1, 1) - mask + 1e-4
    behind = (luminance(image) * around).sum((2, 3), keepdim=True)
    behind = behind / around.sum((2, 3), keepdim=True)
    close = (luminance(ink) - behind).abs() < _LEAST_CONTRAST
    moved = torch.where(behind > 0.5, ink * 0.3, 1 - (1 - ink) * 0.3)
    return torch.where(close, moved, ink), behind


def _opacity(ink: Colors, behind: Numbers, strength: float, draw: Draw) -> Numbers:
    """How much of the ink is seen: little where it is faint, so that a hint of contrast is left."""
    chosen = draw.subset(min(1.0, 0.06 * strength))
    wanted = draw.uniform(0.09, 0.22, 1, 1, 1)[chosen]
    opacity = torch.ones_like(behind)
    contrast = (luminance(ink) - behind).abs()[chosen]
    opacity[chosen] = (wanted / contrast.clamp(min=1e-3)).clamp(max=1)
    return opacity


def _add_gradients(fill: Images, strength: float, draw: Draw) -> None:
    chosen = draw.subset(min(1.0, 0.35 * strength))
    change, tint = draw.normal(1.0, 1, 2, 4)[chosen], draw.normal(0.1, 3, 1, 1)[chosen]
    if len(chosen):
        fill.index_add_(0, chosen, spread(change * strength, fill.shape[-2:]) * tint)


def _add_patterns(fill: Images, ink: Colors, behind: Numbers, strength: float, draw: Draw) -> None:
    """Stripes, dots or patches of a second color, further away from the background's."""
    chosen = draw.subset(min(1.0, 0.05 * strength))
    angle, period = draw.uniform(0, math.pi, 1, 1, 1)[chosen], draw.uniform(2.5, 9, 1, 1, 1)[chosen]
    patches, kind = draw.normal(1.0, 1, 8, 24)[chosen], draw.integers(3, 1, 1, 1)[chosen]
    amount, other = draw.uniform(0.5, 1.0, 1, 1, 1)[chosen], draw.uniform(0, 1, 3, 1, 1)[chosen]
    if not len(chosen):
        return
    rows, columns = pixel_rows(fill), pixel_columns(fill)
    turn = 2 * math.pi / period
    stripes = ((rows * angle.cos() + columns * angle.sin()) * turn).sin()
    dots = (rows * turn).sin() * (columns * turn).sin() * 2 - 0.3
    blots = spread(patches, fill.shape[-2:])
    wave = torch.where(kind == 0, stripes, torch.where(kind == 1, dots, blots))
    color = ink[chosen]
    bright = (luminance(color) > behind[chosen]).float()
    # Half way to white or to black: the letters stay on their side of the background.
    color = color.lerp(other, 0.6).lerp(bright.expand_as(color), 0.35)
    fill[chosen] = fill.index_select(0, chosen).lerp(color, (wave * 3 + 0.5).clamp(0, 1) * amount)
