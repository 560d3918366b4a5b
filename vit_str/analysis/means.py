"""Means over images with bootstrap intervals, cell by cell of any tensor (Efron 1979)."""

from typing import NamedTuple

import torch
from jaxtyping import Float64
from torch import Tensor

from vit_str.statistics import ENDS, RESAMPLES

_MAX_ELEMENTS = 1 << 22  # of a product at a time, to bound the memory


class Mean(NamedTuple):
    """Means over images with 95 % intervals; every tensor is of the shape of one image's values."""

    mean: Float64[Tensor, "..."]
    low: Float64[Tensor, "..."]
    high: Float64[Tensor, "..."]
    n: int


def mean_over_images(values: Float64[Tensor, "image ..."], seed: int = 0) -> Mean:
    """Mean over images with its bootstrap interval.

    All cells see the same resamples. Images without a value (NaN) count in no cell of theirs.
    """
    n = len(values)
    if not n:
        raise ValueError("no images to take the mean over")
    cells = values.reshape(n, -1)
    known = ~cells.isnan()
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.randint(n, (RESAMPLES, n), generator=generator)
    counts = torch.zeros(RESAMPLES, n, dtype=torch.float64)  # of each image in each resample
    counts.scatter_add_(1, drawn, torch.ones_like(counts))
    width = max(1, _MAX_ELEMENTS // RESAMPLES)
    low, high = [], []
    for start in range(0, cells.shape[1], width):
        columns = slice(start, start + width)
        # A resample in which no image has the value says nothing about it.
        sums = counts @ cells[:, columns].nan_to_num()
        means = sums / (counts @ known[:, columns].double())
        low.append(means.nanquantile(ENDS[0], 0))
        high.append(means.nanquantile(ENDS[1], 0))
    shape = values.shape[1:]
    return Mean(
        cells.nanmean(0).reshape(shape),
        torch.cat(low).reshape(shape),
        torch.cat(high).reshape(shape),
        n,
    )
