"""Heads as dots: sideways against up and down, entropy against distance.

Rows, chance values and untrained models are taken as in `figures.distance`.
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
    chance_of,
    depth_legend,
    first_of_rows,
    name_lines,
    panels,
)
from vit_str.pages.style import (
    MUTED,
    PLATE,
    UNTRAINED,
    UNTRAINED_INK,
    chance_style,
    depth_color,
    styled,
)

Point = tuple[float, float]


def reach(rows: Sequence[Row], chance: ByName[Point]) -> Figure:
    """Horizontal against vertical distance: a dot for every head, colored by depth.

    Args:
        rows: ``distance_x`` and ``distance_y`` in px; others are left out.
        chance: the two of chance, in px. Heads on the diagonal through ``uniform`` reach as much
            farther to the sides than up and down as the image is wider than high.

    Raises:
        ValueError: no such rows, or rows of several norms.
    """
    return _head_scatter(
        HeadTable(rows, "distance_x", "px"),
        HeadTable(rows, "distance_y", "px"),
        ("horizontal distance (px)", "vertical distance (px)"),
        "{:.1f}, {:.1f} px",
        chance,
        diagonal=True,
    )


def distance_against_entropy(rows: Sequence[Row], chance: ByName[Point]) -> Figure:
    """Entropy (across) against distance (up): a dot for every head, colored by depth.

    A head that looks at few tokens has little entropy, be they near or far.

    Args:
        rows: ``entropy`` in nats and ``distance`` in px; others are left out.
        chance: the two of chance, in nats and px.

    Raises:
        ValueError: no such rows, or rows of several norms.
    """
    return _head_scatter(
        HeadTable(rows, "entropy", "nats"),
        HeadTable(rows, "distance", "px"),
        ("entropy (nats)", "attention distance (px)"),
        "{:.1f} nats, {:.1f} px",
        chance,
    )


@styled()
def _head_scatter(
    across: HeadTable,
    up: HeadTable,
    names: tuple[str, str],
    values: str,
    chance: ByName[Point],
    diagonal: bool = False,
) -> Figure:
    sheet, grid = panels(across.titles(), height=4.4)
    points = [point for model in across.shown for point in chance_of(chance, model).values()]
    end = 1.06 * max(across.highest(), *(x for x, _ in points))
    top = 1.08 * max(up.highest(), *(y for _, y in points))
    labels = {}
    for model, axes in zip(across.shown, grid, strict=True):
        labels[axes] = _chance_crosses(axes, chance_of(chance, model), end, top, values)
        if diagonal and "uniform" in chance_of(chance, model):
            labels[axes].append(_diagonal(axes, chance_of(chance, model)["uniform"], end))
        for name in across.references(model):
            x, y = _means(across.heads(name)), _means(up.heads(name))
            color = UNTRAINED["color"]
            axes.scatter(x, y, 22, facecolors="none", edgecolors=color, linewidths=1.2, zorder=2)
            axes.plot([max(x), end], [np.mean(y)] * 2, zorder=1.2, **UNTRAINED)
            labels[axes].append(Label(float(np.mean(y)), across.short_name(name), UNTRAINED_INK))
        _draw_points(axes, across.heads(model), up.heads(model), across.layers)
        axes.set(xlim=(0, end), ylim=(0, top), xlabel=names[0])
    for axes in first_of_rows(grid):
        axes.set_ylabel(names[1])
    name_lines(sheet, labels, end)
    depth_legend(sheet, grid, across.layers)
    return sheet


def _chance_crosses(
    axes: Axes, chance: Mapping[str, Point], end: float, top: float, values: str
) -> list[Label]:
    labels = []
    for name, (x, y) in chance.items():
        style = chance_style(name)
        axes.plot([0, end], [y, y], zorder=1.4, alpha=0.6, **style)
        axes.plot([x, x], [0, top], zorder=1.4, alpha=0.6, **style)
        axes.plot(x, y, "X", color=style["color"], markersize=8, markeredgecolor=PLATE, zorder=4)
        labels.append(Label(y, f"{name}\n{values.format(x, y)}", style["color"]))
    return labels


def _diagonal(axes: Axes, through: Point, end: float) -> Label:
    y = end * through[1] / through[0]
    axes.plot([0, end], [0, y], color=MUTED, linewidth=0.8, zorder=1.3)
    return Label(y, "in proportion\nto the image", MUTED)


def _draw_points(axes: Axes, across: Sequence[Row], up: Sequence[Row], layers: int) -> None:
    for x, y in zip(across, up, strict=True):
        color = depth_color(x.layer, layers)
        axes.plot([x.low, x.high], [y.mean, y.mean], color=color, linewidth=0.9, zorder=3.5)
        axes.plot([x.mean, x.mean], [y.low, y.high], color=color, linewidth=0.9, zorder=3.5)
        axes.plot(x.mean, y.mean, "o", color=color, markersize=6, markeredgecolor=PLATE, zorder=3)


def _means(rows: Sequence[Row]) -> list[float]:
    return [row.mean for row in rows]
