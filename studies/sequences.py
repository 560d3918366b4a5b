"""Sequence to sequence: Transformers and recurrent networks of texts, and small tasks for them.

Nothing in copying and reversing has to be understood, so what a network fails to write, it failed
to carry from the encoder to the decoder.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from studies.training import Labels, Tokens, fit_warm, seeded
from vit_str.characters.charset import PADDING
from vit_str.models.blocks import EncoderBlock
from vit_str.models.decoders.autoregressive import AutoregressiveDecoder
from vit_str.models.decoders.recurrent import RecurrentDecoder
from vit_str.models.positions import FixedPositions, sinusoidal_positions
from vit_str.torch_runtime.engine import generate

Texts = tuple[Tensor, Tensor]
"""Sources and what to write for them, both ``batch position``."""
QUICK: dict[str, Any] = {"dim": 32, "steps": 220, "learning_rate": 2e-2}
FULL: dict[str, Any] = {"dim": 64, "steps": 700, "learning_rate": 5e-3}
"""Of `train_translator`."""


@dataclass(frozen=True, slots=True)
class SequenceTask:
    """Write a sequence of random symbols again, forwards or backwards.

    Sequences are trained on from the shortest to the longest of ``lengths``.
    """

    symbols: int
    lengths: tuple[int, int]
    backwards: bool

    def draw(self, batch: int, length: int | None = None, device: str = "cpu") -> Texts:
        """A batch of one length, a random one by default, by torch's generator of the CPU."""
        if length is None:
            length = int(torch.randint(self.lengths[0], self.lengths[1] + 1, ()))
        sources = torch.randint(self.symbols, (batch, length)).to(device)
        return sources, sources.flip(1) if self.backwards else sources

    def draw_tests(
        self,
        count: int,
        length: int,
        seed: int,
        device: str = "cpu",
    ) -> Texts:
        """Sequences to test on, at most ``count``: none of them twice."""
        with seeded(1_000_000 + seed):
            sources, _ = self.draw(count, length)
        # Every symbol occurs in nearly every batch of training, so all that is tested is known.
        each_once = dict.fromkeys(map(tuple, sources.tolist()))
        distinct = torch.tensor(list(each_once)).to(device)
        return distinct, distinct.flip(1) if self.backwards else distinct


class TextTransformer(nn.Module):
    """Lets every character of a text attend to every other.

    A text is followed by the end, whose id is after those of the characters, up to
    ``maximum_length``, so that all have the same size, as images have: how it is read does not
    depend on the other texts of a batch.
    """

    def __init__(
        self, charset_size: int, dim: int, depth: int, heads: int, maximum_length: int
    ) -> None:
        super().__init__()
        self.maximum_length = maximum_length
        self.end = charset_size
        self.embed_characters = nn.Embedding(charset_size + 1, dim)
        self.embed_positions = FixedPositions(
            sinusoidal_positions(maximum_length + 1, dim)
        )
        self.blocks = nn.ModuleList(
            EncoderBlock(dim, heads, 4.0, 0.0) for _ in range(depth)
        )
        self.norm = nn.LayerNorm(dim)

    def forward(self, labels: Labels) -> Tokens:
        """Features of the characters and of the ends that follow them."""
        missing = self.maximum_length + 1 - labels.shape[1]
        padded = F.pad(labels, (0, missing), value=PADDING)
        x = self.embed_positions(
            self.embed_characters(padded.where(padded != PADDING, self.end))
        )
        for block in self.blocks:
            x = block(x)
        return self.norm(x)


class Translator(nn.Module):
    """Writes one text for another."""

    def __init__(self, encoder: nn.Module, decoder: AutoregressiveDecoder) -> None:
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder

    def loss(self, sources: Labels, labels: Labels) -> Float[Tensor, ""]:
        """The decoder's loss on texts and their translations (teacher forcing)."""
        return self.decoder.loss(self.encoder(sources), labels)


class RecurrentTextEncoder(nn.Module):
    """Reads from left to right with a GRU; gives all states, or the last one only.

    A decoder without attention takes the mean of the features as its context; of the last state,
    that is the single context vector of Cho et al. 2014.
    """

    def __init__(self, charset_size: int, dim: int, last_only: bool) -> None:
        super().__init__()
        self.last_only = last_only
        self.embed = nn.Embedding(charset_size, dim)
        self.recur: nn.RNNBase = nn.GRU(dim, dim, batch_first=True)

    def forward(self, sources: Labels) -> Tokens:
        states = self.recur(self.embed(sources))[0]
        return states[:, -1:] if self.last_only else states


class RecurrentTranslator(Translator):
    """A GRU that reads and one that writes, with attention between them or one vector ("none")."""

    decoder: RecurrentDecoder

    def __init__(self, task: SequenceTask, dim: int, attention: str) -> None:
        longest = 2 * task.lengths[1]
        super().__init__(
            RecurrentTextEncoder(task.symbols, dim, last_only=attention == "none"),
            RecurrentDecoder(task.symbols, dim, "gru", attention, longest),
        )

    @torch.no_grad()
    def right_symbols(
        self,
        sources: Labels,
        labels: Labels,
    ) -> Bool[Tensor, "batch position"]:
        """Which symbols are right, written greedily.

        A symbol counts in its place; what is not written is wrong.
        """
        length = labels.shape[1]
        written = generate(self.decoder, self.encoder(sources)).labels
        written = F.pad(written, (0, length), value=PADDING)[:, :length]
        return written == labels

    def accuracy(self, sources: Labels, labels: Labels) -> float:
        """Share of `right_symbols`."""
        return self.right_symbols(sources, labels).float().mean().item()


def train_translator(
    task: SequenceTask,
    attention: str,
    seed: int,
    *,
    dim: int,
    steps: int,
    learning_rate: float,
    growing: bool = False,
    device: str = "cpu",
) -> RecurrentTranslator:
    """A network that was trained on the task; it may write twice as much as it was trained on.

    With ``growing`` sequences are short at first, see `growing_tasks`.
    """
    tasks = growing_tasks(task, steps) if growing else repeat(task)
    with seeded(seed):
        model = RecurrentTranslator(task, dim, attention).to(device)
        fit_warm(
            model,
            lambda: model.loss(*next(tasks).draw(64, device=device)),
            steps,
            learning_rate,
        )
    return model.eval()


def growing_tasks(task: SequenceTask, steps: int) -> Iterator[SequenceTask]:
    """The task of each step: sequences get longer during the first half of the steps."""
    shortest, longest = task.lengths
    for step in range(steps):
        share = min(1.0, 2 * step / steps)
        until = shortest + round(share * (longest - shortest))
        yield replace(task, lengths=(shortest, until))
