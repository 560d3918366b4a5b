"""Mean attention by offset: rows and columns from the query to the key."""

import torch
from jaxtyping import Float64
from torch import Tensor

from vit_str.analysis.geometry import TokenGrid
from vit_str.analysis.probe import map_of

_MOST_IMAGES = 64  # of which maps are averaged


class OffsetMaps:
    """Mean attention over the first images, by rows and columns from the query.

    Special tokens are left out and the rest of a row scaled to sum to 1.
    """

    def __init__(self, grid: TokenGrid) -> None:
        self.grid = grid
        self._sums: dict[str, Tensor] = {}
        self._images: dict[str, int] = {}

    @torch.no_grad()
    def update(self, layer: str, queries: Tensor, keys: Tensor, mask: Tensor | None = None) -> None:
        """Add a batch of images, see ``probe``."""
        special = self.grid.special_tokens
        seen = self._images.get(layer, 0)
        count = max(0, min(len(queries), _MOST_IMAGES - seen))
        for image in range(count):
            chosen = slice(image, image + 1)
            own = mask if mask is None or mask.ndim < 4 or len(mask) == 1 else mask[chosen]
            weights = map_of(queries[chosen], keys[chosen], own)
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
