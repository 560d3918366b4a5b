"""Statistics of attention maps per image, layer and head, without keeping the maps.

``A`` is the attention of one image and head after the softmax: row i is what token i looks at. Only
tokens of the grid count as rows; what goes to special tokens is ``special_mass``. The rest of a row
is either scaled to sum to 1 (``renormalized``, as Park et al. 2023) or left as it is (``raw``, as
Dosovitskiy et al. 2020 and Raghu et al. 2021): without special tokens there is no difference.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import torch
from einops import reduce
from jaxtyping import Bool, Float, Float64
from scipy.special import stdtrit
from torch import Tensor

from vit_str.analysis.attended_tokens import AttendedTokens
from vit_str.analysis.geometry import (
    TokenGrid,
    Windows,
    neighborhood,
    uniform_attention,
)
from vit_str.analysis.row_sums import Geometry, RowSums
from vit_str.analysis.special_queries import SpecialQueries
from vit_str.models.attention import attention_weights

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
* ``self_mass``: what a token gives to itself; of pooled keys, to the nearest.
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

_CHUNK = 1 << 17  # numbers of a map at a time: they stay in the second cache of a CPU
_CHUNK_GPU = 1 << 22  # numbers that are worked on at once on a GPU
_CHUNK_OF_MAPS = 1 << 22  # of maps that are there already

Chance = dict[str, dict[str, list[float]]]
"""Name of a chance line, such as ``uniform`` -> metric -> its value in every layer."""
_Rows = Callable[[slice, slice], Tensor]
"""Images and rows that are asked for -> their attention, special columns first."""


class AttentionStatistics:
    """Statistics of attention maps updated batch by batch.

    A layer with windows has the statistics of a window, means over the windows of an image
    (``rms``: root of the mean of squares); its sinks are places in the window. A token of a shifted
    window never looks across the border at which the image was rolled, so distances in a window are
    those in the image. Of pooled keys, distances are to the middles of the keys.

    Args:
        grid: of the tokens.
        metrics: of ``METRICS``; fewer are faster.
        norm: ``renormalized`` or ``raw``, see above.
        chunk: most numbers of a map in memory at a time.
        windows: layer -> its windows.

    Raises:
        ValueError: a metric or the norm is unknown.
    """

    def __init__(
        self,
        grid: TokenGrid,
        metrics: Sequence[str] = METRICS,
        norm: str = "renormalized",
        chunk: int | None = None,
        windows: Mapping[str, Windows] | None = None,
    ) -> None:
        unknown = sorted(set(metrics) - set(METRICS))
        if unknown:
            raise ValueError(
                f"unknown metrics {unknown}; known are {', '.join(METRICS)}"
            )
        if norm not in NORMS:
            raise ValueError(f"norm must be one of {', '.join(NORMS)}, found {norm!r}")
        self.grid = grid
        self.tokens = AttendedTokens(grid, windows)
        self.metrics = tuple(metrics)
        self.norm = norm
        self.chunk = chunk
        self._measures: dict[str, list[dict[str, Tensor]]] = {}
        self._special = SpecialQueries()
        self._received: dict[str, Tensor] = {}  # by the last batch
        self._geometry: dict[tuple[TokenGrid, TokenGrid, torch.device], Geometry] = {}
        self._chance: Chance = {}

    @property
    def layers(self) -> list[str]:
        """Names of the layers, in the order of the first batch."""
        return list(self._measures)

    def only(self, queries: Bool[Tensor, "batch token"] | None) -> None:
        """Count only these tokens of the grid as queries from the next batch on; None for all.

        Raises:
            ValueError: for models with windows or pooled keys, and other numbers of tokens.
        """
        self.tokens.choose(queries)

    @property
    def share_of_queries(self) -> float:
        """Share of the tokens of the grid that counted as queries, over all images."""
        return self.tokens.share_of_queries(self.layers[0]) if self.layers else 1.0

    @torch.no_grad()
    def update(
        self,
        layer: str,
        queries: Float[Tensor, "batch head query head_dim"],
        keys: Float[Tensor, "batch head key head_dim"],
        mask: Tensor | None = None,
    ) -> None:
        """Add a batch of images, from what goes into the softmax, see `probe`."""
        grid = self.tokens.checked_grid(layer, queries.shape[-2], keys.shape[-2])
        special = grid.special_tokens
        queries = _at_least_single(queries)
        keys = _at_least_single(keys)
        if mask is not None:
            mask = mask.expand(*queries.shape[:-1], keys.shape[-2])
        of_special = None if mask is None else mask[..., :special, :]
        maps = _maps(queries[..., :special, :], keys, of_special)
        self._special.add(layer, maps)
        queries = queries[..., special:, :]
        if mask is not None:
            mask = mask[..., special:, :]
            if layer not in self._measures:  # the first batch
                self.tokens.note_mask(layer, mask, special)

        def rows(images: slice, chosen: slice) -> Tensor:
            part = None if mask is None else mask[images, :, chosen]
            return _maps(queries[images, :, chosen], keys[images], part)

        chunk = _CHUNK if queries.device.type == "cpu" else _CHUNK_GPU
        self._add(layer, queries, rows, chunk)

    @torch.no_grad()
    def update_maps(
        self, layer: str, maps: Float[Tensor, "batch head query key"]
    ) -> None:
        """Add a batch of images whose maps are there already."""
        special = self.tokens.checked_grid(layer, *maps.shape[-2:]).special_tokens
        self._special.add(layer, _at_least_single(maps[..., :special, :]))
        maps = maps[..., special:, :]

        def rows(images: slice, chosen: slice) -> Tensor:
            return _at_least_single(maps[images, :, chosen])

        self._add(layer, maps, rows, _CHUNK_OF_MAPS)

    def values(self, metric: str) -> list[Float64[Tensor, "image head"]]:
        """A metric of every image, layer by layer; one column if it is of the whole layer."""
        layers = []
        for layer, measures in self._measures.items():
            batches = [measure[metric].cpu().double() for measure in measures]
            values = torch.cat(batches)
            if layer in self.tokens.windows:
                power = 2 if metric == "rms" else 1
                count = len(self.tokens.windows[layer].allowed)
                means = reduce(values**power, "(b w) head -> b head", "mean", w=count)
                values = means ** (1 / power)
            layers.append(values)
        return layers

    def received(self, layer: str) -> Float64[Tensor, "case head key"] | None:
        """Attention that tokens get in images (or windows) of the last batch, mean over queries.

        Special tokens come first, and nothing is scaled: all shares of a head sum to 1. Images
        without any query have none (NaN). None if ``sink_mass`` is not asked for.
        """
        return self._received.get(layer)

    def special_queries(self) -> dict[str, list[Float64[Tensor, "image head token"]]]:
        """Attention of the special tokens, layer by layer, see `SpecialQueries`."""
        return self._special.values()

    def chance(self) -> Chance:
        """Every metric of heads that attend evenly to all they may, or to the 3 x 3 around.

        What a query may attend to is decided by windows, their shift and masks; of masks those of
        the first batch. Only the tokens that counted as queries count here too, image by image.

        Raises:
            ValueError: no token of any image counted as a query.
        """
        if self._chance:
            return self._chance
        lines: Chance = {
            "uniform": {metric: [] for metric in METRICS},
            "window 3x3": {metric: [] for metric in METRICS},
        }
        known: dict[tuple[int, bytes, str], dict[str, float]] = {}
        for layer in self.layers:
            attended = self.tokens.allowed(layer)
            queries = self.tokens.queries_of(layer)
            of_queries = b"" if queries is None else queries.numpy().tobytes()
            for name, line in lines.items():
                key = (id(self.tokens.source(layer)), of_queries, name)
                if key not in known:
                    cases = attended
                    if name != "uniform":
                        around = neighborhood(attended.grid, attended.keys)
                        cases = replace(attended, allowed=attended.allowed & around)
                    known[key] = _even_attention(cases, queries)
                for metric, values in line.items():
                    values.append(known[key][metric])
        self._chance = lines
        return lines

    def _add(self, layer: str, like: Tensor, rows: _Rows, chunk: int) -> None:
        """Measure a batch, as many rows at a time as the numbers of a chunk allow.

        Args:
            layer: name.
            like: has the batch, heads, rows and device of what ``rows`` gives.
            rows: gives some rows of some images.
            chunk: most numbers of a map at a time.
        """
        device = like.device
        geometry = self._geometry_of(layer, device)
        counted: Tensor | None = None
        if self.tokens.queries is not None:
            counted = self.tokens.queries.to(device, torch.float32)
        batch, heads, tokens = like.shape[:3]
        limit = self.chunk or chunk
        special = self.tokens.grid_of(layer).special_tokens
        keys = len(self.tokens.keys_of(layer)) + special
        per_row = heads * keys
        images = max(1, limit // (per_row * tokens))
        queries = max(1, min(tokens, limit // per_row))
        # One piece of memory per metric, not one per chunk
        whole: dict[str, Tensor] = {}
        of_chunks: list[Tensor] = []
        for start in range(0, batch, images):
            of_chunk = None if counted is None else counted[start : start + images]
            sums = RowSums(geometry, self.metrics, self.norm, of_chunk)
            for first in range(0, tokens, queries):
                chosen = slice(first, min(first + queries, tokens))
                sums.add(rows(slice(start, start + images), chosen), chosen)
            for name, value in sums.finish().items():
                if not start:
                    whole[name] = value.new_empty(batch, value.shape[1])
                whole[name][start : start + images] = value
            of_chunks.append(sums.received.cpu().double())
        if batch:
            if "sink_mass" in self.metrics:
                self._received[layer] = torch.cat(of_chunks)
            self._measures.setdefault(layer, []).append(whole)
            self._chance = {}
            self.tokens.note_queries(layer, batch)

    def _geometry_of(self, layer: str, device: torch.device) -> Geometry:
        """Distances between the tokens of a layer, worked out once for each device."""
        place = self.tokens.grid_of(layer), self.tokens.keys_of(layer), device
        if place not in self._geometry:
            self._geometry[place] = Geometry(*place)
        return self._geometry[place]


def _even_attention(
    windows: Windows, queries: Bool[Tensor, "image query"] | None
) -> dict[str, float]:
    """Every metric of attention that is even over what is allowed, mean over cases and images."""
    plain = replace(windows.grid, special_tokens=0)
    keys = replace(windows.keys, special_tokens=0)
    even = uniform_attention(windows.allowed)[:, None]
    if queries is None:
        layer = Windows(plain, windows.allowed, keys)
        cases = AttentionStatistics(plain, windows={"layer": layer})
        cases.update_maps("layer", even)
        return {metric: float(cases.values(metric)[0]) for metric in METRICS}
    distinct, images = torch.unique(queries, dim=0, return_counts=True)
    weights = images.double() / images.sum()
    means = dict.fromkeys(METRICS, 0.0)
    for case in even:
        of_case = AttentionStatistics(plain)
        of_case.only(distinct)
        of_case.update_maps("layer", case.expand(len(distinct), -1, -1, -1))
        for metric in METRICS:
            (values,) = of_case.values(metric)
            mean = float(weights @ values[:, 0])
            means[metric] += mean / len(even)
    return means


def _at_least_single(values: Tensor) -> Tensor:
    """Half-precision numbers in float32, in which the maps are worked out."""
    is_half = values.dtype in (torch.float16, torch.bfloat16)
    return values.float() if is_half else values


def _maps(queries: Tensor, keys: Tensor, mask: Tensor | None) -> Tensor:
    """`attention_weights`, where nothing is masked with one pass less over what is in the cache."""
    if mask is not None and mask.dtype == torch.bool:
        return attention_weights(queries, keys, mask)
    scores = torch.baddbmm(
        queries.new_empty(1, 1, 1),
        queries.flatten(0, 1),
        keys.flatten(0, 1).transpose(1, 2),
        beta=0,
        alpha=queries.shape[-1] ** -0.5,
    )
    scores = scores.reshape(*queries.shape[:-1], keys.shape[-2])
    return (scores if mask is None else scores.add_(mask)).softmax(-1)


class Mean(NamedTuple):
    """Means over images with 95 % intervals; every tensor is of the shape of one image's values."""

    mean: Float64[Tensor, "..."]
    low: Float64[Tensor, "..."]
    high: Float64[Tensor, "..."]
    n: int


def mean_over(values: Float64[Tensor, "case ..."]) -> Mean:
    """Mean over independent cases (images, words, trainings) with its interval.

    The interval is right for few cases too, where percentiles of resamples are too narrow. Cases
    without a value (NaN) do not count in that cell; a single case has no width.

    Raises:
        ValueError: without any case.
    """
    if not len(values):
        raise ValueError("no images to take the mean over")
    known = (~values.isnan()).sum(0).double()
    mean = values.nanmean(0)
    freedom = (known - 1).clamp(min=1)
    variance = (values - mean).square().nansum(0) / freedom
    points = torch.as_tensor(stdtrit(freedom.numpy(), 0.975))
    half = points * (variance / known).sqrt()
    return Mean(mean, mean - half, mean + half, len(values))
