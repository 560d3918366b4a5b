"""Light and lenses: fall-off, glare, tone, focus and motion.

Brightness is from 0 to 1; deviations and lengths of blur are in pixels of a picture as drawn.
"""

import math

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from vit_str.synthesis.fields import Images, pixel_columns, pixel_rows, spread
from vit_str.synthesis.ingredients import Ingredients, share_of
from vit_str.synthesis.random_numbers import Random

_MOTION_KERNEL = 9  # side, in pixels
_BLURS = (0.3, 0.3, 0.8, 2), (0.35, 0.6, 2.2, 5)
"""Shares of words, least and most deviation, taps on each side: a little and a lot."""


def light(image: Images, strengths: Ingredients, random: Random) -> Images:
    """Light that falls off, glare, the tone curve, contrast and brightness."""
    falloff = random.normal(1.0, 1, 2, 3) * random.uniform(0, 0.18, 1, 1, 1)
    falloff = falloff * strengths.illumination
    bend = _bend(random.normal(0.28, 1, 1, 1) * strengths.gamma)
    flat = random.uniform(0, 0.75, 1, 1, 1).square()
    flat = flat * random.bernoulli(share_of("contrast"), 1, 1, 1)
    contrast = (1 - flat * strengths.contrast).clamp(min=0.1)
    shift = random.uniform(-0.2, 0.2, 1, 1, 1) * strengths.contrast
    image = (image * spread(1 + falloff, image.shape[-2:])).clamp_(0, 1)
    _add_glare(image, strengths.glare, random)
    # The tone curve is a parabola through 0 and 1: a power would take ten times as long.
    steepness = (image * -bend).add_(1 + bend)
    return image.mul_(steepness).mul_(contrast).add_(0.5 + shift - 0.5 * contrast)


def blur(
    image: Images, strengths: Ingredients, reach: Float[Tensor, "batch 1 1 1"], random: Random
) -> None:
    """Out of focus, a little or a lot, and blurred in one direction by motion, in place."""
    for share, least, most, taps in _BLURS:
        chosen = random.subset(share)
        deviation = random.uniform(least, most, 1, 1, 1)
        if strengths.blur and len(chosen):
            deviation = (deviation * reach)[chosen] * strengths.blur
            blurred = gaussian(image.index_select(0, chosen), deviation, taps)
            image.index_copy_(0, chosen, blurred)
    _move(image, strengths.motion, reach[:, 0], random)


def _bend(exponent: Float[Tensor, "batch 1 1 1"]) -> Float[Tensor, "batch 1 1 1"]:
    """Of the parabola that meets the power ``exp(exponent)`` at one half, and rises everywhere."""
    return (4 * 0.5 ** exponent.exp() - 2).clamp(-1, 1)


def _add_glare(image: Images, strength: float, random: Random) -> None:
    """Light reflected into the camera: soft spots and streaks, partly saturating, in place."""
    chosen = random.subset(share_of("glare", strength))
    x, y, turn, size, long, power = random.uniform(0, 1, 6, 1, 1)[chosen].unsqueeze(2).unbind(1)
    tint = random.uniform(0.7, 1, 3, 1, 1)[chosen]
    if not len(chosen):
        return
    height, width = image.shape[-2:]
    across = pixel_columns(image) - x * width
    down = pixel_rows(image) - y * height
    angle = turn * math.pi
    radius = height * (0.12 + 0.3 * size)
    along = (across * angle.cos() + down * angle.sin()) / (radius * (1 + 5 * long.square()))
    aside = (down * angle.cos() - across * angle.sin()) / radius
    spot = (-along.square() - aside.square()).exp()
    light = spot * tint * (0.25 + 0.75 * power)
    image[chosen] = (image.index_select(0, chosen) + light).clamp_(max=1)


def gaussian(image: Images, deviation: Float[Tensor, "batch 1 1 1"], taps: int) -> Images:
    """Each picture blurred by its own deviation, in rows, then in columns.

    One sum of shifted pictures: for few taps faster than a grouped convolution.
    """
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
            torch.add(before, padded.narrow(axis, taps + offset, length), out=pair)
            image.addcmul_(pair, weights[offset])
    return image


def _move(
    image: Images, strength: float, reach: Float[Tensor, "batch 1 1"], random: Random
) -> None:
    """Blur along a line, with one kernel for each picture, in place."""
    chosen = random.subset(share_of("motion"))
    length = (random.uniform(0.6, 3.0, 1, 1) * reach)[chosen] * strength
    angle = random.uniform(0, math.pi, 1, 1)[chosen]
    if not strength or not len(chosen):
        return
    middle = _MOTION_KERNEL // 2
    offset = torch.arange(_MOTION_KERNEL, device=image.device) - middle
    y, x = torch.meshgrid(offset, offset, indexing="ij")
    along = x * angle.cos() + y * angle.sin()
    across = y * angle.cos() - x * angle.sin()
    # A line thinner than this would pass between the taps of the kernel at most angles.
    narrow = 0.4 * length.clamp(max=1)
    kernel = (-0.5 * ((along / length).square() + (across / narrow).square())).exp()
    kernel = kernel / kernel.sum((1, 2), keepdim=True)
    # Three channels of each picture side by side: as a batch of three it takes five times as long.
    still = image.index_select(0, chosen)
    padded = F.pad(still, [middle] * 4, mode="replicate").flatten(0, 1)[None]
    kernels = kernel.repeat_interleave(3, 0)[:, None]
    moved = F.conv2d(padded, kernels, groups=len(kernels))
    image[chosen] = moved.view(len(chosen), *image.shape[1:])
