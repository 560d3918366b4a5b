"""Mean attention by offset: rows and columns from the query to the key."""

import torch
from jaxtyping import Bool, Float, Float64
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
        self._counts: dict[str, Tensor] = {}  # in how many images a token was a query
        self._queries: Tensor | None = None

    def only(self, queries: Bool[Tensor, "batch token"] | None) -> None:
        """Count only these tokens of the grid as queries from the next batch on; None for all."""
        self._queries = queries

    @torch.no_grad()
    def update(
        self,
        layer: str,
        queries: Float[Tensor, "batch head query head_dim"],
        keys: Float[Tensor, "batch head key head_dim"],
        mask: Tensor | None = None,
    ) -> None:
        """Add a batch of images; arguments as of a callback of `probe`."""
        special = self.grid.special_tokens
        seen = self._images.get(layer, 0)
        count = max(0, min(len(queries), _MOST_IMAGES - seen))
        for image in range(count):
            chosen = slice(image, image + 1)
            own = mask
            if mask is not None and mask.ndim >= 4 and len(mask) > 1:
                own = mask[chosen]
            weights = map_of(queries[chosen], keys[chosen], own)
            weights = weights[0, :, special:, special:]
            total = (weights / weights.sum(-1, keepdim=True)).cpu().double()
            counted = self._counted(image)
            total = total * counted[:, None]
            before = self._sums.get(layer)
            self._sums[layer] = total if before is None else before + total
            self._counts[layer] = self._counts.get(layer, 0) + counted
        self._images[layer] = seen + count

    @property
    def images(self) -> int:
        """How many the maps are the mean of."""
        return max(self._images.values(), default=0)

    def maps(self) -> list[Float64[Tensor, "head row_offset column_offset"]]:
        """By layer, see `by_offset`."""
        return [
            by_offset(total, self.grid, self._counts[layer])
            for layer, total in self._sums.items()
        ]

    def _counted(self, image: int) -> Float64[Tensor, " token"]:
        """1 for the tokens of an image of the batch that are queries, 0 for the others."""
        if self._queries is None:
            return torch.ones(len(self.grid), dtype=torch.float64)
        return self._queries[image].cpu().double()


def by_offset(
    maps: Float64[Tensor, "head query key"],
    grid: TokenGrid,
    counts: Float[Tensor, " query"] | None = None,
) -> Float64[Tensor, "head row_offset column_offset"]:
    """The mean attention of a token to the one so many rows and columns away.

    Offsets go from ``1 - rows`` to ``rows - 1``, the token itself in the middle. The mean is over
    the tokens that have a neighbor at that offset; NaN where none has.

    Args:
        maps: attention, or sums of it over images.
        grid: of the tokens.
        counts: of how many images the row of each token is the sum; one by default.
    """
    rows = grid.rows
    columns = grid.columns
    width = 2 * columns - 1
    row = torch.arange(len(grid)) // columns
    column = torch.arange(len(grid)) % columns
    down = row - row[:, None] + rows - 1
    right = column - column[:, None] + columns - 1
    offsets = (down * width + right).flatten()
    sums = maps.new_zeros(len(maps), (2 * rows - 1) * width)
    sums.index_add_(1, offsets, maps.flatten(1))
    every = torch.ones(len(grid)) if counts is None else counts
    weights = every.double()[:, None].expand(-1, len(grid)).flatten()
    tokens = torch.bincount(offsets, weights, minlength=sums.shape[1])
    return (sums / tokens).reshape(len(maps), -1, width)
