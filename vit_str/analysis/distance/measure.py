"""Attention distance and its companions: a model + images -> numbers of every image and head."""

from collections import Counter
from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float, Float64
from torch import Tensor, nn

from vit_str.analysis.distance.offsets import OffsetMaps
from vit_str.analysis.distance.sinks import SinkOfImages
from vit_str.analysis.geometry import TokenGrid, windows_of
from vit_str.analysis.libraries.encoder import probe_layers
from vit_str.analysis.probe import Callback, map_of
from vit_str.analysis.statistics import METRICS, UNITS, AttentionStatistics
from vit_str.analysis.subjects import Subject
from vit_str.analysis.values import ValueStatistics
from vit_str.models.attention import ScaledDotProductAttention

VALUE_DISTANCE = "value_distance"
"""``distance`` of attention times the norm of the values that it is given to, rows scaled to sum
to 1, in pixels. Models that compute their softmax by hand do not show their values: no such row."""

OWN_VALUE_COSINE = "own_value_cosine"
"""Cosine of what a head puts out for a token with the token's own value, mean over tokens: 1 if it
adds nothing but what the skip connection has. No such row where values are not shown."""

METRICS_OF_VALUES = (VALUE_DISTANCE, OWN_VALUE_COSINE)
METRICS_OF_DISTANCE = (*METRICS, *METRICS_OF_VALUES)
UNITS_OF_DISTANCE = {**UNITS, VALUE_DISTANCE: UNITS["distance"], OWN_VALUE_COSINE: "1"}


class DistanceAnalysis:
    """Self-attention of a model in numbers, updated batch by batch.

    Models with windows have no maps by offset.

    Args:
        model: its name.
        encoder: with the attention.
        norm: ``renormalized`` or ``raw``, see `vit_str.analysis.statistics`.
        metrics: of `METRICS_OF_DISTANCE`.
        grid: of the tokens, if the encoder has no attribute ``grid``.
        keep_maps: images whose attention maps are kept.
    """

    def __init__(
        self,
        model: str,
        encoder: nn.Module,
        norm: str = "renormalized",
        metrics: Sequence[str] = METRICS_OF_DISTANCE,
        grid: TokenGrid | None = None,
        keep_maps: int = 0,
    ) -> None:
        self.model = model
        self.encoder = encoder
        self.grid = grid or TokenGrid.of(encoder)  # type: ignore[arg-type]
        windows = windows_of(encoder)
        of_maps = [metric for metric in metrics if metric not in METRICS_OF_VALUES]
        self._of_values = [name for name in METRICS_OF_VALUES if name in metrics]
        self.statistics = AttentionStatistics(self.grid, of_maps, norm, windows=windows)
        self.by_values = ValueStatistics(self.grid, norm, windows)
        self.offsets = OffsetMaps(self.grid)
        self.sinks: dict[str, SinkOfImages] = {}
        self.maps: dict[str, list[Tensor]] = {}
        self._kept = keep_maps
        self._callbacks = [self.statistics.update]
        self._with_values = [self.by_values.update] if self._of_values else []
        if not windows:  # in which offsets of one layer are not those of another
            self._callbacks.append(self.offsets.update)

    @torch.no_grad()
    def update(
        self,
        images: Float[Tensor, "batch channel height width"],
        queries: Bool[Tensor, "batch token"] | None = None,
    ) -> None:
        """Add normalized images, on the encoder's device; by default all tokens are queries.

        Raises:
            ValueError: for values that are not finite.
        """
        if not images.isfinite().all():
            raise ValueError("images hold values that are not finite (NaN or infinite)")
        self.statistics.only(queries)
        self.offsets.only(queries)
        self.by_values.only(queries)
        ran: Counter[str] = Counter()

        def count(layer: str, *_: object) -> None:
            ran[layer] += 1

        callbacks: list[Callback] = [count, *self._callbacks]
        if self._kept > 0:
            callbacks.append(self._keep)
        with probe_layers(self.encoder, *callbacks, with_values=self._with_values):
            self.encoder(images)
        self._kept -= len(images)
        for layer in ran:
            received = self.statistics.received(layer)
            if received is not None:
                sinks = self.sinks.setdefault(layer, SinkOfImages())
                sinks.add(received, self.by_values.norms.get(layer))
        for layer, times in ran.items():
            if times > 1:
                raise ValueError(
                    f"{type(self.encoder).__name__}: attention of {layer or 'it'} ran "
                    f"{times} times for one batch: layers that share a module, and "
                    "images seen several times, are not told apart"
                )

    @property
    def metrics(self) -> tuple[str, ...]:
        """Names of the measurements, of `METRICS_OF_DISTANCE`."""
        measured = self.statistics.metrics
        return (*measured, *self._of_values) if self.by_values.known else measured

    def values(self, metric: str) -> list[Float64[Tensor, "image head"]]:
        """A metric of every image, layer by layer; one column if it is of the whole layer."""
        if metric == VALUE_DISTANCE:
            return self.by_values.weighted.values("distance")
        if metric == OWN_VALUE_COSINE:
            return self.by_values.own_value_cosines()
        return self.statistics.values(metric)

    @property
    def special_names(self) -> list[str]:
        """Names of the tokens before those of the grid."""
        names = list(getattr(self.encoder, "special_names", ()))
        count = self.grid.special_tokens
        return names or [f"special {number}" for number in range(1, count + 1)]

    @property
    def images(self) -> int:
        """How many were measured."""
        return len(self.statistics.values(self.statistics.metrics[0])[0])

    def _keep(
        self,
        layer: str,
        queries: Tensor,
        keys: Tensor,
        mask: Tensor | None,
    ) -> None:
        windows = self.statistics.tokens.windows
        per_image = len(windows[layer].allowed) if windows else 1
        maps = map_of(queries, keys, mask)[: self._kept * per_image]
        self.maps.setdefault(layer, []).append(maps.cpu())


def attends(subject: Subject) -> bool:
    """Whether the encoder has attention to measure; a convolution has none."""
    if not subject.reads:
        return True
    modules = subject.encoder.modules()
    return any(isinstance(module, ScaledDotProductAttention) for module in modules)
