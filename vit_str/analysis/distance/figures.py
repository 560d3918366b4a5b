"""Figures of attention distance by depth: measurements in, a figure out.

Tables are those of `measurements` in one norm (renormalized or raw); the rows of the metric and
unit of the figure are drawn, and without such a ValueError is raised. Chance values go by model and
then by name, such as ``uniform``. Models whose name begins with ``untrained:`` are drawn muted into
the panels of the others.
"""

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.ticker import EngFormatter, NullLocator

from vit_str.analysis.distance.head_table import HeadTable
from vit_str.reports.images import on_hover
from vit_str.reports.panels import (
    chance_lines,
    chance_values,
    layer_ticks,
    legend,
    panels,
)
from vit_str.reports.style import (
    COLORS,
    INK,
    PLATE,
    RATIO,
    UNTRAINED,
    chance_style,
    dot_style,
    figure,
    is_untrained,
    model_colors,
    model_marks,
    plain,
    plain_lines,
    shortened,
    styled,
)

Chances = Mapping[str, Mapping[str, Sequence[float]]]
"""Model -> name of a chance line -> distance in every layer, in the unit that is drawn."""
# Inches across for a head: where there are less, numbers lie on each other
_NUMBERED = 0.115
_MEAN = "mean of the layer, 95 % interval"
_HEAD = "head, 95 % interval"
_NUMBERED_HEAD = "head with its number, 95 % interval"
_SPREAD = 0.27  # of the dots of a layer, to either side
_WIDEST = 10.5  # inches, of a sheet of maps
_TALLEST_MAP = 1.1  # inches
_LABELS = 1.8  # inches, above and below the maps
_FACTOR = 30.0  # colors end at so many times as much and as little as uniform attention
_TICKS = {
    "1/30": 1 / 30,
    "1/10": 0.1,
    "1/3": 1 / 3,
    "1 (uniform)": 1,
    "3": 3,
    "10": 10,
    "30": 30,
}
_IN_A_ROW = 4  # panels
_MOST_TICKS = 4  # of an axis


@styled()
def heads_by_depth(rows: pd.DataFrame, chance: Chances, unit: str = "px") -> Figure:
    """A dot with its number for every head over the layers, means of layers as a line."""
    table = HeadTable(rows, "distance", unit)
    widths = [max(4, len(table.layer_means(model))) for model in table.shown]
    sheet, grid = panels(table.titles(), widths=widths)
    of_models = [chance[model] for model in table.shown]
    several = len({chance_values(lines, unit) for lines in of_models}) > 1
    for model, lines, axes in zip(table.shown, of_models, grid, strict=True):
        if several:  # one legend has the lines of all
            called = plain(shortened(model, 24))
            lines = {f"{name} ({called})": line for name, line in lines.items()}
        chance_lines(axes, lines, unit)
    highest = max(max(map(max, lines.values())) for lines in of_models)
    grid[0].set_ylim(0, 1.08 * max(highest, table.highest()))
    grid[0].set_ylabel(f"attention distance ({unit}, {table.norm})")
    colors = model_colors(table.shown)
    for model, axes in zip(table.shown, grid, strict=True):
        for name in table.references(model):
            means = table.layer_means(name)
            axes.plot(
                means["layer"],
                means["mean"],
                zorder=1.2,
                label=table.short_name(name),
                **UNTRAINED,
            )
            dots = table.heads(name)
            axes.plot(
                dots["layer"],
                dots["mean"],
                "o",
                color=UNTRAINED["color"],
                markersize=3,
                zorder=1.2,
            )
        draw_layers(axes, table, model, colors[model])
    legend(sheet, grid, columns=3)
    return sheet


def _draw_heads(
    axes: Axes, table: HeadTable, model: str, mark: str, color: str
) -> None:
    """A small mark for every head of a model."""
    for head in table.heads(model).itertuples():
        (dot,) = axes.plot(
            head.layer,
            head.mean,
            mark,
            color=color,
            markersize=3.5,
            alpha=0.55,
            markeredgewidth=0,
        )
        on_hover(dot, f"{model}: {hover_text(head)}")


