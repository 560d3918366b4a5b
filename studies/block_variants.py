"""Transformer blocks with parts taken out or moved, from the same parts as the project's own."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from vit_str.models.attention import MultiHeadAttention
from vit_str.models.blocks import FeedForward

VARIANTS = ("pre-norm", "post-norm", "no norm", "no residual", "neither")
"""x + f(norm(x)), norm(x + f(x)), x + f(x), f(norm(x)), f(x)."""


class SubLayer(nn.Module):
    """Attention or feed-forward with what is around it.

    Args:
        part: from tokens to tokens.
        dim: width of a token.
        variant: one of `VARIANTS`.
    """

    def __init__(self, part: nn.Module, dim: int, variant: str) -> None:
        super().__init__()
        self.part = part
        normed, none = nn.LayerNorm(dim), nn.Identity()
        self.before = normed if variant in ("pre-norm", "no residual") else none
        self.after = normed if variant == "post-norm" else none
        self.residual = variant not in ("no residual", "neither")

    def forward(self, x: Float[Tensor, "batch token dim"]) -> Float[Tensor, "batch token dim"]:
        change = self.part(self.before(x))
        return self.after(x + change if self.residual else change)


class Stack(nn.Module):
    """Blocks of attention and feed-forward.

    Args:
        depth: number of blocks.
        dim: width of a token.
        heads: attention heads per block.
        variant: one of `VARIANTS`.

    Raises:
        ValueError: there is no such variant.
    """

    def __init__(self, depth: int, dim: int, heads: int, variant: str) -> None:
        super().__init__()
        if variant not in VARIANTS:
            raise ValueError(f"no variant {variant!r}; known are {', '.join(VARIANTS)}")
        self.blocks = nn.ModuleList(
            nn.Sequential(
                SubLayer(MultiHeadAttention(dim, heads), dim, variant),
                SubLayer(FeedForward(dim, 2.0), dim, variant),
            )
            for _ in range(depth)
        )
        # As in the project's encoders: what is not normalized at the end is normalized once.
        self.norm = nn.LayerNorm(dim) if variant in ("pre-norm", "no residual") else nn.Identity()

    def forward(self, x: Float[Tensor, "batch token dim"]) -> Float[Tensor, "batch token dim"]:
        for block in self.blocks:
            x = block(x)
        return self.norm(x)


class Layers(NamedTuple):
    """What a signal looks like on its way through a stack, block by block.

    Attributes:
        cosine: mean cosine of two tokens of a sequence after the block.
        gradient: norm of the gradient in the weights of the block.
    """

    cosine: Sequence[float]
    gradient: Sequence[float]


def token_cosine(x: Float[Tensor, "batch token dim"]) -> float:
    """Mean cosine of two different tokens of a sequence: 1 if all say the same."""
    # Divided by the largest first: signals that have almost vanished still have a direction.
    x = x / x.abs().amax((1, 2), keepdim=True).clamp_min(1e-300)
    x = x / x.norm(dim=-1, keepdim=True).clamp_min(1e-300)
    tokens = x.shape[1]
    cosines = x @ x.transpose(1, 2)
    others = cosines.sum((1, 2)) - cosines.diagonal(dim1=1, dim2=2).sum(1)
    return (others / (tokens * (tokens - 1))).mean().item()


def probe(stack: Stack, x: Float[Tensor, "batch token dim"], seed: int) -> Layers:
    """One pass forward and back, in doubles, with a random gradient of length one per token."""
    stack = stack.double()
    x = x.double()
    cosines = []
    for block in stack.blocks:
        x = block(x)
        cosines.append(token_cosine(x.detach()))
    x = stack.norm(x)
    generator = torch.Generator().manual_seed(seed)
    direction = torch.randn(x.shape, generator=generator, dtype=x.dtype)
    (x * direction / direction.norm(dim=-1, keepdim=True)).sum().backward()
    gradients = [
        sum(p.grad.square().sum().item() for p in block.parameters() if p.grad is not None) ** 0.5
        for block in stack.blocks
    ]
    return Layers(cosines, gradients)
