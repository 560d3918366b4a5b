"""How far rendered words are from photographed ones, and how well they are distinguished.

A distance in words: how far the values of one set have to be moved, on average, to be those of the
other, in standard deviations.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float64
from torch import Tensor
from torch.nn.functional import softplus

from vit_str.realism.statistics import Values
from vit_str.statistics import RESAMPLES

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_RANGE = (0.01, 0.99)  # of rendered words, within which real ones should lie
_FOLDS = 5
_RIDGE = 1e-3  # keeps slopes finite where nothing is left to tell


class Estimate(NamedTuple):
    """A number with its 95 % interval, NaN where it is not known."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Gap:
    """How one statistic of rendered words differs from that of photographed ones.

    Attributes:
        rendered: its ``QUANTILES``.
        real: the same of the photographs.
        distance: Wasserstein-1 in standard deviations (those of both, pooled).
        higher: share of pairs in which the rendered word has the larger value, ties by half: the
            area under the curve of this statistic alone; 0.5 is as often as not.
        inside: share of photographs between the 1 % and the 99 % quantile of rendered words; 0.98
            where both are alike.
    """

    rendered: tuple[float, ...]
    real: tuple[float, ...]
    distance: Estimate
    higher: Estimate
    inside: float


@dataclass(frozen=True, slots=True)
class Classification:
    """How well a simple classifier distinguishes two sets of pictures.

    Attributes:
        auc: area under its curve: 0.5 is chance, 1 perfect.
        loss: by statistic, how much of that is lost where the statistic is shuffled.
        scores: of every picture while it was held out; higher looks more like the first set.
    """

    auc: Estimate
    loss: Mapping[str, float]
    scores: tuple[Values, Values]


def quantiles(values: Values) -> tuple[float, ...]:
    """The ``QUANTILES`` of values without NaN; NaN if there are none."""
    known = values[~values.isnan()]
    if not len(known):
        return (math.nan,) * len(QUANTILES)
    return tuple(known.quantile(torch.tensor(QUANTILES, dtype=known.dtype)).tolist())


def gap(rendered: Values, real: Values, seed: int = 0) -> Gap:
    """Compare one statistic of two sets; NaN count in neither."""
    first, second = (values[~values.isnan()] for values in (rendered, real))
    distance, higher = _distance_and_higher(first, second, seed)
    inside = within(first, second).double().mean().item()
    return Gap(quantiles(first), quantiles(second), distance, higher, inside)


def within(rendered: Values, real: Values) -> Bool[Tensor, " picture"]:
    """Which real values lie between the 1 % and the 99 % quantile of rendered ones; NaN do."""
    low, high = rendered.nanquantile(torch.tensor(_RANGE, dtype=rendered.dtype))
    return ~((real < low) | (real > high))


def classify(
    first: Mapping[str, Values], second: Mapping[str, Values], seed: int = 0
) -> Classification | None:
    """Logistic regression on all statistics and their squares, in five folds.

    Squares, because what is more varied than real words is as little real as what is sharper.

    Args:
        first: statistics of a set of pictures.
        second: the same ones of another set.
        seed: of the folds and of shuffling.

    Returns:
        None for sets of fewer than 10 pictures.
    """
    sets = [torch.stack(list(values.values()), 1) for values in (first, second)]
    if min(map(len, sets)) < 2 * _FOLDS:
        return None
    generator = torch.Generator().manual_seed(seed)
    pictures, in_first = torch.cat(sets), torch.arange(sum(map(len, sets))) < len(sets[0])
    folds = torch.cat([torch.randperm(len(each), generator=generator) % _FOLDS for each in sets])
    scores = torch.zeros(1 + pictures.shape[1], len(pictures), dtype=torch.float64)
    for fold in range(_FOLDS):
        score = _fit(pictures[folds != fold], in_first[folds != fold])
        held_out = pictures[folds == fold]
        scores[0, folds == fold] = score(held_out)
        for column, values in enumerate(held_out.unbind(1)):
            shuffled = held_out.clone()
            shuffled[:, column] = values[torch.randperm(len(values), generator=generator)]
            scores[1 + column, folds == fold] = score(shuffled)
    auc = _distance_and_higher(scores[0, in_first], scores[0, ~in_first], seed)[1]
    without = [_higher(each[in_first], each[~in_first]) for each in scores[1:]]
    loss = {name: auc.value - each for name, each in zip(first, without, strict=True)}
    return Classification(auc, loss, (scores[0, in_first], scores[0, ~in_first]))


