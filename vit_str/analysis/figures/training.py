"""How far layers look while a model learns: weights of one run, one after the other."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from vit_str.analysis.figures.head_table import HeadTable
from vit_str.analysis.tables import Row
from vit_str.pages.panels import Label, chance_lines, depth_legend, name_lines, panels
from vit_str.pages.style import depth_color, styled


@styled()
def along_training(
    rows: Sequence[Row], images: Mapping[str, int], chance: Mapping[str, float]
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
    end = len(models) - 0.7
    labels = {axes: chance_lines(axes, chance, -0.3, end) for axes in grid}
    for layer in range(1, table.layers + 1):
        color = depth_color(layer, table.layers)
        means = [table.layer_means(model)[layer - 1][1] for model in models]
        nearest = [min(row.mean for row in table.by_layer(model)[layer]) for model in models]
        for axes, values in zip(grid, (means, nearest), strict=True):
            axes.plot(range(len(models)), values, "o-", color=color, markersize=3.5)
    for axes in grid:
        _mark_images(axes, [images[model] for model in models], end)
    grid[0].set_ylabel("attention distance (px)")
    grid[0].set_ylim(0, 1.1 * max(*chance.values(), table.highest()))
    name_lines(sheet, {grid[1]: labels[grid[1]], grid[0]: [Label(0, "", "none")]}, end)
    depth_legend(sheet, grid, table.layers)
    return sheet


def _mark_images(axes: Axes, images: Sequence[int], end: float) -> None:
    axes.set(xlim=(-0.3, end), xlabel="images trained on")
    axes.set_xticks(range(len(images)), [_short(number) for number in images])
    axes.grid(visible=False, axis="x")


def _short(number: int) -> str:
    """Such as 4k or 1.5M."""
    for size, letter in ((1_000_000, "M"), (1_000, "k")):
        if number >= size:
            return f"{number / size:.3g}{letter}"
    return str(number)
