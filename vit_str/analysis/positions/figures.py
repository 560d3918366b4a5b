"""Figures of positions: which ones are alike."""

from collections.abc import Mapping, Sequence

import numpy as np
from einops import rearrange
from jaxtyping import Float64
from matplotlib.figure import Figure

from vit_str.reports.style import (
    DIFFERENCE,
    UNIFORM,
    figure,
    model_colors,
    plain,
    styled,
)

SINUSOIDS = "sinusoids"
Curve = Sequence[tuple[float, float]]
"""Distance in px and mean similarity."""

_MOST_COLUMNS = 8


@styled()
def similarity_maps(
    values: Float64[np.ndarray, "row column row column"], patch_size: tuple[float, float]
) -> Figure:
    """For each token a map: its similarity to every other. Maps lie where their tokens lie.

    Args:
        values: of every token to every other; of wide grids some columns are left out.
        patch_size: height and width of a token.
    """
    mosaic, rows, columns = _mosaic(values)
    height, width = (side * step for side, step in zip(mosaic.shape, patch_size, strict=True))
    sheet = figure(10.5, 9.3 * height / width + 0.45)
    axes = sheet.subplots()
    shown = axes.imshow(mosaic, DIFFERENCE, vmin=-1, vmax=1, extent=(0, width, height, 0))
    axes.grid(visible=False)
    axes.set_xticks([x * patch_size[1] for x in columns.values()], [f"{i + 1}" for i in columns])
    axes.set_yticks([y * patch_size[0] for y in rows.values()], [f"{i + 1}" for i in rows])
    axes.tick_params(length=0)
    axes.set(xlabel="column of the token", ylabel="row")
    axes.spines[:].set_visible(False)
    sheet.colorbar(shown, ax=axes, aspect=12, pad=0.01, ticks=[-1, 0, 1]).set_label("cosine")
    return sheet


def _mosaic(
    values: Float64[np.ndarray, "row column row column"],
) -> tuple[np.ndarray, dict[int, float], dict[int, float]]:
    """Maps of all rows and some columns with gaps between, and where their middles are."""
    rows, columns = values.shape[:2]
    chosen = np.unique(np.linspace(0, columns - 1, min(columns, _MOST_COLUMNS)).round().astype(int))
    gap = ((0, 0), (0, 0), (0, 1), (0, 1))
    maps = np.pad(values[:, chosen], gap, constant_values=np.nan)
    canvas = rearrange(maps, "row column y x -> (row y) (column x)")[:-1, :-1]
    down = {row: row * (rows + 1) + rows / 2 for row in range(rows)}
    across = {int(c): i * (columns + 1) + columns / 2 for i, c in enumerate(chosen)}
    return canvas, down, across


@styled()
def similarity_by_distance(curves: Mapping[str, tuple[Curve, Curve]]) -> Figure:
    """Mean similarity of tokens in one row, and in one column, by how far they are apart.

    Args:
        curves: by model: in rows and in columns; the one named "sinusoids" is a chance line.
    """
    sheet = figure(10.5, 3.6)
    grid = sheet.subplots(1, 2, sharey=True)
    colors = model_colors(name for name in curves if name != SINUSOIDS)
    for axis, axes in enumerate(grid):
        for name, both in curves.items():
            distances, values = zip(*both[axis], strict=True)
            style = UNIFORM if name == SINUSOIDS else {"color": colors[name], "marker": "o"}
            axes.plot(distances, values, markersize=3.5, label=plain(name), **style)
        axes.set_xlim(0, None)
        axes.set_title(("in one row", "in one column")[axis])
        axes.set_xlabel("distance (px)")
    grid[0].set_ylabel("mean cosine of positions")
    grid[1].legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return sheet
