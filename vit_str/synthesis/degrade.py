"""What optics, light, sensor and compression do to a picture."""

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from vit_str.synthesis.compression import compress
from vit_str.synthesis.fields import Images
from vit_str.synthesis.ingredients import Ingredients, share_of
from vit_str.synthesis.optics import blur, light
from vit_str.synthesis.random_numbers import Random
from vit_str.synthesis.resolution import sample_resolution

_FAR = (11, 37), (5, -29)  # rows and columns, beyond which noise looks independent


def degrade(
    image: Images,
    aspects: Float[Tensor, " batch"],
    lengths: Int64[Tensor, " batch"],
    strengths: Ingredients,
    random: Random,
) -> Images:
    """Light, fewer pixels, blur, noise and compression, in the pixels of the camera.

    Clean pictures are from 0 to 1 and all of one shape; ``aspects`` are width over height that
    they had before they were brought to it, ``lengths`` the letters of the words.
    """
    image = light(image, strengths, random)
    size = image.shape[-2], image.shape[-1]
    resolution = sample_resolution(aspects, lengths, size, strengths.low_resolution, random)
    resolution.shrink(image)
    blur(image, strengths, resolution.softness(image), random)
    _add_noise(image, strengths.noise, random)
    compress(image, strengths.compression, random)
    resolution.enlarge(image)
    return image.clamp_(0, 1)


def _add_noise(image: Images, strength: float, random: Random) -> None:
    """Sensor noise, in brightness or in three colors: mostly weak, up to 0.04 of black to white."""
    chosen = random.subset(share_of("noise", strength))
    amount = random.uniform(0, 0.2, 1, 1, 1)[chosen].square() * min(strength, 2.0)
    colored = random.bernoulli(0.6, 1, 1, 1)[chosen]
    noise = random.pixels(1, *image.shape[2:]).index_select(0, chosen)
    if len(chosen):
        # The same noise far enough away is other noise to the eye.
        others = [noise.roll(move, (2, 3)) for move in _FAR]
        noise = noise.lerp(torch.cat([noise, *others], 1), colored)
        image.index_add_(0, chosen, noise.mul_(amount))
