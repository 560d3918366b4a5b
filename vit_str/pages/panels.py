"""Panels side by side, their titles, and lines that are named where they end."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeVar, cast

import matplotlib
from matplotlib.axes import Axes
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.figure import Figure
from matplotlib.text import Annotation

from vit_str.pages.style import (
    MUTED,
    PLATE,
    chance_style,
    depth_color,
    figure,
    plain,
    plain_lines,
    ready_to_draw,
)

_MOST_COLUMNS = 3
_ONE, _SEVERAL = 7.5, 10.5  # inches: the text column of the page, and its widest figure
_TITLE_WIDTH = {1: 60, 2: 36, 3: 22}  # letters in a line, by panels in a row


Value = TypeVar("Value")
ByName = Mapping[str, Value] | Mapping[str, Mapping[str, Value]]
"""Chance values by name, the same for all models; or such values by model."""


class Label(NamedTuple):
    """A name for a line, at the height where the line ends."""

    y: float
    text: str
    color: Any


def panels(titles: Sequence[tuple[str, str]], height: float = 4.2) -> tuple[Figure, list[Axes]]:
    """Panels that share the y axis, at most three in a row.

    Args:
        titles: for each panel what it shows, and in small letters of how much.
        height: of a row, in inches.
    """
    columns = min(len(titles), _MOST_COLUMNS)
    rows = math.ceil(len(titles) / columns)
    sheet = figure(_ONE if columns == 1 else _SEVERAL, height * rows)
    grid = list(sheet.subplots(rows, columns, sharey=True, squeeze=False).flat)
    for unused in grid[len(titles) :]:
        unused.remove()
    for axes, (title, remark) in zip(grid, titles, strict=False):
        axes.set_title(plain_lines(title, _TITLE_WIDTH[columns]))
        axes.set_title(plain(remark), loc="right", fontsize=8, fontweight="normal", color=MUTED)
    return sheet, grid[: len(titles)]


def first_of_rows(grid: Sequence[Axes]) -> Sequence[Axes]:
    """The panels at the left border: they carry the label of the shared axis."""
    return grid[::_MOST_COLUMNS]


def last_of_rows(grid: Sequence[Axes]) -> Sequence[Axes]:
    """The panels at the right border."""
    return [axes for i, axes in enumerate(grid, 1) if i % _MOST_COLUMNS == 0 or i == len(grid)]


def chance_of(chance: ByName[Value], model: str) -> Mapping[str, Value]:
    """Chance values of a model: its own, or those of all models."""
    own = chance.get(model)
    return cast(Mapping[str, Value], own if isinstance(own, Mapping) else chance)


def chance_lines(axes: Axes, chance: Mapping[str, float], start: float, end: float) -> list[Label]:
    """Draw a level line for each chance value in pixels; their labels are for `name_lines`."""
    labels = []
    for name, value in chance.items():
        style = chance_style(name)
        axes.plot([start, end], [value, value], zorder=1.5, **style)
        labels.append(Label(value, f"{name}\n{value:.1f} px", style["color"]))
    return labels


def name_lines(sheet: Figure, labels: Mapping[Axes, Sequence[Label]], end: float) -> None:
    """Write names right of where lines end, in room made for them, none on top of another."""
    style: dict[str, Any] = {"va": "center", "fontsize": 8, "linespacing": 1.15}
    texts = {
        axes: [
            axes.annotate(
                label.text,
                (end, label.y),
                (6, 0),
                "data",
                "offset points",
                color=label.color,
                **style,
            )
            for label in each
        ]
        for axes, each in labels.items()
    }
    with ready_to_draw(sheet):
        sheet.draw_without_rendering()  # only what is laid out has a size
    for axes, names in texts.items():
        _settle(axes, names, end, 72 / sheet.dpi)


def _settle(axes: Axes, names: Sequence[Annotation], end: float, points: float) -> None:
    """Make room right of ``end``, and move names up and down until each has its own place."""
    boxes = [name.get_window_extent() for name in names]
    panel = axes.get_window_extent()
    room = (max(box.width for box in boxes) + 10 / points) / panel.width
    left = axes.get_xlim()[0]
    right = left + (end - left) / (1 - room)
    axes.set_xticks([tick for tick in axes.get_xticks() if left <= tick <= end])
    axes.set_xlim(left, right)
    axes.axvspan(end, right, color=PLATE, linewidth=0, zorder=0.6)  # no grid behind names
    middles = [(box.y0 + box.y1) / 2 for box in boxes]
    gap = max(box.height for box in boxes) + 2 / points
    places = _apart(middles, gap, panel.y1 - gap / 2)
    for name, middle, place in zip(names, middles, places, strict=True):
        name.set_position((6, (place - middle) * points))


def _apart(places: Sequence[float], gap: float, highest: float) -> list[float]:
    """The nearest places (least squares) that keep the order, with a gap between neighbors.

    None is above the highest, if need be at the cost of those below.
    """
    order = sorted(range(len(places)), key=lambda i: places[i])
    blocks: list[tuple[float, int]] = []  # sum and number of places that touch each other
    for rank, i in enumerate(order):
        blocks.append((places[i] - rank * gap, 1))
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] > blocks[-1][0] / blocks[-1][1]:
            total, count = blocks.pop()
            blocks[-1] = (blocks[-1][0] + total, blocks[-1][1] + count)
    means = [total / count for total, count in blocks for _ in range(count)]
    moved = {}
    for rank, (i, mean) in reversed(list(enumerate(zip(order, means, strict=True)))):
        moved[i] = min(mean + rank * gap, highest - (len(places) - 1 - rank) * gap)
    return [moved[i] for i in range(len(places))]


def depth_legend(sheet: Figure, grid: Sequence[Axes], layers: int) -> None:
    """A bar that tells the layers' colors, the first layer on top."""
    colors = ListedColormap([depth_color(layer, layers) for layer in range(1, layers + 1)])
    norm = BoundaryNorm([layer + 0.5 for layer in range(layers + 1)], layers)
    mappable = matplotlib.cm.ScalarMappable(norm, colors)
    bar = sheet.colorbar(mappable, ax=list(grid), ticks=layer_ticks(layers), aspect=40, pad=0.02)
    bar.set_label("layer")
    bar.outline.set_visible(False)
    bar.ax.tick_params(which="both", size=0)
    bar.ax.invert_yaxis()


def layer_ticks(layers: int, most: int = 12) -> list[int]:
    """Layers to write at an axis: all if there is room for so many, else every second or so."""
    step = math.ceil(layers / most)
    return [layer for layer in range(1, layers + 1) if step == 1 or layer % step == 0]


def mark_shares(axes: Axes, uniform: float) -> None:
    """A second y axis at the right: the same as a share of what uniform attention has."""

    def share(pixels: Any) -> Any:
        return pixels / uniform

    def pixels(share: Any) -> Any:
        return share * uniform

    axis = axes.secondary_yaxis("right", (share, pixels))
    axis.set_ylabel("share of uniform")
    axis.spines["right"].set_visible(True)
