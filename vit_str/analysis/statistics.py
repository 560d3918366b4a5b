"""What attention maps look like, in numbers per image, layer and head, without keeping the maps.

``A`` is the attention of one image and head after the softmax: row i is what token i looks at. Only
tokens of the grid count as rows; what goes to special tokens is ``special_mass``. The rest of a row
is either scaled to sum to 1 (``renormalized``, as Park et al. 2023) or left as it is (``raw``, as
Dosovitskiy et al. 2020 and Raghu et al. 2021): without special tokens there is no difference.
"""

import math
from collections.abc import Callable, Sequence

import torch
from jaxtyping import Float, Float64
from torch import Tensor

from vit_str.analysis.geometry import TokenGrid
from vit_str.models.attention import Mask, attention_weights

UNITS = {
    "distance": "px",
    "distance_x": "px",
    "distance_y": "px",
    "rms": "px",
    "entropy": "nats",
    "self_mass": "share",
    "sink_mass": "share",
    "nmi": "1",
    "special_mass": "share",
    "head_divergence": "nats",
}
"""Every statistic and its unit.

* ``distance``: mean over rows of the sum of A_ij |p_i - p_j| (Dosovitskiy et al. 2020, D.7).
* ``distance_x``, ``distance_y``: the same of the horizontal and of the vertical part alone.
* ``rms``: root of the mean squared distance.
* ``entropy``: of a row, mean over rows; ln N if it looks everywhere alike.
* ``self_mass``: what a token gives to itself.
* ``sink_mass``: what the most looked-at token gets, mean over rows.
* ``nmi``: normalized mutual information of row and column (Park et al. 2023): 0 if every token
  looks at the same places, 1 if each looks at one of its own.
* ``special_mass``: what goes to special tokens.
* ``head_divergence``: Jensen-Shannon divergence of the heads of a layer, mean over rows; 0 if all
  heads look alike. One number per layer.

The four about information are of renormalized rows always.
"""

METRICS = tuple(UNITS)
PER_LAYER = frozenset({"head_divergence"})
NORMS = ("renormalized", "raw")

_CHUNK = 1 << 20  # numbers of a map at a time: they stay in the cache of a CPU
_CHUNK_GPU = 1 << 22


