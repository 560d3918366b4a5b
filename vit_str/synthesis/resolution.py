"""The pixels of the camera: how many a crop had before a reader brought it to its own size.

Readers stretch every crop to one shape. A short word photographed with 20 rows has 30 columns,
which become 128: its letters are blurred, noisy and blocky from side to side far more than from
top to bottom, and those of a long word the other way round.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from vit_str.synthesis.fields import Images
from vit_str.synthesis.ingredients import share_of
from vit_str.synthesis.random_numbers import Random

Counts = Float[Tensor, " picture"]
Matrices = Float[Tensor, "picture output input"]


@dataclass(frozen=True)
class _Pixels:
    """Pixels of crops, by eye. With fewer than the fewest, nobody would have labelled the word."""

    median_rows: float = 27.0
    spread: float = 0.5  # deviation of the logarithm of the rows
    fewest_rows: float = 12.0
    fewest_columns: float = 6.0  # for a letter


_PIXELS = _Pixels()


@dataclass(frozen=True, slots=True)
class Resolution:
    """Which pictures were taken with fewer pixels than they are drawn with, and how many."""

    chosen: Int64[Tensor, " chosen"]
    columns: Counts
    rows: Counts

    def shrink(self, image: Images) -> None:
        """Bring these pictures to their pixels, in their upper left corners, in place."""
        self._resample(image, _averages)

    def enlarge(self, image: Images) -> None:
        """Bring the corners back to whole pictures as readers do, bicubic, in place."""
        self._resample(image, _bicubic)

    def softness(self, image: Images) -> Float[Tensor, "batch 1 1 1"]:
        """How far blur reaches, in pixels, over how far it does where they are as drawn.

        It is a share of the height of a letter: more, and nobody would have labelled the word.
        """
        factor = self.rows / image.shape[-2]
        softness = image.new_ones(len(image)).index_copy(0, self.chosen, factor)
        return softness[:, None, None, None]

    def _resample(
        self,
        image: Images,
        weights: Callable[[int, Counts], Matrices],
    ) -> None:
        if not len(self.chosen):
            return
        height, width = image.shape[-2:]
        picked = image.index_select(0, self.chosen)
        across = weights(width, self.columns).transpose(1, 2)
        picked = torch.bmm(picked.flatten(1, 2), across).view_as(picked)
        picked = weights(height, self.rows)[:, None] @ picked
        image.index_copy_(0, self.chosen, picked)


def sample_resolution(
    aspects: Float[Tensor, " batch"],
    lengths: Float[Tensor, " batch"],
    size: tuple[int, int],
    strength: float,
    random: Random,
) -> Resolution:
    """Draw with how many pixels each crop was taken, instead of ``size`` (height and width).

    ``aspects`` are width over height of the crops before readers stretch them, ``lengths`` the
    letters of the words, square ones counted as several.
    """
    chosen = random.subset(share_of("low_resolution", strength))
    rows = (random.normal(_PIXELS.spread).exp() * _PIXELS.median_rows)[chosen]
    rows = rows.clamp(min=_PIXELS.fewest_rows)
    fewest_columns = lengths[chosen] * _PIXELS.fewest_columns
    rows = torch.maximum(rows, fewest_columns / aspects[chosen])
    columns = rows * aspects[chosen]
    height, width = size
    return Resolution(
        chosen=chosen,
        columns=columns.round().clamp(max=width),
        rows=rows.round().clamp(1, max=height),
    )


def _averages(size: int, counts: Counts) -> Matrices:
    """Each of the first ``counts`` outputs sees a triangle of inputs; the last one fills the rest.

    With as many outputs as inputs nothing changes.
    """
    scale = (size / counts)[:, None]
    place = torch.arange(size, device=counts.device)
    seen = (torch.minimum(place, counts[:, None] - 1) + 0.5) * scale - 0.5
    distance = (seen[:, :, None] - place).abs()
    weights = (1 - distance / scale[:, :, None]).clamp_(min=0)
    return weights / weights.sum(2, keepdim=True)


def _bicubic(size: int, counts: Counts) -> Matrices:
    """All outputs see the first ``counts`` inputs through the cubic of Keys (1981), a = -1/2."""
    place = torch.arange(size, device=counts.device)
    seen = (place + 0.5) * (counts / size)[:, None] - 0.5
    distance = (seen[:, :, None] - place).abs()
    near = (1.5 * distance - 2.5) * distance.square() + 1
    far = ((-0.5 * distance + 2.5) * distance - 4) * distance + 2
    weights = near.where(distance < 1, far.where(distance < 2, 0))
    is_input = place < counts[:, None]
    weights = weights * is_input[:, None]
    return weights / weights.sum(2, keepdim=True)
