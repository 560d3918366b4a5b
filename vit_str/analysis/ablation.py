"""Read words while the output of attention heads is zero: which heads does reading need?

A head that looks far need not be one that is used. Cutting it, which is setting its output to zero
before the projection, shows what reading loses (Voita et al. 2019, Michel et al. 2019).
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from matplotlib.figure import Figure
from scipy import stats
from torch import Tensor, nn
from tqdm import tqdm

from vit_str.analysis.compare import holm
from vit_str.analysis.distance.measure import DistanceAnalysis
from vit_str.analysis.results import AnalysisRun, cells_of
from vit_str.analysis.subjects import Subject
from vit_str.evaluation.statistics import Interval, wilson_interval
from vit_str.models import Encoder
from vit_str.models.attention import attention_modules
from vit_str.reports.panels import depth_legend
from vit_str.reports.style import COLORS, INK, MUTED, PLATE, depth_color, figure, styled
from vit_str.reports.tables import write_frame
from vit_str.torch_runtime.engine import generate

WHOLE = "no head"
"""What is cut where nothing is."""


class Head(NamedTuple):
    """A head of the encoder; layer and head count from 1."""

    layer: int
    head: int


@contextmanager
def without_heads(encoder: Encoder, heads: Iterable[Head]) -> Iterator[None]:
    """Set the output of heads to zero inside the ``with``."""
    layers = list(attention_modules(encoder).values())
    cut = defaultdict(list)
    for layer, head in heads:
        cut[layer].append(head - 1)
    with ExitStack() as hooks:
        for layer, of_layer in cut.items():
            hook = layers[layer - 1].register_forward_hook(partial(_cut, of_layer))
            hooks.enter_context(hook)
        yield


def _cut(
    heads: Sequence[int], _: nn.Module, __: Any, output: Float[Tensor, "batch head query dim"]
) -> Tensor:
    output = output.clone()
    output[:, heads] = 0
    return output


class Reading(NamedTuple):
    """What was read without some heads, word by word."""

    cut: str
    heads: tuple[Head, ...]
    texts: list[str]
    right: list[bool]


@torch.no_grad()
def read_without(
    subject: Subject,
    batches: Sequence[Float[Tensor, "batch channel height width"]],
    labels: Sequence[str],
    cut: str,
    heads: tuple[Head, ...],
) -> Reading:
    """Read all words without some heads, greedily."""
    recognizer = subject.recognizer
    texts: list[str] = []
    with without_heads(recognizer.encoder, heads):
        for images in batches:
            ids = generate(recognizer.decoder, recognizer.encode(images)).labels
            texts += map(subject.charset.decode, ids.tolist())
    right = [text == label for text, label in zip(texts, labels, strict=True)]
    return Reading(cut, heads, texts, right)


def effects(whole: Reading, readings: Sequence[Reading]) -> pd.DataFrame:
    """Share of words read right without some heads, and the paired difference to no cut.

    ``low`` and ``high`` are the ends of its 95 % interval, see `difference_interval`.
    ``p`` is of McNemar's exact test, ``p_holm`` corrected for the number of rows with one head cut
    (Holm 1979).
    """
    rows = []
    before = np.array(whole.right)
    n = len(before)
    for reading in (whole, *readings):
        after = np.array(reading.right)
        lost, gained = int((before & ~after).sum()), int((after & ~before).sum())
        low, high = difference_interval(int((before & after).sum()), lost, gained, n)
        p = stats.binomtest(lost, lost + gained).pvalue if lost + gained else 1.0
        layer, head = reading.heads[0] if len(reading.heads) == 1 else (pd.NA, pd.NA)
        numbers = float(after.mean()), (gained - lost) / n, low, high, lost, gained, p, n
        rows.append((reading.cut, len(reading.heads), layer, head, *numbers))
    columns = [*("cut", "heads", "layer", "head", "accuracy", "difference", "low", "high")]
    table = pd.DataFrame(rows, columns=[*columns, "lost", "gained", "p", "n"])
    single = table["heads"] == 1
    table["p_holm"] = holm(table.loc[single, "p"]).reindex(table.index)
    return table.astype({"layer": "Int64", "head": "Int64"})


def difference_interval(both: int, lost: int, gained: int, n: int) -> Interval:
    """95 % interval of the difference of two shares of the same words, after minus before.

    It is never empty and never beyond 100 points (Newcombe 1998, Statistics in Medicine 17, method
    10: Wilson's intervals of both shares, put together with their correlation).

    Args:
        both: words that are right before and after.
        lost: words that are right before only.
        gained: words that are right after only.
        n: all words.
    """
    neither = n - both - lost - gained
    before, after = both + lost, both + gained
    low_before, high_before = wilson_interval(before, n)
    low_after, high_after = wilson_interval(after, n)
    scale = math.sqrt(before * (n - before) * after * (n - after))
    covariance = float(both * neither - lost * gained)
    if covariance > 0:  # with a correction for continuity
        covariance = max(covariance - n / 2, 0.0)
    correlation = covariance / scale if scale else 0.0
    difference = (gained - lost) / n
    down = _joined(after / n - low_after, high_before - before / n, correlation)
    up = _joined(high_after - after / n, before / n - low_before, correlation)
    return max(difference - down, -1.0), min(difference + up, 1.0)


def _joined(one: float, other: float, correlation: float) -> float:
    """Length of the difference of two errors with a correlation."""
    square = one**2 - 2 * correlation * one * other + other**2
    return math.sqrt(max(square, 0.0))


_LEAD = (
    "Every head of the encoder is cut, alone and with others: its output is zero while the model "
    "reads. What reading loses, word by word, says which heads it needs, and whether these are the "
    "ones that look far."
)
_CAUTION = (
    "A cut head leaves the others with features that they never saw in training, so that a loss is "
    "partly that; and a head that others can stand in for loses nothing. Heads of one layer differ "
    "less in distance than those of different layers: distance and depth are not told apart by "
    "one model."
)
_FARTHEST, _NEAREST, _RANDOM = "farthest first", "nearest first", "random order"
_STEPS = 8  # how many heads are cut, between none and all


def report(run: AnalysisRun, orders: int) -> int:
    """Cut heads one by one and in several orders, and write tables and a page."""
    (subject,) = run.subjects
    analysis = DistanceAnalysis(subject.name, subject.recognizer.encoder, metrics=["distance"])
    batches: list[Tensor] = []
    labels: list[str] = []
    for batch, pixels in run.batches(subject):
        if batch.labels is None:
            raise ValueError("words need labels: rendered words, or a folder with labels.tsv")
        analysis.update(pixels)
        batches.append(pixels)
        labels += batch.labels
    distances = {
        Head(layer, head): distance
        for layer, values in enumerate(analysis.statistics.values("distance"), 1)
        for head, distance in enumerate(values.mean(0).tolist(), 1)
    }
    cuts = _cuts(distances, orders, run.seed)
    with tqdm([(WHOLE, ()), *cuts], unit="cut", desc=subject.name, disable=None) as bar:
        whole, *readings = [read_without(subject, batches, labels, *cut) for cut in bar]
    table = effects(whole, readings)
    places = zip(table["layer"], table["head"], strict=True)
    table.insert(4, "distance", [distances.get(Head(*place)) for place in places])
    write_frame(run.folder / "ablation.csv", table)
    words = {"label": labels, WHOLE: whole.texts}
    words |= {reading.cut: reading.texts for reading in readings if len(reading.heads) == 1}
    write_frame(run.folder / "words.csv", pd.DataFrame(words))
    single = table[table["heads"] == 1].drop_duplicates(["layer", "head"])
    n = len(whole.right)
    page = run.page("Which heads reading needs", f"{_LEAD} The model is {subject.name}.")
    page.paragraph(_finding(table, single))
    page.figure(
        ablation_figure(table, single),
        "ablation",
        f"Left: words lost when one head is cut, against how far it looks, with 95 % intervals "
        f"over n = {n:,} words; full dots have p_holm below 0.05 (McNemar's exact test, corrected "
        "for the number of heads). Right: words read right when more and more heads are cut.",
        vector=True,
    )
    page.note(_CAUTION)
    page.heading("In numbers")
    page.table(*cells_of(table.drop(columns=["n"])), f"n = {n:,} words")
    return run.finish(page, n=n, spearman=_correlation(single))


def _cuts(
    distances: dict[Head, float], orders: int, seed: int
) -> list[tuple[str, tuple[Head, ...]]]:
    """Every head alone, and the first 1, 2, ... of several orders."""
    nearest = sorted(distances, key=distances.__getitem__)
    random = np.random.default_rng(seed)
    shuffled = [[nearest[i] for i in random.permutation(len(nearest))] for _ in range(orders)]
    named = [(_FARTHEST, nearest[::-1]), (_NEAREST, nearest)]
    named += [(f"{_RANDOM} {number}", order) for number, order in enumerate(shuffled, 1)]
    counts = np.unique(np.linspace(0, len(nearest), _STEPS + 1).round().astype(int))[1:-1]
    cuts: list[tuple[str, tuple[Head, ...]]]
    cuts = [(f"layer {layer}, head {head}", (Head(layer, head),)) for layer, head in distances]
    cuts += [(name, tuple(order[:count])) for name, order in named for count in counts]
    return [*cuts, ("every head", tuple(nearest))]


def _correlation(single: pd.DataFrame) -> tuple[float, float]:
    """Spearman's rank correlation of distance and words lost over heads, and its p-value.

    Where no head costs a word there is nothing to correlate: 0 and 1.
    """
    if single["difference"].nunique() == 1:
        return 0.0, 1.0
    rho, p = stats.spearmanr(single["distance"], -single["difference"])
    return float(rho), float(p)


def _finding(table: pd.DataFrame, single: pd.DataFrame) -> str:
    needed = single[(single["p_holm"] < 0.05) & (single["difference"] < 0)]
    most = single.loc[single["difference"].idxmin()]
    rho, p = _correlation(single)
    return (
        f"With all heads {table['accuracy'].iloc[0]:.1%} of the words are read right. Of "
        f"{len(single)} heads {len(needed)} cost words when cut alone, the most head "
        f"{most['head']} of layer {most['layer']} ({-100 * most['difference']:.1f} points; it "
        f"looks {most['distance']:.1f} px far). Distance and words lost have a rank correlation of "
        f"{rho:.2f} over heads (Spearman, p = {p:.2g})."
    )


@styled()
def ablation_figure(table: pd.DataFrame, single: pd.DataFrame) -> Figure:
    """Words lost against the distance of the head cut, and accuracy against heads cut."""
    sheet = figure(10.5, 4.0)
    left, right = sheet.subplots(1, 2)
    layers = int(single["layer"].max())
    for row in single.itertuples():
        color = depth_color(row.layer, layers)
        lost = -100 * row.difference
        ends = [[lost + 100 * row.high], [-100 * row.low - lost]]
        face = color if row.p_holm < 0.05 else PLATE
        marks = {"markerfacecolor": face, "markeredgecolor": color, "elinewidth": 0.9}
        left.errorbar(row.distance, lost, ends, fmt="o", color=color, **marks)
    left.axhline(0, color=INK, linewidth=0.8, zorder=1)
    left.set(xlabel="attention distance of the head (px)", ylabel="words lost (points)")
    left.set_title("one head cut")
    colors = {_FARTHEST: COLORS[1], _NEAREST: COLORS[0], _RANDOM: MUTED}
    every = table["heads"].max()
    ends = table[(table["cut"] == WHOLE) | (table["heads"] == every)]
    for name, shade in colors.items():
        for order in table.loc[table["cut"].str.startswith(name), "cut"].unique():
            curve = pd.concat([table[table["cut"] == order], ends]).sort_values("heads")
            width = 1.0 if name == _RANDOM else 1.8
            right.plot(curve["heads"], 100 * curve["accuracy"], "o-", color=shade, label=name,
                       linewidth=width, markersize=3.5)  # fmt: skip
    right.set(xlabel="heads cut", ylabel="words read right (%)", ylim=(0, None))
    right.set_title("more and more heads cut")
    handles = dict(zip(*reversed(right.get_legend_handles_labels()), strict=True))
    right.legend(handles.values(), handles)
    depth_legend(sheet, [left], layers)
    return sheet
