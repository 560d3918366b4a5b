"""Mean attention by offset: rows and columns from the query to the key."""

import torch
from jaxtyping import Float64
from torch import Tensor
from vit_str.analysis.geometry import TokenGrid
from vit_str.analysis.probe import map_of
import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from vit_str.reports.style import INK, RATIO, figure, styled

class OffsetMaps:
    """Mean attention over the first images, by rows and columns from the query.

    Special tokens are left out and the rest of a row scaled to sum to 1.
    """

    def __init__(self, grid: TokenGrid, most_images: int = 64) -> None:
        self.grid, self.most_images = grid, most_images
        self._sums: dict[str, Tensor] = {}
        self._images: dict[str, int] = {}

    @torch.no_grad()
    def update(self, layer: str, queries: Tensor, keys: Tensor, mask: Tensor | None = None) -> None:
        """Add a batch of images, see ``probe``."""
        special = self.grid.special_tokens
        seen = self._images.get(layer, 0)
        count = max(0, min(len(queries), self.most_images - seen))
        for image in range(count):
            chosen = slice(image, image + 1)
            shared = mask is None or mask.ndim < 4 or len(mask) == 1
            weights = map_of(queries[chosen], keys[chosen], mask if shared else mask[chosen])
            weights = weights[0, :, special:, special:]
            total = (weights / weights.sum(-1, keepdim=True)).cpu().double()
            self._sums[layer] = self._sums[layer] + total if layer in self._sums else total
        self._images[layer] = seen + count

    @property
    def images(self) -> int:
        """How many the maps are the mean of."""
        return max(self._images.values(), default=0)

    def maps(self) -> list[Float64[Tensor, "head row_offset column_offset"]]:
        """By layer, see `by_offset`."""
        return [
            by_offset(total / self._images[layer], self.grid) for layer, total in self._sums.items()
        ]


def by_offset(
    maps: Float64[Tensor, "head query key"], grid: TokenGrid
) -> Float64[Tensor, "head row_offset column_offset"]:
    """What a token gives on average to the one so many rows and columns away.

    Offsets go from ``1 - rows`` to ``rows - 1``, the token itself in the middle. The mean is over
    the tokens that have a neighbor at that offset.
    """
    rows, columns = grid.rows, grid.columns
    width = 2 * columns - 1
    row, column = torch.arange(len(grid)) // columns, torch.arange(len(grid)) % columns
    down, right = row - row[:, None] + rows - 1, column - column[:, None] + columns - 1
    offsets = (down * width + right).flatten()
    sums = maps.new_zeros(len(maps), (2 * rows - 1) * width)
    sums.index_add_(1, offsets, maps.flatten(1))
    tokens = torch.bincount(offsets, minlength=sums.shape[1])
    return (sums / tokens).reshape(len(maps), -1, width)


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

    The query is in the middle of its map. Colors are ratios to uniform attention, white being as
    much as that.

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
