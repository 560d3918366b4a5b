"""What each head looks at relative to itself, as small maps of layers by heads."""

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from vit_str.reports.style import INK, RATIO, figure, styled

_WIDEST, _TALLEST_MAP = 10.5, 1.1  # inches
_LABELS = 1.8  # inches, above and below the maps
_FACTOR = 30.0  # colors end at so many times as much and as little as uniform attention
_TICKS = {"1/30": 1 / 30, "1/10": 0.1, "1/3": 1 / 3, "1 (uniform)": 1, "3": 3, "10": 10, "30": 30}


@styled()
def offsets_gallery(
    offsets: Float[np.ndarray, "layer head dy dx"],
    uniform: float | Float[np.ndarray, "dy dx"],
    patch_size: tuple[float, float],
    n: int,
) -> Figure:
    """Mean attention by offset from the query, a map for every layer and head, one scale for all.

    Colors are ratios to uniform attention, which is chance: white is as much as that.

    Args:
        offsets: mean attention to the token ``dy`` rows down and ``dx`` columns right of the
            query, which is in the middle; NaN where no query has such a token.
        uniform: the same of uniform attention.
        patch_size: height and width of a token in pixels.
        n: images.

    Raises:
        ValueError: not four dimensions, or an even number of offsets, which has no middle.
    """
    if offsets.ndim != 4 or offsets.shape[2] % 2 == 0 or offsets.shape[3] % 2 == 0:
        raise ValueError(f"expected (layer, head, odd, odd) numbers, found {offsets.shape}")
    layers, heads, rows, columns = offsets.shape
    down, across = rows * patch_size[0] / 2, columns * patch_size[1] / 2
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
        if not layer:
            axes.set_title(f"head {head + 1}", loc="center", fontsize=8, pad=3, fontweight="normal")
        if not head:
            axes.set_ylabel(
                f"layer {layer + 1}", fontsize=8, color=INK, rotation=0, ha="right", va="center"
            )
    bar = sheet.colorbar(
        image, ax=list(grid.flat), location="bottom", shrink=0.9, aspect=40, extend="both"
    )
    bar.set_ticks(list(_TICKS.values()), labels=list(_TICKS))
    bar.minorticks_off()
    bar.outline.set_visible(False)
    bar.set_label(
        f"attention, times uniform; every map: {across:.0f} px to either side,\n"
        f"{down:.0f} px up and down of the query; n = {n:,}",
        fontsize=8,
    )
    return sheet