class AttentionStatistics:
    """Statistics of attention maps as a stream: update per batch, merge across processes.

    Args:
        grid: of the tokens.
        metrics: which ones, of ``METRICS``; fewer are faster.
        norm: ``renormalized`` or ``raw``, see above.
        chunk: most numbers of a map in memory at a time.

    Raises:
        ValueError: an unknown metric or norm.
    """

    def __init__(
        self,
        grid: TokenGrid,
        metrics: Sequence[str] = METRICS,
        norm: str = "renormalized",
        chunk: int | None = None,
    ) -> None:
        unknown = sorted(set(metrics) - set(METRICS))
        if unknown:
            raise ValueError(f"unknown metrics {unknown}; known are {', '.join(METRICS)}")
        if norm not in NORMS:
            raise ValueError(f"norm must be one of {', '.join(NORMS)}, found {norm!r}")
        self.grid, self.metrics, self.norm, self.chunk = grid, tuple(metrics), norm, chunk
        self._measures: dict[str, list[dict[str, Tensor]]] = {}
        self._looked_at: dict[str, Tensor] = {}
        self._geometry: dict[tuple[torch.device, torch.dtype], _Geometry] = {}

    @property
    def layers(self) -> list[str]:
        """Names of the layers, in the order in which they were met."""
        return list(self._measures)

    @torch.no_grad()
    def update(
        self,
        layer: str,
        queries: Float[Tensor, "batch head query head_dim"],
        keys: Float[Tensor, "batch head key head_dim"],
        mask: Mask | None = None,
    ) -> None:
        """Add a batch of images, from what goes into the softmax.

        Raises:
            ValueError: the tokens are not those of the grid.
        """
        self._check(queries.shape[-2], keys.shape[-2])
        special = self.grid.special_tokens
        queries, keys = _at_least_single(queries[..., special:, :]), _at_least_single(keys)
        if mask is not None:
            mask = mask.expand(*queries.shape[:-2], mask.shape[-2], keys.shape[-2])
            mask = mask[..., special:, :] if mask.shape[-2] > 1 else mask

        def rows(images: slice, chosen: slice) -> Tensor:
            part = None if mask is None else mask[images]
            if part is not None and part.shape[-2] > 1:
                part = part[..., chosen, :]
            return attention_weights(queries[images, :, chosen], keys[images], part)

        self._add(layer, queries, rows)

    @torch.no_grad()
    def update_maps(self, layer: str, maps: Float[Tensor, "batch head query key"]) -> None:
        """Add a batch of images whose maps are there already.

        Raises:
            ValueError: the tokens are not those of the grid.
        """
        self._check(*maps.shape[-2:])
        maps = maps[..., self.grid.special_tokens :, :]
        self._add(layer, maps, lambda images, chosen: _at_least_single(maps[images, :, chosen]))

    def merge(self, other: "AttentionStatistics") -> None:
        """Add the images of another stream of the same kind.

        Raises:
            ValueError: it is of another grid, norm or metrics.
        """
        if (self.grid, self.metrics, self.norm) != (other.grid, other.metrics, other.norm):
            raise ValueError("only statistics of the same grid, metrics and norm can be merged")
        for layer, measures in other._measures.items():
            self._measures.setdefault(layer, []).extend(measures)
            self._count_looks(layer, other._looked_at[layer])

    def values(self, metric: str) -> list[Float64[Tensor, "image head"]]:
        """A metric of every image, layer by layer; one column if it is of the whole layer."""
        return [
            torch.cat([measure[metric].cpu().double() for measure in measures])
            for measures in self._measures.values()
        ]

    def sinks(self) -> list[list[tuple[int, int, float]]]:
        """Per layer and head: row and column of the token most looked at, and its share."""
        found = []
        for looks in self._looked_at.values():
            shares, places = (looks / looks.sum(-1, keepdim=True)).max(-1)
            tokens = [divmod(place, self.grid.columns) for place in places.tolist()]
            found.append([(*t, share) for t, share in zip(tokens, shares.tolist(), strict=True)])
        return found

    def _check(self, *tokens: int) -> None:
        expected = len(self.grid) + self.grid.special_tokens
        if set(tokens) != {expected}:
            raise ValueError(
                f"attention between {' and '.join(map(str, tokens))} tokens, but the grid has "
                f"{self.grid.rows} x {self.grid.columns} and {self.grid.special_tokens} special"
            )

    def _add(self, layer: str, like: Tensor, rows: "_Rows") -> None:
        device, dtype = like.device, _at_least_single(like[:0]).dtype
        if (device, dtype) not in self._geometry:
            self._geometry[device, dtype] = _Geometry(self.grid, device, dtype)
        geometry = self._geometry[device, dtype]
        batch, heads, tokens = like.shape[:3]
        limit = self.chunk or (_CHUNK if device.type == "cpu" else _CHUNK_GPU)
        per_row = heads * (tokens + self.grid.special_tokens)
        images = max(1, limit // (per_row * tokens))
        queries = max(1, min(tokens, limit // per_row))
        for start in range(0, batch, images):
            sums = _Sums(geometry, self.metrics, self.norm)
            for first in range(0, tokens, queries):
                chosen = slice(first, min(first + queries, tokens))
                sums.add(rows(slice(start, start + images), chosen), chosen)
            self._measures.setdefault(layer, []).append(sums.finish())
            self._count_looks(layer, sums.looked_at())

    def _count_looks(self, layer: str, looked_at: Tensor) -> None:
        if looked_at.numel():
            self._looked_at[layer] = self._looked_at.get(layer, 0) + looked_at.cpu().double()
        else:
            self._looked_at.setdefault(layer, looked_at)


_Rows = Callable[[slice, slice], Tensor]
"""Images and rows that are asked for -> their attention, special columns first."""


class _Geometry:
    """Constants of a grid on one device; rows are queries."""

    def __init__(self, grid: TokenGrid, device: torch.device, dtype: torch.dtype) -> None:
        height, width = grid.patch_size
        self.grid, self.tokens = grid, len(grid)
        self.distances = grid.distances().to(device, dtype)
        row, column = torch.arange(grid.rows), torch.arange(grid.columns)
        from_row, from_column = torch.meshgrid(row, column, indexing="ij")
        along_x = (from_column.flatten()[:, None] - column) * width
        along_y = (from_row.flatten()[:, None] - row) * height
        self.along_x, self.along_y = (
            along_x.abs().to(device, dtype),
            along_y.abs().to(device, dtype),
        )


class _Sums:
    """Sums over rows for a few images, chunk of rows by chunk of rows."""

    def __init__(self, geometry: _Geometry, metrics: Sequence[str], norm: str) -> None:
        self.geometry, self.metrics, self.norm = geometry, frozenset(metrics), norm
        self._sums: dict[str, Tensor] = {}
        self._looks = torch.empty(0)

    def add(self, weights: Float[Tensor, "batch head query key"], chosen: slice) -> None:
        special = weights.shape[-1] - self.geometry.tokens
        raw = whole = weights
        if special:
            raw = weights[..., special:]
            mass = raw.sum(-1, keepdim=True)
            whole = raw / mass.clamp(min=torch.finfo(raw.dtype).tiny)
        if "special_mass" in self.metrics:
            given = 1 - mass if special else weights.new_zeros(*weights.shape[:2], 1, 1)
            self._add("special_mass", given.sum((-2, -1)))
        self._add_distances(whole if self.norm == "renormalized" else raw, chosen)
        self._add_masses(whole if self.norm == "renormalized" else raw, chosen)
        self._add_information(whole)

    def _add(self, name: str, value: Tensor) -> None:
        self._sums[name] = self._sums[name] + value if name in self._sums else value

    def _add_distances(self, weights: Tensor, chosen: slice) -> None:
        geometry, metrics = self.geometry, self.metrics
        if "distance" in metrics:
            self._add("distance", _weighted(weights, geometry.distances[chosen]))
        if metrics.isdisjoint({"distance_x", "distance_y", "rms"}):
            return
        # What a row gives to every column and to every row of the grid is all these need.
        over_grid = weights.reshape(*weights.shape[:-1], geometry.grid.rows, -1)
        parts = (
            ("x", over_grid.sum(-2), geometry.along_x[chosen]),
            ("y", over_grid.sum(-1), geometry.along_y[chosen]),
        )
        for axis, given, along in parts:
            if f"distance_{axis}" in metrics:
                self._add(f"distance_{axis}", _weighted(given, along))
            if "rms" in metrics:
                self._add("rms", _weighted(given, along.square()))

    def _add_masses(self, weights: Tensor, chosen: slice) -> None:
        if "self_mass" in self.metrics:
            diagonal = weights[..., chosen].diagonal(dim1=-2, dim2=-1)
            self._add("self_mass", diagonal.sum(-1))
        if "sink_mass" in self.metrics:
            self._add("looks", weights.sum(-2))

    def _add_information(self, whole: Tensor) -> None:
        metrics = self.metrics
        if metrics.isdisjoint({"entropy", "nmi", "head_divergence"}):
            return
        self._add("entropy", torch.special.entr(whole).sum((-2, -1)))
        if "nmi" in metrics:
            self._add("marginal", whole.sum(-2))
        if "head_divergence" in metrics:
            self._add("mixture", torch.special.entr(whole.mean(1)).sum((-2, -1)))

    def looked_at(self) -> Float[Tensor, "head key"]:
        """What every token got from all rows of these images; empty if nobody asked."""
        return self._looks

    def finish(self) -> dict[str, Float[Tensor, "batch head"]]:
        """The metrics of every image, from the sums over its rows."""
        means = {name: value / self.geometry.tokens for name, value in self._sums.items()}
        if "rms" in means:
            means["rms"] = means["rms"].sqrt()
        if "looks" in means:
            looks = means.pop("looks")
            means["sink_mass"], self._looks = looks.amax(-1), looks.sum(0)
        if "marginal" in means:
            means["nmi"] = _normalized_information(means.pop("marginal"), means["entropy"])
        if "mixture" in means:
            divergence = means.pop("mixture") - means["entropy"].mean(1)
            means["head_divergence"] = divergence[:, None].clamp(min=0)
        return {name: means[name] for name in means if name in self.metrics}


def _weighted(weights: Tensor, values: Tensor) -> Float[Tensor, "batch head"]:
    """Sum of ``weights * values`` over rows and what they give to, as one product with a vector."""
    return weights.flatten(2) @ values.flatten()


def _normalized_information(marginal: Tensor, entropy: Tensor) -> Float[Tensor, "batch head"]:
    """Mutual information of row and column over the geometric mean of their entropies.

    Where all look at one token, both information and entropy are 0; the quotient is 0 then.
    """
    of_columns = torch.special.entr(marginal).sum(-1)
    information = (of_columns - entropy).clamp(min=0)
    scale = (of_columns * math.log(marginal.shape[-1])).clamp(min=0).sqrt()
    nothing = of_columns < 1e-6
    return torch.where(nothing, 0.0, information / scale.masked_fill(nothing, 1.0))


def _at_least_single(values: Tensor) -> Tensor:
    """Half-precision numbers in float32, in which the maps are worked out."""
    return values.float() if values.dtype in (torch.float16, torch.bfloat16) else values
