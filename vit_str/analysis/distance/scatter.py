"""Heads as dots: sideways against up and down, entropy against distance.

Measurements, chance values and untrained models are taken as in `figures`.
"""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from vit_str.analysis.distance.head_table import HeadTable
from vit_str.analysis.results import Measurement
from vit_str.analysis.statistics import Chance
from vit_str.reports.panels import depth_legend, legend, panels
from vit_str.reports.style import (
    MUTED,
    PLATE,
    UNTRAINED,
    LineStyle,
    chance_style,
    depth_color,
    styled,
)

Chances = Mapping[str, Chance]
"""Model -> name of a chance value -> metric -> value in every layer."""


def reach(rows: Sequence[Measurement], chance: Chances) -> Figure:
    """Horizontal against vertical distance: a dot for every head, colored by depth.

    Heads on the diagonal through ``uniform`` reach as much farther to the sides than up and down as
    the image is wider than high.
    """
    return _head_scatter(
        HeadTable(rows, "distance_x", "px"),
        HeadTable(rows, "distance_y", "px"),
        ("horizontal distance (px)", "vertical distance (px)"),
        chance,
        diagonal=True,
    )


def distance_against_entropy(rows: Sequence[Measurement], chance: Chances) -> Figure:
    """Entropy (across) against distance (up): a dot for every head, colored by depth.

    A head that looks at few tokens has little entropy, be they near or far.
    """
    return _head_scatter(
        HeadTable(rows, "entropy", "nats"),
        HeadTable(rows, "distance", "px"),
        ("entropy (nats)", "attention distance (px)"),
        chance,
    )


@styled()
def _head_scatter(
    across: HeadTable,
    up: HeadTable,
    names: tuple[str, str],
    chance: Chances,
    diagonal: bool = False,
) -> Figure:
    sheet, grid = panels(across.titles(), height=4.6)
    values = [value for model in across.shown for value in chance[model].values()]
    end = 1.06 * max(across.highest(), *(max(value[across.metric]) for value in values))
    top = 1.08 * max(up.highest(), *(max(value[up.metric]) for value in values))
    for model, axes in zip(across.shown, grid, strict=True):
        for name, value in chance[model].items():
            pairs = zip(value[across.metric], value[up.metric], strict=True)
            places = list(dict.fromkeys((round(x, 9), round(y, 9)) for x, y in pairs))
            style: LineStyle = {**chance_style(name), "linewidth": 0.8, "zorder": 1.4}
            mark: LineStyle = {"color": style["color"], "markersize": 8, "linestyle": ""}
            mark |= {"markeredgecolor": PLATE, "zorder": 4}
            first_x, first_y = places[0]
            label = f"{name}: {first_x:.1f}, {first_y:.1f}"
            if len(places) == 1:
                axes.axhline(first_y, **style)
                axes.axvline(first_x, **style)
            else:
                label = f"{name}, of every layer"
            axes.plot([x for x, _ in places], [y for _, y in places], "X", label=label, **mark)
        if diagonal and "uniform" in chance[model]:
            x, y = (chance[model]["uniform"][table.metric][-1] for table in (across, up))
            line: LineStyle = {"color": MUTED, "linewidth": 0.8, "zorder": 1.3}
            axes.plot([0, end], [0, end * y / x], label="in proportion to the image", **line)
        for name in across.references(model):
            xs, ys = ([row.mean for row in table.heads(name)] for table in (across, up))
            label, edge = across.short_name(name), UNTRAINED["color"]
            axes.scatter(xs, ys, 22, facecolors="none", edgecolors=edge, label=label, zorder=2)
        for row, other in zip(across.heads(model), up.heads(model), strict=True):
            color = depth_color(row.layer, across.layers)
            wide, tall = ([[r.mean - r.low], [r.high - r.mean]] for r in (row, other))
            dot: LineStyle = {"color": color, "markeredgecolor": PLATE, "elinewidth": 0.9}
            axes.errorbar(row.mean, other.mean, tall, wide, fmt="o", **dot)
        axes.set(xlim=(0, end), ylim=(0, top), xlabel=names[0])
    grid[0].set_ylabel(names[1])
    depth_legend(sheet, grid, across.layers)
    legend(sheet, grid)
    return sheet
