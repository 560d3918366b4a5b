"""A model over images, and for every character it writes: where its decoder looked.

Models are run with the text they read themselves (greedy), character by character as in reading;
others can be made to write the same text, to compare how they look at it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from einops import rearrange
from jaxtyping import Float, Float64, Int64, UInt8
from torch import Tensor

from vit_str.analysis.alignment import matches
from vit_str.analysis.geometry import TokenGrid
from vit_str.analysis.localization import Boxes, Looks, looks_of
from vit_str.analysis.material import Batch, Material
from vit_str.analysis.subjects import Subject
from vit_str.images import Preprocessing
from vit_str.models import Recognizer
from vit_str.models.character_boxes import (
    attention_maps,
    character_boxes,
    cross_attention,
    looking_blocks,
)

Attention = Float64[Tensor, "block head character row column"]


@dataclass(frozen=True, slots=True)
class Combination:
    """Which maps are taken together: one head or the mean of all, of one block.

    Attributes:
        block: of the decoder, from 0; -1 for the last, which `Reader` takes.
        head: from 0; None for the mean over heads, which `Reader` takes.
    """

    block: int = -1
    head: int | None = None

    def of(self, attention: Attention) -> Float64[Tensor, "character row column"]:
        """The maps of this combination, each of which sums to 1."""
        heads = attention[self.block]
        return heads.mean(0) if self.head is None else heads[self.head]


@dataclass(frozen=True, slots=True)
class Word:
    """An image, what a model read in it, and where models looked while they wrote that.

    Attributes:
        name: of the image.
        pixels: as the model gets them.
        text: that was read.
        label: what it says; None if nobody knows.
        confidences: probability of every character that was read.
        attention: of every block and head to the characters of the text, by name of the model.
        special_mass: share of attention that went to tokens without a place, by name.
        true_boxes: of the characters of the label; None if nobody knows.
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
        """Whether the text is the label, exactly; None if nobody knows."""
        return None if self.label is None else self.text == self.label

    def looks(self, model: str, grid: TokenGrid, combination: Combination) -> Looks:
        """Where a model looked, as maps, points and boxes."""
        maps = combination.of(self.attention[model])
        return looks_of(maps, boxes_of(maps, grid), grid)

    def true_places(self) -> list[tuple[int, int]]:
        """Places in text and label of the characters that were read right and have a true box."""
        if self.true_boxes is None or self.label is None:
            return []
        drawn = (self.true_boxes[:, 2] > self.true_boxes[:, 0]).tolist()
        return [(i, j) for i, j in matches(self.text, self.label) if drawn[j]]


class Observer:
    """Has a model read images, and watches it and others write what it read.

    Args:
        subject: the model that reads.
        others: models that write the same text over the same images, such as one without training.
        device: where to run them; they are moved there.

    Attributes:
        grid: of tokens, of the model that reads.
        blocks: of its decoder.
        heads: of a block.

    Raises:
        ValueError: a decoder without cross-attention, or models of different grids or charsets.
    """

    def __init__(
        self,
        subject: Subject,
        others: tuple[Subject, ...] = (),
        device: torch.device | str = "cpu",
    ) -> None:
        self.subject, self.device = subject, torch.device(device)
        self.grid = TokenGrid.of(subject.recognizer.encoder)
        self.blocks, self.heads = _sizes(subject)
        for other in others:
            kind = other.charset, TokenGrid.of(other.recognizer.encoder), *_sizes(other)
            if kind != (subject.charset, self.grid, self.blocks, self.heads):
                raise ValueError(f"{other.name} and {subject.name} have not the same architecture")
        self._recognizers = {
            each.name: each.recognizer.to(self.device).eval() for each in (subject, *others)
        }

    def words(self, material: Material, batch_size: int = 32) -> Iterator[Word]:
        """Every image of the material, in order; memory for one batch."""
        for batch in material.batches(batch_size):
            yield from self.observe(batch)

    @torch.no_grad()
    def observe(self, batch: Batch) -> list[Word]:
        """The words of one batch."""
        preprocessing = self.subject.preprocessing
        images = preprocessing.normalize(batch.pixels.to(self.device))
        hypotheses = self._recognizers[self.subject.name].generate(images)
        seen = {
            name: _grid_attention(recognizer, images, hypotheses.labels)
            for name, recognizer in self._recognizers.items()
        }
        confidences = hypotheses.confidences.double().tolist()
        return [
            self._word(batch, place, ids, confidences[place], seen)
            for place, ids in enumerate(hypotheses.labels.tolist())
        ]

    def _word(
        self,
        batch: Batch,
        place: int,
        ids: list[int],
        confidences: list[float],
        seen: Mapping[str, tuple[Tensor, Tensor]],
    ) -> Word:
        text = self.subject.charset.decode(ids)
        label = batch.labels[place] if batch.labels else None
        boxes = None if batch.boxes is None else batch.boxes[place, : len(label or "")].double()
        end = len(text)
        return Word(
            batch.names[place],
            batch.pixels[place],
            text,
            label,
            confidences[:end],
            {name: maps[place, :, :, :end] for name, (maps, _) in seen.items()},
            {name: special[place, :, :, :end] for name, (_, special) in seen.items()},
            boxes,
        )


