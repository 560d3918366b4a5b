"""A model over images, and for every character it writes: where its decoder looked.

Models are run with the text they read themselves (greedy), character by character as in reading;
others can be made to write the same text, to compare how they look at it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float, Float64, Int64, UInt8
from torch import Tensor

from vit_str.analysis.characters.localization import (
    Boxes,
    CharacterAttention,
    character_attention,
)
from vit_str.analysis.geometry import TokenGrid, attention_maps
from vit_str.analysis.images import Batch
from vit_str.analysis.subjects import Subject
from vit_str.decoding.boxes import character_boxes
from vit_str.evaluation.words.confusions import align
from vit_str.models import Recognizer
from vit_str.models.cross_attention import cross_attention, looking_blocks
from vit_str.torch_runtime.engine import generate

Attention = Float64[Tensor, "block head character row column"]


class Source(NamedTuple):
    """Where maps come from: a model with one block and head of its decoder, or slices."""

    model: str
    block: int | None = -1  # from 0; -1 for the last, as `Reader`; None for slices
    head: int | None = None  # from 0; None for the mean over heads, as `Reader`

    def of(self, attention: Attention) -> Float64[Tensor, "character row column"]:
        """The maps of this block and head, each of which sums to 1."""
        heads = attention[self.block or 0]
        return heads.mean(0) if self.head is None else heads[self.head]

    @property
    def counted(self) -> tuple[int | None, int | None]:
        """Block and head as people count them, from 1."""
        block = None if self.block is None else self.block + 1
        head = None if self.head is None else self.head + 1
        return block, head


@dataclass(frozen=True, slots=True)
class Word:
    """An image, what a model read in it, and where models looked while they wrote that.

    Attention, and the share of it that went to special tokens, is that of every block and head for
    the characters of the text, by name of the model. Label and true boxes may be unknown.
    """

    name: str
    pixels: UInt8[Tensor, "3 height width"]
    text: str
    label: str | None
    confidences: list[float]
    attention: dict[str, Attention]
    special_mass: dict[str, Float64[Tensor, "block head character"]]
    true_boxes: Boxes | None

    @property
    def right(self) -> bool | None:
        """Whether the text is the label, exactly; None if that is not known."""
        return None if self.label is None else self.text == self.label

    def character_attention(
        self, source: Source, grid: TokenGrid
    ) -> CharacterAttention:
        """Where a model looked, as maps, points and boxes."""
        maps = source.of(self.attention[source.model])
        height, width = grid.image_size
        size = (round(height), round(width))
        mask = np.ones((1, len(maps)), dtype=bool)
        (sides,) = character_boxes(maps[None].numpy(), mask, size)
        boxes = torch.from_numpy(sides)
        return character_attention(maps, boxes, grid)

    def true_places(self) -> list[tuple[int, int]]:
        """Places in text and label of the characters that were read right and have a true box."""
        if self.true_boxes is None or self.label is None:
            return []
        drawn = (self.true_boxes[:, 2] > self.true_boxes[:, 0]).tolist()
        pairs = matches(self.text, self.label)
        return [(place, in_label) for place, in_label in pairs if drawn[in_label]]


class Observer:
    """Runs a model over images, and others of its architecture with the text that it read."""

    def __init__(self, subject: Subject, others: Sequence[Subject] = ()) -> None:
        self.subject = subject
        self.grid = TokenGrid.of(subject.recognizer.encoder)
        looking = looking_blocks(subject.recognizer.decoder)
        self.blocks = len(looking)
        self.heads = looking[0].cross_attention.heads
        self._subjects = (subject, *others)

    def source(self, block: int | None, head: int | None) -> Source:
        """A block (the last if None) and a head (the mean if None), which count from 1.

        Raises:
            ValueError: for blocks and heads that the model does not have.
        """
        block = self.blocks if block is None else block
        is_head = head is None or 1 <= head <= self.heads
        if not (1 <= block <= self.blocks and is_head):
            raise ValueError(
                f"--block and --head are from 1 to {self.blocks} and {self.heads} in "
                f"this model, found {block} and {1 if head is None else head}"
            )
        index = None if head is None else head - 1
        return Source(self.subject.name, block - 1, index)

    @torch.no_grad()
    def observe(
        self, batch: Batch, images: Float[Tensor, "batch 3 height width"]
    ) -> list[Word]:
        """The words of one batch; ``images`` are normalized."""
        own = self.subject.recognizer
        hypotheses = generate(own.decoder, own.encode(images))
        attention = {}
        special = {}
        for subject in self._subjects:
            recognizer = subject.recognizer.to(images.device)
            features = recognizer.encode(images)
            encoder = recognizer.encoder
            seen = cross_attention(recognizer.decoder, features, hypotheses.labels)
            seen = seen.cpu().double()
            # Renormalized over the grid
            maps = attention_maps(encoder, seen.flatten(1, 3))
            attention[subject.name] = maps.reshape(*seen.shape[:4], *maps.shape[2:])
            special[subject.name] = seen[..., : encoder.special_tokens].sum(-1)
        words = []
        for index, ids in enumerate(hypotheses.labels.tolist()):
            text = self.subject.charset.decode(ids)
            label = batch.labels[index] if batch.labels else None
            boxes: Tensor | None = None
            if batch.boxes is not None:
                boxes = batch.boxes[index, : len(label or "")].double()
            written = (index, slice(None), slice(None), slice(len(text)))
            confidences = hypotheses.confidences[index, : len(text)]
            word = Word(
                name=batch.names[index],
                pixels=batch.pixels[index],
                text=text,
                label=label,
                confidences=confidences.double().tolist(),
                attention={name: maps[written] for name, maps in attention.items()},
                special_mass={name: mass[written] for name, mass in special.items()},
                true_boxes=boxes,
            )
            words.append(word)
        return words


def matches(text: str, label: str) -> list[tuple[int, int]]:
    """Index in ``text`` and in ``label`` of the characters that `align` pairs and both have."""
    pairs = []
    i = 0
    j = 0
    for written, read in align(label, text):
        if written == read:
            pairs.append((i, j))
        if read:
            i += 1
        if written:
            j += 1
    return pairs


def gradient_times_input(
    recognizer: Recognizer,
    images: Float[Tensor, "batch channel height width"],
    labels: Int64[Tensor, "batch position"],
) -> Float64[Tensor, "batch position row column"]:
    """|gradient x input| of the score of each character, summed over colors and pixels of a token.

    One backward pass per position (Simonyan et al. 2014; Shrikumar et al. 2016).
    """
    images = images.detach().requires_grad_()
    grid = recognizer.encoder.grid
    decoder: Any = recognizer.decoder
    maps = [images.new_zeros(len(images), 0, *grid)]
    with torch.enable_grad():
        scores = decoder.logits(recognizer.encode(images), labels)
        for position in range(labels.shape[1]):
            wanted = labels[:, position, None].clamp(min=0)
            chosen = scores[:, position].gather(1, wanted)
            (gradients,) = torch.autograd.grad(chosen.sum(), images, retain_graph=True)
            shares = (gradients * images).detach().abs().sum(1, keepdim=True)
            maps.append(F.adaptive_avg_pool2d(shares, grid))
    shares = torch.cat(maps, 1).cpu().double()
    sums = shares.sum((2, 3), keepdim=True)
    return shares / sums.clamp(min=torch.finfo(torch.double).tiny)
