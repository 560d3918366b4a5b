"""Attention rollout: which patches reach a token through all layers (Abnar and Zuidema 2020).

A layer passes on what its attention mixes, and through the skip connection what was there: its
matrix is ``residual * I + (1 - residual) * A``, A the mean over heads. The product of these
matrices tells how much of each patch is in each token after a layer, as far as attention alone
decides: values, norms and feed-forward layers are left out. Grids need not be square, and special
tokens take part.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Float64, Int64
from torch import Tensor

from vit_str.analysis.geometry import TokenGrid, attention_maps
from vit_str.analysis.libraries.encoder import probe_layers
from vit_str.analysis.probe import Callback, map_of
from vit_str.analysis.results import Measurement, of_layers
from vit_str.analysis.statistics import UNITS, AttentionStatistics, mean_over
from vit_str.analysis.subjects import Subject
from vit_str.models import Decoder, Encoder, Recognizer
from vit_str.models.cross_attention import cross_attention

Mixed = Float64[Tensor, "batch token token"]

RESIDUAL = 0.5  # share of the skip connection; the paper's choice
_METRICS = ("distance", "entropy", "self_mass")


def rollout(
    maps: Sequence[Float[Tensor, "batch head query key"]], residual: float = RESIDUAL
) -> list[Mixed]:
    """What every token is mixed of after each layer, from the maps of all; rows sum to 1.

    Raises:
        ValueError: a share below 0 or above 1.
    """
    if not 0 <= residual <= 1:
        raise ValueError(f"residual must be from 0 to 1, found {residual}")
    unmixed = torch.eye(maps[0].shape[-1], dtype=torch.float64)
    mixed: list[Mixed] = []
    for each in maps:
        layer = residual * unmixed + (1 - residual) * each.cpu().double().mean(1)
        mixed.append(layer @ mixed[-1] if mixed else layer)
    return mixed


@torch.no_grad()
def encoder_rollout(
    encoder: Encoder,
    images: Float[Tensor, "batch channel height width"],
    residual: float = RESIDUAL,
    *callbacks: Callback,
) -> list[Mixed]:
    """The rollout of a Vision Transformer after each of its layers; ``callbacks`` as of `probe`.

    Raises:
        ValueError: the encoder has no attention, or attention inside windows.
    """
    if encoder.windows:
        raise ValueError("attention inside windows: rollout needs the same tokens everywhere")
    maps: dict[str, Tensor] = {}

    def keep(layer: str, queries: Tensor, keys: Tensor, mask: Tensor | None) -> None:
        maps[layer] = map_of(queries, keys, mask)

    with probe_layers(encoder, keep, *callbacks):
        encoder(images)
    return rollout(list(maps.values()), residual)


@torch.no_grad()
def character_rollout(
    recognizer: Recognizer,
    images: Float[Tensor, "batch channel height width"],
    labels: Int64[Tensor, "batch position"],
    residual: float = RESIDUAL,
) -> Float64[Tensor, "batch position row column"]:
    """Patches that reach each character of ``labels`` through encoder and cross-attention.

    Cross-attention is the mean over the heads of the last block; every map sums to 1.
    """
    encoder, decoder = recognizer.encoder, recognizer.decoder
    mixed = encoder_rollout(encoder, images, residual)[-1]
    seen = looked_at(decoder, encoder(images), labels)
    return attention_maps(encoder, seen @ mixed)


def looked_at(
    decoder: Decoder,
    features: Float[Tensor, "batch token dim"],
    labels: Int64[Tensor, "batch position"],
) -> Float64[Tensor, "batch position token"]:
    """Attention to the features while ``labels`` are written: mean of the last block's heads."""
    return cross_attention(decoder, features, labels)[:, -1].mean(1).cpu().double()


class RolloutAnalysis:
    """Distances and more of one model: by rollout, and of the attention of single layers."""

    def __init__(self, subject: Subject, residual: float = RESIDUAL) -> None:
        self.subject, self.residual = subject, residual
        grid = TokenGrid.of(subject.encoder)
        self._statistics = {
            "rollout_": AttentionStatistics(grid, _METRICS),
            "": AttentionStatistics(grid, _METRICS),
        }

    def update(self, images: Float[Tensor, "batch channel height width"]) -> None:
        """Add normalized images."""
        encoder = self.subject.encoder
        mixed = encoder_rollout(encoder, images, self.residual, self._statistics[""].update)
        for layer, maps in enumerate(mixed):
            self._statistics["rollout_"].update_maps(f"{layer}", maps[:, None])

    def measurements(self) -> list[Measurement]:
        """Means of every layer over images with intervals."""
        rows = []
        for prefix, statistics in self._statistics.items():
            for metric in _METRICS:
                layers = [values.mean(1) for values in statistics.values(metric)]
                mean = mean_over(torch.stack(layers, 1))
                name, unit = f"{prefix}{metric}", UNITS[metric]
                rows += of_layers(self.subject.name, name, unit, mean, statistics.norm)
        return rows
