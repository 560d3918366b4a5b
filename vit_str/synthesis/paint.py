"""Masks to pictures: ink, backgrounds, and what stands around a word."""

import torch
import torch.nn.functional as F
from jaxtyping import Float, UInt8
from torch import Tensor

from vit_str.synthesis.draw import Draw
from vit_str.synthesis.ingredients import Ingredients

Images = Float[Tensor, "batch 3 height width"]
Mask = Float[Tensor, "batch 1 height width"]

_LUMINANCE = (0.299, 0.587, 0.114)
_LEAST_CONTRAST = 0.16


def luminance(colors: Float[Tensor, "batch 3 height width"]) -> Mask:
    """Brightness as a person sees it (ITU-R BT.601)."""
    red, green, blue = _LUMINANCE
    return red * colors[:, :1] + green * colors[:, 1:2] + blue * colors[:, 2:]


def dilate(mask: Mask, rows: int, columns: int) -> Mask:
    """The largest value within so many rows and columns; 29 times as fast as max-pooling."""
    for axis, reach in ((-2, rows), (-1, columns)):
        length = mask.shape[axis]
        padded = F.pad(mask, (0, 0, reach, reach) if axis == -2 else (reach, reach))
        mask = padded.narrow(axis, 0, length)
        for offset in range(1, 2 * reach + 1):
            mask = torch.maximum(mask, padded.narrow(axis, offset, length))
    return mask


def paint(
    mask: Mask,
    strengths: Ingredients,
    draw: Draw,
    pictures: UInt8[Tensor, "picture 3 height width"] | None = None,
) -> Images:
    """Give ink and background colors, and put what is usual around a word.

    Args:
        mask: how much ink each pixel holds.
        strengths: of the ingredients.
        draw: random source.
        pictures: photographs to use as backgrounds.
    """
    size = mask.shape[-2:]
    background, ink = _colors(draw)
    image = background.expand(-1, -1, *size).clone()
    _add_texture(image, strengths.texture, draw)
    if pictures is not None:
        _put_pictures(image, pictures, strengths.picture, draw)
    _add_frames(image, strengths.frame, draw)
    _add_neighbors(image, mask, ink, strengths.neighbors, draw)
    _add_shadows(image, mask, strengths.shadow, draw)
    _add_outlines(image, mask, strengths.outline, draw)
    ink = _readable(ink, image, mask)
    _add_underlines(image, ink, strengths.underline, draw)
    fill = ink.expand_as(image).clone()
    _add_gradients(fill, strengths.gradient, draw)
    return torch.lerp(image, fill, mask).clamp_(0, 1)


def _colors(
    draw: Draw,
) -> tuple[Float[Tensor, "batch 3 1 1"], Float[Tensor, "batch 3 1 1"]]:
    """Background and ink; a third of the words are grey."""
    background, ink = draw.uniform(0, 1, 3, 1, 1), draw.uniform(0, 1, 3, 1, 1)
    grey = draw.some(0.35, 1, 1, 1)
    # Print and signs: white, black and near-white are far more common than chance.
    plain = draw.some(0.3, 1, 1, 1)
    bright = draw.some(0.6, 1, 1, 1)
    background = torch.lerp(background, background[:, :1].expand(-1, 3, -1, -1), grey)
    ink = torch.lerp(ink, ink[:, :1].expand(-1, 3, -1, -1), grey)
    background = torch.lerp(background, 0.85 * bright + 0.15 * background, plain)
    ink = torch.lerp(ink, 0.9 * (1 - bright) + 0.1 * ink, plain * draw.some(0.6, 1, 1, 1))
    return background, ink


def _readable(ink: Tensor, image: Images, mask: Mask) -> Float[Tensor, "batch 3 1 1"]:
    """Move ink that is too close to what lies around it away, to the brighter or darker side."""
    around = dilate(mask, 2, 2) - mask + 1e-4
    behind = (luminance(image) * around).sum((2, 3), keepdim=True) / around.sum(
        (2, 3), keepdim=True
    )
    close = (luminance(ink) - behind).abs() < _LEAST_CONTRAST
    moved = torch.where(behind > 0.5, ink * 0.3, 1 - (1 - ink) * 0.3)
    return torch.where(close, moved, ink)


def _field(draw: Draw, rows: int, columns: int, channels: int, size: torch.Size) -> Tensor:
    """Smooth random fields."""
    return F.interpolate(
        draw.normal(1.0, channels, rows, columns), size, mode="bilinear", align_corners=False
    )


def _add_texture(image: Images, strength: float, draw: Draw) -> None:
    size = image.shape[-2:]
    smooth = _field(draw, 3, 6, 3, size) * draw.uniform(0, 0.14, 1, 1, 1)
    grain = _field(draw, 12, 48, 1, size) * draw.uniform(0, 0.09, 1, 1, 1)
    image += (smooth + grain * draw.some(0.5, 1, 1, 1)) * strength
    chosen = draw.subset(min(1.0, 0.15 * strength))
    edge = _field(draw, 2, 4, 1, size)[chosen] * 8
    other = draw.uniform(0, 1, 3, 1, 1)[chosen]
    # Two materials that meet somewhere behind the word.
    image[chosen] = torch.lerp(image[chosen], other, edge.sigmoid() * 0.5)


