"""What optics, light, sensor and compression do to a picture."""

import math

import torch
import torch.nn.functional as F
from einops import rearrange
from jaxtyping import Float
from torch import Tensor

from vit_str.synthesis.draw import Draw
from vit_str.synthesis.ingredients import Ingredients
from vit_str.synthesis.paint import Images, Mask, dilate, luminance

_KERNEL = 9
_LEAST_CONTRAST = 0.09
_LEAST_SEPARATION = 0.8

# Quantization of brightness at quality 50, from the JPEG standard (ITU-T T.81, table K.1).
_JPEG_TABLE = (
    (16, 11, 10, 16, 24, 40, 51, 61),
    (12, 12, 14, 19, 26, 58, 60, 55),
    (14, 13, 16, 24, 40, 57, 69, 56),
    (14, 17, 22, 29, 51, 87, 80, 62),
    (18, 22, 37, 56, 68, 109, 103, 77),
    (24, 35, 55, 64, 81, 104, 113, 92),
    (49, 64, 78, 87, 103, 121, 120, 101),
    (72, 92, 95, 98, 112, 100, 103, 99),
)


def degrade(image: Images, strengths: Ingredients, draw: Draw) -> Images:
    """Blur, light, fewer pixels, noise and compression, in the order a camera adds them.

    Args:
        image: clean pictures, 0 to 1.
        strengths: of the ingredients.
        draw: random source.
    """
    image = _light(image, strengths, draw)
    image = _blur(image, strengths, draw)
    coarse = draw.subset(min(1.0, 0.35 * strengths.low_resolution))
    scale = _resolution(coarse, draw)
    if len(coarse):
        image[coarse] = _shrink(image[coarse], scale)
    _add_noise(image, strengths.noise, draw)
    _compress(image, strengths.compression, draw)
    if len(coarse):
        image[coarse] = _enlarge(image[coarse], scale)
    return image.clamp_(0, 1)


def keep_legible(degraded: Images, clean: Images, mask: Mask) -> Images:
    """Where too little is left of the letters to be read, the picture before the damage.

    What is left is measured between ink and its surroundings: the difference of their mean
    brightness, and that difference over the spread within them.
    """
    around = dilate(mask, 2, 2) - dilate(mask, 1, 1)
    ink = mask.square()
    brightness = luminance(degraded)
    inside, spread_inside = _mean_and_variance(brightness, ink)
    outside, spread_outside = _mean_and_variance(brightness, around)
    difference = (inside - outside).abs()
    separation = difference / ((spread_inside + spread_outside) / 2 + 1e-4).sqrt()
    legible = (difference > _LEAST_CONTRAST) & (separation > _LEAST_SEPARATION)
    return torch.where(legible, degraded, clean)


def _mean_and_variance(values: Mask, weights: Mask) -> tuple[Tensor, Tensor]:
    total = weights.sum((2, 3), keepdim=True) + 1e-3
    mean = (values * weights).sum((2, 3), keepdim=True) / total
    variance = ((values - mean).square() * weights).sum((2, 3), keepdim=True) / total
    return mean, variance


def _light(image: Images, strengths: Ingredients, draw: Draw) -> Images:
    """Tone curve, contrast and brightness, and light that falls off."""
    size = image.shape[-2:]
    falloff = F.interpolate(draw.normal(1.0, 1, 2, 3), size, mode="bilinear", align_corners=False)
    falloff = 1 + falloff * draw.uniform(0, 0.18, 1, 1, 1) * strengths.illumination
    gamma = (draw.normal(0.28, 1, 1, 1) * strengths.gamma).exp()
    flat = draw.uniform(0, 0.75, 1, 1, 1).square() * draw.some(0.6, 1, 1, 1)
    contrast = (1 - flat * strengths.contrast).clamp(min=0.1)
    shift = draw.uniform(-0.2, 0.2, 1, 1, 1) * strengths.contrast
    image = (image * falloff).clamp_(1e-3, 1).pow_(gamma)
    return (image - 0.5).mul_(contrast).add_(0.5 + shift)


