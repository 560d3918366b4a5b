"""The figure of sinks: how far the most attended token stands out, and what makes it do so."""

from collections.abc import Sequence
from itertools import product

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from vit_str.analysis.sinks.causes import KEY_BIAS, KEY_NORM, MLP
from vit_str.analysis.sinks.measure import LEAST, PATCH, RATIO, SPECIAL
from vit_str.reports.panels import COLUMNS, layer_ticks, legend, panels
from vit_str.reports.style import (
    COLORS,
    INK,
    MUTED,
    UNTRAINED,
    LineStyle,
    is_untrained,
    styled,
)

_TITLES = {PATCH: "patch", SPECIAL: "special token"}
_AS_IT_IS: LineStyle = {"color": INK, "linewidth": 2.0, "marker": "o", "markersize": 4}
_WITHOUT: dict[str, tuple[str, LineStyle]] = {
    KEY_BIAS: ("its key bias", {"color": COLORS[1], "marker": "v", "linestyle": "--"}),
    KEY_NORM: ("its key norm", {"color": COLORS[0], "marker": "^", "linestyle": ":"}),
    MLP: ("the MLP before it", {"color": COLORS[2], "marker": "s", "linestyle": "-."}),
}


@styled()
def sinks_by_depth(rows: pd.DataFrame) -> Figure:
    """A panel for the strongest patch of each model, and one for the strongest special token.

    A model without training whose name is that of another is the pale line in its panels.
    """
    names = list(dict.fromkeys(rows["model"]))
    shown = [name for name in names if not _is_beside(name, names)]
    of_models = rows.groupby("model")["token"].unique()
    titles = []
    for name, kind in product(shown, _TITLES):
        if kind in of_models[name]:
            titles.append((name, kind))
    n = rows.groupby("model")["n"].max()
    said = [(_short(name), f"n = {n[name]:,}") for name, _ in titles]
    sheet, grid = panels(said, height=2.7)
    for axes, (name, kind) in zip(grid, titles, strict=True):
        _draw(axes, rows[rows["token"] == kind], name)
        untrained = ", untrained" if is_untrained(name) else ""
        axes.set_xlabel(f"layer ({_TITLES[kind]}{untrained})")
    for axes in grid:  # after all are drawn: they share their scale
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.yaxis.set_minor_formatter(NullFormatter())
    for axes in grid[::COLUMNS]:
        axes.set_ylabel("times the median patch")
    legend(sheet, grid, columns=6)
    return sheet


def _short(name: str) -> str:
    """The name of a model without its library."""
    return name.removeprefix("untrained:").rpartition(":")[2]


def _is_beside(name: str, names: Sequence[str]) -> bool:
    return is_untrained(name) and name.removeprefix("untrained:") in names


def _draw(axes: Axes, rows: pd.DataFrame, name: str) -> None:
    of_model = rows[rows["model"] == name]
    axes.set_yscale("log")
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
    _line(axes, of_model, RATIO, "as it is", _AS_IT_IS)
    axes.set_xticks(layer_ticks(int(of_model["layer"].max()), 6))
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
