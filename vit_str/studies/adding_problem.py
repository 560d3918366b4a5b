"""The adding problem: the sum of two marked numbers, anywhere in a long sequence.

Hochreiter and Schmidhuber 1997, section 5.4, as in Le et al. 2015: every step holds a number
from 0 to 1 and a mark; one step of each half is marked. Who can look back that far finds the sum;
who cannot says 1 at best, and is wrong by the variance of a sum of two such numbers.

A model is any module from ``batch step 2`` to ``batch``. Here are two, made of the project's own
parts; both must answer from what they hold at the last step, so that distances are real.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from vit_str.models.blocks import EncoderBlock
from vit_str.models.encoders.recurrent import NETWORKS
from vit_str.studies.sequence_tasks import fit

BASELINE = 1 / 6
"""Mean squared error of the best constant answer, 1: twice the variance 1/12 of one number."""

SOLVED = BASELINE / 10
"""Below this error a model has found both numbers: with one of them 1/12 would be left."""


class AddingBatch(NamedTuple):
    """Sequences and the sums of their marked numbers."""

    inputs: Float[Tensor, "batch step 2"]
    targets: Float[Tensor, " batch"]


def draw_batch(batch_size: int, length: int, generator: torch.Generator) -> AddingBatch:
    """Random sequences: numbers in the first column, marks (0 or 1) in the second.

    Raises:
        ValueError: a sequence shorter than 2 has no two halves.
    """
    if length < 2:
        raise ValueError(f"the adding problem needs a length of 2 or more, found {length}")
    numbers = torch.rand(batch_size, length, generator=generator)
    first = torch.randint(length // 2, (batch_size, 1), generator=generator)
    second = torch.randint(length // 2, length, (batch_size, 1), generator=generator)
    places = torch.cat([first, second], 1)
    marks = torch.zeros_like(numbers).scatter_(1, places, 1.0)
    return AddingBatch(torch.stack([numbers, marks], -1), numbers.gather(1, places).sum(1))


class RecurrentAdder(nn.Module):
    """A recurrent network of one layer and a linear reading of its last state.

    Args:
        cell: ``rnn`` (tanh), ``lstm`` or ``gru``.
        dim: width of the state.
    """

    def __init__(self, cell: str, dim: int) -> None:
        super().__init__()
        self.recur = NETWORKS[cell](2, dim, batch_first=True)
        self.to_sum = nn.Linear(dim, 1)

    def forward(self, x: Float[Tensor, "batch step 2"]) -> Float[Tensor, " batch"]:
        return self.to_sum(self.recur(x)[0][:, -1])[:, 0]


class AttentionAdder(nn.Module):
    """Blocks of self-attention and a linear reading of the last token.

    There are no positions: the marks say all that matters here, and where they stand does not.

    Args:
        dim: width of a token.
        heads: number of heads; divides ``dim``.
        depth: number of blocks.
    """

    def __init__(self, dim: int, heads: int = 2, depth: int = 1) -> None:
        super().__init__()
        self.embed = nn.Linear(2, dim)
        self.blocks = nn.Sequential(
            *(EncoderBlock(dim, heads, mlp_ratio=2.0, dropout=0.0) for _ in range(depth))
        )
        self.to_sum = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, 1))

    def forward(self, x: Float[Tensor, "batch step 2"]) -> Float[Tensor, " batch"]:
        return self.to_sum(self.blocks(self.embed(x))[:, -1])[:, 0]


def train(
    model: nn.Module,
    length: int,
    steps: int,
    *,
    seed: int,
    batch_size: int = 32,
    learning_rate: float = 1e-2,
    progress: Callable[[float], None] = lambda share: None,
) -> list[float]:
    """Train on new sequences at every step, see `fit`.

    Args:
        model: from ``batch step 2`` to ``batch``; trained where its weights are.
        length: steps of a sequence.
        steps: of the optimizer.
        seed: of the sequences.
        batch_size: sequences per step.
        learning_rate: the highest.
        progress: told the share that is done.

    Returns:
        The mean squared error of every batch, before it was learned from.
    """
    generator = torch.Generator().manual_seed(seed)
    device = next(model.parameters()).device
    errors: list[float] = []

    def loss() -> Tensor:
        batch = draw_batch(batch_size, length, generator)
        error = F.mse_loss(model(batch.inputs.to(device)), batch.targets.to(device))
        errors.append(error.item())
        return error

    fit(model, loss, steps, learning_rate, progress)
    return errors


@torch.no_grad()
def mean_squared_error(
    model: nn.Module, length: int, *, seed: int = 10_000, sequences: int = 1024
) -> float:
    """Error on sequences of their own; `BASELINE` is that of knowing nothing."""
    device = next(model.parameters()).device
    batch = draw_batch(sequences, length, torch.Generator().manual_seed(seed))
    answers = torch.cat([model(part.to(device)) for part in batch.inputs.chunk(8)])
    return F.mse_loss(answers.cpu(), batch.targets).item()
