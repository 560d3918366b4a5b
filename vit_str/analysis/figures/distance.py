"""Figures of attention distance: plain values in, a figure out.

Rows are those of one norm (renormalized or raw). Chance values go by name, such as ``uniform``;
where the grids of models differ, by model and then by name. Models whose name begins with
``untrained:`` are drawn muted into the panels of the others: they are a chance line too.
`figures.reach` and `figures.offsets` have more.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from vit_str.analysis.figures.head_table import HeadTable
from vit_str.analysis.tables import Row
from vit_str.pages.panels import (
    ByName,
    Label,
    chance_lines,
    chance_of,
    depth_legend,
    first_of_rows,
    last_of_rows,
    layer_ticks,
    mark_shares,
    name_lines,
    panels,
)
from vit_str.pages.style import (
    COLORS,
    INK,
    PLATE,
    UNTRAINED,
    UNTRAINED_INK,
    chance_style,
    depth_color,
    model_colors,
    plain_lines,
    styled,
)

Curve = Sequence[tuple[int, float, float, float]]
"""Layer, mean, and the ends of its interval."""

_MANY = 3  # panels in a row: fewer numbers at their axes
_SPREAD = 0.27  # of the dots of a layer, to either side


@styled()
def heads_by_depth(rows: Sequence[Row], chance: ByName[float]) -> Figure:
    """A dot for every head over the layers, the mean of each layer as a line, with intervals.

    Args:
        rows: ``distance`` in px, of heads and layers; others are left out.
        chance: attention distance by chance, in px; the right axis is in shares of ``uniform``.

    Raises:
        ValueError: no such rows, or rows of several norms.
    """
    table = HeadTable(rows, "distance", "px")
    sheet, grid = panels(table.titles())
    end = table.layers + 0.5
    labels = {}
    for (model, color), axes in zip(model_colors(table.shown).items(), grid, strict=True):
        labels[axes] = chance_lines(axes, chance_of(chance, model), 0.5, end)
        for name in table.references(model):
            means = [row[1] for row in table.layer_means(name)]
            x = [0.5, *range(1, len(means) + 1), end]
            axes.plot(x, [means[0], *means, means[-1]], zorder=1.2, **UNTRAINED)
            dots = [(row.layer, row.mean) for row in table.heads(name)]
            axes.plot(
                *zip(*dots, strict=True), "o", color=UNTRAINED["color"], markersize=3, zorder=1.2
            )
            labels[axes].append(Label(means[-1], table.short_name(name), UNTRAINED_INK))
        _draw_curve(axes, table.layer_means(model), color)
        _draw_heads(axes, table.by_layer(model), color)
        _mark_layers(axes, table.layers, len(grid))
    _mark_distances(grid, table, chance, labels)
    name_lines(sheet, labels, end)
    return sheet


@styled()
def sorted_heads(rows: Sequence[Row], chance: ByName[float]) -> Figure:
    """The heads of every layer from the nearest to the farthest looking, a line for each layer.

    Arguments and errors are those of `heads_by_depth`. The untrained model is one line, the mean
    over its layers.
    """
    table = HeadTable(rows, "distance", "px")
    sheet, grid = panels(table.titles())
    most = max(len(heads) for model in table.shown for heads in table.by_layer(model).values())
    start, end = 0.8, most + 0.2
    labels = {}
    for model, axes in zip(table.shown, grid, strict=True):
        labels[axes] = chance_lines(axes, chance_of(chance, model), start, end)
        for name in table.references(model):
            means = np.mean([_sorted(heads) for heads in table.by_layer(name).values()], 0)
            x = [*range(1, len(means) + 1), end]
            axes.plot(x, [*means, means[-1]], zorder=1.2, **UNTRAINED)
            labels[axes].append(Label(float(means[-1]), table.short_name(name), UNTRAINED_INK))
        for layer, heads in table.by_layer(model).items():
            color = depth_color(layer, table.layers)
            axes.plot(range(1, len(heads) + 1), _sorted(heads), "o-", color=color, markersize=4)
        axes.set(xlim=(start, end), xticks=layer_ticks(most, 12 if len(grid) < _MANY else 8))
        axes.set_xlabel("head of its layer, the nearest looking first")
        axes.grid(visible=False, axis="x")
    _mark_distances(grid, table, chance, labels)
    name_lines(sheet, labels, end)
    depth_legend(sheet, grid, table.layers)
    return sheet


@styled()
def against_convolution(curves: Mapping[str, Curve], chance: Mapping[str, float], n: int) -> Figure:
    """How far the gradient of every layer spreads, for ViT and convolutions alike.

    Args:
        curves: for each model its layers: number, mean gradient distance in px, interval.
        chance: distance by chance, in px.
        n: images.

    Raises:
        ValueError: no curves.
    """
    if not curves:
        raise ValueError("no curves: nothing to draw")
    sheet, (axes,) = panels([("Gradient distance", f"n = {n:,}")])
    layers = max(point[0] for curve in curves.values() for point in curve)
    end = layers + 0.5
    labels = chance_lines(axes, chance, 0.5, end)
    for (name, color), curve in zip(model_colors(curves).items(), curves.values(), strict=True):
        _draw_curve(axes, curve, color, marker="o")
        layer, last = curve[-1][:2]
        axes.plot([layer, end], [last, last], color=color, linewidth=0.8, linestyle=(0, (1, 3)))
        labels.append(Label(last, f"{plain_lines(name, 18)}\n{last:.1f} px", color))
    _mark_layers(axes, layers)
    axes.set_ylabel("mean gradient distance (px)")
    highest = max(point[3] for curve in curves.values() for point in curve)
    axes.set_ylim(0, 1.08 * max(highest, *chance.values()))
    if "uniform" in chance:
        mark_shares(axes, chance["uniform"])
    name_lines(sheet, {axes: labels}, end)
    return sheet


@styled()
def differences_by_layer(rows: Sequence[Row], metric: str = "distance", unit: str = "px") -> Figure:
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
    end = table.layers + 0.5
    for model, axes in zip(table.shown, grid, strict=True):
        axes.plot([0.5, end], [0, 0], zorder=1.5, **chance_style("uniform"))
        _draw_curve(axes, table.layer_means(model), COLORS[0])
        _draw_heads(axes, table.by_layer(model), COLORS[0], hollow_at_zero=True)
        _mark_layers(axes, table.layers, len(grid))
    for axes in first_of_rows(grid):
        axes.set_ylabel(f"difference of {metric.replace('_', ' ')} ({unit})")
    name_lines(sheet, {axes: [Label(0, "no\ndifference", INK)] for axes in grid}, end)
    return sheet


def _draw_curve(axes: Axes, curve: Curve, color: str, marker: str = "") -> None:
    layers, means, lows, highs = zip(*curve, strict=True)
    axes.fill_between(layers, lows, highs, color=color, alpha=0.16, linewidth=0, zorder=1.8)
    axes.plot(layers, means, color=color, marker=marker, markersize=4, zorder=2)


def _draw_heads(
    axes: Axes, layers: Mapping[int, Sequence[Row]], color: str, hollow_at_zero: bool = False
) -> None:
    for layer, heads in layers.items():
        places = np.linspace(-_SPREAD, _SPREAD, len(heads)) if len(heads) > 1 else [0.0]
        for head, place in zip(heads, places, strict=True):
            hollow = hollow_at_zero and head.low <= 0 <= head.high
            x = layer + place
            order = 2.5 if hollow else 3.5  # over the white rim of a full dot
            axes.plot([x, x], [head.low, head.high], color=color, linewidth=1.0, zorder=order)
            axes.plot(
                x,
                head.mean,
                "o",
                markersize=5,
                color=PLATE if hollow else color,
                markeredgecolor=color if hollow else PLATE,
                markeredgewidth=1.1 if hollow else 0.7,
                zorder=3,
            )


def _mark_layers(axes: Axes, layers: int, panels: int = 1) -> None:
    ticks = layer_ticks(layers, 12 if panels < _MANY else 8)
    axes.set(xlim=(0.5, layers + 0.5), xticks=ticks, xlabel="layer")
    axes.grid(visible=False, axis="x")


def _mark_distances(
    grid: Sequence[Axes],
    table: HeadTable,
    chance: ByName[float],
    labels: Mapping[Axes, Sequence[Label]],
) -> None:
    """The shared axis of distances: in px at the left, in shares of uniform at the right."""
    highest = max(label.y for each in labels.values() for label in each)
    grid[0].set_ylim(0, 1.08 * max(highest, table.highest()))
    for axes in first_of_rows(grid):
        axes.set_ylabel(f"attention distance (px, {table.norm})")
    uniform = {
        axes: chance_of(chance, model)["uniform"]
        for axes, model in zip(grid, table.shown, strict=True)
    }
    alike = len(set(uniform.values())) == 1
    for axes in last_of_rows(grid) if alike else grid:
        mark_shares(axes, uniform[axes])


def _sorted(heads: Sequence[Row]) -> list[float]:
    return sorted(head.mean for head in heads)
