"""Figures of where a decoder looked: scores by length of word, errors of centers, heads."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from vit_str.analysis.characters.localization import LOWER_IS_BETTER, METRICS
from vit_str.analysis.characters.measure import Source
from vit_str.analysis.characters.scores import LENGTHS, SLICES, Score
from vit_str.reports.style import (
    INK,
    PLATE,
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
"""What scores are called where people read."""

_BY_LENGTH = ("iou", "pointing", "center_error")
_WIDEST_ERROR = 1.5  # character widths that the histogram shows
_NAME = 28


@styled()
def scores_by_length(rows: Sequence[Score]) -> Figure:
    """Scores against the length of words, a line with intervals for every model and the slices."""
    chosen = [row for row in rows if row.versus is None and row.group in LENGTHS]
    names = list(dict.fromkeys(row.model for row in chosen if row.metric in _BY_LENGTH))
    groups = [group for group in LENGTHS if any(row.group == group for row in chosen)]
    sheet = figure(10.5, 3.6)
    grid = sheet.subplots(1, len(_BY_LENGTH))
    for axes, metric in zip(grid, _BY_LENGTH, strict=True):
        for place, name in enumerate(names):
            line = {row.group: row for row in chosen if (row.model, row.metric) == (name, metric)}
            shift = 0.07 * (place - (len(names) - 1) / 2)  # intervals side by side
            _line(axes, [line.get(group) for group in groups], shift, name, names)
        _label(axes, metric)
        axes.set_xticks(range(len(groups)), [_with_count(group, chosen) for group in groups])
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
        style = _style(source.model, names)
        axes.hist(error, bins, weights=weights, histtype="step", label=label, **style)
    axes.axvline(0, color=INK, linewidth=0.8)
    axes.set_xlim(-_WIDEST_ERROR, _WIDEST_ERROR)
    axes.set_xlabel("center of the attention − center of the character (character widths)")
    axes.set_ylabel("share of characters")
    axes.legend(loc="upper left")
    return sheet


@styled()
def heads(rows: Sequence[Score]) -> Figure:
    """Energy of every block and head of the decoder, with the slices and the untrained model."""
    chosen = [
        row for row in rows if row.versus is None and row.group == "all" and row.metric == "energy"
    ]
    own = [row for row in chosen if row.model == chosen[0].model]
    sheet = figure(7.5, 3.6)
    axes = sheet.subplots()
    places = range(len(own))
    blocks = max(row.block or 1 for row in own)
    for place, row in zip(places, own, strict=True):
        color = depth_color(row.block or 1, blocks)
        mark = "D" if row.head is None else "o"
        axes.errorbar(place, row.mean, _reach(row), fmt=mark, color=color, markeredgecolor=PLATE)
    for row in chosen:
        if row.model != own[0].model:
            style = _style(row.model, [row.model for row in chosen])
            axes.axhline(row.mean, label=_shown(row.model), **style)
    axes.set_xticks(places, [f"{row.block}\n{row.head or 'mean'}" for row in own])
    axes.set_xlabel("block of the decoder, head")
    _label(axes, "energy")
    axes.set_ylim(0, 1.25 * max(row.high for row in chosen))  # room for the legend
    if len(chosen) > len(own):
        axes.legend(loc="upper left", ncols=2)
    return sheet


def _line(
    axes: Axes, rows: Sequence[Score | None], shift: float, name: str, names: Sequence[str]
) -> None:
    known = [(place + shift, row) for place, row in enumerate(rows) if row is not None]
    places = [place for place, _ in known]
    means = [row.mean for _, row in known]
    reach = np.array([_reach(row) for _, row in known]).reshape(-1, 2).T
    style = _style(name, names)
    axes.errorbar(places, means, reach, marker="o", markersize=4, label=_shown(name), **style)


def _reach(row: Score) -> tuple[list[float], list[float]]:
    return [row.mean - row.low], [row.high - row.mean]


def _label(axes: Axes, metric: str) -> None:
    better = "lower" if metric in LOWER_IS_BETTER else "higher"
    axes.set_title(TITLES[metric])
    unit = "" if METRICS[metric] == "1" else f"{METRICS[metric]}, "
    axes.set_ylabel(f"{unit}{better} is better")


def _with_count(group: str, rows: Sequence[Score]) -> str:
    n = max(row.n for row in rows if row.group == group)
    return f"{group.removeprefix('length ')}\nn = {n:,}"


def _shown(name: str) -> str:
    return plain(shortened(name, _NAME))


def _style(name: str, names: Sequence[str]) -> LineStyle:
    if name == SLICES:
        return {"color": INK, "linestyle": (0, (4, 2)), "linewidth": 1.3}
    if is_untrained(name):
        return {**UNTRAINED, "color": UNTRAINED_INK, "linewidth": 1.3}
    trained = [each for each in names if each != SLICES]
    return {"color": model_colors(trained)[name]}
