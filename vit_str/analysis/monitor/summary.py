"""Attention of a model in a few numbers a layer, as loggers take them."""

from collections.abc import Iterable, Sequence
from typing import Any

from torch import Tensor, nn

from vit_str.analysis.distance.api import attention_distance
from vit_str.analysis.distance.measure import OWN_VALUE_COSINE, UNITS_OF_DISTANCE
from vit_str.analysis.geometry import TokenGrid

MONITORED = ("distance", "entropy", "sink_mass", OWN_VALUE_COSINE)
"""How far heads look (px), over how many tokens (nats), how much goes to one of them, and how much
of an output is the token's own value (cosine; not of models that do not show their values)."""

Images = Tensor | Iterable[Any]
"""A tensor (image, channel, height, width) as the model takes it, or batches of it."""


def attention_summary(
    model: nn.Module,
    images: Images,
    metrics: Sequence[str] = MONITORED,
    grid: TokenGrid | None = None,
    batch_size: int = 32,
) -> dict[str, float]:
    """Means over the images and heads of every layer.

    The model is measured where it is, in evaluation mode and without gradients; then every one of
    its modules is in the mode that it was in.

    Args:
        model: what `attention_distance` takes as a torch module.
        images: as the model takes them.
        metrics: of `vit_str.analysis.distance.measure.METRICS_OF_DISTANCE`.
        grid: of the tokens, if the model has no attribute ``grid`` and is of no known library.
        batch_size: images at once, if they are one tensor.

    Returns:
        Such as ``attention_distance/layer_01`` -> 31.5, in the units of the metrics.

    Raises:
        ValueError: no attention that is supported, or images of another size, in one line.
    """
    measured = attention_distance(
        model, images, grid=grid, metrics=metrics, batch_size=batch_size
    )
    rows = measured.rows
    layers = rows[rows["head"].isna() & rows["metric"].isin(metrics)]
    layers = layers[layers["unit"] == layers["metric"].map(UNITS_OF_DISTANCE)]
    return {
        f"attention_{row.metric}/layer_{row.layer:02d}": float(row.mean)
        for row in layers.itertuples()
    }
