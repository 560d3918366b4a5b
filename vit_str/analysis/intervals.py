"""How sure a mean over images is: bootstrap over images, and differences on the same images."""

from typing import NamedTuple

import torch
from jaxtyping import Float64
from torch import Tensor

RESAMPLES = 1000
_LEVEL = 0.95
_CELLS = 1 << 22  # numbers of a product at a time


class Mean(NamedTuple):
    """Means over images with 95 % intervals; every tensor is of the shape of one image's values."""

    mean: Float64[Tensor, "..."]
    low: Float64[Tensor, "..."]
    high: Float64[Tensor, "..."]
    n: int


def mean_over_images(values: Float64[Tensor, "image ..."], seed: int = 0) -> Mean:
    """Mean over images with the percentile bootstrap interval (Efron 1979).

    All cells see the same resamples. Images without a value (NaN) count in no cell of theirs.

    Args:
        values: one per image and cell.
        seed: of the resamples.

    Raises:
        ValueError: no image.
    """
    n = len(values)
    if not n:
        raise ValueError("no images to take the mean over")
    cells = values.reshape(n, -1)
    there = ~cells.isnan()
    counts = _resampled_counts(n, seed)
    width = max(1, _CELLS // RESAMPLES)
    low, high = [], []
    for start in range(0, cells.shape[1], width):
        part, known = cells[:, start : start + width], there[:, start : start + width]
        # A resample in which no image has the value says nothing about it.
        means = (counts @ part.nan_to_num()) / (counts @ known.double())
        low.append(means.nanquantile((1 - _LEVEL) / 2, 0))
        high.append(means.nanquantile((1 + _LEVEL) / 2, 0))
    shape = values.shape[1:]
    return Mean(
        cells.nanmean(0).reshape(shape),
        torch.cat(low).reshape(shape),
        torch.cat(high).reshape(shape),
        n,
    )


def paired_difference(
    first: Float64[Tensor, "image ..."], second: Float64[Tensor, "image ..."], seed: int = 0
) -> Mean:
    """Second minus first, image by image, so that what images have in common cancels.

    Raises:
        ValueError: not the same number of images.
    """
    if first.shape != second.shape:
        raise ValueError(
            f"a paired comparison needs the same images and heads, found {tuple(first.shape)} "
            f"and {tuple(second.shape)}"
        )
    return mean_over_images(second - first, seed)


def _resampled_counts(n: int, seed: int) -> Float64[Tensor, "resample image"]:
    """How often each image is in each resample."""
    generator = torch.Generator().manual_seed(seed)
    chosen = torch.randint(n, (RESAMPLES, n), generator=generator)
    return torch.zeros(RESAMPLES, n, dtype=torch.float64).scatter_add_(
        1, chosen, torch.ones(RESAMPLES, n, dtype=torch.float64)
    )
