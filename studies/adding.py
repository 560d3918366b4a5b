"""The adding problem: the sum of two marked numbers, anywhere in a long sequence.

Hochreiter and Schmidhuber 1997, section 5.4, as in Le et al. 2015: every step holds a number
from 0 to 1 and a mark; one step of each half is marked. Who can look back that far finds the sum;
who cannot says 1 at best, and is wrong by the variance of a sum of two such numbers.

A model is any module from ``batch step 2`` to ``batch``. Here are two, made of the project's own
parts; both must answer from what they hold at the last step, so that distances are real.
"""

from typing import TypeAlias

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from studies.training import fit_warm
from vit_str.models.blocks import EncoderBlock
from vit_str.models.encoders.recurrent import NETWORKS

Inputs: TypeAlias = Float[Tensor, "batch step 2"]
Sums: TypeAlias = Float[Tensor, " batch"]
BASELINE = 1 / 6
"""Mean squared error of the best constant answer, 1: twice the variance 1/12 of one number."""
SOLVED = BASELINE / 10
"""Below this error a model has found both numbers: with one of them 1/12 would be left."""


def draw_batch(batch: int, length: int, generator: torch.Generator) -> tuple[Inputs, Sums]:
    """Random numbers and marks (0 or 1) in their columns, and sums of marked numbers."""
    numbers = torch.rand(batch, length, generator=generator)
    first = torch.randint(length // 2, (batch, 1), generator=generator)
    second = torch.randint(length // 2, length, (batch, 1), generator=generator)
    marked = torch.cat([first, second], 1)
    marks = torch.zeros_like(numbers).scatter_(1, marked, 1.0)
    return torch.stack([numbers, marks], -1), numbers.gather(1, marked).sum(1)


class RecurrentAdder(nn.Module):
    """A recurrent network of one layer and a linear reading of its last state."""

    def __init__(self, network: str, dim: int) -> None:
        super().__init__()
        self.recur = NETWORKS[network](2, dim, batch_first=True)
        self.to_sum = nn.Linear(dim, 1)

    def forward(self, x: Inputs) -> Sums:
        return self.to_sum(self.recur(x)[0][:, -1])[:, 0]


class AttentionAdder(nn.Module):
    """A block of self-attention with two heads and a linear reading of the last token.

    There are no positions: the marks say all that matters here, and where they stand does not.
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.embed = nn.Linear(2, dim)
        self.block = EncoderBlock(dim, heads=2, mlp_ratio=2.0, dropout=0.0)
        self.to_sum = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, 1))

    def forward(self, x: Inputs) -> Sums:
        return self.to_sum(self.block(self.embed(x))[:, -1])[:, 0]


def train(
    model: nn.Module, length: int, steps: int, seed: int, learning_rate: float, batch: int = 32
) -> None:
    """Train on new sequences at every step, see `fit_warm`."""
    generator = torch.Generator().manual_seed(seed)
    device = next(model.parameters()).device

    def loss() -> Tensor:
        inputs, sums = draw_batch(batch, length, generator)
        return F.mse_loss(model(inputs.to(device)), sums.to(device))

    fit_warm(model, loss, steps, learning_rate)


@torch.no_grad()
def squared_error(model: nn.Module, length: int, sequences: int = 1024) -> float:
    """Error on sequences of their own; `BASELINE` is that of knowing nothing."""
    device = next(model.parameters()).device
    inputs, sums = draw_batch(sequences, length, torch.Generator().manual_seed(10_000))
    answers = torch.cat([model(part.to(device)) for part in inputs.chunk(8)])
    return F.mse_loss(answers.cpu(), sums).item()
