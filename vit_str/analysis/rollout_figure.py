"""The figure of rollout: how far the patches that reach a token lie, by depth."""

from collections.abc import Mapping, Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from vit_str.analysis.receptive_field.figures import draw_curve
from vit_str.reports.panels import layer_ticks, legend, panels
from vit_str.reports.style import (
    COLORS,
    INK,
    UNTRAINED,
    LineStyle,
    chance_style,
    is_untrained,
    styled,
)

_TRAINED: LineStyle = {"color": COLORS[0], "marker": "o"}
_UNTRAINED: LineStyle = UNTRAINED | {"marker": "s"}


@styled()
def rollout_by_depth(
    rows: pd.DataFrame, chance: Mapping[str, Sequence[float]]
) -> Figure:
    """Distance by rollout over the layers, a panel for each model.

    Lines are a model and, in the same panel, itself without training; dotted is the distance of
    single layers, and dashed what ``chance`` (model -> layers) says of uniform attention.
    """
    shown = [name for name in chance if not _is_beside(name, chance)]
    counts = rows.groupby("model")["n"].first()
    titles = [(name, f"n = {counts[name]:,}") for name in shown]
    one_scale = len({round(values[0], 1) for values in chance.values()}) == 1
    sheet, grid = panels(titles, shared=one_scale)
    for axes, model in zip(grid, shown, strict=True):
        _draw(axes, rows, model, chance[model])
    for axes in grid if not one_scale else grid[:1]:
        axes.set_ylabel("distance (px)")
    legend(sheet, grid)
    return sheet


def _is_beside(name: str, models: Mapping[str, object]) -> bool:
    """Whether a model is drawn in the panel of itself with training."""
    return is_untrained(name) and name.removeprefix("untrained:") in models


def _draw(axes: Axes, rows: pd.DataFrame, model: str, uniform: Sequence[float]) -> None:
    named = {
        f"untrained:{model}": ("untrained", _UNTRAINED),
        model: ("trained", _TRAINED),
    }
    if is_untrained(model):
        named = {model: ("untrained", _UNTRAINED)}
    for name, (label, style) in named.items():
        of_model = rows[rows["model"] == name]
        if of_model.empty:
            continue
        rolled_out = of_model[of_model["metric"] == "rollout_distance"]
        draw_curve(axes, rolled_out, f"rollout, {label}", style)
        single = of_model[of_model["metric"] == "distance"]
        axes.plot(
            single["layer"],
            single["mean"],
            ":",
            color=style["color"],
            linewidth=1.6,
            label=f"single layer, {label}",
        )
    depth = len(uniform)
    # Above the others: an untrained model lies on it
    dashes = {**chance_style("uniform"), "color": INK, "zorder": 4, "linewidth": 1.2}
    axes.plot(
        range(1, depth + 1), uniform, label="rollout, uniform attention", **dashes
    )
    axes.set_ylim(0, None)
    axes.set_xticks(layer_ticks(depth, 6))
    axes.set_xlabel("layer")
    axes.grid(visible=False, axis="x")
