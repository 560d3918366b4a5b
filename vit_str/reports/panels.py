"""Panels side by side, lines of chance, and legends."""

import math
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.figure import Figure

from vit_str.reports.style import (
    MUTED,
    chance_style,
    depth_color,
    figure,
    plain,
    plain_lines,
)

COLUMNS = 3
"""Panels in a row at most."""

_ONE = 7.5  # inches: the text column of the page
_SEVERAL = 10.5  # inches: its widest figure
_LETTER = 0.065  # inches of a letter in a legend, on average
_ENTRY = 0.6  # inches of an entry beside its letters
_TITLE_WIDTH = {1: 60, 2: 36, 3: 22, 4: 16}  # letters in a line, by panels in a row


def panels(
    titles: Sequence[tuple[str, str]],
    height: float = 4.2,
    most: int = COLUMNS,
    shared: bool = True,
    widths: Sequence[float] | None = None,
) -> tuple[Figure, list[Axes]]:
    """Panels that share the y axis, unless it is said that they do not.

    Args:
        titles: for each panel what it shows, and in small letters of how much.
        height: of a row, in inches.
        most: panels in a row.
        shared: whether they have one y axis.
        widths: of the panels, relative to each other, where they are in one row.
    """
    columns = min(len(titles), most)
    rows = math.ceil(len(titles) / columns)
    sheet = figure(_ONE if columns == 1 else _SEVERAL, height * rows)
    ratios = widths if rows == 1 else None
    shape = sheet.subplots(
        rows, columns, sharey=shared, squeeze=False, width_ratios=ratios
    )
    grid = list(shape.flat)
    for unused in grid[len(titles) :]:
        unused.remove()
    for axes, (title, remark) in zip(grid, titles, strict=False):
        axes.set_title(plain_lines(title, _TITLE_WIDTH[columns]))
        axes.set_title(
            plain(remark), loc="right", fontsize=8, fontweight="normal", color=MUTED
        )
    return sheet, grid[: len(titles)]


def chance_lines(
    axes: Axes, chance: Mapping[str, float | Sequence[float]], unit: str = "px"
) -> None:
    """Draw a level line for each chance value, with a label for the legend.

    One value for each layer, if they differ, is drawn as steps.
    """
    for name, value in chance.items():
        values = [value] if isinstance(value, float | int) else value
        ends = _ends(values, unit)
        label = f"{name}: {ends}"
        style = {"label": label, "zorder": 1.5, **chance_style(name)}
        if ends == _ends(values[:1], unit):
            axes.axhline(values[0], **style)
        else:
            edges = [layer + 0.5 for layer in range(len(values) + 1)]
            axes.stairs(values, edges, baseline=None, **style)


def chance_values(
    chance: Mapping[str, Sequence[float]], unit: str = "px"
) -> tuple[str, ...]:
    """Entries of chance lines for the legend: equal ones can be shown as one."""
    return tuple(f"{name}: {_ends(values, unit)}" for name, values in chance.items())


def _ends(values: Sequence[float], unit: str) -> str:
    """The value of all layers, or the lowest and the highest."""
    digits = 1 if unit == "px" else 2
    ends = [f"{end:.{digits}f}" for end in (min(values), max(values))]
    return " to ".join(dict.fromkeys(ends)) + (" px" if unit == "px" else "")


def legend(sheet: Figure, grid: Sequence[Axes], columns: int = 5) -> None:
    """One legend below all panels; labels that several of them have appear once.

    It has at most so many columns, and no more than the sheet is wide.
    """
    handles: dict[str, Any] = {}
    for axes in grid:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    if handles:
        lines = chain.from_iterable(label.split("\n") for label in handles)
        widest = _ENTRY + _LETTER * max(map(len, lines))
        columns = min(columns, len(handles), max(1, int(sheet.get_figwidth() / widest)))
        sheet.legend(
            handles.values(), handles, loc="outside lower center", ncols=columns
        )


def depth_legend(sheet: Figure, grid: Sequence[Axes], layers: int) -> None:
    """A bar with the colors of the layers, the first layer on top."""
    colors = ListedColormap(
        [depth_color(layer, layers) for layer in range(1, layers + 1)]
    )
    norm = BoundaryNorm([layer + 0.5 for layer in range(layers + 1)], layers)
    mappable = matplotlib.cm.ScalarMappable(norm, colors)
    bar = sheet.colorbar(
        mappable, ax=list(grid), ticks=layer_ticks(layers), aspect=40, pad=0.02
    )
    bar.set_label("layer")
    bar.outline.set_visible(False)
    bar.ax.tick_params(which="both", size=0)
    bar.ax.invert_yaxis()


def layer_ticks(layers: int, most: int = 12) -> list[int]:
    """Layers to write at an axis: all if there is room, else the first, the third and so on."""
    step = math.ceil(layers / most)
    return list(range(1, layers + 1, step))
