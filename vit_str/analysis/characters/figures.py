"""Figures of where a decoder looked: scores by length of word, errors of centers, heads."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from vit_str.analysis.characters.localization import LOWER_IS_BETTER, METRICS
from vit_str.analysis.characters.measure import Source
from vit_str.analysis.characters.scores import LENGTHS, SLICES
from vit_str.reports.style import (
    INK,
    UNTRAINED,
    UNTRAINED_INK,
    LineStyle,
    depth_color,
    figure,
    is_untrained,
    model_colors,
    plain,
    shortened,
    styled,
)

TITLES: Mapping[str, str] = {
    "pointing": "Pointing",
    "pointing_near": "Pointing, half a token off",
    "energy": "Attention in the box",
    "lift": "Lift",
    "center_error": "Error of the center, sideways",
    "center_error_y": "Error of the center, up and down",
    "iou": "Intersection over union",
    "iou_x": "Intersection over union, sideways",
    "drift": "Drift to a neighbor",
    "monotonic": "In reading direction",
}
"""Titles of scores in figures and tables."""

_BY_LENGTH = ("iou", "pointing", "center_error")
_WIDEST_ERROR = 1.5  # character widths that the histogram shows
_NAME = 28  # letters of a name in a figure


@styled()
def scores_by_length(rows: pd.DataFrame) -> Figure:
    """Scores against the length of words, a line with intervals for every model and the slices."""
    chosen = rows[(rows["versus"] == "") & rows["group"].isin(LENGTHS)]
    is_shown = chosen["metric"].isin(_BY_LENGTH)
    names = chosen.loc[is_shown, "model"].unique().tolist()
    counts = chosen.groupby("group")["n"].max()
    groups = [group for group in LENGTHS if group in counts]
    sheet = figure(10.5, 3.6)
    grid = sheet.subplots(1, len(_BY_LENGTH))
    for axes, metric in zip(grid, _BY_LENGTH, strict=True):
        for place, name in enumerate(names):
            of_model = chosen[chosen["model"] == name]
            line = of_model[of_model["metric"] == metric]
            shift = 0.07 * (place - (len(names) - 1) / 2)  # intervals side by side
            places = [groups.index(group) + shift for group in line["group"]]
            reach = [line["mean"] - line["low"], line["high"] - line["mean"]]
            axes.errorbar(
                places,
                line["mean"],
                reach,
                label=_shown(name),
                marker="o",
                markersize=4,
                **_style(name, names),
            )
        _label(axes, metric)
        lengths = [
            f"{group.removeprefix('length ')}\nn = {counts[group]:,}"
            for group in groups
        ]
        axes.set_xticks(range(len(groups)), lengths)
        axes.set_xlabel("characters of the word")
    grid[0].legend(loc="best")
    return sheet


@styled()
def center_errors(errors: Mapping[Source, Sequence[float]]) -> Figure:
    """How far the middles of attention lie left and right of those of the characters."""
    names = [source.model for source in errors]
    sheet = figure(7.5, 3.6)
    axes = sheet.subplots()
    bins = np.linspace(-_WIDEST_ERROR, _WIDEST_ERROR, 61).tolist()
    for source, values in errors.items():
        error = np.asarray(values)
        beyond = float((np.abs(error) > _WIDEST_ERROR).mean())
        label = f"{_shown(source.model)} ({beyond:.1%} beyond)"
        weights = np.full(len(error), 1 / max(len(error), 1))
        axes.hist(
            error,
            bins,
            weights=weights,
            histtype="step",
            label=label,
            **_style(source.model, names),
        )
    axes.axvline(0, color=INK, linewidth=0.8)
    axes.set_xlim(-_WIDEST_ERROR, _WIDEST_ERROR)
    axes.set_xlabel(
        "center of the attention − center of the character (character widths)"
    )
    axes.set_ylabel("share of characters")
    axes.legend(loc="upper left")
    return sheet


@styled()
def heads(rows: pd.DataFrame) -> Figure:
    """Energy of every block and head of the decoder, with the slices and the untrained model."""
    of_all = (rows["versus"] == "") & (rows["group"] == "all")
    chosen = rows[of_all & (rows["metric"] == "energy")]
    own = chosen[chosen["model"] == chosen["model"].iloc[0]]
    others = chosen.drop(own.index)
    sheet = figure(7.5, 3.6)
    axes = sheet.subplots()
    labels = []
    for place, row in enumerate(own.itertuples()):
        is_mean = pd.isna(row.head)
        labels.append(f"{row.block}\n{'mean' if is_mean else row.head}")
        color = depth_color(row.block, own["block"].max())
        reach = [[row.mean - row.low], [row.high - row.mean]]
        mark = "D" if is_mean else "o"
        axes.errorbar(place, row.mean, reach, fmt=mark, color=color)
    for row in others.itertuples():
        axes.axhline(
            row.mean,
            label=_shown(row.model),
            **_style(row.model, others["model"]),
        )
    axes.set_xticks(range(len(own)), labels)
    axes.set_xlabel("block of the decoder, head")
    _label(axes, "energy")
    axes.set_ylim(0, 1.25 * chosen["high"].max())  # room for the legend
    if not others.empty:
        axes.legend(loc="upper left", ncols=2)
    return sheet


def _label(axes: Axes, metric: str) -> None:
    better = "lower" if metric in LOWER_IS_BETTER else "higher"
    axes.set_title(TITLES[metric])
    unit = "" if METRICS[metric] == "1" else f"{METRICS[metric]}, "
    axes.set_ylabel(f"{unit}{better} is better")


def _shown(name: str) -> str:
    return plain(shortened(name, _NAME))


def _style(name: str, names: Iterable[str]) -> LineStyle:
    if name == SLICES:
        return {"color": INK, "linestyle": (0, (4, 2)), "linewidth": 1.3}
    if is_untrained(name):
        return {**UNTRAINED, "color": UNTRAINED_INK, "linewidth": 1.3}
    models = [shown for shown in names if shown != SLICES]
    return {"color": model_colors(models)[name]}
