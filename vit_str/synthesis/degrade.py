"""What optics, light, sensor and compression do to a picture."""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from vit_str.synthesis.compression import compress
from vit_str.synthesis.draw import Draw
from vit_str.synthesis.fields import Images
from vit_str.synthesis.ingredients import Ingredients
from vit_str.synthesis.legibility import keep_legible
from vit_str.synthesis.optics import blur, light

__all__ = ["degrade", "keep_legible"]

_FAR = (11, 37), (5, -29)
_COARSE = 0.6
"""Pictures with a smaller share of their rows are blurred first, as larger pixels do."""


def degrade(image: Images, strengths: Ingredients, draw: Draw) -> Images:
    """Blur, light, fewer pixels, noise and compression, in the order a camera adds them.

    Args:
        image: clean pictures, 0 to 1.
        strengths: of the ingredients.
        draw: random source.
    """
    image = light(image, strengths, draw)
    blur(image, strengths, draw)
    coarse = draw.subset(min(1.0, 0.4 * strengths.low_resolution))
    scale = _resolution(coarse, draw)
    if len(coarse):
        image.index_copy_(0, coarse, _shrink(image.index_select(0, coarse), scale))
    _add_noise(image, strengths.noise, draw)
    compress(image, strengths.compression, draw)
    if len(coarse):
        image.index_copy_(0, coarse, _enlarge(image.index_select(0, coarse), scale))
    return image.clamp_(0, 1)


def _resolution(chosen: Tensor, draw: Draw) -> Float[Tensor, "chosen 2"]:
    """Share of the columns and rows that a small picture has: nearly the same of both."""
    share = draw.uniform(0.3, 0.9, 1)[chosen]
    other = draw.uniform(0.8, 1.25, 1)[chosen]
    return torch.cat([share, (share * other).clamp(0.25, 1)], 1)


def _scaling_grid(scale: Tensor, size: torch.Size, shrinking: bool) -> Tensor:
    """Where each pixel looks when the picture moves into its own top left corner, or back."""
    axes = []
    for axis, length in ((1, size[1]), (0, size[0])):
        pixels = (scale[:, 1 - axis] * length).round()[:, None]
        place = torch.arange(length, device=scale.device) + 0.5
        if shrinking:
            looked_at = (place * length / pixels).clamp(max=length - 0.5)
        else:
            looked_at = (place * pixels / length).clamp(max=pixels - 0.5)
        axes.append(looked_at / length * 2 - 1)
    x, y = axes
    shape = len(scale), size[0], size[1]
    return torch.stack([x[:, None, :].expand(shape), y[:, :, None].expand(shape)], -1)


def _shrink(image: Images, scale: Tensor) -> Images:
    # Each of the larger pixels sees what several saw: an average of neighbors, twice as wide
    # where the picture shrinks most.
    padded = F.pad(image, (1, 1, 1, 1), mode="replicate")
    rows = padded[..., :-2, :] + padded[..., 2:, :]
    rows = rows.mul_(0.25).add_(padded[..., 1:-1, :], alpha=0.5)
    soft = (rows[..., :-2] + rows[..., 2:]).mul_(0.25).add_(rows[..., 1:-1], alpha=0.5)
    amount = ((_COARSE - scale[:, :1, None, None]) * 5).clamp(0, 1)
    grid = _scaling_grid(scale, image.shape[-2:], shrinking=True)
    return F.grid_sample(image.lerp(soft, amount), grid, padding_mode="border", align_corners=False)


def _enlarge(image: Images, scale: Tensor) -> Images:
    grid = _scaling_grid(scale, image.shape[-2:], shrinking=False)
    return F.grid_sample(image, grid, padding_mode="border", align_corners=False)


def _add_noise(image: Images, strength: float, draw: Draw) -> None:
    """Sensor noise, of one brightness or of three colors: common, and mostly weak."""
    chosen = draw.subset(min(1.0, 0.6 * strength))
    amount = draw.uniform(0, 0.2, 1, 1, 1)[chosen].square() * min(strength, 2.0)
    colored = draw.some(0.6, 1, 1, 1)[chosen]
    noise = draw.pixels(1, *image.shape[2:]).index_select(0, chosen)
    if len(chosen):
        # The same noise far enough away is other noise to the eye.
        others = [noise.roll(move, (2, 3)) for move in _FAR]
        noise = noise.lerp(torch.cat([noise, *others], 1), colored)
        image.index_add_(0, chosen, noise.mul_(amount))
