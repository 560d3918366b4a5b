"""Paired differences of two models on the same images."""

from dataclasses import dataclass

from vit_str.analysis.distance.measure import DistanceAnalysis
from vit_str.analysis.means import mean_over_images
from vit_str.analysis.results import numbers_of
from vit_str.analysis.statistics import PER_LAYER, UNITS


@dataclass(frozen=True, slots=True)
class Difference:
    """Second model minus first with its 95 % interval over ``n`` paired images.

    Matched by ``index`` (head 1 with head 1), ``rank`` (the head that looks least far with the one
    that does so in the other model) or ``layer`` (means of layers, for which ``head`` is None).
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
        ValueError: different depths.
    """
    depths = [len(analysis.statistics.layers) for analysis in (first, second)]
    if depths[0] != depths[1]:
        raise ValueError(
            f"{first.model} and {second.model} cannot be compared: layers {depths[0]} and "
            f"{depths[1]}"
        )
    rows: list[Difference] = []
    distances = [analysis.statistics.values("distance") for analysis in (first, second)]
    for metric in first.statistics.metrics:
        pairs = zip(first.statistics.values(metric), second.statistics.values(metric), strict=True)
        for index, both in enumerate(pairs):
            matchings = {"layer": [values.mean(1, keepdim=True) for values in both]}
            if both[0].shape == both[1].shape and metric not in PER_LAYER:
                ranks = (of_layers[index].mean(0).argsort() for of_layers in distances)
                ranked = [values[:, order] for values, order in zip(both, ranks, strict=True)]
                matchings |= {"index": list(both), "rank": ranked}
            for matching, (one, other) in matchings.items():
                mean = mean_over_images(other - one, seed)
                means = zip(one.mean(0).tolist(), other.mean(0).tolist(), strict=True)
                for head, (of_both, numbers) in enumerate(
                    zip(means, numbers_of(mean), strict=True), 1
                ):
                    where = matching, index + 1, None if matching == "layer" else head
                    rows.append(
                        Difference(*where, metric, UNITS[metric], *of_both, *numbers, mean.n)
                    )
    return rows