def _blur(image: Images, strengths: Ingredients, draw: Draw) -> Images:
    """One Gaussian kernel per picture: round out of focus, drawn out in motion."""
    slight, strong = draw.uniform(0.05, 0.6), draw.uniform(0.4, 2.2)
    focus = torch.where(draw.some(0.6) > 0, slight, strong) * strengths.blur + 0.05
    motion = draw.uniform(0.5, 3.0) * draw.some(0.15) * strengths.motion
    angle = draw.uniform(0, math.pi)
    offset = torch.arange(_KERNEL, device=image.device) - _KERNEL // 2
    y, x = torch.meshgrid(offset, offset, indexing="ij")
    cos, sin = angle.cos()[:, None, None], angle.sin()[:, None, None]
    along, across = x * cos + y * sin, y * cos - x * sin
    wide = (focus + motion)[:, None, None]
    # A line thinner than this would pass between the taps of the kernel at most angles.
    narrow = torch.maximum(focus, 0.4 * motion.clamp(max=1))[:, None, None]
    exponent = (along / wide).square() + (across / narrow).square()
    kernel = (-0.5 * exponent).exp()
    kernel = kernel / kernel.sum((1, 2), keepdim=True)
    padded = F.pad(image, [_KERNEL // 2] * 4, mode="replicate").transpose(0, 1)
    return F.conv2d(padded, kernel[:, None], groups=len(image)).transpose(0, 1).contiguous()


def _resolution(chosen: Tensor, draw: Draw) -> Float[Tensor, "chosen 2"]:
    """Share of the rows and columns that a small picture has: together, or columns alone."""
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
    smooth = F.avg_pool2d(image, 3, 1, 1, count_include_pad=False)
    source = torch.where((scale[:, :1, None, None] < 0.6), smooth, image)
    grid = _scaling_grid(scale, image.shape[-2:], shrinking=True)
    return F.grid_sample(source, grid, padding_mode="border", align_corners=False)


def _enlarge(image: Images, scale: Tensor) -> Images:
    grid = _scaling_grid(scale, image.shape[-2:], shrinking=False)
    return F.grid_sample(image, grid, padding_mode="border", align_corners=False)


def _add_noise(image: Images, strength: float, draw: Draw) -> None:
    chosen = draw.subset(min(1.0, 0.5 * strength))
    height, width = image.shape[-2:]
    amount = draw.uniform(0, 0.3, 1, 1, 1)[chosen].square() * min(strength, 2.0)
    colored = draw.some(0.6, 1, 1, 1)[chosen]
    noise = draw.pixels(3, height, width)[chosen]
    noise = torch.lerp(noise[:, :1].expand_as(noise), noise, colored)
    image[chosen] += noise * amount


def _dct_matrix(device: torch.device) -> Float[Tensor, "frequency place"]:
    """The orthonormal discrete cosine transform of 8 samples."""
    place = torch.arange(8, device=device) + 0.5
    frequency = torch.arange(8, device=device)[:, None]
    matrix = (math.pi / 8 * frequency * place).cos() / 2
    matrix[0] /= math.sqrt(2)
    return matrix


def _compress(image: Images, strength: float, draw: Draw) -> None:
    """Round the frequencies of 8 x 8 blocks as JPEG does at qualities from about 15 to 80."""
    chosen = draw.subset(min(1.0, 0.35 * strength))
    if not len(chosen):
        return
    transform = _dct_matrix(image.device)
    coarseness = draw.uniform(-1.0, 1.2, 1, 1, 1, 1, 1)[chosen].exp() * min(strength, 2.0)
    table = torch.tensor(_JPEG_TABLE, device=image.device) / 255 * coarseness
    rows, columns = image.shape[-2] // 8, image.shape[-1] // 8
    blocks = rearrange(
        image[chosen][..., : rows * 8, : columns * 8], "b c (r y) (s x) -> b c r s y x", y=8, x=8
    )
    frequencies = transform @ blocks @ transform.T
    restored = transform.T @ ((frequencies / table).round() * table) @ transform
    restored = rearrange(restored, "b c r s y x -> b c (r y) (s x)")
    image[chosen, :, : rows * 8, : columns * 8] = restored
