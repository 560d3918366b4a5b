"""Sums over the rows of attention maps, from which `statistics` makes its metrics.

Sums are in float64. GPUs for games and most others have 1/32 or 1/64 of their speed in it: there
short blocks are summed in float32, a row or some rows of one column, and the blocks in float64.
"""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from vit_str.analysis.geometry import TokenGrid

_BLOCK = 64  # rows of one column that are summed in float32


class Geometry:
    """Constants of queries in a grid, and keys in the same or another, on one device.

    In float64, where the device has it.
    """

    def __init__(self, grid: TokenGrid, keys: TokenGrid, device: torch.device) -> None:
        dtype = torch.float32 if device.type == "mps" else torch.float64
        centers = grid.centers
        of_keys = keys.centers
        along_x = centers[:, :1] - of_keys[: keys.columns, 0]
        along_y = centers[:, 1:] - of_keys[:: keys.columns, 1]
        distances = grid.distances(keys)
        self.grid = grid
        self.keys = keys
        self.nearest = distances.argmin(1).to(device)  # the key of a token's own place
        self.distances = distances.to(device, dtype)
        # Zero for special columns: maps need not be cut for it, which would copy them.
        self.padded_distances = F.pad(self.distances, (grid.special_tokens, 0))
        self.along_x = along_x.abs().to(device, dtype)
        self.along_y = along_y.abs().to(device, dtype)


class RowSums:
    """Sums over rows for a few images, chunk of rows by chunk of rows.

    Args:
        geometry: of the tokens.
        metrics: of ``statistics.METRICS``.
        norm: see ``statistics``.
        queries: 1 for the rows of each image that count and 0 for the others; None for all rows.
    """

    def __init__(
        self,
        geometry: Geometry,
        metrics: Sequence[str],
        norm: str,
        queries: Float[Tensor, "batch query"] | None = None,
    ) -> None:
        self.geometry = geometry
        self.metrics = frozenset(metrics)
        self.norm = norm
        self._queries = queries
        self._sums: dict[str, Tensor] = {}
        # By image, head and token, special ones first, if that is asked for
        self.received = torch.empty(0)

    def add(
        self, weights: Float[Tensor, "batch head query key"], chosen: slice
    ) -> None:
        """Add the rows ``chosen``, special columns first."""
        special = weights.shape[-1] - len(self.geometry.keys)
        as_it_is = self.norm == "raw" or not special
        counted: Tensor | None = None
        if self._queries is not None:
            counted = self._queries[:, None, chosen, None]
        if counted is not None and as_it_is:
            weights = weights * counted
        if as_it_is and "distance" in self.metrics:
            distances = self.geometry.padded_distances[chosen]
            self._add("distance", _weighted(weights, distances))
        if as_it_is and self.metrics == {"distance"}:
            return
        raw = weights[..., special:]
        mass = raw.new_ones(1, 1, 1, 1)
        whole = raw
        if special:
            mass = raw.sum(-1, keepdim=True)
            whole = raw / mass.clamp(min=torch.finfo(raw.dtype).tiny)
        if counted is not None:
            whole = whole * counted
            mass = mass * counted + (1 - counted)
        if not as_it_is and "distance" in self.metrics:
            self._add("distance", _weighted(whole, self.geometry.distances[chosen]))
        if "special_mass" in self.metrics:
            given = (1 - mass).expand(*raw.shape[:-1], 1)
            self._add("special_mass", _whole_sum(given))
        judged = raw if as_it_is else whole
        if special and "sink_mass" in self.metrics:
            of_all = weights if counted is None or as_it_is else weights * counted
            self._add("received_by_all", _column_sums(of_all))
        self._add_directions(judged, chosen)
        self._add_masses(judged, chosen)
        self._add_information(whole)

    def _add(self, name: str, value: Tensor) -> None:
        before = self._sums.get(name)
        self._sums[name] = value if before is None else before + value

    def _add_directions(self, weights: Tensor, chosen: slice) -> None:
        geometry = self.geometry
        metrics = self.metrics
        if metrics.isdisjoint({"distance_x", "distance_y", "rms"}):
            return
        # What a row gives to every column and to every row of the grid is all these need.
        over_grid = weights.reshape(*weights.shape[:-1], geometry.keys.rows, -1)
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
            own = self.geometry.nearest[chosen, None].expand(*weights.shape[:-1], 1)
            self._add("self_mass", _whole_sum(weights.gather(-1, own)))
        if "sink_mass" in self.metrics:
            self._add("received", _column_sums(weights))

    def _add_information(self, whole: Tensor) -> None:
        metrics = self.metrics
        if metrics.isdisjoint({"entropy", "nmi", "head_divergence"}):
            return
        self._add("entropy", _whole_sum(torch.special.entr(whole)))
        if "nmi" in metrics:
            self._add("marginal", _column_sums(whole))
        if "head_divergence" in metrics:
            of_mean = torch.special.entr(whole.mean(1))
            self._add("mixture", _whole_sum(of_mean)[:, None])

    def finish(self) -> dict[str, Float[Tensor, "batch head"]]:
        """The metrics of every image, from the sums over its rows; NaN where no row counts."""
        rows: Tensor = torch.tensor(float(len(self.geometry.grid)))
        if self._queries is not None:
            rows = self._queries.sum(-1)[:, None].to(self.geometry.distances)
        means = {}
        for name, value in self._sums.items():
            by_token = value.ndim > 2 and rows.ndim > 0
            means[name] = value / (rows[..., None] if by_token else rows)
        if "rms" in means:
            means["rms"] = means["rms"].sqrt()
        if "received" in means:
            received = means.pop("received")
            means["sink_mass"] = received.amax(-1)
            self.received = means.pop("received_by_all", received)
        if "marginal" in means:
            marginal = means.pop("marginal")
            entropy = means["entropy"]
            means["nmi"] = _normalized_information(marginal, entropy, rows.log())
        if "mixture" in means:
            of_heads = means["entropy"].mean(1, keepdim=True)
            divergence = means.pop("mixture") - of_heads
            means["head_divergence"] = divergence.clamp(min=0)
        return {name: means[name] for name in means if name in self.metrics}


