"""Paired differences of two models on the same images."""

from dataclasses import dataclass

from jaxtyping import Float64
from torch import Tensor

from vit_str.analysis.distance.measure import DistanceAnalysis
from vit_str.analysis.means import mean_difference
from vit_str.analysis.results import numbers_of
from vit_str.analysis.statistics import PER_LAYER, UNITS


@dataclass(frozen=True, slots=True)
class Difference:
    """Second model minus first, on the same images.

    Attributes:
        matching: ``index`` (head 1 with head 1), ``rank`` (the head that looks least far with the
            head that does so in the other model) or ``layer`` (means of layers).
        layer: from 1.
        head: index or rank from 1; None for the layer.
        metric: see ``statistics.UNITS``.
        unit: of the numbers.
        first: mean of the first model.
        second: of the second.
        difference: second minus first.
        low: lower end of its 95 % interval, over paired images.
        high: upper end.
        n: number of images.
    """

    matching: str
    layer: int
    head: int | None
    metric: str
    unit: str
    first: float
    second: float
    difference: float
    low: float
    high: float
    n: int


def differences(
    first: DistanceAnalysis, second: DistanceAnalysis, seed: int = 0
) -> list[Difference]:
    """Paired differences of two models, heads matched by index and by rank.

    Where the layers have different numbers of heads, only their means are compared.

    Raises:
        ValueError: different depths, norms, metrics or images.
    """
    _check_comparable(first, second)
    rows: list[Difference] = []
    distances = [analysis.statistics.values("distance") for analysis in (first, second)]
    for metric in first.statistics.metrics:
        pairs = zip(first.statistics.values(metric), second.statistics.values(metric), strict=True)
        for index, (one, other) in enumerate(pairs):
            matchings = {"layer": (one.mean(1, keepdim=True), other.mean(1, keepdim=True))}
            if one.shape == other.shape and metric not in PER_LAYER:
                ranked = [
                    values[:, by[index].mean(0).argsort()]
                    for values, by in zip((one, other), distances, strict=True)
                ]
                matchings |= {"index": (one, other), "rank": (ranked[0], ranked[1])}
            for matching, (left, right) in matchings.items():
                rows += _differences(matching, index + 1, metric, left, right, seed)
    return rows


def _check_comparable(first: DistanceAnalysis, second: DistanceAnalysis) -> None:
    for what in ("norm", "metrics", "layers"):
        one, other = getattr(first.statistics, what), getattr(second.statistics, what)
        if what == "layers":
            one, other = len(one), len(other)
        if one != other:
            raise ValueError(
                f"{first.model} and {second.model} cannot be compared: {what} {one} and {other}"
            )
    if "distance" not in first.statistics.metrics:
        raise ValueError("heads are ranked by distance; measure it too")
    if first.images != second.images:
        raise ValueError(f"not the same images: {first.images} and {second.images}")


def _differences(
    matching: str,
    layer: int,
    metric: str,
    first: Float64[Tensor, "image head"],
    second: Float64[Tensor, "image head"],
    seed: int,
) -> list[Difference]:
    mean = mean_difference(first, second, seed)
    heads = [None] if matching == "layer" else list(range(1, first.shape[1] + 1))
    means = zip(first.mean(0).tolist(), second.mean(0).tolist(), strict=True)
    return [
        Difference(matching, layer, head, metric, UNITS[metric], *both, *numbers, mean.n)
        for head, both, numbers in zip(heads, means, numbers_of(mean), strict=True)
    ]
