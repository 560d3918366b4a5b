"""Light and lenses: fall-off, glare, tone, focus and motion.

Brightness is from 0 to 1; deviations and lengths of blur are in pixels of a picture as drawn.
"""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from vit_str.synthesis.fields import Images, pixel_columns, pixel_rows, spread
from vit_str.synthesis.ingredients import Ingredients, share_of
from vit_str.synthesis.random_numbers import Random, Range


@dataclass(frozen=True)
class _Light:
    """Fall-off of light, and what cameras make of brightness; all by eye."""

    falloff_grid: tuple[int, int] = 2, 3  # random values over the picture
    falloff: Range = 0.0, 0.18  # deviation of brightness
    gamma: float = 0.28  # deviation of the logarithm of the exponent
    flatness: Range = 0.0, 0.75  # lost contrast; the square is taken
    least_contrast: float = 0.1
    shift: Range = -0.2, 0.2  # of brightness


@dataclass(frozen=True)
class _Glare:
    """Light reflected into the camera; by eye. Lengths are in heights of the picture."""

    tint: Range = 0.7, 1.0
    least_radius: float = 0.12
    radius: float = 0.3  # from the least to the largest
    length: float = 5.0  # how much longer than wide the longest streaks are
    least_power: float = 0.25  # brightness in the middle, of 1


@dataclass(frozen=True)
class _Blur:
    """Out of focus; by eye."""

    share: float  # of the words
    deviation: Range  # pixels
    taps: int  # pixels on each side that are looked at


@dataclass(frozen=True)
class _Motion:
    """Blur along a line; by eye."""

    length: Range = 0.6, 3.0  # deviation along the line, in pixels
    kernel: int = 9  # side, in pixels
    # Deviation across the line over that along it, of lines up to a pixel long: a thinner line
    # would pass between the taps of the kernel at most angles
    narrowness: float = 0.4


_LIGHT = _Light()
_GLARE = _Glare()
_SLIGHT_BLUR = _Blur(share=0.3, deviation=(0.3, 0.8), taps=2)
_STRONG_BLUR = _Blur(share=0.35, deviation=(0.6, 2.2), taps=5)
_MOTION = _Motion()


def light(image: Images, strengths: Ingredients, random: Random) -> Images:
    """Light that falls off, glare, the tone curve, contrast and brightness."""
    falloff = random.normal(1.0, 1, *_LIGHT.falloff_grid)
    falloff = falloff * random.uniform(*_LIGHT.falloff, 1, 1, 1)
    falloff = falloff * strengths.illumination
    bend = _bend(random.normal(_LIGHT.gamma, 1, 1, 1) * strengths.gamma)
    flat = random.uniform(*_LIGHT.flatness, 1, 1, 1).square()
    flat = flat * random.bernoulli(share_of("contrast"), 1, 1, 1)
    contrast = (1 - flat * strengths.contrast).clamp(min=_LIGHT.least_contrast)
    shift = random.uniform(*_LIGHT.shift, 1, 1, 1) * strengths.contrast
    image = (image * spread(1 + falloff, image.shape[-2:])).clamp_(0, 1)
    _add_glare(image, strengths.glare, random)
    # The tone curve is a parabola through 0 and 1: a power would take ten times as long.
    steepness = (image * -bend).add_(1 + bend)
    return image.mul_(steepness).mul_(contrast).add_(0.5 + shift - 0.5 * contrast)


def blur(
    image: Images,
    strengths: Ingredients,
    reach: Float[Tensor, "batch 1 1 1"],
    random: Random,
) -> None:
    """Out of focus, a little or a lot, and blurred in one direction by motion, in place."""
    for kind in (_SLIGHT_BLUR, _STRONG_BLUR):
        chosen = random.subset(kind.share)
        deviation = random.uniform(*kind.deviation, 1, 1, 1)
        if strengths.blur and len(chosen):
            deviation = (deviation * reach)[chosen] * strengths.blur
            blurred = gaussian(image.index_select(0, chosen), deviation, kind.taps)
            image.index_copy_(0, chosen, blurred)
    _move(image, strengths.motion, reach[:, 0], random)


