"""Read words without attention heads: which heads does reading need?

A head that looks far need not be one that is used. Cutting it shows what reading loses (Voita et
al. 2019, Michel et al. 2019). A cut head puts out zero, or, since the others never saw a zero there
in training, something nearer to what they know: see ``WAYS``.
"""

import re
from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats
from torch import Tensor

from vit_str import console
from vit_str.analysis.ablation.calls import Head
from vit_str.analysis.ablation.cut import WAYS, HeadOutputs
from vit_str.analysis.ablation.effects import (
    ANY,
    FAR,
    FARTHEST,
    NEAR,
    NEAREST,
    RANDOM,
    WHOLE,
    Reading,
    effects,
    near_against_far,
    random_sets,
)
from vit_str.analysis.ablation.figure import ablation_figure
from vit_str.analysis.ablation.tasks import answer_without, check_labels
from vit_str.analysis.compare import SIGNIFICANT
from vit_str.analysis.distance.measure import DistanceAnalysis
from vit_str.analysis.libraries.load import is_library_name
from vit_str.analysis.results import AnalysisRun, cells_of
from vit_str.reports.tables import write_frame

Cut = tuple[str, tuple[Head, ...]]
"""Name of a set of heads, and its heads."""


_LEAD = (
    "Every head of the encoder is cut, alone and with others, while the model reads: "
    "it puts out {instead}. What reading loses, word by word, says which heads it "
    "needs, and whether these are the ones that look far."
)
_CAUTION = (
    "A cut head leaves the others with features that they never saw in training, so "
    "that a loss is partly that; and a head that others can stand in for loses "
    "nothing. Heads of one layer differ less in distance than those of different "
    "layers; sets that take as many heads of each layer tell distance from depth."
)
_OF_A_LAYER = 2  # heads of each layer that are cut together
_STEPS = 8  # how many heads are cut, between none and all


def report(run: AnalysisRun, by: str, orders: int) -> int:
    """Cut heads one by one and in several orders, and write tables and a page."""
    labels, distances, (whole, *readings) = _cut_and_read(run, by, orders)
    table = effects(whole, readings)
    places = zip(table["layer"], table["head"], strict=True)
    table.insert(4, "distance", [distances.get(Head(*place)) for place in places])
    write_frame(run.folder / "ablation.csv", table)
    words = {"label": labels, WHOLE: whole.texts}
    for reading in readings:
        if reading.cut.startswith("layer "):
            words[reading.cut] = reading.texts
    write_frame(run.folder / "words.csv", pd.DataFrame(words))
    single = table[table["cut"].str.startswith("layer ")]
    n = len(whole.right)
    page = run.page(
        "Which heads reading needs",
        f"{_LEAD.format(instead=WAYS[by])} The model is {run.subjects[0].name}.",
    )
    page.paragraph(_finding(table, single))
    page.figure(
        ablation_figure(table, single),
        "ablation",
        "Left: words lost when one head is cut, against how far it looks, with 95 % "
        f"intervals over n = {n:,} words; full dots have p_holm below 0.05 "
        "(McNemar's exact test, corrected for the number of heads). Right: words "
        "read right when more and more heads are cut; the band is from the lowest "
        f"to the highest of {orders} random orders, diamonds are of as many heads of "
        "each layer.",
        vector=True,
    )
    page.note(_CAUTION)
    page.heading("Near heads against far ones")
    against = pairs_of_sets(readings)
    write_frame(run.folder / "near-far.csv", against)
    for row in against.to_dict("records"):
        page.paragraph(_said_of_pair(row))
    page.table(*cells_of(against), _PAIRED)
    page.heading("Many heads at once")
    page.table(*cells_of(sets_of_heads(table)), f"{_SETS} n = {n:,} words")
    page.heading("In numbers")
    page.table(*cells_of(table.drop(columns=["n"])), f"n = {n:,} words")
    return run.finish(page, n=n, by=by, spearman=_correlation(single))


