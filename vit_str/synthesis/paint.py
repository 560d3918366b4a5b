"""Masks to pictures: ink and background colors, and in which order the effects are painted.

Colors, brightness and amounts are from 0 to 1, periods in pixels of the picture.
"""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int64, UInt8
from torch import Tensor

from vit_str.synthesis.depth import (
    add_extrusion,
    add_neon,
    add_outlines,
    add_relief,
    add_shadows,
)
from vit_str.synthesis.displays import color_displays, show_on_displays
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
from vit_str.synthesis.random_numbers import Random, Range
from vit_str.synthesis.scenery import (
    add_frames,
    add_neighbors,
    add_texture,
    add_underlines,
    put_pictures,
)
from vit_str.synthesis.strokes import add_clutter, add_occlusion
from vit_str.synthesis.text_styles import TextStyles

Colors = Float[Tensor, "batch 3 1 1"]
Numbers = Float[Tensor, "batch 1 1 1"]


@dataclass(frozen=True)
class _Weight:
    """Strokes that grow or shrink; by eye."""

    amount: Range = 0.4, 1.0  # of a pixel
    bolder_share: float = 0.5
    thinning: float = 0.7  # of the amount, so that thin strokes stay


@dataclass(frozen=True)
class _Hollow:
    """Letters of which only the rim is left; by eye."""

    left: Range = 0.0, 0.15  # opacity of what is inside the rim
    # Share of the ink that must be a pixel or more from its edge before letters can be hollow
    least_core: float = 0.22


@dataclass(frozen=True)
class _Colors:
    """Colors of ink and background; by eye."""

    grey_share: float = 0.35
    saturation: Range = 0.1, 1.0  # of the others, over that of a random color
    plain_share: float = 0.3  # black, white and near to it
    plain_ink_share: float = 0.6  # of plain backgrounds, with plain ink
    bright_share: float = 0.6  # of plain backgrounds
    plain_background: float = 0.85  # brightness; the rest is a random color
    plain_ink: float = 0.9


@dataclass(frozen=True)
class _Readable:
    """How ink differs from what is behind it, in brightness; by eye."""

    least_contrast: float = 0.16
    kept: float = 0.3  # of the distance to black or white, where ink is moved away
    faint_contrast: Range = 0.09, 0.22  # that is left of faint ink


@dataclass(frozen=True)
class _Gradient:
    """Ink that changes; by eye."""

    grid: tuple[int, int] = 2, 4  # random values over the picture
    tint: float = 0.1  # deviation of each color


@dataclass(frozen=True)
class _Pattern:
    """Stripes, dots and patches within letters; all by eye."""

    period: Range = 2.5, 9.0  # pixels
    patch_grid: tuple[int, int] = 8, 24  # random values over the picture
    opacity: Range = 0.5, 1.0
    dot_height: float = 2.0  # of the waves of dots
    dot_level: float = 0.3  # of these waves, above which there is a dot
    sharpness: float = 3.0  # of edges
    second_color: float = 0.6  # share of a random color in the second color
    away: float = 0.35  # how far the second color is moved to black or white


_DISPLAYS = 2  # number of the fork of random numbers that displays are drawn from
_WEIGHT = _Weight()
_HOLLOW = _Hollow()
_COLORS = _Colors()
_READABLE = _Readable()
_GRADIENT = _Gradient()
_PATTERN = _Pattern()


@dataclass(frozen=True, slots=True)
class Shown:
    """Words of which some are on displays, and where their letters are."""

    styles: TextStyles
    ids: Int64[Tensor, "batch position"]
    boxes: Float[Tensor, "batch position side"]  # in pixels of the picture