def _bend(exponent: Float[Tensor, "batch 1 1 1"]) -> Float[Tensor, "batch 1 1 1"]:
    """Bend of the parabola that rises and meets the power ``exp(exponent)`` at one half."""
    return (4 * 0.5 ** exponent.exp() - 2).clamp(-1, 1)


def _add_glare(image: Images, strength: float, random: Random) -> None:
    """Light reflected into the camera: soft spots and streaks, partly saturating, in place."""
    chosen = random.subset(share_of("glare", strength))
    uniforms = random.uniform(0, 1, 6, 1, 1)[chosen].unsqueeze(2)
    x, y, turn, size, stretch, power = uniforms.unbind(1)
    tint = random.uniform(*_GLARE.tint, 3, 1, 1)[chosen]
    if not len(chosen):
        return
    height, width = image.shape[-2:]
    across = pixel_columns(image) - x * width
    down = pixel_rows(image) - y * height
    cos = (turn * math.pi).cos()
    sin = (turn * math.pi).sin()
    radius = height * (_GLARE.least_radius + _GLARE.radius * size)
    length = radius * (1 + _GLARE.length * stretch.square())
    along = (across * cos + down * sin) / length
    aside = (down * cos - across * sin) / radius
    spot = (-along.square() - aside.square()).exp()
    brightness = _GLARE.least_power + (1 - _GLARE.least_power) * power
    light = spot * tint * brightness
    image[chosen] = (image.index_select(0, chosen) + light).clamp_(max=1)


def gaussian(
    image: Images,
    deviation: Float[Tensor, "batch 1 1 1"],
    taps: int,
) -> Images:
    """Each picture blurred by its own deviation in pixels, in rows, then in columns.

    ``taps`` pixels on each side are looked at; edges are repeated.
    """
    # One sum of shifted pictures: for few taps faster than a grouped convolution.
    offsets = torch.arange(taps + 1, device=image.device).view(-1, 1, 1, 1, 1)
    weights = (-0.5 * (offsets / deviation).square()).exp()
    weights = weights / (2 * weights.sum(0) - 1)
    pair = torch.empty_like(image)
    for axis in (-1, -2):
        length = image.shape[axis]
        sides = (taps, taps, 0, 0) if axis == -1 else (0, 0, taps, taps)
        padded = F.pad(image, sides, mode="replicate")
        image = padded.narrow(axis, taps, length) * weights[0]
        for offset in range(1, taps + 1):
            before = padded.narrow(axis, taps - offset, length)
            behind = padded.narrow(axis, taps + offset, length)
            torch.add(before, behind, out=pair)
            image.addcmul_(pair, weights[offset])
    return image


def _move(
    image: Images, strength: float, reach: Float[Tensor, "batch 1 1"], random: Random
) -> None:
    """Blur along a line, with one kernel for each picture, in place."""
    chosen = random.subset(share_of("motion"))
    length = random.uniform(*_MOTION.length, 1, 1) * reach
    length = length[chosen] * strength
    angle = random.uniform(0, math.pi, 1, 1)[chosen]
    if not strength or not len(chosen):
        return
    middle = _MOTION.kernel // 2
    offset = torch.arange(_MOTION.kernel, device=image.device) - middle
    y, x = torch.meshgrid(offset, offset, indexing="ij")
    along = x * angle.cos() + y * angle.sin()
    across = y * angle.cos() - x * angle.sin()
    width = _MOTION.narrowness * length.clamp(max=1)
    away = (along / length).square() + (across / width).square()
    kernel = (-0.5 * away).exp()
    kernel = kernel / kernel.sum((1, 2), keepdim=True)
    # Three channels of each picture side by side: as a batch of three it takes five times as long.
    still = image.index_select(0, chosen)
    padded = F.pad(still, [middle] * 4, mode="replicate").flatten(0, 1)[None]
    kernels = kernel.repeat_interleave(3, 0)[:, None]
    moved = F.conv2d(padded, kernels, groups=len(kernels))
    image[chosen] = moved.view(len(chosen), *image.shape[1:])
