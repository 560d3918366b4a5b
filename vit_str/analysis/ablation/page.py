"""Read words without attention heads: which heads does reading need?

A head that looks far need not be one that is used. Cutting it shows what reading loses (Voita et
al. 2019, Michel et al. 2019). A cut head puts out zero, or, since the others never saw a zero there
in training, something nearer to what they know: see ``WAYS``.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy import stats
from torch import Tensor

from vit_str import console
from vit_str.analysis.ablation.calls import Head
from vit_str.analysis.ablation.cut import WAYS, HeadOutputs, without_heads
from vit_str.analysis.ablation.effects import (
    WHOLE,
    Reading,
    effects,
    near_against_far,
    random_sets,
)
from vit_str.analysis.compare import SIGNIFICANT
from vit_str.analysis.distance.measure import DistanceAnalysis
from vit_str.analysis.results import AnalysisRun, cells_of
from vit_str.analysis.subjects import Subject
from vit_str.reports.panels import depth_legend
from vit_str.reports.style import (
    COLORS,
    INK,
    MUTED,
    PLATE,
    depth_color,
    dot_style,
    figure,
    styled,
)
from vit_str.reports.tables import write_frame
from vit_str.torch_runtime.engine import generate

Cut = tuple[str, tuple[Head, ...]]
"""What a set of heads is called, and its heads."""


@torch.no_grad()
def read_without(
    subject: Subject,
    batches: Sequence[Float[Tensor, "batch channel height width"]],
    labels: Sequence[str],
    cut: str,
    heads: tuple[Head, ...],
    outputs: HeadOutputs,
    by: str,
) -> Reading:
    """Read all words without some heads, greedily; ``by`` says what these put out instead."""
    recognizer = subject.recognizer
    texts: list[str] = []
    for images in batches:
        fill = outputs.fill(by, first=len(texts))
        with without_heads(recognizer.encoder, heads, fill):
            features = recognizer.encode(images)
            ids = generate(recognizer.decoder, features).labels
            texts += map(subject.charset.decode, ids.tolist())
    right = [text == label for text, label in zip(texts, labels, strict=True)]
    return Reading(cut, heads, texts, right)


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
_FARTHEST = "farthest first"
_NEAREST = "nearest first"
_RANDOM = "random order"
_FAR = "farthest of each layer"
_NEAR = "nearest of each layer"
_ANY = "random of each layer"
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
    (subject,) = run.subjects
    analysis = DistanceAnalysis(
        subject.name,
        subject.recognizer.encoder,
        metrics=["distance"],
    )
    outputs = HeadOutputs(subject.recognizer.encoder, run.seed)
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
    distances = _mean_distances(analysis)
    cuts: list[Cut] = [
        (WHOLE, ()),
        *_cuts(distances, orders, run.seed),
        *_matched(distances, orders, run.seed),
    ]
    bar = console.Progress(len(cuts), alone=True, unit="cut", name=subject.name)
    with bar as progress:
        readings = [
            read_without(subject, batches, labels, name, heads, outputs, by)
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
    named = [(_FARTHEST, nearest[::-1]), (_NEAREST, nearest)]
    for number in range(1, orders + 1):
        places = random.permutation(len(nearest))
        named.append((f"{_RANDOM} {number}", [nearest[place] for place in places]))
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
    cuts: list[Cut] = [(_FAR, tuple(far)), (_NEAR, tuple(near))]
    random = np.random.default_rng(seed)
    for draw in range(1, draws + 1):
        drawn: list[Head] = []
        for heads in layers.values():
            places = random.permutation(len(heads))
            drawn += [heads[place] for place in places[:count]]
        cuts.append((f"{_ANY} {draw}", tuple(drawn)))
    return cuts


_SHOWN_AS = {"mean": "accuracy", "min": "lowest", "max": "highest"}
_SETS = (
    "Half of the heads, or as many of each layer; for random sets the mean and the "
    "lowest and highest of all draws, for the others the difference with its 95 % "
    "interval (Newcombe's)."
)


def sets_of_heads(table: pd.DataFrame) -> pd.DataFrame:
    """Words read right without half of the heads, and without as many of each layer."""
    half = sorted(table.loc[table["cut"] == _FARTHEST, "heads"])
    middle = half[len(half) // 2] if half else 0
    matched = table[table["cut"].isin([_FAR, _NEAR])]
    is_ordered = table["cut"].isin([_FARTHEST, _NEAREST])
    ordered = table[is_ordered & (table["heads"] == middle)]
    columns = ["cut", "heads", "accuracy", "difference", "low", "high"]
    chosen = pd.concat([ordered, matched])[columns]
    rows = [chosen]
    for name in (_RANDOM, _ANY):
        drawn = random_sets(table, name)
        if name == _RANDOM:
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
        ("half of the heads", _NEAREST, _FARTHEST, _RANDOM),
        ("of each layer", _NEAR, _FAR, _ANY),
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
    """What the test of near against far heads allows to say."""
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


@styled()
def ablation_figure(table: pd.DataFrame, single: pd.DataFrame) -> Figure:
    """Words lost against the distance of the head cut, and accuracy against heads cut."""
    sheet = figure(10.5, 4.6)
    left, right = sheet.subplots(1, 2)
    layers = int(single["layer"].max())
    _draw_single(left, single, layers)
    left.set_xlabel("attention distance of the head (px)")
    left.set_ylabel("words lost (points)")
    left.set_title("one head cut")
    _draw_orders(right, table)
    right.set_xlabel("heads cut")
    right.set_ylabel("words read right (%)")
    right.set_ylim(0, None)
    right.set_title("more and more heads cut")
    for axes in (left, right):  # below: dots and intervals are all over the panels
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2)
    depth_legend(sheet, [left], layers)
    return sheet


def _draw_single(axes: Axes, single: pd.DataFrame, layers: int) -> None:
    """Words lost without each head, with intervals; filled where that is significant."""
    for row in single.itertuples():
        color = depth_color(row.layer, layers)
        lost = -100 * row.difference
        below = max(lost + 100 * row.high, 0)
        above = max(-100 * row.low - lost, 0)
        axes.errorbar(
            row.distance,
            lost,
            [[below], [above]],
            fmt="none",
            color=color,
            elinewidth=0.9,
            zorder=2,
        )
        # Above the intervals of all heads, some of which look as far as others.
        axes.plot(
            row.distance,
            lost,
            "o",
            zorder=3,
            **dot_style(color, not row.p_holm < 0.05),
        )
    full = dot_style(MUTED, False)
    hollow = dot_style(MUTED, True)
    axes.plot([], [], "o", label="p below 0.05 (Holm)", **full)
    axes.plot([], [], "o", label="p of 0.05 or more", **hollow)
    axes.axhline(0, color=INK, linewidth=0.8, zorder=1)


def _draw_orders(axes: Axes, table: pd.DataFrame) -> None:
    """Words read right without more and more heads, farthest first, nearest first and at random."""
    ends = table[table["cut"].isin([WHOLE, "every head"])]
    drawn = random_sets(table, _RANDOM)
    if not drawn.empty:
        _draw_random(axes, drawn, ends)
    for order in _ORDERS:
        _draw_order(axes, table, ends, order)
    axes.set_xlim(0, table["heads"].max())


def _draw_random(axes: Axes, drawn: pd.DataFrame, ends: pd.DataFrame) -> None:
    """The mean of random sets as a line, and a band from the lowest to the highest."""
    level = dict.fromkeys(("mean", "min", "max"), ends["accuracy"])
    level["heads"] = ends["heads"]
    band = pd.concat([drawn, pd.DataFrame(level)]).sort_values("heads")
    axes.fill_between(
        band["heads"],
        100 * band["min"],
        100 * band["max"],
        color=MUTED,
        alpha=0.2,
        linewidth=0,
        label=f"{_RANDOM}, lowest to highest",
    )
    mean = 100 * band["mean"]
    axes.plot(band["heads"], mean, "-", color=MUTED, label=f"{_RANDOM}, mean")


@dataclass(frozen=True, slots=True)
class _Order:
    """Heads cut one after the other, and a set of the same kind of head from every layer."""

    name: str
    matched: str  # name of the set
    color: str
    stroke: str
    mark: str  # of the set


_ORDERS = (
    _Order(_FARTHEST, matched=_FAR, color=COLORS[1], stroke="-", mark="D"),
    _Order(_NEAREST, matched=_NEAR, color=COLORS[0], stroke="--", mark="d"),
)


def _draw_order(
    axes: Axes, table: pd.DataFrame, ends: pd.DataFrame, order: _Order
) -> None:
    """A curve from no head to all, and a mark for the set matched by layer."""
    of_order = table[table["cut"] == order.name]
    curve = pd.concat([of_order, ends]).sort_values("heads")
    axes.plot(
        curve["heads"],
        100 * curve["accuracy"],
        linestyle=order.stroke,
        marker="o",
        color=order.color,
        label=order.name,
        markersize=3.5,
    )
    matched = table[table["cut"] == order.matched]
    axes.plot(
        matched["heads"],
        100 * matched["accuracy"],
        order.mark,
        color=order.color,
        label=order.matched,
        markersize=7,
        markerfacecolor=PLATE,
        zorder=4,
    )
