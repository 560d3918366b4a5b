"""Paired differences of two models on the same images."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float64
from scipy.special import stdtr
from torch import Tensor

from vit_str.analysis.distance.figures import differences_by_layer
from vit_str.analysis.distance.measure import DistanceAnalysis
from vit_str.analysis.distance.tables import scales
from vit_str.analysis.results import AnalysisRun, cells_of, means_table
from vit_str.analysis.statistics import PER_LAYER, UNITS
from vit_str.reports.tables import write_frame

Values = Float64[Tensor, "image head"]
Matched = Iterator[tuple[str, int, Values, Values]]
"""Name of the matching, layer, and the values of both models, a column for each head."""
SIGNIFICANT = 0.05  # p-value below which a difference is called one


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
    analyses = (first, second)
    distances = [analysis.statistics.values("distance") for analysis in analyses]
    shapes = [[layer.shape for layer in layers] for layers in distances]
    same_heads = shapes[0] == shapes[1]
    tables = []
    for metric in first.statistics.metrics:
        values = [analysis.statistics.values(metric) for analysis in analyses]
        matched = list(_by_layer(values))
        if same_heads and metric not in PER_LAYER:
            matched += _by_head(values, distances)
        tables += [_compared(*parts, metric, UNITS[metric]) for parts in matched]
        if metric == "distance":
            shares = [_shares_of_uniform(analysis) for analysis in analyses]
            for parts in _by_layer(shares):
                tables.append(_compared(*parts, metric, "share of uniform"))
    table = pd.concat(tables, ignore_index=True)
    family = table.groupby(["matching", "metric", "unit"], sort=False)["p"]
    table.insert(table.columns.get_loc("n"), "p_holm", family.transform(holm))
    return table


def holm(p: pd.Series) -> pd.Series:
    """p-values of a family, corrected so that a false one is found in 5 % of families at most."""
    ordered = p.sort_values()
    corrected = ordered * np.arange(len(p), 0, -1)
    return corrected.cummax().clip(upper=1).reindex(p.index)


def _by_layer(values: list[list[Values]]) -> Matched:
    """Means over the heads of layers, at as many places as the shallower model has layers."""
    depths = [len(layers) for layers in values]
    matching = "layer" if depths[0] == depths[1] else "depth"
    at_places = []
    for layers in values:
        means = torch.stack([layer.mean(1, keepdim=True) for layer in layers])
        places = torch.linspace(0, len(layers) - 1, min(depths), dtype=torch.float64)
        below = places.floor().long()
        above = places.ceil().long()
        weights = (places - below)[:, None, None]
        at_places.append(torch.lerp(means[below], means[above], weights))
    for layer, (first, second) in enumerate(zip(*at_places, strict=True), 1):
        yield matching, layer, first, second


def _by_head(values: list[list[Values]], distances: list[list[Values]]) -> Matched:
    for layer, (first, second) in enumerate(zip(*values, strict=True)):
        yield "index", layer + 1, first, second
        ranks = [layers[layer].mean(0).argsort() for layers in distances]
        yield "rank", layer + 1, first[:, ranks[0]], second[:, ranks[1]]


def _shares_of_uniform(analysis: DistanceAnalysis) -> list[Values]:
    uniform = scales(analysis.statistics)["distance"]["share of uniform"]
    distances = analysis.statistics.values("distance")
    return [values / scale for values, scale in zip(distances, uniform, strict=True)]


def _compared(
    matching: str, layer: int, first: Values, second: Values, metric: str, unit: str
) -> pd.DataFrame:
    change = second - first
    heads: list[int | None] = [None]
    if matching in ("index", "rank"):
        heads = [*range(1, change.shape[1] + 1)]
    table = means_table(
        change,
        matching=matching,
        layer=layer,
        head=pd.array(heads, dtype="Int64"),
        metric=metric,
        unit=unit,
        first=first.mean(0).numpy(),
        second=second.mean(0).numpy(),
    )
    n = len(change)
    mean = change.nanmean(0)
    # A single pair tells nothing of how much pairs differ.
    error = change.std(0) / n**0.5 if n > 1 else torch.zeros_like(mean)
    t = torch.where(error > 0, mean / error, 0.0 * mean)
    p = 2 * stdtr(max(n - 1, 1), -t.abs().numpy())
    table.insert(table.columns.get_loc("n"), "p", p)
    return table.rename(columns={"mean": "difference"})


_LEAD = (
    "Both models saw the same images; every difference is the second model minus the "
    "first, image by image, so that what the images have in common cancels."
)
_MATCHING = {
    "index": "head 1 with head 1 and so on; heads with the same number have nothing in "
    "common but their starting weights, if even those",
    "rank": "the most local head of a layer with the most local of the other, and so on",
    "depth": "means over the heads of layers at the same share of the depth, which "
    "count as in the shallower model",
}
_SHOWN = ("distance", "distance_x", "distance_y", "entropy", "nmi")
_TESTS = (
    "p is of a paired t-test; p_holm is corrected for the number of layers (Holm "
    "1979), since of many intervals some leave out zero by chance."
)


def report(run: AnalysisRun, norm: str) -> int:
    """Measure both models on the same images, and write their differences and a page."""
    analyses = []
    for subject in run.subjects:
        analysis = DistanceAnalysis(subject.name, subject.encoder, norm)
        run.measure(subject, analysis.update)
        analyses.append(analysis)
    first, second = analyses
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
        title = f"matched by {matching}"
        page.figure(
            differences_by_layer(shown, title, (first.model, second.model)),
            f"difference-{matching}",
            f"Attention distance of {second.model} minus that of {first.model} in "
            f"pixels ({norm}), matched by {matching}: {meaning}. The line is of means "
            f"of layers. 95 % intervals over n = {n:,} paired images; full dots have "
            f"p_holm below {SIGNIFICANT}.",
            vector=True,
        )
    page.heading("In numbers")
    page.paragraph(_TESTS)
    cells = layers[layers["metric"].isin(_SHOWN)]
    cells = cells.drop(columns=["matching", "head", "n"])
    caption = f"Means of layers with 95 % intervals, {norm}, n = {n:,} images"
    page.table(*cells_of(cells), caption)
    return run.finish(page, n=n)


def _finding(layers: pd.DataFrame) -> str:
    """A sentence that says in how many layers the second model looks farther."""
    distances = layers[(layers["metric"] == "distance") & (layers["unit"] == "px")]
    significant = distances[distances["p_holm"] < SIGNIFICANT]
    most = distances.loc[distances["difference"].abs().idxmax()]
    return (
        f"Of {len(distances)} layers the second model has more distance in "
        f"{(significant['difference'] > 0).sum()} and less in "
        f"{(significant['difference'] < 0).sum()}, as means over heads with p < "
        f"{SIGNIFICANT} after Holm's correction for the number of layers. The largest "
        f"difference is {most['difference']:+.1f} px [{most['low']:+.1f}, "
        f"{most['high']:+.1f}] in layer {most['layer']}."
    )
