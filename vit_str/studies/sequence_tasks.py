"""Copying and reversing: small tasks for sequence to sequence, and recurrent networks that do them.

Nothing in these tasks has to be understood, so what a network fails to write, it failed to carry
from the reader to the writer.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn

from vit_str.models.decoders.recurrent import RecurrentDecoder
from vit_str.studies.tasks_tokens import seeded

Texts = tuple[Tensor, Tensor]
"""Sources and what to write for them, both ``batch position``."""


@dataclass(frozen=True, slots=True)
class SequenceTask:
    """Write a sequence of random symbols again, forwards or backwards.

    Attributes:
        symbols: number of different symbols; guessing is right once in as many times.
        lengths: shortest and longest sequence to train on.
        backwards: write from the last symbol to the first.
    """

    symbols: int
    lengths: tuple[int, int]
    backwards: bool

    @property
    def name(self) -> str:
        """``copy`` or ``reverse``."""
        return "reverse" if self.backwards else "copy"

    def draw(self, batch: int, length: int | None = None, device: str = "cpu") -> Texts:
        """A batch of one length, a random one unless told, by torch's generator of the CPU."""
        if length is None:
            shortest, longest = self.lengths
            length = int(torch.randint(shortest, longest + 1, ()))
        sources = torch.randint(self.symbols, (batch, length)).to(device)
        return sources, sources.flip(1) if self.backwards else sources


class RecurrentTextEncoder(nn.Module):
    """Reads from left to right with a GRU.

    Args:
        charset_size: number of symbols that it reads.
        dim: width of a symbol and of the state.
        last_only: hand on the last state alone. `RecurrentDecoder` without attention takes the mean
            of the features as its context; of one feature, that is this state: the single context
            vector of Cho et al. 2014.
    """

    def __init__(self, charset_size: int, dim: int, last_only: bool) -> None:
        super().__init__()
        self.last_only = last_only
        self.embed = nn.Embedding(charset_size, dim)
        self.recur = nn.GRU(dim, dim, batch_first=True)

    def forward(self, sources: Int64[Tensor, "batch position"]) -> Float[Tensor, "batch token dim"]:
        """The states after each symbol, or the last one."""
        states = self.recur(self.embed(sources))[0]
        return states[:, -1:] if self.last_only else states


class RecurrentTranslator(nn.Module):
    """A GRU that reads and a GRU that writes, with attention between them or one vector.

    Args:
        task: what it will do.
        dim: width of the states.
        attention: of `RecurrentDecoder`: ``none``, ``additive`` or ``dot``.
        longest: most symbols it writes.
    """

    def __init__(self, task: SequenceTask, dim: int, attention: str, longest: int) -> None:
        super().__init__()
        self.encoder = RecurrentTextEncoder(task.symbols, dim, last_only=attention == "none")
        self.decoder = RecurrentDecoder(task.symbols, dim, "gru", attention, longest)

    def loss(
        self,
        sources: Int64[Tensor, "batch position"],
        labels: Int64[Tensor, "batch position"],
    ) -> Float[Tensor, ""]:
        """The decoder's loss (teacher forcing)."""
        return self.decoder.loss(self.encoder(sources), labels)

    @torch.no_grad()
    def accuracy(
        self,
        sources: Int64[Tensor, "batch position"],
        labels: Int64[Tensor, "batch position"],
    ) -> tuple[float, float]:
        """Share of right symbols and of sequences without a mistake, written greedily.

        A symbol counts in its place; what is not written is wrong.
        """
        written = self.decoder.generate(self.encoder(sources)).labels
        width = min(written.shape[1], labels.shape[1])
        right = torch.zeros_like(labels, dtype=torch.bool)
        right[:, :width] = written[:, :width] == labels[:, :width]
        stops = (written[:, labels.shape[1] :] < 0).all(1)
        return right.float().mean().item(), (right.all(1) & stops).float().mean().item()


def fit(
    model: nn.Module,
    loss: Callable[[], Tensor],
    steps: int,
    learning_rate: float,
    progress: Callable[[float], None],
) -> None:
    """Train with Adam, the learning rate rising for a tenth of the steps, then falling to zero.

    Args:
        model: whose weights change.
        loss: on a new batch at every call.
        steps: number of batches.
        learning_rate: the highest.
        progress: told the share that is done.
    """
    if not steps:
        return
    optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer,
        lambda step: min((10 * step + 1) / (steps + 1), (1 + math.cos(math.pi * step / steps)) / 2),
    )
    for step in range(steps):
        optimizer.zero_grad()
        torch.autograd.backward(loss())
        # A recurrent network now and then has a gradient far larger than the usual.
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if step % 20 == 0:
            progress(step / steps)


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a recurrent network is trained on a task.

    Attributes:
        dim: width of the states.
        steps: batches of training.
        batch: sequences in a batch.
        learning_rate: the highest.
    """

    dim: int
    steps: int
    batch: int = 64
    learning_rate: float = 1e-2


def train_translator(
    task: SequenceTask,
    attention: str,
    recipe: Recipe,
    seed: int,
    device: str = "cpu",
    progress: Callable[[float], None] = lambda share: None,
) -> RecurrentTranslator:
    """A network that has learned the task; it may write twice as much as it was trained on."""
    with seeded(seed):
        longest = 2 * task.lengths[1]
        model = RecurrentTranslator(task, recipe.dim, attention, longest).to(device)
        fit(
            model,
            lambda: model.loss(*task.draw(recipe.batch, device=device)),
            recipe.steps,
            recipe.learning_rate,
            progress,
        )
    return model.eval()
