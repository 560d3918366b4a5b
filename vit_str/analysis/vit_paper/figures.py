"""The three panels of figure 7 of the ViT paper (Dosovitskiy et al. 2020), a row for each model."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from einops import rearrange
from jaxtyping import Float64
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from vit_str.analysis.distance.figures import hover_text
from vit_str.analysis.distance.head_table import HeadTable
from vit_str.reports.images import on_hover
from vit_str.reports.panels import chance_lines, chance_values, layer_ticks
from vit_str.reports.style import (
    COLORS,
    HEAT,
    INK,
    MUTED,
    PLATE,
    LineStyle,
    figure,
    plain_lines,
    styled,
)

FILTER_ROWS = 4
FILTER_COLUMNS = 7
SHOWN_FILTERS = FILTER_ROWS * FILTER_COLUMNS
"""As many as the paper shows."""

_MOST_MAPS = 7  # of positions, down and across
_WIDE = 2.0  # times its height: the columns of its patches run down the figure
_GAP = 0.12  # between filters and between maps, as a share of their side
_WIDTH = 10.5  # inches
_ROW_HEIGHT = 3.4
_LEFT = 0.004  # of the width: where panels begin
_BOX_HEIGHT = 2.45  # inches of the pictures in a row, without titles and labels
_BESIDE = (0.15, 1.05)  # inches beside filters and positions: gaps, labels, the bar
_NARROWEST = 1.6  # inches of a panel, such as one that says why it is empty
_WIDEST = 3.6
_TITLES = (
    "principal filters of the first layer",
    "similarity of positions (cosine)",
    "attention distance of heads (px)",
)


@dataclass(frozen=True, slots=True, eq=False)
class ModelPanels:
    """Contents of the three panels of one model; where it has none, a string says why.

    Attributes:
        name: of the model.
        filters: principal components, strongest first.
        positions: cosine of the position of each token with that of every other.
        patch_size: height and width in pixels.
        distances: rows of `measurements`.
        uniform: distance of uniform attention in every layer, in pixels.
    """

    name: str
    filters: Float64[np.ndarray, "component channel height width"] | str
    positions: Float64[np.ndarray, "row column row column"] | str
    patch_size: tuple[float, float]
    distances: pd.DataFrame | str
    uniform: Sequence[float] = ()


@styled()
def figure_seven(models: Sequence[ModelPanels]) -> Figure:
    """Principal filters, similarity of positions and distance of heads, a row for each model."""
    sheet = figure(_WIDTH, _ROW_HEIGHT * len(models))
    bands = sheet.subfigures(len(models), 1, squeeze=False)
    farthest = _farthest(models)
    widths = _panel_widths(models)
    for band, model in zip(bands.flat, models, strict=True):
        band.suptitle(
            plain_lines(model.name, 80), x=_LEFT, ha="left", fontweight="bold"
        )
        panels = band.subplots(1, 3, width_ratios=widths)
        for axes, title in zip(panels, _TITLES, strict=True):
            axes.set_title(title, fontweight="normal", color=MUTED, fontsize=9)
        _draw_filters(panels[0], model.filters)
        _draw_positions(panels[1], model.positions, model.patch_size)
        top = farthest.get(_even(model), 0.0)
        _draw_distances(panels[2], model.distances, model.uniform, top)
    return sheet


def _panel_widths(models: Sequence[ModelPanels]) -> tuple[float, float, float]:
    """Widths in inches: of pictures as their shapes want it, of distances what is left."""
    shapes: tuple[list[float], list[float]] = ([], [])
    for model in models:
        if not isinstance(model.filters, str):
            mosaic = filter_mosaic(model.filters[:SHOWN_FILTERS])
            shapes[0].append(mosaic.shape[1] / mosaic.shape[0])
        if not isinstance(model.positions, str):
            mosaic = position_mosaic(_arranged(model.positions, model.patch_size).maps)[
                0
            ]
            sides = model.patch_size[1] / model.patch_size[0]
            shapes[1].append(sides * mosaic.shape[1] / mosaic.shape[0])
    filters, positions = (
        min(
            max([_NARROWEST, *(_BOX_HEIGHT * shape for shape in each)]) + beside,
            _WIDEST,
        )
        for each, beside in zip(shapes, _BESIDE, strict=True)
    )
    return filters, positions, _WIDTH - filters - positions


def _farthest(models: Sequence[ModelPanels]) -> dict[tuple[str, ...], float]:
    """The highest value of all models with the same uniform attention, which have one scale."""
    farthest: dict[tuple[str, ...], float] = {}
    for model in models:
        if not isinstance(model.distances, str):
            highest = HeadTable(model.distances, "distance", "px").highest()
            known = farthest.get(_even(model), 0.0)
            farthest[_even(model)] = max(known, highest, *model.uniform)
    return farthest


def _even(model: ModelPanels) -> tuple[str, ...]:
    return chance_values({"uniform": model.uniform}) if model.uniform else ()


def _draw_filters(
    axes: Axes, filters: Float64[np.ndarray, "component channel height width"] | str
) -> None:
    if isinstance(filters, str):
        _say(axes, filters)
        return
    axes.imshow(filter_mosaic(filters[:SHOWN_FILTERS]), interpolation="nearest")
    axes.set_anchor("NW")
    axes.axis("off")


def filter_mosaic(
    filters: Float64[np.ndarray, "component channel height width"],
) -> Float64[np.ndarray, "height width color"]:
    """At most `SHOWN_FILTERS` in one picture, white between them.

    Gray is zero; the largest weight of a filter is as far from it as colors go. Wide and square
    filters stand in more rows than columns, tall ones as in the paper.
    """
    largest = np.abs(filters).max((1, 2, 3), keepdims=True)
    colors = 0.5 + 0.5 * filters / np.where(largest > 0, largest, 1)
    if colors.shape[1] != 3:  # as of radar or of gray pictures
        colors = colors.mean(1, keepdims=True).repeat(3, axis=1)
    # So that gaps are thinner than filters
    scale = max(1, round(16 / max(colors.shape[2:])))
    colors = colors.repeat(scale, axis=2).repeat(scale, axis=3)
    gap = max(1, round(_GAP * max(colors.shape[2:])))
    missing = SHOWN_FILTERS - len(colors)
    cells = np.pad(
        colors,
        ((0, missing), (0, 0), (0, gap), (0, gap)),
        constant_values=1.0,
    )
    if missing:
        cells[len(colors) :] = 1.0
    return rearrange(
        cells,
        "(row column) c h w -> (row h) (column w) c",
        row=FILTER_ROWS if filters.shape[2] > 2 * filters.shape[3] else FILTER_COLUMNS,
    )


def _draw_positions(
    axes: Axes,
    cosines: Float64[np.ndarray, "row column row column"] | str,
    patch_size: tuple[float, float],
) -> None:
    if isinstance(cosines, str):
        _say(axes, cosines)
        return
    arranged = _arranged(cosines, patch_size)
    mosaic, middles_down, middles_across = position_mosaic(arranged.maps)
    lowest = min(0.0, float(np.nanmin(mosaic)))
    aspect = patch_size[0] / patch_size[1]
    shown = axes.imshow(
        mosaic,
        HEAT,
        vmin=lowest,
        vmax=1,
        interpolation="nearest",
        aspect=aspect,
    )
    axes.set_anchor("N")
    axes.set_yticks(middles_down, [str(index + 1) for index in arranged.down])
    axes.set_xticks(middles_across, [str(index + 1) for index in arranged.across])
    axes.set_ylabel(arranged.names[0])
    axes.set_xlabel(arranged.names[1])
    axes.tick_params(length=0)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
    bar = axes.figure.colorbar(
        shown,
        ax=axes,
        aspect=22,
        pad=0.02,
        shrink=0.8,
        anchor=(0, 1),
    )
    bar.outline.set_visible(False)


class _Arranged(NamedTuple):
    """Maps of some positions, as they stand in the figure: indices down and across."""

    maps: Float64[np.ndarray, "down across y x"]
    down: list[int]
    across: list[int]
    names: tuple[str, str]  # of down and across


def _arranged(
    cosines: Float64[np.ndarray, "row column row column"],
    patch_size: tuple[float, float],
) -> _Arranged:
    rows = _evenly(cosines.shape[0])
    columns = _evenly(cosines.shape[1])
    maps = cosines[np.ix_(rows, columns)]
    names = ("row of the patch", "column of the patch")
    if cosines.shape[1] * patch_size[1] > _WIDE * cosines.shape[0] * patch_size[0]:
        # Maps of wide images side by side would be too small to see.
        return _Arranged(maps.swapaxes(0, 1), columns, rows, names[::-1])
    return _Arranged(maps, rows, columns, names)


def position_mosaic(
    maps: Float64[np.ndarray, "down across y x"],
) -> tuple[Float64[np.ndarray, "height width"], list[float], list[float]]:
    """All maps in one picture with gaps (NaN) between; and the middles of maps, down and across."""
    height, width = maps.shape[2:]
    gap = max(1, round(_GAP * min(height, width)))
    padded = np.pad(maps, ((0, 0), (0, 0), (0, gap), (0, gap)), constant_values=np.nan)
    mosaic = rearrange(padded, "down across y x -> (down y) (across x)")[:-gap, :-gap]
    down = [place * (height + gap) + (height - 1) / 2 for place in range(maps.shape[0])]
    across = [place * (width + gap) + (width - 1) / 2 for place in range(maps.shape[1])]
    return mosaic, down, across


def _evenly(count: int) -> list[int]:
    """At most so many of the rows or columns, the first and the last among them."""
    chosen = np.linspace(0, count - 1, min(count, _MOST_MAPS)).round().astype(int)
    return [int(index) for index in np.unique(chosen)]


def _draw_distances(
    axes: Axes,
    rows: pd.DataFrame | str,
    uniform: Sequence[float],
    farthest: float,
) -> None:
    if isinstance(rows, str):
        _say(axes, rows)
        return
    table = HeadTable(rows, "distance", "px")
    model = table.shown[0]
    chance_lines(axes, {"uniform": uniform})
    for number, head in enumerate(table.heads(model).itertuples()):
        (dot,) = axes.plot(
            head.layer,
            head.mean,
            "o",
            color=COLORS[0],
            markersize=4.5,
            markeredgecolor=PLATE,
            label="_" if number else "head",
        )
        on_hover(dot, hover_text(head))
    means = table.layer_means(model)
    axes.plot(
        means["layer"],
        means["mean"],
        color=INK,
        linewidth=1.0,
        label="mean of the layer",
    )
    axes.set_xlim(0.5, table.layers + 0.5)
    axes.set_ylim(0, 1.08 * farthest)
    axes.set_xticks(layer_ticks(table.layers))
    axes.set_xlabel("layer")
    axes.grid(visible=False, axis="x")
    # Below: near heads lie where a legend would cover them
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.17), ncols=3, fontsize=7)


def _say(axes: Axes, reason: str) -> None:
    """Write in the middle of a panel why it is empty."""
    axes.axis("off")
    text = plain_lines(reason, 40)
    middle: LineStyle = {"ha": "center", "va": "center", "transform": axes.transAxes}
    axes.text(0.5, 0.5, text, color=MUTED, fontsize=8, **middle)
