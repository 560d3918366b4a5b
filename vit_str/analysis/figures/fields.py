"""Figures of receptive fields: how far gradients reach by depth, and where to."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float64
from matplotlib.axes import Axes
from matplotlib.colors import PowerNorm
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from vit_str.analysis.tables import Row
from vit_str.pages.panels import Label, chance_lines, layer_ticks, name_lines
from vit_str.pages.style import (
    HEAT,
    INK,
    UNTRAINED,
    figure,
    is_untrained,
    model_colors,
    plain_lines,
    styled,
)

Box = tuple[float, float, float, float]

_NAME_WIDTH = 20


class LayerField(NamedTuple):
    """Where the gradients of the middle token of a layer lie.

    Attributes:
        shares: of every pixel; they sum to 1.
        distance: mean over tokens and images, in px.
        cell: top, left, bottom, right of what the token stands for, in px.
        bounds: the same of what it can see at most.
    """

    shares: Float64[np.ndarray, "height width"]
    distance: float
    cell: Box
    bounds: Box


@styled()
def distance_by_depth(
    rows: Sequence[Row],
    chance: Mapping[str, float],
    metric: str = "gradient_distance",
    label: str = "mean gradient distance (px)",
    dotted: str | None = None,
) -> Figure:
    """A distance over the layers, a line with its interval for every model.

    Args:
        rows: of the metric; others are left out.
        chance: values in px to draw level lines at.
        metric: which distance.
        label: of the axis.
        dotted: another metric to draw thinly for comparison.
    """
    models = list(dict.fromkeys(row.model for row in rows if row.metric == metric))
    sheet = figure(7.5, 4.2)
    axes = sheet.subplots()
    end = max(row.layer for row in rows) + 0.25
    labels = chance_lines(axes, chance, 0.75, end)
    for model, color in model_colors(models).items():
        curve = [row for row in rows if (row.model, row.metric) == (model, metric)]
        style = UNTRAINED if is_untrained(model) else {"color": color}
        _draw_curve(axes, curve, style)
        others = [row for row in rows if (row.model, row.metric) == (model, dotted)]
        x, y = [row.layer for row in others], [row.mean for row in others]
        axes.plot(x, y, ":", color=style["color"], linewidth=1.2)
        name = f"{plain_lines(model, _NAME_WIDTH)}\n{curve[-1].mean:.1f} px"
        labels.append(Label(curve[-1].mean, name, color))
    axes.set(xlim=(0.75, end), ylim=(0, None), xticks=layer_ticks(int(end)), xlabel="layer")
    axes.set_ylabel(label)
    axes.grid(visible=False, axis="x")
    name_lines(sheet, {axes: labels}, end)
    return sheet


def _draw_curve(axes: Axes, curve: Sequence[Row], style: Mapping[str, Any]) -> None:
    layers = [row.layer for row in curve]
    axes.plot(layers, [row.mean for row in curve], marker="o", markersize=4, zorder=3, **style)
    band = [row.low for row in curve], [row.high for row in curve]
    axes.fill_between(layers, *band, color=style["color"], alpha=0.2, linewidth=0)


@styled()
def field_gallery(fields: Mapping[str, Sequence[LayerField]]) -> Figure:
    """The fields of the token in the middle of the image: a column per model, layers downwards."""
    depth = max(map(len, fields.values()))
    height, width = next(iter(fields.values()))[0].shares.shape
    columns = len(fields)
    across = 10.5 if columns > 1 else 7.5
    sheet = figure(across, depth * (across / columns * 0.9 * height / width + 0.32) + 0.4)
    grid = sheet.subplots(depth, columns, squeeze=False)
    for axes in grid.flat:
        axes.axis("off")
    for column, (model, layers) in zip(grid.T, fields.items(), strict=True):
        column[0].annotate(
            plain_lines(model, 40 // columns + 8), (0, 1), (0, 16), "axes fraction",
            "offset points", fontweight="bold",
        )  # fmt: skip
        for number, (axes, layer) in enumerate(zip(column, layers, strict=False), 1):
            _draw_field(axes, layer)
            axes.set_title(
                f"layer {number}: {layer.distance:.1f} px",
                fontsize=8,
                fontweight="normal",
                pad=3,
            )
    return sheet


def _draw_field(axes: Axes, layer: LayerField) -> None:
    height, width = layer.shares.shape
    extent = (0, width, height, 0)
    axes.imshow(layer.shares, HEAT, PowerNorm(0.5, 0), extent=extent, interpolation="nearest")
    for box, style in ((layer.cell, "-"), (layer.bounds, "--")):
        # What lies past the border of the image cannot be seen; the frame is drawn on the border.
        top, left = max(box[0], 0), max(box[1], 0)
        across, down = min(box[3], width) - left, min(box[2], height) - top
        frame = Rectangle((left, top), across, down, fill=False, edgecolor=INK, linestyle=style)
        axes.add_patch(frame)