@styled()
def models_on_one_scale(rows: pd.DataFrame) -> Figure:
    """All models in one panel, as a share of uniform attention and of the image's diagonal."""
    units = ("share of uniform", "share of diagonal")
    tables = [HeadTable(rows, "distance", unit) for unit in units]
    n = f"n = {rows['n'].max():,}"
    titles = ("share of uniform attention", "share of the diagonal of the image")
    sheet, grid = panels([(title, n) for title in titles], shared=False)
    for table, axes in zip(tables, grid, strict=True):
        strokes = cycle(("-", "--", ":"))  # of untrained models, which have one color
        models = [*table.shown, *table.untrained]
        marks = model_marks(models)
        for model, color in model_colors(models).items():
            means = table.layer_means(model)
            _draw_band(axes, means, color)
            axes.plot(
                means["layer"],
                means["mean"],
                linestyle=next(strokes) if is_untrained(model) else "-",
                marker=marks[model],
                markersize=5.5,
                color=color,
                label=plain_lines(model, 30),
            )
            _draw_heads(axes, table, model, marks[model], color)
        axes.set_xlabel("layer")
        axes.set_xlim(0.5, table.layers + 0.5)
        axes.set_ylim(0, 1.05 * table.highest())
        axes.set_xticks(layer_ticks(table.layers))
        axes.grid(visible=False, axis="x")
    grid[0].axhline(1, zorder=1.5, label="uniform attention", **chance_style("uniform"))
    grid[0].set_ylabel(f"attention distance ({tables[0].norm})")
    legend(sheet, grid, columns=4)
    return sheet


@styled()
def differences_by_layer(
    differences: pd.DataFrame, title: str, of: tuple[str, str]
) -> Figure:
    """Paired differences of distance: a dot for every head over the layers, with intervals.

    Without heads the dots are of layers. They are full where ``p_holm`` is below 0.05.

    Args:
        differences: rows of one way of matching, see `differences`.
        title: of the panel.
        of: names of the first and the second model; differences are the second minus the first.
    """
    rows = differences.rename(columns={"difference": "mean"}).assign(
        model=title,
        metric="distance",
        unit="px",
        norm="",
        hollow=~(differences["p_holm"] < 0.05),
    )
    table = HeadTable(rows, "distance", "px")
    sheet, (axes,) = panels(table.titles())
    axes.axhline(0, zorder=1.5, label="no difference", **chance_style("uniform"))
    draw_layers(axes, table, title, COLORS[0])
    if table.heads(title).empty:
        for mean in table.layer_means(title).itertuples():
            dot = dot_style(COLORS[0], mean.hollow)
            axes.plot(mean.layer, mean.mean, "o", markersize=6, zorder=3, **dot)
    for hollow, label in ((False, "p below 0.05 (Holm)"), (True, "p of 0.05 or more")):
        dot = dot_style(COLORS[0], hollow)
        axes.plot([], [], "o", label=label, markersize=6, **dot)
    first, second = (plain(shortened(name, 18)) for name in of)
    axes.set_ylabel(f"distance (px), {second} \N{MINUS SIGN} {first}")
    if (differences["matching"] == "depth").any():
        _count_depth(axes, table.layers)
    legend(sheet, [axes], columns=3)
    return sheet


def _draw_band(
    axes: Axes,
    means: pd.DataFrame,
    color: str,
    along: str = "layer",
    zorder: float = 1.0,
) -> None:
    """The intervals of means as a pale band; 1 is where matplotlib draws bands by default."""
    axes.fill_between(
        means[along],
        means["low"],
        means["high"],
        color=color,
        alpha=0.16,
        linewidth=0,
        zorder=zorder,
    )


def _count_depth(axes: Axes, places: int) -> None:
    """Write shares of the depth for models that have not the same number of layers."""
    shares = np.linspace(0, 100, places)
    ticks = layer_ticks(places)
    axes.set_xticks(ticks, [f"{shares[place - 1]:.0f} %" for place in ticks])
    axes.set_xlabel("depth, from the first layer (0 %) to the last (100 %)")