def _sizes(subject: Subject) -> tuple[int, int]:
    """Blocks of the decoder that look at the image, and heads of each."""
    looking = looking_blocks(subject.recognizer.decoder)
    return len(looking), looking[0].cross_attention.heads


def boxes_of(maps: Float64[Tensor, "character row column"], grid: TokenGrid) -> Boxes:
    """Boxes as `Reader.read` gives them, for the maps of one word."""
    height, width = map(round, grid.image_size)
    there = torch.ones(1, len(maps), dtype=torch.bool)
    return character_boxes(maps[None], there, (height, width))[0]


def saliency_maps(
    recognizer: Recognizer,
    preprocessing: Preprocessing,
    pixels: UInt8[Tensor, "3 height width"],
    ids: Int64[Tensor, " character"],
) -> Float64[Tensor, "character row column"]:
    """|gradient x input| of each character's score, summed over patches; every map sums to 1.

    One backward pass per character (Simonyan et al. 2014; Shrikumar et al. 2016).

    Args:
        recognizer: in evaluation; its decoder has ``logits``.
        preprocessing: of the model.
        pixels: one image.
        ids: of the characters to write.
    """
    decoder: Any = recognizer.decoder
    device = next(recognizer.parameters()).device
    images = preprocessing.normalize(pixels[None].to(device)).requires_grad_()
    scores = decoder.logits(recognizer.encode(images), ids[None].to(device))[0]
    maps = []
    for place, id_ in enumerate(ids.tolist()):
        (gradient,) = torch.autograd.grad(scores[place, id_], images, retain_graph=True)
        shares = (gradient * images).abs().sum(1).detach()
        maps.append(torch.nn.functional.adaptive_avg_pool2d(shares, recognizer.encoder.grid)[0])
    if not maps:
        return torch.zeros(0, *recognizer.encoder.grid, dtype=torch.float64)
    found = torch.stack(maps).cpu().double()
    return found / found.sum((1, 2), keepdim=True).clamp(min=1e-12)


def _grid_attention(
    recognizer: Recognizer,
    images: Float[Tensor, "batch 3 height width"],
    ids: Int64[Tensor, "batch position"],
) -> tuple[
    Float64[Tensor, "batch block head position row column"],
    Float64[Tensor, "batch block head position"],
]:
    """Attention over the grid, renormalized, and the share that special tokens had."""
    encoder = recognizer.encoder
    seen = cross_attention(recognizer.decoder, recognizer.encode(images), ids).cpu().double()
    blocks, heads = seen.shape[1:3]
    special = seen[..., : encoder.special_tokens].sum(-1)
    flat = rearrange(seen, "b block head p token -> b (block head p) token")
    return rearrange(
        attention_maps(encoder, flat),
        "b (block head p) row column -> b block head p row column",
        block=blocks,
        head=heads,
    ), special
