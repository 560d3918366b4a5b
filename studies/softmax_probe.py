"""How peaked the softmax over random products is, and what gradient it lets through."""

import math
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from vit_str.models.attention import Mask, ScaledDotProductAttention, attention_weights

WIDTHS = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
KEYS = 32
SOFTMAXES = ("raw", "scaled")


class RawDotProductAttention(ScaledDotProductAttention):
    """softmax(QKᵀ) V: the core, given queries that undo its division."""

    def forward(
        self,
        queries: Float[Tensor, "batch head query head_dim"],
        keys: Float[Tensor, "batch head key head_dim"],
        values: Float[Tensor, "batch head key head_dim"],
        mask: Mask | None = None,
    ) -> Float[Tensor, "batch head query head_dim"]:
        return super().forward(queries * math.sqrt(queries.shape[-1]), keys, values, mask)


class Softmax(NamedTuple):
    """One softmax over the products of a query with some keys, averaged over queries."""

    variance: float
    entropy: float
    largest: float
    jacobian_median: float
    jacobian_mean: float
    query_gradient_median: float


def jacobian_norm(weights: Float[Tensor, "query key"]) -> Float[Tensor, " query"]:
    """Frobenius norm of d softmax / d scores, diag(p) - ppᵀ, without making the matrix."""
    square, cube = weights.square().sum(-1), weights.pow(3).sum(-1)
    return (square - 2 * cube + square.square()).clamp_min(0).sqrt()


def softmax_of(
    queries: Float[Tensor, "query dim"], keys: Float[Tensor, "query key dim"], divisor: float
) -> Softmax:
    """How large the products are, how peaked their softmax is and what gradient it lets through.

    Args:
        queries: the queries.
        keys: the keys of each query.
        divisor: what the products are divided by.
    """
    undone = queries[:, None] * math.sqrt(queries.shape[-1]) / divisor
    weights = attention_weights(undone, keys)[:, 0]
    jacobian = jacobian_norm(weights)
    # d weights / d query = (diag(p) - ppᵀ) K / divisor: each key less the mean key, weighted.
    to_query = weights[..., None] * (keys - weights[:, None] @ keys) / divisor
    return Softmax(
        variance=(queries[:, None] * keys).sum(-1).div(divisor).square().mean().item(),
        entropy=-torch.xlogy(weights, weights).sum(-1).mean().item() / math.log(keys.shape[1]),
        largest=weights.amax(-1).mean().item(),
        jacobian_median=jacobian.median().item(),
        jacobian_mean=jacobian.mean().item(),
        query_gradient_median=to_query.flatten(1).norm(dim=1).median().item(),
    )


def measure(seed: int, queries: int) -> dict[tuple[int, str], Softmax]:
    """Every width, raw and scaled, on the same independent numbers of variance one."""
    generator = torch.Generator().manual_seed(seed)
    found = {}
    for width in WIDTHS:
        q = torch.randn(queries, width, generator=generator)
        k = torch.randn(queries, KEYS, width, generator=generator)
        for kind, divisor in zip(SOFTMAXES, (1.0, math.sqrt(width)), strict=True):
            found[width, kind] = softmax_of(q, k, divisor)
    return found
