"""Paired differences of two models on the same images."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float64
from scipy.special import stdtr
from torch import Tensor

from vit_str.analysis.distance.figures import differences_by_layer
from vit_str.analysis.distance.measure import DistanceAnalysis, scales
from vit_str.analysis.results import AnalysisRun, cells_of
from vit_str.analysis.statistics import PER_LAYER, UNITS, mean_over
from vit_str.reports.tables import write_frame

Values = Float64[Tensor, "image head"]
Layers = list[Values]
COLUMNS = (
    *("matching", "layer", "head", "metric", "unit", "first", "second", "difference", "low"),
    *("high", "p", "p_holm", "n"),
)
SIGNIFICANT = 0.05


def differences(first: DistanceAnalysis, second: DistanceAnalysis) -> pd.DataFrame:
    """Second model minus first, over paired images, with 95 % intervals and tests.

    ``matching`` says which parts are compared: heads by ``index`` (head 1 with head 1) or ``rank``
    (the head that looks least far with the one that does so in the other model), means of layers
    by ``layer``, or by ``depth`` where the models have other numbers of layers: then layers count
    as in the shallower model, and the deeper one has values between its layers at the same share
    of its depth. ``p`` is that of a paired t-test, ``p_holm`` the same corrected for the number
    of rows with the same matching and metric (Holm 1979): below 0.05 in any of them with a
    probability of 5 % at most, if the models are equal in all.
    """
    rows: list[tuple[Any, ...]] = []
    units = [scales(analysis.statistics) for analysis in (first, second)]
    depths = [len(analysis.statistics.layers) for analysis in (first, second)]
    for metric in first.statistics.metrics:
        values = [analysis.statistics.values(metric) for analysis in (first, second)]
        rows += _rows(metric, UNITS[metric], list(_matched(first, second, values, metric)))
        if metric == "distance":
            shares = [
                _by_depth(
                    [v / s for v, s in zip(own, of[metric]["share of uniform"], strict=True)],
                    depths,
                )
                for own, of in zip(values, units, strict=True)
            ]
            name = "layer" if depths[0] == depths[1] else "depth"
            whole = [(name, i + 1, *both) for i, both in enumerate(zip(*shares, strict=True))]
            rows += _rows(metric, "share of uniform", whole)
    table = pd.DataFrame(rows, columns=[name for name in COLUMNS if name != "p_holm"])
    family = table.groupby(["matching", "metric", "unit"], sort=False)["p"]
    table.insert(COLUMNS.index("p_holm"), "p_holm", family.transform(holm))
    return table.astype({"head": "Int64"})


def holm(p: pd.Series) -> pd.Series:
    """p-values of a family, corrected so that a false one is found in 5 % of families at most."""
    ordered = p.sort_values()
    return (ordered * np.arange(len(p), 0, -1)).cummax().clip(upper=1).reindex(p.index)


def _matched(
    first: DistanceAnalysis, second: DistanceAnalysis, values: list[Layers], metric: str
) -> Iterator[tuple[str, int, Values, Values]]:
    """Matching, layer and the values of both models, a column for each head."""
    depths = [len(layers) for layers in values]
    name = "layer" if depths[0] == depths[1] else "depth"
    means = [_by_depth(layers, depths) for layers in values]
    for layer, both in enumerate(zip(*means, strict=True), 1):
        yield name, layer, *both
    distances = [analysis.statistics.values("distance") for analysis in (first, second)]
    same = [v.shape for v in values[0]] == [v.shape for v in values[1]]
    for layer, (one, other) in enumerate(zip(*values, strict=False)) if same else ():
        if metric in PER_LAYER:
            continue
        yield "index", layer + 1, one, other
        ranks = [of_layers[layer].mean(0).argsort() for of_layers in distances]
        yield "rank", layer + 1, one[:, ranks[0]], other[:, ranks[1]]


def _by_depth(layers: Layers, depths: list[int]) -> Layers:
    """Means over the heads of every layer, at as many places as the shallower model has layers."""
    means = torch.stack([layer.mean(1) for layer in layers])
    places = torch.linspace(0, len(layers) - 1, min(depths), dtype=torch.float64)
    below, above = places.floor().long(), places.ceil().long()
    between = torch.lerp(means[below], means[above], (places - below)[:, None])
    return list(between[..., None])


def _rows(
    metric: str, unit: str, matched: list[tuple[str, int, Values, Values]]
) -> Iterator[tuple[object, ...]]:
    for matching, layer, one, other in matched:
        mean, low, high, n = mean_over(other - one)
        # A single pair tells nothing of how much pairs differ.
        error = (other - one).std(0) / n**0.5 if n > 1 else torch.zeros_like(mean)
        t = torch.where(error > 0, mean / error, 0.0 * mean)
        p = 2 * stdtr(max(n - 1, 1), -t.abs().numpy())
        numbers = (one.mean(0), other.mean(0), mean, low, high)
        for head, cells in enumerate(zip(*(x.tolist() for x in numbers), p, strict=True), 1):
            of_head = head if matching in ("index", "rank") else None
            yield matching, layer, of_head, metric, unit, *cells, n


_LEAD = (
    "Both models saw the same images; every difference is the second model minus the first, image "
    "by image, so that what the images have in common cancels."
)
_MATCHING = {
    "index": "head 1 with head 1 and so on; heads with the same number have nothing in common but "
    "their starting weights, if even those",
    "rank": "the most local head of a layer with the most local of the other, and so on",
    "depth": "means over the heads of layers at the same share of the depth, which count as in the "
    "shallower model",
}
_SHOWN = ("distance", "distance_x", "distance_y", "entropy", "nmi")
_TESTS = (
    "p is of a paired t-test; p_holm is corrected for the number of layers (Holm 1979), since of "
    "many intervals some leave out zero by chance."
)


def report(run: AnalysisRun, norm: str) -> int:
    """Measure both models on the same images, and write their differences and a page."""
    first, second = (
        run.measure(subject, DistanceAnalysis(subject.name, subject.encoder, norm))
        for subject in run.subjects
    )
    table = differences(first, second)
    write_frame(run.folder / "compare.csv", table)
    n = first.images
    page = run.page(f"{second.model} against {first.model}", _LEAD)
    page.heading("By depth")
    layers = table[table["matching"].isin(["layer", "depth"])]
    page.paragraph(_finding(layers))
    distances = table[(table["metric"] == "distance") & (table["unit"] == "px")]
    for matching, meaning in _MATCHING.items():
        if not (distances["matching"] == matching).any():
            continue
        shown = distances[distances["matching"].isin([matching, "layer"])]
        page.figure(
            differences_by_layer(shown, f"matched by {matching}"),
            f"difference-{matching}",
            f"Difference of attention distance in pixels ({norm}), matched by {matching}: "
            f"{meaning}. The line is of means of layers. 95 % intervals over n = {n:,} paired "
            f"images; full dots have p_holm below {SIGNIFICANT}.",
            vector=True,
        )
    page.heading("In numbers")
    page.paragraph(_TESTS)
    cells = layers[layers["metric"].isin(_SHOWN)].drop(columns=["matching", "head", "n"])
    caption = f"Means of layers with 95 % intervals, {norm}, n = {n:,} images"
    page.table(*cells_of(cells), caption)
    return run.finish(page, n=n)


def _finding(layers: pd.DataFrame) -> str:
    """In how many layers the second model looks farther, in a sentence."""
    distances = layers[(layers["metric"] == "distance") & (layers["unit"] == "px")]
    significant = distances[distances["p_holm"] < SIGNIFICANT]
    most = distances.loc[distances["difference"].abs().idxmax()]
    return (
        f"Of {len(distances)} layers the second model has more distance in "
        f"{(significant['difference'] > 0).sum()} and less in "
        f"{(significant['difference'] < 0).sum()}, as means over heads with p < {SIGNIFICANT} "
        "after Holm's correction for the number of layers. The largest difference is "
        f"{most['difference']:+.1f} px [{most['low']:+.1f}, {most['high']:+.1f}] in layer "
        f"{most['layer']}."
    )
