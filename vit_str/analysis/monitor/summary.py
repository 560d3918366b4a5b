"""Attention of a model in a few numbers a layer, as loggers take them."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from vit_str.analysis.distance.api import attention_distance
from vit_str.analysis.geometry import TokenGrid
from vit_str.analysis.libraries.load import unwrapped
from vit_str.analysis.statistics import UNITS

MONITORED = ("distance", "entropy", "sink_mass")
"""How far heads look (px), over how many tokens (nats), and how much goes to one of them."""

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
        metrics: of `vit_str.analysis.statistics.METRICS`.
        grid: of the tokens, if the model has no attribute ``grid`` and is of no known library.
        batch_size: images at once, if they are one tensor.

    Returns:
        Such as ``attention_distance/layer_01`` -> 31.5, in the units of the metrics.

    Raises:
        ValueError: no attention that is supported, or images of another size, in one line.
    """
    model = unwrapped(model)
    parameter = next(model.parameters(), None)
    device = torch.device("cpu") if parameter is None else parameter.device
    with _modes_kept(model):
        measured = attention_distance(
            model,
            images,
            grid=grid,
            metrics=metrics,
            batch_size=batch_size,
            device=device,
        )
    rows = measured.rows
    layers = rows[rows["head"].isna() & rows["metric"].isin(metrics)]
    layers = layers[layers["unit"] == layers["metric"].map(UNITS)]
    return {
        f"attention_{row.metric}/layer_{row.layer:02d}": float(row.mean)
        for row in layers.itertuples()
    }


@contextmanager
def _modes_kept(model: nn.Module) -> Iterator[None]:
    """Put every module back into training or evaluation, as frozen ones may differ from others."""
    modes = [(module, module.training) for module in model.modules()]
    try:
        yield
    finally:
        for module, training in modes:
            module.training = training
