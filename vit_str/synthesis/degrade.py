"""Effects of optics, light, sensor and compression on a picture."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from vit_str.synthesis.compression import compress
from vit_str.synthesis.fields import Images
from vit_str.synthesis.ingredients import Ingredients, share_of
from vit_str.synthesis.optics import blur, light
from vit_str.synthesis.random_numbers import Random, Range
from vit_str.synthesis.resolution import sample_resolution


@dataclass(frozen=True)
class _Noise:
    """Noise of the sensor, by eye. Amounts are deviations of brightness, 1 from black to white."""

    amount: Range = 0.0, 0.2  # the square is taken: up to 0.04
    colored_share: float = 0.6
    strongest: float = 2.0  # strength from which on noise only comes more often
    # Rows and columns by which noise is moved to look like another
    moves: tuple[tuple[int, int], ...] = ((11, 37), (5, -29))


_NOISE = _Noise()


def degrade(
    image: Images,
    aspects: Float[Tensor, " batch"],
    lengths: Float[Tensor, " batch"],
    strengths: Ingredients,
    random: Random,
) -> Images:
    """Light, fewer pixels, blur, noise and compression, in the pixels of the camera.

    Args:
        image: clean pictures, from 0 to 1, all of one shape.
        aspects: width over height that they had before they were brought to it.
        lengths: of the words, in letters, square ones counted as several.
        strengths: of the effects.
        random: what the effects are drawn from.
    """
    image = light(image, strengths, random)
    size = image.shape[-2], image.shape[-1]
    resolution = sample_resolution(
        aspects, lengths, size, strengths.low_resolution, random
    )
    resolution.shrink(image)
    blur(image, strengths, resolution.softness(image), random)
    _add_noise(image, strengths.noise, random)
    compress(image, strengths.compression, random)
    resolution.enlarge(image)
    return image.clamp_(0, 1)


def _add_noise(image: Images, strength: float, random: Random) -> None:
    """Sensor noise, in brightness or in three colors, mostly weak, in place."""
    chosen = random.subset(share_of("noise", strength))
    amount = random.uniform(*_NOISE.amount, 1, 1, 1)[chosen].square()
    amount = amount * min(strength, _NOISE.strongest)
    is_colored = random.bernoulli(_NOISE.colored_share, 1, 1, 1)[chosen]
    noise = random.pixels(1, *image.shape[2:]).index_select(0, chosen)
    if len(chosen):
        # The same noise far enough away is other noise to the eye.
        others = [noise.roll(move, (2, 3)) for move in _NOISE.moves]
        noise = noise.lerp(torch.cat([noise, *others], 1), is_colored)
        image.index_add_(0, chosen, noise.mul_(amount))
