"""Measurements of models as tables: tidy rows with intervals, of heads and of layers."""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float64
from torch import Tensor

from vit_str.analysis.distance.measure import (
    OWN_VALUE_COSINE,
    UNITS_OF_DISTANCE,
    VALUE_DISTANCE,
    DistanceAnalysis,
)
from vit_str.analysis.distance.sinks import sink_table
from vit_str.analysis.results import means_table
from vit_str.analysis.statistics import METRICS, PER_LAYER, UNITS, AttentionStatistics
from vit_str.files import write_atomically

_TRAININGS = 3  # of which an interval says something


def measurements(analysis: DistanceAnalysis) -> pd.DataFrame:
    """Every metric of every head, and of every layer as the mean of its heads.

    A row has ``model``, ``layer`` and ``head`` (from 1; missing for what is of the whole layer),
    ``metric``, ``unit``, ``norm``, and the ``mean`` over ``n`` images with its 95 % interval
    (``low``, ``high``). Distance comes in pixels, in patches (sides of the square as large as
    one), and as a share of that of uniform attention in the layer and of the diagonal of the image.
    """
    values = {metric: analysis.values(metric) for metric in analysis.metrics}
    return _measurements(analysis.model, analysis, values)


def check_group(trainings: int) -> None:
    """Refuse a group of fewer trainings than an interval between them needs."""
    if trainings < _TRAININGS:
        raise ValueError(
            f"intervals between trainings need {_TRAININGS} or more, found "
            f"{trainings}: give more, or measure each by itself"
        )


def over_trainings(name: str, analyses: Sequence[DistanceAnalysis]) -> pd.DataFrame:
    """`measurements` of several trainings of one architecture, with intervals between them.

    A value is the mean over images of one training, ``n`` counts trainings. Heads have no order
    that trainings share: head 1 is the one that looks least far in its layer, in every training.

    Raises:
        ValueError: fewer than three trainings, or of other layers, heads, tokens or chance lines.
    """
    check_group(len(analyses))
    shapes = {tuple(map(len, _ranked(analysis, "distance"))) for analysis in analyses}
    if len(shapes) > 1:
        raise ValueError(
            f"{name}: trainings of one group have the same layers and heads"
        )
    first = analyses[0]
    if not all(_are_comparable(analysis, first) for analysis in analyses):
        raise ValueError(
            f"{name}: trainings of one group have the same tokens, windows and masks, "
            "on the same images"
        )
    values = {}
    for metric in first.metrics:
        ranked = [_ranked(analysis, metric) for analysis in analyses]
        layers = zip(*ranked, strict=True)
        values[metric] = [torch.stack(trainings) for trainings in layers]
    return _measurements(name, first, values)


def _are_comparable(one: DistanceAnalysis, other: DistanceAnalysis) -> bool:
    """Whether two have the same tokens, and the same distance by chance in every layer."""
    if one.grid != other.grid:
        return False
    by_chance = one.statistics.chance()["uniform"]["distance"]
    return by_chance == other.statistics.chance()["uniform"]["distance"]


def _ranked(analysis: DistanceAnalysis, metric: str) -> list[Float64[Tensor, " head"]]:
    """Means over images, layer by layer, of heads in the order of their distance."""
    means = [layer.nanmean(0) for layer in analysis.values(metric)]
    if metric in PER_LAYER:
        return means
    distances = analysis.statistics.values("distance")
    ranks = [layer.nanmean(0).argsort() for layer in distances]
    return [heads[order] for heads, order in zip(means, ranks, strict=True)]


def _measurements(
    name: str,
    analysis: DistanceAnalysis,
    values: dict[str, list[Float64[Tensor, "case head"]]],
) -> pd.DataFrame:
    tables = []
    units = scales(analysis.statistics)
    for metric, layers in values.items():
        for layer, of_heads in enumerate(layers):
            count = 0 if metric in PER_LAYER else of_heads.shape[1]
            heads = [*range(1, count + 1), None]
            of_layer = of_heads.mean(1, keepdim=True)
            means = means_table(
                torch.cat([of_heads[:, :count], of_layer], 1),
                model=name,
                layer=layer + 1,
                head=pd.array(heads, dtype="Int64"),
                metric=metric,
                unit=UNITS_OF_DISTANCE[metric],
                norm=analysis.statistics.norm,
            )
            for unit, scale in units[metric].items():
                numbers = means[["mean", "low", "high"]] / scale[layer]
                tables.append(means.assign(unit=unit, **numbers))
    return pd.concat(tables, ignore_index=True)