def draw_layers(
    axes: Axes, table: HeadTable, model: str, color: str, mean: str = _MEAN
) -> None:
    """Means of layers as a line with a band, and the heads of each as dots with intervals.

    Dots are hollow where a column of this name says so.
    """
    means = table.layer_means(model)
    _draw_band(axes, means, color, zorder=1.8)
    axes.plot(means["layer"], means["mean"], color=color, zorder=2, label=mean)
    layers = table.heads(model).groupby("layer")
    numbered = _room_of_a_head(axes, layers.size()) >= _NUMBERED
    for layer, heads in layers:
        several = len(heads) > 1
        offsets = np.linspace(-_SPREAD, _SPREAD, len(heads)) if several else [0.0]
        for head, offset in zip(heads.itertuples(), offsets, strict=True):
            _draw_head(axes, head, layer + offset, color, numbered)
    most = 8 if len(table.shown) > 2 else 12
    axes.set_xlim(0.5, len(means) + 0.5)
    axes.set_xticks(layer_ticks(len(means), most))
    axes.set_xlabel("layer")
    axes.grid(visible=False, axis="x")


def _draw_head(axes: Axes, head: Any, x: float, color: str, numbered: bool) -> None:
    """The dot of a head with its interval, and its number if there is room."""
    axes.plot(
        [x, x],
        [head.low, head.high],
        color=color if numbered else INK,
        linewidth=0.9,
        # Over the dot, so that it is seen where it is smaller than the dot.
        zorder=2.5 if numbered else 3.5,
    )
    is_hollow = getattr(head, "hollow", False)
    edge = color if is_hollow else PLATE
    (dot,) = axes.plot(
        x,
        head.mean,
        "o",
        color=PLATE if is_hollow else color,
        label=_NUMBERED_HEAD if numbered else _HEAD,
        zorder=3,
        markersize=8 if numbered else 4,
        markeredgecolor=edge,
    )
    on_hover(dot, hover_text(head))
    if numbered:
        number = axes.text(
            x,
            head.mean,
            f"{head.head}",
            color=edge,
            zorder=3.5,
            ha="center",
            va="center_baseline",
            fontsize=6,
        )
        on_hover(number, hover_text(head))


def _room_of_a_head(axes: Axes, heads: pd.Series) -> float:
    """Inches from the dot of a head to the next of its layer, from the heads of each layer."""
    if heads.empty:
        return 0.0
    sheet = axes.get_figure(root=True)
    assert sheet is not None
    across = axes.get_position().width * sheet.get_figwidth()
    gaps = max(heads.max() - 1, 1)
    return float(across / len(heads) * 2 * _SPREAD / gaps)


def hover_text(row: Any) -> str:
    """Head, distance and interval of a row."""
    digits = 1 if row.unit == "px" else 3
    mean, low, high = (f"{value:.{digits}f}" for value in (row.mean, row.low, row.high))
    return f"layer {row.layer}, head {row.head}: {mean} [{low}, {high}] {row.unit}"


@styled()
def offsets_gallery(
    offsets: Float[np.ndarray, "layer head dy dx"],
    uniform: Float[np.ndarray, "dy dx"],
    patch_size: tuple[float, float],
    n: int,
) -> Figure:
    """Mean attention by offset from the query, a map for every layer and head, one scale for all.

    The query is in the middle of its map. Colors are ratios to uniform attention, white being as
    much as that.
    """
    layers, heads, rows, columns = offsets.shape
    down = rows * patch_size[0] / 2
    across = columns * patch_size[1] / 2
    width = min(_WIDEST, heads * _TALLEST_MAP * across / down + 1)
    height = layers * min(_TALLEST_MAP, width / heads * down / across) + _LABELS
    sheet = figure(max(width, 5.2), height)
    sheet.set_layout_engine("constrained", rect=(0, 0.003, 1, 0.997))
    grid = sheet.subplots(layers, heads, squeeze=False)
    for layer, head in np.ndindex(layers, heads):
        axes: Axes = grid.item(layer, head)
        image = axes.imshow(
            np.ma.masked_invalid(offsets[layer, head] / uniform),
            cmap=RATIO,
            norm=LogNorm(1 / _FACTOR, _FACTOR),
            extent=(-across, across, down, -down),
        )
        axes.plot(0, 0, "+", color=INK, markersize=4, markeredgewidth=0.7)
        axes.set(xticks=[], yticks=[])
        axes.spines[:].set_visible(False)
        _name_map(axes, layer, head)
    label = (
        f"attention, times uniform; every map: {across:.0f} px to either side,\n"
        f"{down:.0f} px up and down of the query; n = {n:,}"
    )
    _add_ratio_bar(sheet, image, grid, label)
    return sheet


