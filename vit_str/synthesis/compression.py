"""JPEG compression of a picture: frequencies of 8 x 8 blocks rounded, color at half the size."""

import math
from functools import lru_cache

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from vit_str.synthesis.fields import Images
from vit_str.synthesis.ingredients import share_of
from vit_str.synthesis.random_numbers import Random, Range

_BLOCK = 8  # pixels, of JPEG (ITU-T T.81)

# Quantization at quality 50, from the JPEG standard (ITU-T T.81, tables K.1 and K.2).
_BRIGHTNESS_TABLE = (
    (16, 11, 10, 16, 24, 40, 51, 61),
    (12, 12, 14, 19, 26, 58, 60, 55),
    (14, 13, 16, 24, 40, 57, 69, 56),
    (14, 17, 22, 29, 51, 87, 80, 62),
    (18, 22, 37, 56, 68, 109, 103, 77),
    (24, 35, 55, 64, 81, 104, 113, 92),
    (49, 64, 78, 87, 103, 121, 120, 101),
    (72, 92, 95, 98, 112, 100, 103, 99),
)
# Steps of colors at quality 50, in gray levels (T.81, table K.2).
_COLOR_TABLE = (
    (17, 18, 24, 47, 99, 99, 99, 99),
    (18, 21, 26, 66, 99, 99, 99, 99),
    (24, 26, 56, 99, 99, 99, 99, 99),
    (47, 66, 99, 99, 99, 99, 99, 99),
    (99, 99, 99, 99, 99, 99, 99, 99),
    (99, 99, 99, 99, 99, 99, 99, 99),
    (99, 99, 99, 99, 99, 99, 99, 99),
    (99, 99, 99, 99, 99, 99, 99, 99),
)
# Red, green, blue to brightness and two differences of color (ITU-T T.871), and back.
_TO_PLANES = (
    (0.299, 0.587, 0.114),
    (-0.168736, -0.331264, 0.5),
    (0.5, -0.418688, -0.081312),
)
_FROM_PLANES = (
    (1.0, 0.0, 1.402),
    (1.0, -0.344136, -0.714136),
    (1.0, 1.772, 0.0),
)
_COARSENESS: Range = (-1.2, 1.1)
"""Logarithms of the steps over those of quality 50; by eye, qualities from about 15 to 80."""
_COARSEST = 2.0  # strength from which on steps grow no more


def compress(image: Images, strength: float, random: Random) -> None:
    """Code and decode some pictures at qualities from about 15 to 80, in place."""
    chosen = random.subset(share_of("compression", strength))
    coarseness = random.uniform(*_COARSENESS, 1, 1, 1, 1)[chosen].exp()
    coarseness = coarseness * min(strength, _COARSEST)
    if not len(chosen):
        return
    source = image.index_select(0, chosen)
    height, width = source.shape[-2:]
    decoded = _coded(_with_whole_blocks(source), coarseness)
    image.index_copy_(0, chosen, decoded[..., :height, :width])


def _with_whole_blocks(image: Images) -> Images:
    """Edges repeated up to whole blocks of color, which are 16 x 16 pixels."""
    height, width = image.shape[-2:]
    right = -width % (2 * _BLOCK)
    below = -height % (2 * _BLOCK)
    if right or below:
        return F.pad(image, (0, right, 0, below), mode="replicate")
    return image


def _coded(image: Images, coarseness: Float[Tensor, "chosen 1 1 1 1"]) -> Images:
    """The picture after coding and decoding."""
    device = image.device
    planes = (_matrix(_TO_PLANES, device) @ image.flatten(2)).view(image.shape)
    halved = F.avg_pool2d(planes[:, 1:], 2)
    brightness = _quantize(
        planes[:, :1], _matrix(_BRIGHTNESS_TABLE, device), coarseness
    )
    colors = _quantize(halved, _matrix(_COLOR_TABLE, device), coarseness)
    colors = colors.repeat_interleave(2, 2).repeat_interleave(2, 3)
    planes = torch.cat([brightness, colors], 1)
    return (_matrix(_FROM_PLANES, device) @ planes.flatten(2)).view(image.shape)


def dct_matrix(device: torch.device) -> Float[Tensor, "frequency place"]:
    """The orthonormal discrete cosine transform of 8 samples."""
    place = torch.arange(_BLOCK, device=device) + 0.5
    frequency = torch.arange(_BLOCK, device=device)[:, None]
    matrix = (math.pi / _BLOCK * frequency * place).cos() / 2
    matrix[0] /= math.sqrt(2)
    return matrix


def _quantize(
    planes: Float[Tensor, "chosen plane height width"],
    table: Float[Tensor, "8 8"],
    coarseness: Float[Tensor, "chosen 1 1 1 1"],
) -> Float[Tensor, "chosen plane height width"]:
    """Round the frequencies of every block to multiples of the table's."""
    count, channels, height, width = planes.shape
    transform = dct_matrix(planes.device)
    # Two blocks side by side in one product: twice as fast as 8 x 8.
    pair = torch.kron(torch.eye(2, device=planes.device), transform)
    steps = (table / 255).repeat(1, width // _BLOCK) * coarseness
    rows = planes.reshape(-1, 2 * _BLOCK) @ pair.T
    frequencies = transform @ rows.view(count, -1, _BLOCK, width)
    frequencies = frequencies.div_(steps[:, 0]).round_().mul_(steps[:, 0])
    rows = (transform.T @ frequencies).view(-1, 2 * _BLOCK) @ pair
    return rows.view(count, channels, height, width)


@lru_cache(maxsize=16)
def _matrix(
    values: tuple[tuple[float, ...], ...], device: torch.device
) -> Float[Tensor, "row column"]:
    return torch.tensor(values, dtype=torch.float32, device=device)