def in_blocks(values: Tensor) -> bool:
    """Whether blocks of these values are summed in float32: on GPUs."""
    return values.device.type != "cpu" and values.dtype == torch.float32


def _weighted(
    weights: Float[Tensor, "batch head query key"], values: Float[Tensor, "query key"]
) -> Float[Tensor, "batch head"]:
    """Sum of ``weights * values`` over rows and what they give to."""
    if in_blocks(weights):
        return _whole_sum(weights * values.to(weights.dtype))
    # As one product with a vector
    return weights.flatten(2).to(values.dtype) @ values.flatten()


def _whole_sum(values: Float[Tensor, "*any query key"]) -> Float[Tensor, "*any"]:
    """A sum over rows and what they give to."""
    if in_blocks(values):
        return values.sum(-1).sum(-1, dtype=_precise(values))
    return values.sum((-2, -1), dtype=_precise(values))


def _column_sums(values: Float[Tensor, "*any query key"]) -> Float[Tensor, "*any key"]:
    """A sum over rows, for each token that they give to."""
    if not in_blocks(values):
        return values.sum(-2, dtype=_precise(values))
    count = values.shape[-2] // _BLOCK
    whole = values[..., : count * _BLOCK, :]
    rest = values[..., count * _BLOCK :, :]
    *cases, _, keys = values.shape
    blocks = whole.reshape(*cases, count, _BLOCK, keys).sum(-2)
    return blocks.sum(-2, dtype=_precise(values)) + rest.sum(-2)


def _precise(values: Tensor) -> torch.dtype | None:
    """The number format of sums: float64, where the device has it."""
    return None if values.device.type == "mps" else torch.float64


def _normalized_information(
    marginal: Tensor, entropy: Tensor, of_rows: Tensor
) -> Float[Tensor, "batch head"]:
    """Mutual information of row and column over the geometric mean of their entropies.

    Where all look at one token, both information and entropy are 0; the quotient is 0 then.
    """
    of_columns = torch.special.entr(marginal).sum(-1)
    information = (of_columns - entropy).clamp(min=0)
    scale = (of_columns * of_rows.to(of_columns)).clamp(min=0).sqrt()
    nothing = (of_columns < 1e-6) | (scale == 0)
    return torch.where(nothing, 0.0, information / scale.masked_fill(nothing, 1.0))