def _cut_and_read(
    run: AnalysisRun, by: str, orders: int
) -> tuple[list[str], dict[Head, float], list[Reading]]:
    """Labels, how far each head looks, and what is read: of the whole model first."""
    run.classes = any(map(is_library_name, run.names))
    (subject,) = run.subjects
    analysis = DistanceAnalysis(subject.name, subject.encoder, metrics=["distance"])
    outputs = HeadOutputs(subject.encoder, run.seed)
    batches: list[Tensor] = []
    labels: list[str] = []
    for batch, pixels in run.batches(subject):
        if batch.labels is None:
            raise ValueError(
                "words need labels: rendered words, or a folder with labels.tsv"
            )
        with outputs.recorded():
            analysis.update(pixels)
        batches.append(pixels)
        labels += batch.labels
    check_labels(subject, labels)
    distances = _mean_distances(analysis)
    cuts: list[Cut] = [
        (WHOLE, ()),
        *_cuts(distances, orders, run.seed),
        *_matched(distances, orders, run.seed),
    ]
    bar = console.Progress(len(cuts), alone=True, unit="cut", name=subject.name)
    with bar as progress:
        readings = [
            answer_without(subject, batches, labels, name, heads, outputs, by)
            for name, heads in progress.over(cuts)
        ]
    return labels, distances, readings


def _mean_distances(analysis: DistanceAnalysis) -> dict[Head, float]:
    """How far each head looks, as the mean over images."""
    means = {}
    for layer, values in enumerate(analysis.statistics.values("distance"), 1):
        for head, distance in enumerate(values.mean(0).tolist(), 1):
            means[Head(layer, head)] = distance
    return means


def _cuts(distances: dict[Head, float], orders: int, seed: int) -> list[Cut]:
    """Every head alone, and the first 1, 2, ... of several orders."""
    nearest = sorted(distances, key=distances.__getitem__)
    random = np.random.default_rng(seed)
    named = [(FARTHEST, nearest[::-1]), (NEAREST, nearest)]
    for number in range(1, orders + 1):
        places = random.permutation(len(nearest))
        named.append((f"{RANDOM} {number}", [nearest[place] for place in places]))
    steps = np.linspace(0, len(nearest), _STEPS + 1)
    counts = np.unique(steps.round().astype(int))[1:-1]
    cuts: list[Cut] = [
        (f"layer {layer}, head {head}", (Head(layer, head),))
        for layer, head in distances
    ]
    for name, order in named:
        cuts += [(name, tuple(order[:count])) for count in counts]
    return [*cuts, ("every head", tuple(nearest))]


