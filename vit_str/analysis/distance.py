"""Attention distance and its companions: models + images -> tidy rows with intervals."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float64
from torch import Tensor

from vit_str.analysis.geometry import TokenGrid, uniform_attention, window_attention
from vit_str.analysis.intervals import Mean, mean_over_images, paired_difference
from vit_str.analysis.material import Material
from vit_str.analysis.offsets import OffsetMaps
from vit_str.analysis.probe import probe
from vit_str.analysis.statistics import METRICS, PER_LAYER, UNITS, AttentionStatistics
from vit_str.analysis.subjects import Subject
from vit_str.analysis.tables import Row
from vit_str.models.attention import ScaledDotProductAttention

Chance = dict[str, dict[str, dict[str, float]]]
"""Model -> name of the chance line -> metric -> value."""


@dataclass(frozen=True, slots=True)
class DistanceAnalysis:
    """What was measured of one model.

    Attributes:
        model: its name.
        statistics: of every image, layer and head of its encoder.
        offsets: mean attention by offset, of the first images.
    """

    model: str
    statistics: AttentionStatistics
    offsets: OffsetMaps

    @property
    def grid(self) -> TokenGrid:
        """Of the tokens."""
        return self.statistics.grid

    @property
    def images(self) -> int:
        """How many were measured."""
        return len(self.statistics.values(self.statistics.metrics[0])[0])


def attends(subject: Subject) -> bool:
    """Whether the encoder has attention to measure; a convolution has none."""
    modules = subject.recognizer.encoder.modules()
    return any(isinstance(module, ScaledDotProductAttention) for module in modules)


@torch.no_grad()
def measure(
    subject: Subject,
    material: Material,
    norm: str = "renormalized",
    metrics: Sequence[str] = METRICS,
    batch_size: int = 32,
    device: torch.device | str = "cpu",
    offset_images: int = 64,
    advance: Callable[[int], object] | None = None,
) -> DistanceAnalysis:
    """Run the encoder over the images and listen to its self-attention.

    Args:
        subject: the model.
        material: the images.
        norm: see ``statistics``.
        metrics: which ones.
        batch_size: images at once.
        device: where to compute.
        offset_images: how many images the maps by offset are the mean of.
        advance: called with the number of images after every batch.

    Raises:
        ValueError: the encoder has no attention, or no image could be read.
    """
    encoder = subject.recognizer.encoder.to(device)
    grid = TokenGrid.of(encoder)
    statistics, offsets = AttentionStatistics(grid, metrics, norm), OffsetMaps(grid)
    seen = 0
    for batch in material.batches(batch_size):
        images = subject.preprocessing.normalize(batch.pixels.to(device))
        with probe(encoder, statistics.update):
            encoder(images)
        if seen < offset_images:
            with probe(encoder, offsets.update):
                encoder(images[: offset_images - seen])
        seen += len(batch)
        if advance:
            advance(len(batch))
    if not seen:
        raise ValueError(f"none of {material.description} could be read")
    return DistanceAnalysis(subject.name, statistics, offsets)


def rows(analysis: DistanceAnalysis, seed: int = 0) -> list[Row]:
    """Every metric of every head, and of every layer as the mean of its heads.

    Distance comes in pixels, in patches (sides of the square as large as one) and as a share of
    what looking everywhere alike gives.
    """
    found: list[Row] = []
    grid = analysis.grid
    for metric in analysis.statistics.metrics:
        for layer, values in enumerate(analysis.statistics.values(metric), 1):
            whole = [] if metric in PER_LAYER else [values]
            mean = mean_over_images(torch.cat([*whole, values.mean(1, keepdim=True)], 1), seed)
            heads = [*range(1, values.shape[1] + 1), None] if whole else [None]
            for unit, scale in _scales(metric, grid):
                found += _rows(analysis, layer, heads, metric, unit, mean, scale)
    return found


def chance(grid: TokenGrid) -> dict[str, dict[str, float]]:
    """Every metric for heads that have learned nothing: the lines that figures draw."""
    plain = TokenGrid(grid.rows, grid.columns, grid.patch_size)
    found = {}
    for name, attention in (
        ("uniform", uniform_attention(plain)),
        ("window 3x3", window_attention(plain, 1)),
    ):
        statistics = AttentionStatistics(plain)
        statistics.update_maps(name, attention[None, None])
        found[name] = {metric: float(statistics.values(metric)[0]) for metric in METRICS}
    return found


def _scales(metric: str, grid: TokenGrid) -> list[tuple[str, float]]:
    scales = [(UNITS[metric], 1.0)]
    if metric == "distance":
        scales += [
            ("patches", grid.mean_patch_side()),
            ("share of uniform", grid.uniform_distance() or 1.0),
        ]
    if metric == "entropy":
        scales += [("share of uniform", torch.tensor(float(len(grid))).log().item() or 1.0)]
    return scales


def _rows(
    analysis: DistanceAnalysis,
    layer: int,
    heads: Sequence[int | None],
    metric: str,
    unit: str,
    mean: Mean,
    scale: float,
) -> list[Row]:
    numbers = zip(*((part / scale).tolist() for part in mean[:3]), strict=True)
    norm = analysis.statistics.norm
    return [
        Row(analysis.model, layer, head, metric, unit, norm, value, low, high, mean.n)
        for head, (value, low, high) in zip(heads, numbers, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class Difference:
    """Second model minus first, on the same images.

    Attributes:
        matching: ``index`` (head 1 with head 1), ``rank`` (the head that looks least far with the
            head that does so in the other model) or ``layer`` (means of layers).
        layer: from 1.
        head: index or rank from 1; None for the layer.
        metric: see ``statistics.UNITS``.
        unit: of the numbers.
        first: mean of the first model.
        second: of the second.
        difference: second minus first.
        low: lower end of its 95 % interval, over paired images.
        high: upper end.
        n: number of images.
    """

    matching: str
    layer: int
    head: int | None
    metric: str
    unit: str
    first: float
    second: float
    difference: float
    low: float
    high: float
    n: int


def differences(
    first: DistanceAnalysis, second: DistanceAnalysis, seed: int = 0
) -> list[Difference]:
    """Paired differences of two models, heads matched by index and by rank.

    Where the layers have different numbers of heads, only their means are compared.

    Raises:
        ValueError: different depths, norms, metrics or images.
    """
    _check_comparable(first, second)
    found: list[Difference] = []
    reach = [analysis.statistics.values("distance") for analysis in (first, second)]
    for metric in first.statistics.metrics:
        pairs = zip(first.statistics.values(metric), second.statistics.values(metric), strict=True)
        for number, (one, other) in enumerate(pairs):
            matchings = {"layer": (one.mean(1, keepdim=True), other.mean(1, keepdim=True))}
            if one.shape == other.shape and metric not in PER_LAYER:
                ranked = [
                    values[:, by[number].mean(0).argsort()]
                    for values, by in zip((one, other), reach, strict=True)
                ]
                matchings |= {"index": (one, other), "rank": (ranked[0], ranked[1])}
            for matching, (left, right) in matchings.items():
                found += _differences(matching, number + 1, metric, left, right, seed)
    return found


def _check_comparable(first: DistanceAnalysis, second: DistanceAnalysis) -> None:
    for what in ("norm", "metrics", "layers"):
        one, other = getattr(first.statistics, what), getattr(second.statistics, what)
        if what == "layers":
            one, other = len(one), len(other)
        if one != other:
            raise ValueError(
                f"{first.model} and {second.model} cannot be compared: {what} {one} and {other}"
            )
    if "distance" not in first.statistics.metrics:
        raise ValueError("heads are ranked by distance; measure it too")
    if first.images != second.images:
        raise ValueError(f"not the same images: {first.images} and {second.images}")


def _differences(
    matching: str,
    layer: int,
    metric: str,
    first: Float64[Tensor, "image head"],
    second: Float64[Tensor, "image head"],
    seed: int,
) -> list[Difference]:
    mean = paired_difference(first, second, seed)
    heads = [None] if matching == "layer" else list(range(1, first.shape[1] + 1))
    means = zip(first.mean(0).tolist(), second.mean(0).tolist(), strict=True)
    numbers = zip(*(part.tolist() for part in mean[:3]), strict=True)
    unit = UNITS[metric]
    return [
        Difference(matching, layer, head, metric, unit, one, other, value, low, high, mean.n)
        for head, (one, other), (value, low, high) in zip(heads, means, numbers, strict=True)
    ]
