"""Value-weighted attention: its weights times the norms of the values that they are given to.

A token that gets much attention and has a value of next to nothing adds nothing: the head that
attends to it does nothing there. Norms are of the values of a head, before its output projection
(Kobayashi et al. 2020 have it in the norm).

And how much of what a head puts out for a token is that token's own value, which is there already
by way of the skip connection: exclusive self-attention (XSA) takes that part away.
"""

from collections.abc import Mapping

import torch
import torch.nn.functional as F
from einops import reduce
from jaxtyping import Bool, Float, Float64
from torch import Tensor

from vit_str.analysis.geometry import TokenGrid, Windows
from vit_str.analysis.probe import Keys, Queries
from vit_str.analysis.statistics import AttentionStatistics


class ValueStatistics:
    """Norms of values, attention distance weighted by them, and outputs along own values.

    They are updated batch by batch.

    Args:
        grid: of the tokens.
        norm: of the rows, see `vit_str.analysis.statistics`.
        windows: layer -> its windows.

    Attributes:
        weighted: attention times norms.
        norms: layer -> norms in the last batch, special tokens first, over the mean of the tokens
            of the grid of the same image (or window) and head.
    """

    def __init__(
        self,
        grid: TokenGrid,
        norm: str = "renormalized",
        windows: Mapping[str, Windows] | None = None,
    ) -> None:
        self.weighted = AttentionStatistics(grid, ["distance"], norm, windows=windows)
        self.norms: dict[str, Float64[Tensor, "case head key"]] = {}
        self._cosines: dict[str, list[Tensor]] = {}
        self._queries: Tensor | None = None
        self._missing = False

    @property
    def known(self) -> bool:
        """Whether every layer so far has said its values: a softmax alone does not."""
        return bool(self.norms) and not self._missing

    def only(self, queries: Bool[Tensor, "batch token"] | None) -> None:
        """See `AttentionStatistics.only`."""
        self.weighted.only(queries)
        self._queries = queries

    def own_value_cosines(self) -> list[Float64[Tensor, "image head"]]:
        """Cosine of the output of a head for a token with the token's own value, layer by layer.

        It is a mean over the tokens of the grid that count as queries. Among pooled keys, a token's
        own value is that of the nearest.
        """
        layers = []
        for layer, batches in self._cosines.items():
            values = torch.cat(batches)
            windows = self.weighted.tokens.windows.get(layer)
            if windows is not None:
                count = len(windows.allowed)
                values = reduce(values, "(b w) head -> b head", "mean", w=count)
            layers.append(values)
        return layers

    @torch.no_grad()
    def update(
        self,
        layer: str,
        queries: Queries,
        keys: Keys,
        mask: Tensor | None = None,
        values: Float[Tensor, "batch head key value_dim"] | None = None,
    ) -> None:
        """Add a batch of images, see `probe`."""
        if values is None:
            self._missing = True
            return
        precise = values.float() if values.itemsize < 4 else values
        norms = torch.linalg.vector_norm(precise, dim=-1)
        self.weighted.update(layer, queries, keys, _with_norms(mask, norms))
        self._cosines.setdefault(layer, []).append(
            self._cosine(layer, queries, keys, mask, precise)
        )
        tokens = len(self.weighted.tokens.keys_of(layer))
        norms = norms.cpu().double()
        of_grid = norms[..., -tokens:].mean(-1, keepdim=True)
        tiny = torch.finfo(torch.float64).tiny
        self.norms[layer] = norms / of_grid.clamp(min=tiny)

    def _cosine(
        self,
        layer: str,
        queries: Queries,
        keys: Keys,
        mask: Tensor | None,
        values: Float[Tensor, "batch head key value_dim"],
    ) -> Float64[Tensor, "batch head"]:
        grid = self.weighted.tokens.grid_of(layer)
        of_keys = self.weighted.tokens.keys_of(layer)
        if mask is not None and mask.dtype != torch.bool:
            mask = mask.to(values.dtype)
        mixed = F.scaled_dot_product_attention(
            queries.to(values.dtype), keys.to(values.dtype), values, attn_mask=mask
        )
        nearest = grid.distances(of_keys).argmin(1).to(values.device)
        own = values[..., values.shape[-2] - len(of_keys) :, :][..., nearest, :]
        of_grid = mixed[..., mixed.shape[-2] - len(grid) :, :]
        cosines = F.cosine_similarity(of_grid, own, dim=-1).cpu().double()
        if self._queries is None:
            return cosines.mean(-1)
        counted = self._queries.cpu().double()[:, None]
        return (cosines * counted).sum(-1) / counted.sum(-1)


def _with_norms(mask: Tensor | None, norms: Float[Tensor, "batch head key"]) -> Tensor:
    """A mask with norms as factors of what the softmax gives: their logarithms are a bias.

    Rows still sum to 1 after it.
    """
    bias = norms.clamp(min=torch.finfo(norms.dtype).tiny).log()[:, :, None]
    if mask is None:
        return bias
    if mask.dtype == torch.bool:
        return bias.masked_fill(~mask, -torch.inf)
    return bias + mask
