"""Figures of receptive fields: how far gradients reach by depth, and where to."""

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import NamedTuple

import matplotlib
import numpy as np
import pandas as pd
from jaxtyping import Float64
from matplotlib.axes import Axes
from matplotlib.colors import PowerNorm
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from vit_str.reports.panels import chance_lines, layer_ticks, legend
from vit_str.reports.style import (
    HEAT,
    INK,
    UNTRAINED,
    LineStyle,
    figure,
    is_untrained,
    model_colors,
    model_marks,
    plain_lines,
    styled,
)

Box = tuple[float, float, float, float]

NAME_WIDTH = 20
"""Letters in a line of a name in a figure."""

_NORM = PowerNorm(0.5, 0, 1)


class LayerField(NamedTuple):
    """Where the gradients of the middle token of a layer lie, in pixels."""

    shares: Float64[np.ndarray, "height width"]
    distance: float  # mean over tokens and images
    cell: Box  # top, left, bottom, right of what the token stands for
    bounds: Box  # of what it can see at most


@styled()
def distance_by_depth(
    rows: pd.DataFrame,
    chance: Mapping[str, float],
) -> Figure:
    """Gradient distance over the layers, a line with its interval for every model.

    Args:
        rows: of all models.
        chance: model -> its distance if all pixels matter alike; where models have the same, they
            share a line.
    """
    curves = rows[rows["metric"] == "gradient_distance"]
    sheet = figure(7.5, 4.2)
    axes = sheet.subplots()
    strokes = cycle(("-", "--", ":"))  # of untrained models, which have one color
    models = curves["model"].unique()
    marks = model_marks(models)
    chance_lines(axes, _by_value(chance))
    for model, color in model_colors(models).items():
        curve = curves[curves["model"] == model]
        style: LineStyle = {"color": color}
        if is_untrained(model):
            style = UNTRAINED | {"linestyle": next(strokes)}
        style["marker"] = marks[model]
        draw_curve(axes, curve, plain_lines(model, NAME_WIDTH), style)
    ticks = layer_ticks(rows["layer"].max())
    axes.set_ylim(0, None)
    axes.set_xticks(ticks)
    axes.set_xlabel("layer")
    axes.set_ylabel("mean gradient distance (px)")
    axes.grid(visible=False, axis="x")
    legend(sheet, [axes])
    return sheet


def _by_value(chance: Mapping[str, float]) -> dict[str, float]:
    """Chance lines by name: one, or one for each value that models have."""
    models: dict[str, str] = {}
    for model, value in chance.items():
        models.setdefault(f"{value:.1f}", model)
    if len(models) == 1:
        return {"uniform": max(chance.values())}
    named = models.values()
    return {
        f"uniform, {plain_lines(model, NAME_WIDTH)}": chance[model] for model in named
    }


def draw_curve(axes: Axes, curve: pd.DataFrame, label: str, style: LineStyle) -> None:
    """Means of layers as a line with dots, and their intervals as a band."""
    axes.plot(
        curve["layer"],
        curve["mean"],
        label=label,
        markersize=4.5,
        zorder=3,
        **style,
    )
    axes.fill_between(
        curve["layer"],
        curve["low"],
        curve["high"],
        color=style["color"],
        alpha=0.2,
        linewidth=0,
    )


@styled()
def field_gallery(fields: Mapping[str, Sequence[LayerField]]) -> Figure:
    """The fields of the token in the middle of the image: a column per model, layers downwards."""
    depth = max(map(len, fields.values()))
    height, width = next(iter(fields.values()))[0].shares.shape
    columns = len(fields)
    across = 10.5 if columns > 1 else 7.5
    of_layer = across / columns * 0.9 * height / width + 0.32
    sheet = figure(across, depth * of_layer + 0.9)
    grid = sheet.subplots(depth, columns, squeeze=False)
    for axes in grid.flat:
        axes.axis("off")
    shown = matplotlib.cm.ScalarMappable(_NORM, HEAT)
    bar = sheet.colorbar(
        shown,
        ax=list(grid.flat),
        ticks=[0, 0.1, 0.5, 1],
        location="bottom",
        shrink=0.5,
        aspect=40,
        pad=0.02,
    )
    bar.set_label("gradient, share of the largest in its map")
    for column, (model, layers) in zip(grid.T, fields.items(), strict=True):
        # Below the last layer of a shallower model, panels stay empty.
        drawn = zip(column, layers, strict=False)
        for number, (axes, layer) in enumerate(drawn, 1):
            _draw_field(axes, layer)
            title = f"layer {number}: {layer.distance:.1f} px"
            if number == 1:
                title = f"{plain_lines(model, 24)}\n{title}"
            axes.set_title(title, fontsize=8, fontweight="normal", pad=3)
    return sheet


def _draw_field(axes: Axes, layer: LayerField) -> None:
    height, width = layer.shares.shape
    extent = (0, width, height, 0)
    shares = layer.shares / max(layer.shares.max(), 1e-12)
    axes.imshow(shares, HEAT, _NORM, extent=extent, interpolation="nearest")
    for box, style in ((layer.cell, "-"), (layer.bounds, "--")):
        # What lies past the border of the image cannot be seen; the frame is drawn on the border.
        top = max(box[0], 0)
        left = max(box[1], 0)
        across = min(box[3], width) - left
        down = min(box[2], height) - top
        frame = Rectangle(
            (left, top),
            across,
            down,
            fill=False,
            edgecolor=INK,
            linestyle=style,
        )
        axes.add_patch(frame)
