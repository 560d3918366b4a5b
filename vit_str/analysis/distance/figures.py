"""Figures of attention distance by depth: measurements in, a figure out.

Measurements are those of one norm (renormalized or raw). Chance values go by model and then by
name, such as ``uniform``. Models whose name begins with ``untrained:`` are drawn muted into the
panels of the others. `scatter` and `offset_figure` have more.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

from vit_str.analysis.distance.head_table import HeadTable
from vit_str.analysis.results import Measurement
from vit_str.reports.panels import COLUMNS, chance_lines, depth_legend, layer_ticks, legend, panels
from vit_str.reports.style import (
    COLORS,
    PLATE,
    UNTRAINED,
    LineStyle,
    chance_style,
    depth_color,
    model_colors,
    styled,
)

Chances = Mapping[str, Mapping[str, float]]
"""Model -> name of a chance line -> distance in px."""
_MOST_NUMBERED = 72  # heads across the page: more numbers cannot be read
_SPREAD = 0.27  # of the dots of a layer, to either side


@styled()
def heads_by_depth(rows: Sequence[Measurement], chance: Chances) -> Figure:
    """A dot with its number for every head over the layers, means of layers as a line.

    Args:
        rows: ``distance`` in px, of heads and layers; others are left out.
        chance: attention distance by chance.

    Raises:
        ValueError: no such rows, or rows of several norms.
    """
    table = HeadTable(rows, "distance", "px")
    sheet, grid = _distance_panels(table, chance)
    for (model, color), axes in zip(model_colors(table.shown).items(), grid, strict=True):
        for name in table.references(model):
            layers, means, *_ = zip(*table.layer_means(name), strict=True)
            axes.plot(layers, means, zorder=1.2, label=table.short_name(name), **UNTRAINED)
            dots = [(row.layer, row.mean) for row in table.heads(name)]
            style: LineStyle = {"color": UNTRAINED["color"], "markersize": 3, "zorder": 1.2}
            axes.plot(*zip(*dots, strict=True), "o", **style)
        _draw_layers(axes, table, model, color)
    legend(sheet, grid, columns=3)
    return sheet


@styled()
def sorted_heads(rows: Sequence[Measurement], chance: Chances) -> Figure:
    """The heads of every layer from the nearest to the farthest looking, a line for each layer.

    Arguments and errors are those of `heads_by_depth`. The untrained model is one line, the mean
    over its layers.
    """
    table = HeadTable(rows, "distance", "px")
    sheet, grid = _distance_panels(table, chance)
    for model, axes in zip(table.shown, grid, strict=True):
        for name in table.references(model):
            means = np.mean(list(table.sorted_means(name).values()), 0)
            label = table.short_name(name)
            axes.plot(range(1, len(means) + 1), means, zorder=1.2, label=label, **UNTRAINED)
        of_layers = table.sorted_means(model)
        for layer, heads in of_layers.items():
            color = depth_color(layer, table.layers)
            axes.plot(range(1, len(heads) + 1), heads, "o-", color=color, markersize=4)
        most = max(map(len, of_layers.values()))
        axes.set(xticks=layer_ticks(most, 8), xlabel="head of its layer, the nearest looking first")
        axes.grid(visible=False, axis="x")
    depth_legend(sheet, grid, table.layers)
    legend(sheet, grid)
    return sheet


@styled()
def differences_by_layer(
    rows: Sequence[Measurement], metric: str = "distance", unit: str = "px"
) -> Figure:
    """Paired differences of two models: a dot for every head over the layers, with intervals.

    Dots are full where the interval leaves out zero, hollow where it does not.

    Args:
        rows: differences; their ``model`` says of what, and each has a panel.
        metric: which to draw.
        unit: in which unit.

    Raises:
        ValueError: no such rows, or rows of several norms.
    """
    table = HeadTable(rows, metric, unit)
    sheet, grid = panels(table.titles())
    for model, axes in zip(table.shown, grid, strict=True):
        axes.axhline(0, zorder=1.5, label="no difference", **chance_style("uniform"))
        _draw_layers(axes, table, model, COLORS[0], hollow_at_zero=True)
    grid[0].set_ylabel(f"difference of {metric.replace('_', ' ')} ({unit})")
    legend(sheet, grid)
    return sheet


@styled()
def along_training(
    rows: Sequence[Measurement], images: Mapping[str, int], chance: Mapping[str, float]
) -> Figure:
    """Attention distance of every layer, and of the nearest looking head of each, over a run.

    Args:
        rows: ``distance`` in px, of heads and layers, of models of the same depth.
        images: model -> images that it had been trained on; gives the order.
        chance: attention distance by chance, in px.

    Raises:
        ValueError: no such rows, or rows of several norms.
    """
    table = HeadTable([row for row in rows if row.model in images], "distance", "px")
    models = sorted(images, key=images.__getitem__)
    remark = f"n = {max(row.n for row in rows):,}"
    sheet, grid = panels([("mean of the layer", remark), ("its nearest looking head", remark)])
    for layer in range(1, table.layers + 1):
        means = [table.layer_means(model)[layer - 1][1] for model in models]
        nearest = [table.sorted_means(model)[layer][0] for model in models]
        for axes, values in zip(grid, (means, nearest), strict=True):
            color = depth_color(layer, table.layers)
            axes.plot(range(len(models)), values, "o-", color=color, markersize=3.5)
    shorten = EngFormatter(sep="")  # such as 4k and 1.5M
    for axes in grid:
        chance_lines(axes, chance)
        axes.set_xlabel("images trained on")
        axes.set_xticks(
            range(len(models)), [shorten(float(f"{images[model]:.3g}")) for model in models]
        )
        axes.grid(visible=False, axis="x")
    grid[0].set_ylabel("attention distance (px)")
    grid[0].set_ylim(0, 1.1 * max(*chance.values(), table.highest()))
    depth_legend(sheet, grid, table.layers)
    legend(sheet, grid)
    return sheet


def _draw_layers(
    axes: Axes, table: HeadTable, model: str, color: str, hollow_at_zero: bool = False
) -> None:
    """Means of layers as a line with a band, and the heads of each as dots with intervals."""
    layers, means, lows, highs = zip(*table.layer_means(model), strict=True)
    axes.fill_between(layers, lows, highs, color=color, alpha=0.16, linewidth=0, zorder=1.8)
    axes.plot(layers, means, color=color, zorder=2, label="mean of the layer")
    for layer, heads in table.by_layer(model).items():
        offsets = np.linspace(-_SPREAD, _SPREAD, len(heads)) if len(heads) > 1 else [0.0]
        for head, offset in zip(heads, offsets, strict=True):
            hollow = hollow_at_zero and head.low <= 0 <= head.high
            x = layer + offset
            axes.plot([x, x], [head.low, head.high], color=color, linewidth=1.0, zorder=2.5)
            face, edge = (PLATE, color) if hollow else (color, PLATE)
            numbered = len(heads) * len(layers) <= _MOST_NUMBERED // min(len(table.shown), COLUMNS)
            label = "head, with its number" if numbered else "head"
            style: LineStyle = {"markersize": 9 if numbered else 5, "markeredgecolor": edge}
            axes.plot(x, head.mean, "o", color=face, label=label, zorder=3, **style)
            if numbered:
                text: LineStyle = {"ha": "center", "va": "center_baseline", "fontsize": 6}
                axes.text(x, head.mean, f"{head.head}", color=edge, zorder=3.5, **text)
    axes.set(xlim=(0.5, table.layers + 0.5), xticks=layer_ticks(table.layers, 8), xlabel="layer")
    axes.grid(visible=False, axis="x")


def _distance_panels(table: HeadTable, chance: Chances) -> tuple[Figure, list[Axes]]:
    """A panel for each model with its chance lines, and one axis of distances in px for all."""
    sheet, grid = panels(table.titles())
    for model, axes in zip(table.shown, grid, strict=True):
        chance_lines(axes, chance[model])
    highest = max(max(chance[model].values()) for model in table.shown)
    grid[0].set_ylim(0, 1.08 * max(highest, table.highest()))
    grid[0].set_ylabel(f"attention distance (px, {table.norm})")
    return sheet, grid
