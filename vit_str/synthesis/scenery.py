"""Scenery behind a word and beside it: walls, photographs, plates, other lines of text.

Pictures are changed in place. Places and thicknesses are shares of the picture, colors, brightness
and opacities from 0 to 1. A ``strength`` is that of an ingredient: 0 without it, 1 in the standard
mix.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from vit_str.synthesis.fields import (
    Images,
    Mask,
    dilate,
    pixel_columns,
    pixel_rows,
    spread,
)
from vit_str.synthesis.ingredients import share_of
from vit_str.synthesis.random_numbers import Random, Range


@dataclass(frozen=True)
class _Texture:
    """Walls; all by eye. Stains and grain are deviations of brightness."""

    stains: Range = 0.0, 0.42  # the square is taken
    stain_grid: tuple[int, int] = 3, 6  # values over the picture
    grain: Range = 0.0, 0.09
    grain_grid: tuple[int, int] = 12, 48
    grain_share: float = 0.4
    tint: float = 0.35  # deviation, how much one color changes more than another
    edge_grid: tuple[int, int] = 2, 4
    edge: float = 8.0  # how sharp materials part
    hidden: Range = 0.2, 0.7  # opacity of the second material


@dataclass(frozen=True)
class _Picture:
    """Parts of photographs; by eye."""

    scale: Range = 0.15, 1.0  # share of the photograph


@dataclass(frozen=True)
class _Frame:
    """Plates; by eye."""

    # Of the border, in heights; from side to side a third of it
    inset: Range = 0.0, 0.16
    sides: float = 3.0  # how much closer borders are at the sides
    line_share: float = 0.5  # a line instead of another color beyond the border
    inner: float = 0.6  # where a line begins, as a share of the inset


@dataclass(frozen=True)
class _Neighbors:
    """Other lines and words, moved in halves of the picture; all by eye."""

    zoom: Range = 0.8, 2.4  # of the source; above 1 the letters are smaller
    aspect: Range = 0.7, 1.3
    # Left or right of the word; the others are above or below
    beside_share: float = 0.35
    # How much of the zoom a word beside has: it is about as high
    beside_zoom: float = 0.2
    inside: Range = 0.0, 0.35  # how far a neighbor reaches into the picture
    # Zooms of the source from its middle to the border, less `inside`
    reach_down: float = 0.9
    reach_across: float = 0.85
    inside_across: float = 0.5  # of `inside`, for words beside
    along: Range = -0.5, 0.5  # how far lines are moved along the word
    along_down: float = 0.3  # of `along`, how far words beside are moved up or down
    opacity: Range = 0.4, 1.0
    own_ink_share: float = 0.7  # in the ink of the word
    gap: int = 2  # pixels around the letters of the word that stay free


@dataclass(frozen=True)
class _Underline:
    """Lines of ink, in heights of the picture from its top; by eye."""

    place: Range = 0.9, 0.99
    slope: float = 0.05  # deviation of the rise from end to end
    half_width: Range = 0.015, 0.04


_TEXTURE = _Texture()
_PICTURE = _Picture()
_FRAME = _Frame()
_NEIGHBORS = _Neighbors()
_UNDERLINE = _Underline()


def add_texture(image: Images, strength: float, random: Random) -> None:
    """Stains, grain, and at times two materials that meet behind the word."""
    size = image.shape[-2:]
    stains = random.normal(1.0, 1, *_TEXTURE.stain_grid)
    stains = stains * random.uniform(*_TEXTURE.stains, 1, 1, 1).square()
    grain = random.normal(1.0, 1, *_TEXTURE.grain_grid)
    grain = grain * random.uniform(*_TEXTURE.grain, 1, 1, 1)
    grain = grain * random.bernoulli(_TEXTURE.grain_share, 1, 1, 1)
    # Light and dirt change the brightness of a wall more than its color.
    tint = 1 + random.normal(_TEXTURE.tint, 3, 1, 1)
    chosen = random.subset(share_of("texture", strength))
    edge = random.normal(_TEXTURE.edge, 1, *_TEXTURE.edge_grid)[chosen]
    color = random.uniform(0, 1, 3, 1, 1)[chosen]
    hidden = random.uniform(*_TEXTURE.hidden, 1, 1, 1)[chosen]
    if not strength:
        return
    change = spread(stains * strength, size)
    change.add_(spread(grain * strength, size))
    image.addcmul_(change, tint)
    if len(chosen):
        wall = image.index_select(0, chosen)
        cover = spread(edge, size).sigmoid() * hidden
        image[chosen] = wall.lerp(color, cover)


def put_pictures(
    image: Images,
    pictures: Float[Tensor, "picture 3 row column"],
    strength: float,
    random: Random,
) -> None:
    """Parts of photographs, from nearly all of one to a small piece."""
    chosen = random.subset(share_of("picture", strength))
    scale = random.uniform(*_PICTURE.scale, 2)[chosen]
    place = random.uniform(-1, 1, 2)[chosen]
    which = random.integers(len(pictures))[chosen]
    if not len(chosen):
        return
    source = pictures[which].float() / 255
    grid = _crop(image, scale, place * (1 - scale))
    image[chosen] = F.grid_sample(
        source,
        grid,
        padding_mode="reflection",
        align_corners=False,
    )


def add_frames(image: Images, strength: float, random: Random) -> None:
    """A plate behind the word: another color beyond its border, or a line around it."""
    chosen = random.subset(share_of("frame", strength))
    inset = random.uniform(*_FRAME.inset, 4, 1, 1)[chosen].unsqueeze(1)
    color = random.uniform(0, 1, 3, 1, 1)[chosen]
    is_line = random.bernoulli(_FRAME.line_share, 1, 1, 1)[chosen]
    if not len(chosen):
        return
    border = _outside(image, inset)
    border = border - is_line * _outside(image, inset * _FRAME.inner)
    image[chosen] = image.index_select(0, chosen).lerp(color, border)


def _outside(image: Images, inset: Float[Tensor, "chosen 1 4 1 1"]) -> Mask:
    """1 beyond a border that is so far in from top, bottom, left and right; 0 within."""
    rows = pixel_rows(image) / image.shape[-2]
    columns = pixel_columns(image) / image.shape[-1]
    top, bottom, left, right = inset.unbind(2)
    is_above = rows < top
    is_below = rows > 1 - bottom
    is_left = columns < left / _FRAME.sides
    is_right = columns > 1 - right / _FRAME.sides
    return (is_above | is_below | is_left | is_right).float()


def add_neighbors(
    image: Images,
    mask: Mask,
    words: Mask,
    ink: Float[Tensor, "batch 3 1 1"],
    strength: float,
    random: Random,
) -> None:
    """Parts of another line above or below, mostly smaller, or of the words left and right.

    They are taken from ``words``, which are masks of the whole batch; ``mask`` shows where the
    letters of each picture are, which stay free.
    """
    ranges = _NEIGHBORS
    chosen = random.subset(share_of("neighbors", strength))
    source = random.permutation()[chosen]
    zoom = random.uniform(*ranges.zoom, 1)[chosen]
    aspect = random.uniform(*ranges.aspect, 1)[chosen]
    is_beside = random.bernoulli(ranges.beside_share, 1)[chosen]
    inside = random.uniform(*ranges.inside, 1)[chosen]
    along = random.uniform(*ranges.along, 1)[chosen]
    side = random.bernoulli(0.5, 1)[chosen] * 2 - 1
    opacity = random.uniform(*ranges.opacity, 1, 1, 1)[chosen]
    color = random.uniform(0, 1, 3, 1, 1)[chosen]
    is_own_ink = random.bernoulli(ranges.own_ink_share, 1, 1, 1)[chosen]
    if not len(chosen):
        return
    # A word beside is about as high; one above is moved so that only its edge is in the crop.
    zoom_beside = (1 - ranges.beside_zoom) + ranges.beside_zoom * zoom
    down = zoom.lerp(zoom_beside, is_beside)
    across = (zoom * aspect).lerp(zoom_beside, is_beside)
    past_edge = side * (1 + down * (ranges.reach_down - inside))
    past_end = side * (
        1 + across * (ranges.reach_across - ranges.inside_across * inside)
    )
    move_down = past_edge.lerp(ranges.along_down * along, is_beside)
    move_across = along.lerp(past_end, is_beside)
    scale = torch.cat([across, down], 1)
    move = torch.cat([move_across, move_down], 1)
    seen = F.grid_sample(words[source], _crop(mask, scale, move), align_corners=False)
    own_letters = dilate(mask.index_select(0, chosen), ranges.gap, ranges.gap)
    seen *= (1 - own_letters) * opacity
    color = color.lerp(ink[chosen], is_own_ink)
    image[chosen] = image.index_select(0, chosen).lerp(color, seen)


def add_underlines(
    image: Images, ink: Float[Tensor, "batch 3 1 1"], strength: float, random: Random
) -> None:
    """A line of ink under the word."""
    chosen = random.subset(share_of("underline", strength))
    place = random.uniform(*_UNDERLINE.place, 1, 1, 1)[chosen]
    slope = random.normal(_UNDERLINE.slope, 1, 1, 1)[chosen]
    half = random.uniform(*_UNDERLINE.half_width, 1, 1, 1)[chosen]
    if not len(chosen):
        return
    height, width = image.shape[-2:]
    center = place + (pixel_columns(image) / width - 0.5) * slope
    line = ((pixel_rows(image) / height - center).abs() < half).float()
    image[chosen] = image.index_select(0, chosen).lerp(ink[chosen], line)


def _crop(
    image: Tensor, scale: Float[Tensor, "chosen 2"], move: Float[Tensor, "chosen 2"]
) -> Float[Tensor, "chosen height width 2"]:
    """Where each pixel looks in a source: scale and move as (x, y), from -1 to 1."""
    height, width = image.shape[-2:]
    columns = pixel_columns(image)[0, 0] * (2 / width) - 1
    rows = pixel_rows(image)[0, 0, :, 0] * (2 / height) - 1
    x = columns * scale[:, :1] + move[:, :1]
    y = rows * scale[:, 1:] + move[:, 1:]
    shape = len(scale), height, width
    return torch.stack([x[:, None, :].expand(shape), y[:, :, None].expand(shape)], -1)
