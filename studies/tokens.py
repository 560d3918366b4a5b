"""Look-up tasks on random symbols, and a small network that learns them.

Nothing but attention can carry the answer: it stands at another token.
"""

from abc import ABC, abstractmethod

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int64
from torch import Tensor, nn

from studies.training import fit
from vit_str.models.positions import FixedPositions, sinusoidal_positions

Inputs = Int64[Tensor, "batch token input"]
Answers = Int64[Tensor, "batch token answer"]
Examples = tuple[Inputs, Answers]
"""What tokens say, in one number or more each, and what should be answered there."""


class Task(ABC):
    """Sequences to draw."""

    def __init__(
        self,
        length: int = 16,
        symbols: int = 16,
        inputs: tuple[int, ...] = (),
        answers: int = 1,
    ) -> None:
        self.length = length
        self.symbols = symbols
        self.answers = answers
        self.input_sizes = (symbols, *inputs)

    @abstractmethod
    def draw(self, batch: int, generator: torch.Generator) -> Examples:
        """Random sequences, and what should be answered."""


class NextToken(Task):
    """What does the token to the right say? The last one asks for the first."""

    def draw(self, batch: int, generator: torch.Generator) -> Examples:
        said = torch.randint(self.symbols, (batch, self.length, 1), generator=generator)
        return said, said.roll(-1, dims=1)


class Pointers(Task):
    """Every token points to ``count`` places and asks for the symbol at each, in this order."""

    def __init__(self, count: int = 2, length: int = 8, symbols: int = 8) -> None:
        super().__init__(length, symbols, inputs=(length,) * count, answers=count)

    def draw(self, batch: int, generator: torch.Generator) -> Examples:
        said = torch.randint(self.symbols, (batch, self.length), generator=generator)
        size = (batch, self.length, self.answers)
        pointers = torch.randint(self.length, size, generator=generator)
        answers = said.gather(1, pointers.flatten(1)).reshape(size)
        return torch.cat([said[..., None], pointers], -1), answers


class TokenNetwork(nn.Module):
    """Embeds what tokens say and where they stand, lets them talk, reads the answers off."""

    def __init__(
        self,
        task: Task,
        dim: int,
        body: nn.Module,
        positions: bool = True,
    ) -> None:
        super().__init__()
        self.symbols = task.symbols
        self.embed = nn.ModuleList(nn.Embedding(size, dim) for size in task.input_sizes)
        self.embed_positions: nn.Module = nn.Identity()
        if positions:
            waves = sinusoidal_positions(task.length, dim)
            self.embed_positions = FixedPositions(waves)
        self.body = body
        self.to_answers = nn.Linear(dim, task.answers * task.symbols)

    def forward(self, inputs: Inputs) -> Float[Tensor, "batch token answer symbol"]:
        embedded = [embed(inputs[..., i]) for i, embed in enumerate(self.embed)]
        tokens = self.embed_positions(torch.stack(embedded).sum(0))
        return self.to_answers(self.body(tokens)).unflatten(-1, (-1, self.symbols))


def learning_curve(
    network: nn.Module,
    task: Task,
    steps: int,
    seed: int,
    *,
    every: int | None = None,
    batch: int = 32,
    learning_rate: float = 3e-3,
) -> list[float]:
    """Train by Adam on examples that are never seen twice."""
    every = every or steps
    device = next(network.parameters()).device
    generator = torch.Generator().manual_seed(seed)
    unseen = torch.Generator().manual_seed(seed + 1_000_000)
    inputs, answers = (part.to(device) for part in task.draw(256, unseen))
    curve = []

    def loss(step: int) -> Tensor:
        if step and step % every == 0:
            curve.append(accuracy(network, inputs, answers))
        drawn_inputs, drawn_answers = (
            part.to(device) for part in task.draw(batch, generator)
        )
        return F.cross_entropy(
            network(drawn_inputs).flatten(0, 2), drawn_answers.flatten()
        )

    # Gradients are clipped: networks that explode shall fail by their shape, not by one giant step.
    fit(loss, steps, torch.optim.Adam(network.parameters(), learning_rate))
    return [*curve, accuracy(network, inputs, answers)]


@torch.no_grad()
def accuracy(network: nn.Module, inputs: Inputs, answers: Answers) -> float:
    """Share of answers that are right."""
    return (network(inputs).argmax(-1) == answers).double().mean().item()