def _matched(distances: dict[Head, float], draws: int, seed: int) -> list[Cut]:
    """Sets with as many heads of each layer: the farthest, the nearest, and random ones."""
    layers: dict[int, list[Head]] = {}
    for head in sorted(distances, key=distances.__getitem__):
        layers.setdefault(head.layer, []).append(head)
    count = min(_OF_A_LAYER, min(map(len, layers.values())) // 2)
    if not count:
        return []
    far = chain.from_iterable(heads[-count:] for heads in layers.values())
    near = chain.from_iterable(heads[:count] for heads in layers.values())
    cuts: list[Cut] = [(FAR, tuple(far)), (NEAR, tuple(near))]
    random = np.random.default_rng(seed)
    for draw in range(1, draws + 1):
        drawn: list[Head] = []
        for heads in layers.values():
            places = random.permutation(len(heads))
            drawn += [heads[place] for place in places[:count]]
        cuts.append((f"{ANY} {draw}", tuple(drawn)))
    return cuts


_SHOWN_AS = {"mean": "accuracy", "min": "lowest", "max": "highest"}
_SETS = (
    "Half of the heads, or as many of each layer; for random sets the mean and the "
    "lowest and highest of all draws, for the others the difference with its 95 % "
    "interval (Newcombe's)."
)


def sets_of_heads(table: pd.DataFrame) -> pd.DataFrame:
    """Words read right without half of the heads, and without as many of each layer."""
    half = sorted(table.loc[table["cut"] == FARTHEST, "heads"])
    middle = half[len(half) // 2] if half else 0
    matched = table[table["cut"].isin([FAR, NEAR])]
    is_ordered = table["cut"].isin([FARTHEST, NEAREST])
    ordered = table[is_ordered & (table["heads"] == middle)]
    columns = ["cut", "heads", "accuracy", "difference", "low", "high"]
    chosen = pd.concat([ordered, matched])[columns]
    rows = [chosen]
    for name in (RANDOM, ANY):
        drawn = random_sets(table, name)
        if name == RANDOM:
            drawn = drawn[drawn["heads"] == middle]
        named = name + ", " + drawn["count"].astype(str) + " draws"
        kept = drawn.rename(columns=_SHOWN_AS).drop(columns="count")
        rows.append(kept.assign(cut=named))
    filled = [part for part in rows if not part.empty]
    return pd.concat(filled, ignore_index=True)


_PAIRED = (
    "Words read right without the nearest and without the farthest heads; difference "
    "(near minus far) with Newcombe's 95 % interval and p of McNemar's exact test, "
    "paired by word; rank: share of random sets, it among them, that cost as much or "
    "more. A rank cannot be below one over one more than the number of random sets."
)


def pairs_of_sets(readings: Sequence[Reading]) -> pd.DataFrame:
    """The nearest against the farthest heads: half of all, and as many of each layer."""
    rows = []
    for named, near, far, random in (
        ("half of the heads", NEAREST, FARTHEST, RANDOM),
        ("of each layer", NEAR, FAR, ANY),
    ):
        nearest = [reading for reading in readings if reading.cut == near]
        if not nearest:
            continue
        counts = sorted(len(reading.heads) for reading in nearest)
        middle = counts[len(counts) // 2]
        of_size = [reading for reading in readings if len(reading.heads) == middle]
        (one,) = (reading for reading in of_size if reading.cut == near)
        (other,) = (reading for reading in of_size if reading.cut == far)
        drawn = [
            reading
            for reading in of_size
            if re.fullmatch(rf"{random} \d+", reading.cut)
        ]
        rows.append({"sets": named, **near_against_far(one, other, drawn)})
    return pd.DataFrame(rows)


def _said_of_pair(row: dict[str, Any]) -> str:
    """The sentence that the test of near against far heads allows."""
    numbers = (
        f"{100 * row['difference']:+.1f} points [{100 * row['low']:+.1f}, "
        f"{100 * row['high']:+.1f}], p = {row['p']:.2g}"
    )
    said = "does not tell near heads from far ones"
    if row["p"] < SIGNIFICANT:
        lost, kept = ("near", "far") if row["difference"] < 0 else ("far", "near")
        said = f"loses more without the {lost} heads than without the {kept} ones"
    sets = row["sets"]
    return f"{sets[0].upper()}{sets[1:]}: reading {said} ({numbers})."


def _correlation(single: pd.DataFrame) -> tuple[float, float]:
    """Spearman's rank correlation of distance and words lost over heads, and its p-value.

    Where no head costs a word there is nothing to correlate: 0 and 1.
    """
    if single["difference"].nunique() == 1:
        return 0.0, 1.0
    rho, p = stats.spearmanr(single["distance"], -single["difference"])
    return float(rho), float(p)


def _finding(table: pd.DataFrame, single: pd.DataFrame) -> str:
    is_needed = (single["p_holm"] < 0.05) & (single["difference"] < 0)
    needed = single[is_needed]
    most = single.loc[single["difference"].idxmin()]
    rho, p = _correlation(single)
    return (
        f"With all heads {table['accuracy'].iloc[0]:.1%} of the words are read "
        f"right. Of {len(single)} heads {len(needed)} cost words when cut alone, the "
        f"most head {most['head']} of layer {most['layer']} "
        f"({-100 * most['difference']:.1f} points; it looks {most['distance']:.1f} "
        f"px far). Distance and words lost have a rank correlation of {rho:.2f} over "
        f"heads (Spearman, p = {p:.2g})."
    )