def _name_map(axes: Axes, layer: int, head: int) -> None:
    """Heads are named above the first row of maps, layers beside the first column."""
    if not layer:
        axes.set_title(
            f"head {head + 1}",
            loc="center",
            fontsize=8,
            pad=3,
            fontweight="normal",
        )
    if not head:
        axes.set_ylabel(
            f"layer {layer + 1}",
            fontsize=8,
            color=INK,
            rotation=0,
            ha="right",
            va="center",
        )


def _add_ratio_bar(
    sheet: Figure, image: AxesImage, grid: np.ndarray, label: str
) -> None:
    """The scale of colors below all maps."""
    bar = sheet.colorbar(
        image,
        ax=list(grid.flat),
        location="bottom",
        shrink=0.9,
        aspect=40,
        extend="both",
    )
    bar.set_ticks(list(_TICKS.values()), labels=list(_TICKS))
    bar.minorticks_off()
    bar.outline.set_visible(False)
    bar.set_label(label, fontsize=8)


def _draw_course(axes: Axes, rows: pd.DataFrame, layer: int) -> None:
    """The heads of a layer as thin lines by images seen, and their mean with its interval."""
    for head, curve in rows.groupby("head"):
        (line,) = axes.plot(
            curve["seen"],
            curve["mean"],
            label="head",
            color=COLORS[0],
            linewidth=0.8,
            alpha=0.6,
        )
        on_hover(line, f"layer {layer}, head {head}")
    mean = rows[rows["head"].isna()]
    _draw_band(axes, mean, INK, along="seen")
    axes.plot(mean["seen"], mean["mean"], color=INK, label=_MEAN)


@styled()
def along_training(
    rows: pd.DataFrame, images: Mapping[str, int], chance: Mapping[str, Sequence[float]]
) -> Figure:
    """Attention distance over a run: heads as thin lines, the mean of the layer with its interval.

    The rows are of models of one depth; ``images`` is how many each had been trained on.
    """
    table = HeadTable(rows[rows["model"].isin(images)], "distance", "px")
    seen = sorted(images.values())
    roots = np.sqrt(seen)
    even = np.linspace(roots[0], roots[-1], min(len(seen), _MOST_TICKS))
    ticks = sorted({seen[np.abs(roots - root).argmin()] for root in even})
    by_stage = table.rows.assign(seen=table.rows["model"].map(images))
    by_stage = by_stage.sort_values("seen")
    layers = range(1, table.layers + 1)
    sheet, grid = panels([(f"layer {layer}", "") for layer in layers], 2.1, _IN_A_ROW)
    for layer, axes in zip(layers, grid, strict=True):
        by_chance = {name: values[layer - 1] for name, values in chance.items()}
        chance_lines(axes, by_chance)
        _draw_course(axes, by_stage[by_stage["layer"] == layer], layer)
        axes.set_xscale("function", functions=(np.sqrt, np.square))
        axes.set_xlim(seen[0], seen[-1])
        axes.set_xticks(ticks)
        # Such as 4k and 2M
        axes.xaxis.set_major_formatter(EngFormatter(sep="", places=0))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.grid(visible=False, axis="x")
        if layer > len(layers) - _IN_A_ROW:
            axes.set_xlabel("images trained on (root scale)")
        if layer % _IN_A_ROW == 1:
            axes.set_ylabel("distance (px)")
    highest = max(table.highest(), *map(max, chance.values()))
    grid[0].set_ylim(0, 1.1 * highest)
    legend(sheet, grid)
    return sheet
