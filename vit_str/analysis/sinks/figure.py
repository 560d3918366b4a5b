"""The figure of sinks: how far the most attended token stands out, and what makes it do so."""

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from vit_str.analysis.sinks.causes import KEY_BIAS, KEY_NORM, MLP
from vit_str.analysis.sinks.measure import LEAST, PATCH, RATIO, SPECIAL
from vit_str.reports.panels import layer_ticks, legend
from vit_str.reports.style import (
    COLORS,
    INK,
    MUTED,
    UNTRAINED,
    UNTRAINED_INK,
    LineStyle,
    figure,
    is_untrained,
    plain_lines,
    styled,
)

_TITLES = {PATCH: "strongest patch", SPECIAL: "strongest special token"}
_AS_IT_IS: LineStyle = {"color": INK, "linewidth": 2.0, "marker": "o", "markersize": 4}
_WITHOUT: dict[str, tuple[str, LineStyle]] = {
    KEY_BIAS: ("its key bias", {"color": COLORS[1], "marker": "v", "linestyle": "--"}),
    KEY_NORM: ("its key norm", {"color": COLORS[0], "marker": "^", "linestyle": ":"}),
    MLP: ("the MLP before it", {"color": COLORS[2], "marker": "s", "linestyle": "-."}),
}
_NAME_WIDTH = 26  # letters of a model in a line
_WIDTH = 10.5  # inches
_HEIGHT = 2.1  # of a model, in inches
_LEGEND = 1.0  # inches


@styled()
def sinks_by_depth(rows: pd.DataFrame) -> Figure:
    """A row for each model: its strongest patch on the left, special token on the right.

    A model without training whose name is that of another is the pale line in its row.
    """
    names = list(dict.fromkeys(rows["model"]))
    shown = [name for name in names if not _is_beside(name, names)]
    special = bool((rows["token"] == SPECIAL).any())
    kinds = [PATCH, SPECIAL] if special else [PATCH]
    sheet = figure(_WIDTH if special else 7.5, _HEIGHT * len(shown) + _LEGEND)
    grid = sheet.subplots(len(shown), len(kinds), squeeze=False, sharey=True)
    for line, name in zip(grid, shown, strict=True):
        for axes, kind in zip(line, kinds, strict=True):
            _draw(axes, rows[rows["token"] == kind], name)
            axes.set_title(_title(rows, name, kind), fontsize=9)
        line[0].set_ylabel("times the median patch")
    for axes in grid[-1]:
        axes.set_xlabel("layer")
    drawn = [axes for axes in grid.flat if axes.lines]
    legend(sheet, drawn, columns=6)
    return sheet


def _is_beside(name: str, names: Sequence[str]) -> bool:
    return is_untrained(name) and name.removeprefix("untrained:") in names


def _title(rows: pd.DataFrame, name: str, kind: str) -> str:
    n = rows.loc[rows["model"] == name, "n"].max()
    return f"{plain_lines(name, _NAME_WIDTH)}: {_TITLES[kind]} (n = {n:,})"


def _draw(axes: Axes, rows: pd.DataFrame, name: str) -> None:
    of_model = rows[rows["model"] == name]
    axes.set_yscale("log")
    if of_model.empty:
        axes.axis("off")
        axes.text(
            *(0.5, 0.5),
            "no special tokens",
            transform=axes.transAxes,
            ha="center",
            color=MUTED,
        )
        return
    axes.axhline(1, color=INK, linewidth=0.8, zorder=1)
    axes.axhline(
        LEAST,
        color=MUTED,
        linewidth=1.1,
        linestyle=(0, (6, 2.5)),
        zorder=1,
        label=f"a sink from {LEAST:g} times on",
    )
    untrained = rows[rows["model"] == f"untrained:{name}"]
    if not untrained.empty:
        _line(axes, untrained, RATIO, "the same, untrained", UNTRAINED)
    for cause, (label, style) in _WITHOUT.items():
        metric = f"{RATIO} without {cause}"
        styled_line = {"linewidth": 1.4, "markersize": 3.5, **style}
        _line(axes, of_model, metric, f"{label} as of others", styled_line)
    style = _AS_IT_IS
    if is_untrained(name):
        style = _AS_IT_IS | {"color": UNTRAINED_INK}
    _line(axes, of_model, RATIO, "as it is", style)
    axes.set_xticks(layer_ticks(int(of_model["layer"].max())))
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.grid(visible=False, axis="x")


def _line(
    axes: Axes, rows: pd.DataFrame, metric: str, label: str, style: LineStyle
) -> None:
    """Means of layers, and their intervals as a band."""
    curve = rows[rows["metric"] == metric].sort_values("layer")
    if curve.empty:
        return
    axes.plot(curve["layer"], curve["mean"], label=label, **style)
    axes.fill_between(
        curve["layer"],
        curve["low"],
        curve["high"],
        color=style["color"],
        alpha=0.15,
        linewidth=0,
    )
