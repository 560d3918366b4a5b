"""Attention distance and its companions: models + images -> tidy rows with intervals."""

import math
from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn

from vit_str.analysis.distance.offsets import OffsetMaps
from vit_str.analysis.geometry import TokenGrid, uniform_attention, window_attention
from vit_str.analysis.libraries.encoder import LibraryEncoder, probe_layers
from vit_str.analysis.means import mean_over_images
from vit_str.analysis.results import Measurement, numbers_of
from vit_str.analysis.statistics import METRICS, PER_LAYER, UNITS, AttentionStatistics
from vit_str.analysis.subjects import Subject
from vit_str.models.attention import ScaledDotProductAttention

Chance = dict[str, dict[str, float]]
"""Name of a chance line, such as ``uniform`` -> metric -> value."""


class DistanceAnalysis:
    """Self-attention of a model in numbers, updated batch by batch.

    Args:
        model: its name.
        encoder: in evaluation mode.
        norm: of `statistics`, as are the metrics.
        metrics: to measure.
        grid: of the tokens of an encoder that does not tell.

    Models with windows have no maps by offset.
    """

    def __init__(
        self,
        model: str,
        encoder: nn.Module,
        norm: str = "renormalized",
        metrics: Sequence[str] = METRICS,
        grid: TokenGrid | None = None,
    ) -> None:
        self.model, self._encoder = model, encoder
        self.grid = grid or TokenGrid.of(encoder)  # type: ignore[arg-type]
        windows = encoder.windows if isinstance(encoder, LibraryEncoder) else {}
        self.statistics = AttentionStatistics(self.grid, metrics, norm, windows=windows)
        self.offsets = OffsetMaps(self.grid)
        self._callbacks = [self.statistics.update]
        if not windows:  # in which offsets of one layer are not those of another
            self._callbacks.append(self.offsets.update)

    @torch.no_grad()
    def update(self, images: Float[Tensor, "batch channel height width"]) -> None:
        """Add images that are prepared as the encoder takes them, on its device.

        Raises:
            ValueError: the encoder has no attention.
        """
        with probe_layers(self._encoder, *self._callbacks):
            self._encoder(images)

    @property
    def images(self) -> int:
        """How many were measured."""
        return len(self.statistics.values(self.statistics.metrics[0])[0])


def attends(subject: Subject) -> bool:
    """Whether the encoder has attention to measure; a convolution has none."""
    known = ScaledDotProductAttention, LibraryEncoder
    return any(isinstance(module, known) for module in subject.encoder.modules())


def measurements(analysis: DistanceAnalysis, seed: int = 0) -> list[Measurement]:
    """Every metric of every head, and of every layer as the mean of its heads.

    Distance comes in pixels, in patches (sides of the square as large as one), and as a share of
    that of uniform attention and of the diagonal of the image.
    """
    rows: list[Measurement] = []
    statistics = analysis.statistics
    for metric in statistics.metrics:
        for layer, values in enumerate(statistics.values(metric), 1):
            heads = [] if metric in PER_LAYER else [values]
            mean = mean_over_images(torch.cat([*heads, values.mean(1, keepdim=True)], 1), seed)
            names = [*range(1, values.shape[1] + 1), None] if heads else [None]
            for unit, scale in scales(metric, analysis.grid).items():
                rows += [
                    Measurement(
                        *(analysis.model, layer, head, metric, unit, statistics.norm),
                        *(*numbers, mean.n),
                    )
                    for head, numbers in zip(names, numbers_of(mean, scale), strict=True)
                ]
    return rows


def chance(grid: TokenGrid) -> Chance:
    """Every metric for heads that have learned nothing: the lines that figures draw."""
    plain = TokenGrid(grid.rows, grid.columns, grid.patch_size)
    lines = {}
    for name, attention in (
        ("uniform", uniform_attention(plain)),
        ("window 3x3", window_attention(plain)),
    ):
        statistics = AttentionStatistics(plain)
        statistics.update_maps(name, attention[None, None])
        lines[name] = {metric: float(statistics.values(metric)[0]) for metric in METRICS}
    return lines


def chance_distances(lines: Chance, grid: TokenGrid, unit: str) -> dict[str, float]:
    """Attention distance of each chance line in one of its units."""
    scale = scales("distance", grid)[unit]
    return {name: metrics["distance"] / scale for name, metrics in lines.items()}


def scales(metric: str, grid: TokenGrid) -> dict[str, float]:
    """Unit of a metric -> how many of its first unit that is."""
    units = {UNITS[metric]: 1.0}
    if metric == "distance":
        units["patches"] = grid.mean_patch_side()
        units["share of uniform"] = grid.uniform_distance() or 1.0
        units["share of diagonal"] = math.hypot(*grid.image_size)
    if metric == "entropy":
        units["share of uniform"] = torch.tensor(float(len(grid))).log().item() or 1.0
    return units