def standardized(
    values: Float64[Tensor, "picture statistic"], like: Float64[Tensor, "other statistic"]
) -> Float64[Tensor, "picture statistic"]:
    """In standard deviations from the mean of others, 4 at most; what is not known is the mean."""
    mean = like.nanmean(0)
    spread = (like - mean).square().nanmean(0).sqrt()
    return ((values - mean) / spread.clamp(min=1e-9)).nan_to_num(0, 0, 0).clamp(-4, 4)


def _fit(
    pictures: Float64[Tensor, "picture statistic"], in_first: Bool[Tensor, " picture"]
) -> Callable[[Tensor], Tensor]:
    """Train; returns the function that scores pictures. Both sets weigh the same."""
    from scipy.optimize import minimize

    def features(values: Tensor) -> Tensor:
        deviations = standardized(values, pictures)
        return torch.cat([deviations, deviations.square() - 1], 1)

    inputs = torch.cat([features(pictures), torch.ones(len(pictures), 1, dtype=torch.float64)], 1)
    share = in_first.double().mean()
    weights = torch.where(in_first, 0.5 / share, 0.5 / (1 - share)) / len(inputs)
    signed = inputs * torch.where(in_first, -1.0, 1.0).double()[:, None]

    def loss(slopes: np.ndarray) -> tuple[float, np.ndarray]:
        """Of the classes, and its gradient."""
        vector = torch.from_numpy(slopes)
        wrong = signed @ vector
        value = weights @ softplus(wrong) + _RIDGE * vector.square().sum() / 2
        gradient = signed.T @ (weights * wrong.sigmoid()) + _RIDGE * vector
        return float(value), gradient.numpy()

    slopes = torch.from_numpy(minimize(loss, np.zeros(inputs.shape[1]), jac=True).x)
    return lambda values: features(values) @ slopes[:-1] + slopes[-1]


def _higher(first: Values, second: Values) -> float:
    """Share of pairs in which the first is larger, ties by half (Mann and Whitney 1947)."""
    from scipy.stats import mannwhitneyu

    return float(mannwhitneyu(first, second).statistic) / len(first) / len(second)


def _distance_and_higher(first: Values, second: Values, seed: int) -> tuple[Estimate, Estimate]:
    """See `Gap`; the bootstrap draws pictures of both sets (Efron 1979)."""
    if not len(first) or not len(second):
        unknown = Estimate(math.nan, math.nan, math.nan)
        return unknown, unknown
    levels, place = torch.unique(torch.cat([first, second]), return_inverse=True)
    generator = torch.Generator().manual_seed(seed)
    masses = [
        torch.zeros(1 + RESAMPLES, len(levels), dtype=torch.float64).index_add_(
            1, at, _weights(len(at), generator)
        )
        for at in (place[: len(first)], place[len(first) :])
    ]
    shares = [mass.cumsum(1) for mass in masses]
    deviation = ((first.var(correction=0) + second.var(correction=0)) / 2).sqrt()
    distances = (shares[0] - shares[1])[:, :-1].abs() @ levels.diff()
    distances = torch.where(distances > 0, distances / deviation, 0.0)
    higher = (masses[0] * (shares[1] - masses[1] / 2)).sum(1)
    known = min(len(first), len(second)) > 1  # of one picture there is only one resample
    return _pivotal(distances, known), _percentile(higher, known)


def _weights(n: int, generator: torch.Generator) -> Float64[Tensor, "resample picture"]:
    """The weight of each picture: equal in the first row, then as often as it is drawn."""
    drawn = torch.randint(n, (RESAMPLES, n), generator=generator)
    counts = torch.zeros(RESAMPLES, n, dtype=torch.float64)
    counts.scatter_add_(1, drawn, torch.ones_like(counts))
    return torch.cat([torch.ones(1, n), counts]) / n


def _percentile(values: Float64[Tensor, " resample"], known: bool) -> Estimate:
    low, high = values[1:].quantile(torch.tensor([0.025, 0.975], dtype=torch.float64)).tolist()
    return Estimate(values[0].item(), *((low, high) if known else (math.nan, math.nan)))


def _pivotal(values: Float64[Tensor, " resample"], known: bool) -> Estimate:
    """Resamples are farther from each other than the sets are: that much is taken off again."""
    value, low, high = _percentile(values, known)
    return Estimate(value, max(2 * value - high, 0.0), max(2 * value - low, 0.0))
