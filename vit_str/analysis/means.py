"""Means with 95 % intervals by Student's t, cell by cell of any tensor."""

from typing import NamedTuple

import torch
from jaxtyping import Float64
from scipy.special import stdtrit
from torch import Tensor


class Mean(NamedTuple):
    """Means over images with 95 % intervals; every tensor is of the shape of one image's values."""

    mean: Float64[Tensor, "..."]
    low: Float64[Tensor, "..."]
    high: Float64[Tensor, "..."]
    n: int


def mean_over(values: Float64[Tensor, "case ..."]) -> Mean:
    """Mean over independent cases (images, words, trainings) with its interval.

    The interval is right for few cases too, where percentiles of resamples are too narrow. Cases
    without a value (NaN) do not count in that cell; a single case has no width.

    Raises:
        ValueError: there is no case.
    """
    if not len(values):
        raise ValueError("no images to take the mean over")
    known = (~values.isnan()).sum(0).double()
    mean = values.nanmean(0)
    variance = (values - mean).square().nansum(0) / (known - 1).clamp(min=1)
    points = torch.as_tensor(stdtrit((known - 1).clamp(min=1).numpy(), 0.975))
    half = points * (variance / known).sqrt()
    return Mean(mean, mean - half, mean + half, len(values))