def _put_pictures(image: Images, pictures: Tensor, strength: float, draw: Draw) -> None:
    chosen = draw.subset(min(1.0, 0.4 * strength))
    scale, place = draw.uniform(0.15, 1.0, 2)[chosen], draw.uniform(-1, 1, 2)[chosen]
    zero = torch.zeros_like(scale[:, 0])
    move = place * (1 - scale)
    theta = torch.stack([scale[:, 0], zero, move[:, 0], zero, scale[:, 1], move[:, 1]], -1).reshape(
        -1, 2, 3
    )
    source = pictures[draw.integers(len(pictures))[chosen]].float() / 255
    grid = F.affine_grid(theta, list(image[chosen].shape), align_corners=False)
    image[chosen] = F.grid_sample(source, grid, padding_mode="reflection", align_corners=False)


def _rows_columns(image: Images) -> tuple[Tensor, Tensor]:
    height, width = image.shape[-2:]
    rows = ((torch.arange(height, device=image.device) + 0.5) / height).view(1, 1, -1, 1)
    columns = ((torch.arange(width, device=image.device) + 0.5) / width).view(1, 1, 1, -1)
    return rows, columns


def _add_frames(image: Images, strength: float, draw: Draw) -> None:
    """A plate behind the word: another color beyond its border, or a line around it."""
    chosen = draw.subset(min(1.0, 0.12 * strength))
    rows, columns = _rows_columns(image)
    inset = draw.uniform(0.0, 0.16, 4, 1, 1)[chosen].unsqueeze(1)
    color = draw.uniform(0, 1, 3, 1, 1)[chosen]
    line = draw.some(0.5, 1, 1, 1)[chosen]

    def outside(scale: Tensor | float) -> Tensor:
        top, bottom, left, right = (inset * scale).unbind(2)
        return (
            (rows < top) | (rows > 1 - bottom) | (columns < left / 3) | (columns > 1 - right / 3)
        ).float()

    border = outside(1.0) - line * outside(0.6)
    image[chosen] = torch.lerp(image[chosen], color, border)


def _add_neighbors(image: Images, mask: Mask, ink: Tensor, strength: float, draw: Draw) -> None:
    """The feet of the line above or the heads of the line below, from another word."""
    chosen = draw.subset(min(1.0, 0.12 * strength))
    other = mask[draw.permutation()[chosen]]
    height = mask.shape[-2]
    shift = draw.integers(height // 8)[chosen] + height * 3 // 4
    upward = draw.some(0.5)[chosen].long() * 2 - 1
    row = torch.arange(height, device=mask.device) + (shift * upward)[:, None]
    seen = ((row >= 0) & (row < height)).float()[:, None, :, None]
    source = row.clamp(0, height - 1)[:, None, :, None].expand_as(other)
    neighbor = other.gather(2, source) * seen * draw.uniform(0.4, 1.0, 1, 1, 1)[chosen]
    image[chosen] = torch.lerp(image[chosen], ink[chosen].expand_as(image[chosen]), neighbor)


def _add_shadows(image: Images, mask: Mask, strength: float, draw: Draw) -> None:
    chosen = draw.subset(min(1.0, 0.16 * strength))
    direction = draw.integers(4)[chosen]
    depth = draw.uniform(0.3, 0.9, 1, 1, 1)[chosen]
    color = draw.uniform(0, 0.4, 3, 1, 1)[chosen]
    light = draw.some(0.2, 1, 1, 1)[chosen]
    soft = F.avg_pool2d(mask[chosen], 3, 1, 1)
    shifted = torch.stack(
        [torch.roll(soft, (dy, dx), (2, 3)) for dy, dx in ((1, 2), (1, -2), (-1, 2), (2, 1))]
    )
    shadow = shifted[direction, torch.arange(len(chosen), device=mask.device)]
    image[chosen] = torch.lerp(image[chosen], (color - light).abs(), shadow * depth)


def _add_outlines(image: Images, mask: Mask, strength: float, draw: Draw) -> None:
    chosen = draw.subset(min(1.0, 0.12 * strength))
    color = draw.uniform(0, 1, 3, 1, 1)[chosen]
    border = dilate(mask[chosen], 1, 2)
    image[chosen] = torch.lerp(image[chosen], color, border)


def _add_underlines(image: Images, ink: Tensor, strength: float, draw: Draw) -> None:
    chosen = draw.subset(min(1.0, 0.04 * strength))
    rows, columns = _rows_columns(image)
    height = (
        draw.uniform(0.9, 0.99, 1, 1, 1)[chosen]
        + (columns - 0.5) * draw.normal(0.05, 1, 1, 1)[chosen]
    )
    line = ((rows - height).abs() < draw.uniform(0.015, 0.04, 1, 1, 1)[chosen]).float()
    image[chosen] = torch.lerp(image[chosen], ink[chosen].expand_as(image[chosen]), line)


def _add_gradients(fill: Images, strength: float, draw: Draw) -> None:
    chosen = draw.subset(min(1.0, 0.5 * strength))
    change = _field(draw, 2, 4, 1, fill.shape[-2:])[chosen]
    tint = draw.normal(0.1, 3, 1, 1)[chosen]
    fill[chosen] += change * tint * strength