def paint(
    mask: Mask,
    strengths: Ingredients,
    random: Random,
    pictures: UInt8[Tensor, "picture 3 row column"] | None = None,
    shown: Shown | None = None,
) -> Images:
    """Give ink and background colors, and put what is usual around a word.

    Letters that become bolder, thinner or hollow are changed in place, so that the mask shows
    afterwards what was drawn. Pictures are photographs to use as backgrounds; what is on displays
    is ``shown``.
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
    if shown:
        apart = random.fork(_DISPLAYS)
        show_on_displays(image, ink, mask, shown.styles, apart)
    add_neon(image, mask, ink, strengths.neon, random)
    add_shadows(image, mask, strengths.shadow, random)
    add_extrusion(image, mask, ink, strengths.extrusion, random)
    add_outlines(image, mask, strengths.outline, random)
    ink, behind = _readable(ink, image, mask)
    add_underlines(image, ink, strengths.underline, random)
    fill = ink.expand_as(image).clone()
    _add_gradients(fill, strengths.gradient, random)
    _add_patterns(fill, ink, behind, strengths.pattern, random)
    if shown:
        color_displays(fill, ink, shown.boxes, shown.ids, shown.styles, apart)
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
    amount = random.uniform(*_WEIGHT.amount, 1, 1, 1)[chosen]
    is_bolder = random.bernoulli(_WEIGHT.bolder_share, 1, 1, 1)[chosen]
    if not len(chosen):
        return
    ink = mask[chosen]
    bold = ink.lerp(dilate(ink, 0, 1), amount)
    # Thin strokes keep their ridge: an erosion alone would wipe them out.
    thin = ink.lerp(erode(ink, 1, 1), _WEIGHT.thinning * amount)
    mask[chosen] = thin.lerp(bold, is_bolder)


def _hollow(mask: Mask, strength: float, random: Random) -> None:
    """Only the rim of the letters, where strokes are thick enough to have one."""
    chosen = random.subset(share_of("hollow", strength))
    left = random.uniform(*_HOLLOW.left, 1, 1, 1)[chosen]
    if not len(chosen):
        return
    ink = mask[chosen]
    core = erode(ink, 1, 1)
    inside = core.sum((2, 3), keepdim=True)
    is_thick = inside > _HOLLOW.least_core * ink.sum((2, 3), keepdim=True)
    mask[chosen] = ink - core * (1 - left) * is_thick


def _colors(random: Random) -> tuple[Colors, Colors]:
    """Background and ink: muted mostly, as the world is, and a third of them grey."""
    background = _muted(random)
    ink = _muted(random)
    # Print and signs: white, black and near-white are far more common than chance.
    is_plain = random.bernoulli(_COLORS.plain_share, 1, 1, 1)
    is_bright = random.bernoulli(_COLORS.bright_share, 1, 1, 1)
    has_plain_ink = random.bernoulli(_COLORS.plain_ink_share, 1, 1, 1)
    is_plain_ink = is_plain * has_plain_ink
    wall = _COLORS.plain_background
    plain_background = wall * is_bright + (1 - wall) * background
    letters = _COLORS.plain_ink
    plain_ink = letters * (1 - is_bright) + (1 - letters) * ink
    background = background.lerp(plain_background, is_plain)
    return background, ink.lerp(plain_ink, is_plain_ink)


def _muted(random: Random) -> Colors:
    vivid = random.uniform(0, 1, 3, 1, 1)
    is_grey = random.bernoulli(_COLORS.grey_share, 1, 1, 1)
    saturation = random.uniform(*_COLORS.saturation, 1, 1, 1) * (1 - is_grey)
    return torch.lerp(vivid[:, :1], vivid, saturation)


def _readable(ink: Colors, image: Images, mask: Mask) -> tuple[Colors, Numbers]:
    """Move ink that is too close to what lies around it away, to the brighter or darker side.

    Every second pixel is looked at. Returns the ink and how bright it is around the letters.
    """
    image = image[..., ::2, ::2]
    mask = mask[..., ::2, ::2]
    around = dilate(mask, 1, 1) - mask + 1e-4
    behind = (luminance(image) * around).sum((2, 3), keepdim=True)
    behind = behind / around.sum((2, 3), keepdim=True)
    is_close = (luminance(ink) - behind).abs() < _READABLE.least_contrast
    darker = ink * _READABLE.kept
    brighter = 1 - (1 - ink) * _READABLE.kept
    moved = torch.where(behind > 0.5, darker, brighter)
    return torch.where(is_close, moved, ink), behind


def _opacity(ink: Colors, behind: Numbers, strength: float, random: Random) -> Numbers:
    """How much of the ink is seen: little where it is faint, so that a hint of contrast is left."""
    chosen = random.subset(share_of("faint", strength))
    wanted = random.uniform(*_READABLE.faint_contrast, 1, 1, 1)[chosen]
    opacity = torch.ones_like(behind)
    contrast = (luminance(ink) - behind).abs()[chosen]
    opacity[chosen] = (wanted / contrast.clamp(min=1e-3)).clamp(max=1)
    return opacity


def _add_gradients(fill: Images, strength: float, random: Random) -> None:
    chosen = random.subset(share_of("gradient", strength))
    change = random.normal(1.0, 1, *_GRADIENT.grid)[chosen]
    tint = random.normal(_GRADIENT.tint, 3, 1, 1)[chosen]
    if len(chosen):
        brightness = spread(change * strength, fill.shape[-2:])
        fill.index_add_(0, chosen, brightness * tint)


def _add_patterns(
    fill: Images, ink: Colors, behind: Numbers, strength: float, random: Random
) -> None:
    """Stripes, dots or patches of a second color, further away from the background's."""
    chosen = random.subset(share_of("pattern", strength))
    angle = random.uniform(0, math.pi, 1, 1, 1)[chosen]
    period = random.uniform(*_PATTERN.period, 1, 1, 1)[chosen]
    patches = random.normal(1.0, 1, *_PATTERN.patch_grid)[chosen]
    kind = random.integers(3, 1, 1, 1)[chosen]
    opacity = random.uniform(*_PATTERN.opacity, 1, 1, 1)[chosen]
    second = random.uniform(0, 1, 3, 1, 1)[chosen]
    if not len(chosen):
        return
    rows = pixel_rows(fill)
    columns = pixel_columns(fill)
    turn = 2 * math.pi / period
    across_stripes = rows * angle.cos() + columns * angle.sin()
    stripes = (across_stripes * turn).sin()
    grid = (rows * turn).sin() * (columns * turn).sin()
    dots = grid * _PATTERN.dot_height - _PATTERN.dot_level
    blots = spread(patches, fill.shape[-2:])
    no_stripes = torch.where(kind == 1, dots, blots)
    wave = torch.where(kind == 0, stripes, no_stripes)
    cover = (wave * _PATTERN.sharpness + 0.5).clamp(0, 1)
    color = ink[chosen]
    is_brighter = (luminance(color) > behind[chosen]).float().expand_as(color)
    color = color.lerp(second, _PATTERN.second_color)
    # Part of the way to white or to black: the letters stay on their side of the background.
    color = color.lerp(is_brighter, _PATTERN.away)
    fill[chosen] = fill.index_select(0, chosen).lerp(color, cover * opacity)
