"""Which tokens of a model attend to which, layer by layer."""

from collections.abc import Mapping

import torch
from jaxtyping import Bool
from torch import Tensor

from vit_str.analysis.geometry import TokenGrid, Windows

_BLOCKED = -1e4  # masks that are added to scores have this or less, biases never


class AttendedTokens:
    """Queries of each layer, and the keys that they may attend to.

    Windows are known at the start; masks are those of the first batch, and the tokens that count as
    queries are chosen batch by batch.

    Args:
        grid: of the tokens.
        windows: layer -> its windows.
    """

    def __init__(
        self, grid: TokenGrid, windows: Mapping[str, Windows] | None = None
    ) -> None:
        self.grid = grid
        self.windows = dict(windows or {})
        self.queries: Tensor | None = None
        """Which tokens of a batch count as queries; None for all."""
        self._allowed: dict[str, Tensor] = {}
        self._chosen: dict[str, list[Tensor]] = {}  # which tokens counted as queries

    def choose(self, queries: Bool[Tensor, "batch token"] | None) -> None:
        """Count only these tokens of the grid as queries from the next batch on; None for all.

        Raises:
            ValueError: for models with windows or pooled keys, and other numbers of tokens.
        """
        if queries is not None and self.windows:
            raise ValueError(
                "queries are chosen in models whose tokens all attend to each other: this "
                "one has windows, pooled keys or fewer tokens from layer to layer"
            )
        if queries is not None and queries.shape[1] != len(self.grid):
            raise ValueError(
                f"queries are chosen among the {len(self.grid)} tokens of the grid, "
                f"found {queries.shape[1]}"
            )
        self.queries = queries

    def grid_of(self, layer: str) -> TokenGrid:
        """The queries of a layer: the tokens of a window, or all."""
        return self.windows[layer].grid if layer in self.windows else self.grid

    def keys_of(self, layer: str) -> TokenGrid:
        """The keys of a layer: the same tokens as its queries, or pooled ones."""
        return self.windows[layer].keys if layer in self.windows else self.grid

    def checked_grid(self, layer: str, *tokens: int) -> TokenGrid:
        """The queries of a layer.

        Args:
            layer: name.
            tokens: queries and keys that it has, with special ones.

        Raises:
            ValueError: these are others than the grid has.
        """
        grid = self.grid_of(layer)
        keys = self.keys_of(layer)
        special = grid.special_tokens
        if tokens != (len(grid) + special, len(keys) + special):
            pooled = f", and {keys.rows} x {keys.columns} keys" if keys != grid else ""
            raise ValueError(
                f"attention between {' and '.join(map(str, tokens))} tokens, but the "
                f"grid has {grid.rows} x {grid.columns} and {special} special{pooled}"
            )
        return grid

    def note_mask(self, layer: str, mask: Tensor, special: int) -> None:
        """Keep which tokens of the grid a batch may attend to, if not to all."""
        if layer in self.windows:
            return
        may_attend = mask if mask.dtype == torch.bool else mask > _BLOCKED
        allowed = may_attend[..., special:].cpu()
        if not allowed.all():
            cases = allowed.flatten(0, 1)
            are_alike = bool((cases == cases[:1]).all())
            self._allowed[layer] = cases[:1] if are_alike else cases

    def note_queries(self, layer: str, batch: int) -> None:
        """Keep which tokens of a batch counted as queries; in windows all do."""
        if layer in self.windows:
            return
        every = torch.ones(1, len(self.grid), dtype=torch.bool).expand(batch, -1)
        queries = every if self.queries is None else self.queries.cpu()
        self._chosen.setdefault(layer, []).append(queries)

    def share_of_queries(self, layer: str) -> float:
        """Share of the tokens of the grid that counted as queries, over all images."""
        chosen = self._chosen.get(layer)
        return float(torch.cat(chosen).double().mean()) if chosen else 1.0

    def allowed(self, layer: str) -> Windows:
        """Queries of a layer, the keys that they could attend to, and which of them they may."""
        if layer in self.windows:
            return self.windows[layer]
        tokens = len(self.grid)
        every = torch.ones(1, tokens, tokens, dtype=torch.bool)
        return Windows(self.grid, self._allowed.get(layer, every), self.grid)

    def source(self, layer: str) -> object:
        """The same object for layers whose `allowed` are alike."""
        return self.windows.get(layer, self._allowed.get(layer, self.grid))

    def queries_of(self, layer: str) -> Bool[Tensor, "image token"] | None:
        """Which tokens counted as queries in the images with any; None if always all did.

        Raises:
            ValueError: no token of any image did.
        """
        if layer not in self._chosen:
            return None
        chosen = torch.cat(self._chosen[layer])
        if chosen.all():
            return None
        if not chosen.any():
            raise ValueError("no token of any image was chosen as a query")
        return chosen[chosen.any(1)]