def values_of_images(analysis: DistanceAnalysis) -> pd.DataFrame:
    """Every metric of every image, layer and head in its first unit; all count from 1."""
    frames = []
    for metric in analysis.metrics:
        for layer, values in enumerate(analysis.values(metric), 1):
            frame = pd.DataFrame(values.numpy(), columns=range(1, values.shape[1] + 1))
            frame.insert(0, "image", range(1, len(frame) + 1))
            frame = frame.melt("image", var_name="head")
            is_per_layer = metric in PER_LAYER
            frame["head"] = pd.NA if is_per_layer else frame["head"].astype("Int64")
            frame = frame.assign(
                layer=layer, metric=metric, unit=UNITS_OF_DISTANCE[metric]
            )
            frames.append(frame)
    table = pd.concat(frames, ignore_index=True).assign(model=analysis.model)
    return table[["model", "image", "layer", "head", "metric", "unit", "value"]]


def save_maps(path: Path, *analyses: DistanceAnalysis) -> None:
    """Write the maps that were kept as ``.npz``: layer -> image (or window), head, query, key.

    The layers of several models have ``training_01_`` and so on before them.
    """
    layers = {}
    for number, analysis in enumerate(analyses, 1):
        start = f"training_{number:02d}_" if len(analyses) > 1 else ""
        for layer, parts in enumerate(analysis.maps.values(), 1):
            layers[f"{start}layer_{layer:02d}"] = torch.cat(parts).numpy()
    with write_atomically(path) as file, file.open("wb") as stream:
        np.savez(stream, **layers)  # type: ignore[arg-type]


def sink_tokens(analysis: DistanceAnalysis) -> pd.DataFrame:
    """The token that each head attends to most in an image, over the ``n`` images.

    ``token`` is ``patch``, with ``row`` and ``column`` from 1, or the name of a special token: the
    one that is the sink in most images, which are ``place_share`` of all. ``share`` is what the
    sink of an image gets from a query, wherever it is, and ``times_uniform`` that over what uniform
    attention gives; ``value_norm`` is the norm of its value over the mean of the patches of the
    head, missing where values are not known. All three are means over images.

    What the head does is told image by image: ``no operation`` if the norm is below half the mean
    (it adds little), ``broadcast`` if not (it gives one value to all), ``no sink`` if the token
    gets less than three times what uniform attention gives. ``no_operation``, ``broadcast`` and
    ``no_sink`` are the shares of images, ``kind`` is the most frequent, ``kind_share`` its share.
    In layers with windows every window counts as an image.
    """
    special = analysis.special_names
    layers = []
    entropies = analysis.statistics.chance()["uniform"]["entropy"]
    nats = dict(zip(analysis.statistics.layers, entropies, strict=True))
    for layer, sinks in analysis.sinks.items():
        even = 1 / (math.exp(nats[layer]) + len(special))
        columns = analysis.statistics.tokens.keys_of(layer).columns
        layers.append(sinks.rows(even, columns, special))
    return sink_table(analysis.model, layers)


def special_tokens(analysis: DistanceAnalysis, names: Sequence[str]) -> pd.DataFrame:
    """Attention of the class token and registers, means over images with intervals.

    Metrics are those of ``AttentionStatistics.special_queries``.
    """
    tables = []
    for metric, layers in analysis.statistics.special_queries().items():
        for layer, values in enumerate(layers, 1):
            heads = range(1, values.shape[1] + 1)
            table = means_table(
                values,
                model=analysis.model,
                query=[*names] * len(heads),
                layer=layer,
                head=np.repeat(heads, len(names)),
                metric=metric,
                unit=UNITS[metric],
            )
            tables.append(table)
    return pd.concat(tables, ignore_index=True)


def chance_distances(
    statistics: AttentionStatistics, unit: str
) -> dict[str, list[float]]:
    """Attention distance of each chance line in one of its units, layer by layer."""
    by_layer = scales(statistics)["distance"][unit]
    lines = {}
    for name, metrics in statistics.chance().items():
        values = zip(metrics["distance"], by_layer, strict=True)
        lines[name] = [value / scale for value, scale in values]
    return lines


def scales(statistics: AttentionStatistics) -> dict[str, dict[str, list[float]]]:
    """Metric -> its units -> how many of the first unit one is, layer by layer."""
    uniform = statistics.chance()["uniform"]
    patches = [
        statistics.tokens.grid_of(layer).patch_size for layer in statistics.layers
    ]
    ones = [1.0] * len(patches)
    units = {metric: {UNITS[metric]: ones} for metric in METRICS}
    # A token that can attend to itself only has 0 of both.
    for metric in ("distance", "entropy"):
        units[metric]["share of uniform"] = [value or 1.0 for value in uniform[metric]]
    diagonal = math.hypot(*statistics.grid.image_size)
    units["distance"] = {
        "px": ones,
        "patches": [math.sqrt(height * width) for height, width in patches],
        "share of uniform": units["distance"]["share of uniform"],
        "share of diagonal": [diagonal] * len(patches),
    }
    units[VALUE_DISTANCE] = units["distance"]
    units[OWN_VALUE_COSINE] = {UNITS_OF_DISTANCE[OWN_VALUE_COSINE]: ones}
    return units
