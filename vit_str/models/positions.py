"""Where a token stands: learned and sinusoidal positions, in one and two dimensions."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

_DEVIATION = 0.02  # of learned positions at the start


def sinusoidal_positions(length: int, dim: int) -> Float[Tensor, "length dim"]:
    """Sines and cosines of geometric wavelengths (Vaswani et al. 2017, section 3.5).

    Raises:
        ValueError: for an odd ``dim``.
    """
    if dim % 2:
        raise ValueError(f"sinusoidal positions need an even dim, found {dim}")
    frequencies = 10_000 ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
    angles = torch.arange(length, dtype=torch.float64)[:, None] * frequencies
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1).float()


def sinusoidal_positions_2d(
    rows: int,
    columns: int,
    dim: int,
) -> Float[Tensor, "token dim"]:
    """One half of the width tells the row, the other the column; tokens in reading order.

    Raises:
        ValueError: for a ``dim`` that 4 does not divide.
    """
    if dim % 4:
        raise ValueError(
            f"two-dimensional sinusoidal positions need dim % 4 == 0, found {dim}"
        )
    by_row = sinusoidal_positions(rows, dim // 2)[:, None].expand(-1, columns, -1)
    by_column = sinusoidal_positions(columns, dim // 2)[None].expand(rows, -1, -1)
    return torch.cat([by_row, by_column], -1).flatten(0, 1)


class Positions(nn.Module):
    """A vector for every position."""

    weight: Float[Tensor, "length dim"]

    def forward(
        self, x: Float[Tensor, "batch token dim"], first: int = 0
    ) -> Float[Tensor, "batch token dim"]:
        """Add the positions ``first, first + 1, ...`` to ``x``."""
        return x + self.weight[first : first + x.shape[1]]


class LearnedPositions(Positions):
    """Trained, started from ``start`` or from small noise."""

    def __init__(
        self, length: int, dim: int, start: Float[Tensor, "length dim"] | None = None
    ) -> None:
        super().__init__()
        if start is None:
            start = torch.randn(length, dim) * _DEVIATION
        self.weight = nn.Parameter(start)


class FixedPositions(Positions):
    """Computed, not trained; not part of the weights."""

    def __init__(self, weight: Float[Tensor, "length dim"]) -> None:
        super().__init__()
        self.register_buffer("weight", weight, persistent=False)


def position_embedding(name: str, sinusoids: Float[Tensor, "length dim"]) -> Positions:
    """Positions by name: ``learned`` (started from the sinusoids) or ``sinusoidal`` (fixed).

    Raises:
        ValueError: for another name.
    """
    if name == "sinusoidal":
        return FixedPositions(sinusoids)
    if name == "learned":
        length, dim = sinusoids.shape
        return LearnedPositions(length, dim, start=sinusoids)
    raise ValueError(f"positions must be 'learned' or 'sinusoidal', found {name!r}")
