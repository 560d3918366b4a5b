"""The renderer: a seed and an index give a batch of labelled pictures, on CPU or GPU."""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import chain

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int64, UInt8
from torch import Tensor

from vit_str.characters.charset import PADDING, Charset
from vit_str.seeds import split_mix
from vit_str.synthesis.degrade import degrade
from vit_str.synthesis.displays import letters_seen
from vit_str.synthesis.form_boxes import with_form_boxes
from vit_str.synthesis.glyphs import GlyphAtlas
from vit_str.synthesis.ingredients import Ingredients
from vit_str.synthesis.layout import Typesetter
from vit_str.synthesis.legibility import keep_legible
from vit_str.synthesis.own_texts import Texts
from vit_str.synthesis.paint import Shown, paint
from vit_str.synthesis.random_numbers import Random, noise_bank, upload
from vit_str.synthesis.text_styles import TextStyles
from vit_str.synthesis.view import sample_view
from vit_str.synthesis.warp import character_boxes, crop_mask, token_characters

_SMALLEST = 8  # side of a picture, in pixels
_CPU_CHUNK = 64  # words drawn at a time
_GPU_CHUNK = 4096
_BATCHES_PER_SEED = 1 << 40  # before the stream of the next seed begins


@dataclass(frozen=True, slots=True)
class RenderedBatch:
    """Pictures of words, and all that the renderer knows about them."""

    images: UInt8[Tensor, "batch 3 height width"]  # what a model sees
    # Ids of the characters, `PADDING` after the end
    labels: Int64[Tensor, "batch position"]
    # The character under the center of every token, `PADDING` for none
    token_characters: Int64[Tensor, "batch token"]
    # Left, top, right, bottom of every character in pixels; zero where there is none
    boxes: Float[Tensor, "batch position side"]

    def __len__(self) -> int:
        return len(self.images)

    def to(
        self, device: torch.device | str, non_blocking: bool = False
    ) -> "RenderedBatch":
        """The same batch on another device."""
        return self._each(lambda values: values.to(device, non_blocking=non_blocking))

    def pin_memory(self) -> "RenderedBatch":
        """The same batch in memory from which it is copied to a GPU without waiting."""
        return self._each(Tensor.pin_memory)

    def split(self, size: int) -> "list[RenderedBatch]":
        """Batches of ``size`` words that share the memory of this one; the last may be smaller."""
        starts = range(0, len(self), size)
        places = [slice(start, start + size) for start in starts]
        return [self._each(lambda values, at=place: values[at]) for place in places]  # type: ignore[misc]

    def _each(self, change: Callable[[Tensor], Tensor]) -> "RenderedBatch":
        return RenderedBatch(
            images=change(self.images),
            labels=change(self.labels),
            token_characters=change(self.token_characters),
            boxes=change(self.boxes),
        )


class Renderer:
    """Draws words as batches of tensor operations.

    Args:
        atlas: the fonts; its device is where pictures are drawn.
        lexicon: what to write.
        image_size: height and width of a picture, in pixels.
        grid: rows and columns of tokens for ``token_characters``.
        ingredients: strengths of the effects.
        pictures: photographs to use as backgrounds.
        chunk: words drawn at a time; by default 64 on a CPU, so that they stay in its cache, and
            4096 on a GPU. Part of what a seed means.

    Raises:
        ValueError: the picture is too small.
    """

    def __init__(
        self,
        atlas: GlyphAtlas,
        lexicon: Texts,
        image_size: tuple[int, int] = (32, 128),
        grid: tuple[int, int] = (4, 16),
        ingredients: Ingredients | None = None,
        pictures: UInt8[Tensor, "picture 3 height width"] | None = None,
        chunk: int | None = None,
    ) -> None:
        if min(image_size) < _SMALLEST:
            raise ValueError(
                f"height and width of a picture must be {_SMALLEST} or more, found "
                f"{image_size}"
            )
        self.device = atlas.columns.device
        self.charset: Charset = atlas.charset
        self.lexicon = lexicon
        self.image_size = image_size
        self.grid = grid
        self.ingredients = ingredients or Ingredients()
        self.pictures = None if pictures is None else pictures.to(self.device)
        usual_chunk = _CPU_CHUNK if self.device.type == "cpu" else _GPU_CHUNK
        self.chunk = chunk or usual_chunk
        self.atlas = with_form_boxes(atlas).with_machine_faces()
        self.typesetter = Typesetter(self.atlas)
        self._noise = noise_bank(self.device)

    def resized(self, image_size: tuple[int, int], grid: tuple[int, int]) -> "Renderer":
        """The same renderer for pictures of another size."""
        renderer = copy(self)
        renderer.image_size = image_size
        renderer.grid = grid
        return renderer

    def batch(
        self,
        size: int,
        seed: int,
        index: int,
        difficulty: float = 1.0,
    ) -> RenderedBatch:
        """Batch number ``index`` of the endless stream of ``seed``.

        Args:
            size: words in the batch.
            seed: of the stream.
            index: of the batch in the stream.
            difficulty: from 0 (clean words) to 1 (the ingredients as they are).
        """
        seed = _seed(seed * _BATCHES_PER_SEED + index)
        return self.render(self.lexicon.sample(size, seed), seed, difficulty)

    def batches(
        self,
        size: int,
        seed: int,
        indices: Sequence[int],
        difficulty: float = 1.0,
    ) -> list[RenderedBatch]:
        """Several batches of the stream, drawn together: the texts of `batch`, in other looks.

        A chunk is as wide as its longest word. Of more words than fit into one, those of similar
        length share a chunk, whichever batch they are of.

        Args:
            size: words in each batch.
            seed: of the stream.
            indices: of the batches in the stream; part of what decides the looks.
            difficulty: as for `batch`.
        """
        seeds = [_seed(seed * _BATCHES_PER_SEED + index) for index in indices]
        texts = [self.lexicon.sample(size, each) for each in seeds]
        together = self.render(list(chain.from_iterable(texts)), seeds[0], difficulty)
        return together.split(size)

    @torch.no_grad()
    def render(
        self,
        labels: Sequence[str],
        seed: int,
        difficulty: float = 1.0,
    ) -> RenderedBatch:
        """Pictures of the given labels, in their order.

        An empty label gives a crop without text: what would be behind and around a word.
        """
        words = self._with_words(labels)
        # Words of about the same length share a chunk: its width is that of the longest.
        order = sorted(range(len(words)), key=lambda index: len(words[index]))
        ids = self.charset.encode_batch(words)
        blank = torch.tensor([not label for label in labels])
        strengths = self.ingredients.at(difficulty)
        chunks = []
        for number, start in enumerate(range(0, len(order), self.chunk)):
            places = order[start : start + self.chunk]
            chosen = ids[places]
            longest = int((chosen != PADDING).sum(1).max())
            chosen = upload(chosen[:, :longest], self.device)
            empty = upload(blank[places].nonzero()[:, 0], self.device)
            own_seed = _seed(seed + number)
            random = Random(own_seed, len(chosen), self._noise)
            texts = [words[place] for place in places]
            styles = self.typesetter.styles.sample(
                texts, strengths, own_seed, self.image_size[1]
            )
            chunks.append(self._render_chunk(chosen, empty, strengths, random, styles))
        back = upload(torch.tensor(order).argsort(), self.device)
        return join(chunks)._each(lambda values: values[back])

    def _with_words(self, labels: Sequence[str]) -> list[str]:
        """The labels, with a word in place of each empty one: crops are as wide as words are."""
        words: list[str] = []
        last = next(filter(None, labels), self.charset.characters[0])
        for label in labels:
            last = label or last
            words.append(last)
        return words

    def _render_chunk(
        self,
        ids: Int64[Tensor, "batch position"],
        empty: Int64[Tensor, " crop"],
        strengths: Ingredients,
        random: Random,
        styles: TextStyles,
    ) -> RenderedBatch:
        """Draw some words at once; of those of ``empty`` places only what is around them."""
        lines = self.typesetter.set(ids, strengths, random, styles)
        view = sample_view(lines, strengths, random, self.image_size)
        mask = crop_mask(lines, view, self.image_size).index_fill_(0, empty, 0)
        boxes = character_boxes(lines, view, self.image_size)
        shown = Shown(styles, ids, boxes)
        clean = paint(mask, strengths, random, self.pictures, shown)
        degraded = degrade(clean, view.crop_aspects, lines.letters, strengths, random)
        image = keep_legible(degraded, clean, letters_seen(mask, styles))
        on_tokens = token_characters(lines, view, self.grid)
        return RenderedBatch(
            images=(image * 255).round_().to(torch.uint8),
            labels=ids.index_fill(0, empty, PADDING),
            token_characters=on_tokens.index_fill_(0, empty, PADDING),
            boxes=boxes.index_fill_(0, empty, 0),
        )


def _seed(number: int) -> int:
    """A seed of 63 bits, as generators take it."""
    return split_mix(number) >> 1


def join(batches: Sequence[RenderedBatch]) -> RenderedBatch:
    """Batches as one, labels padded to the longest."""
    if len(batches) == 1:
        return batches[0]
    longest = max(batch.labels.shape[1] for batch in batches)
    labels = []
    boxes = []
    for batch in batches:
        missing = longest - batch.labels.shape[1]
        labels.append(F.pad(batch.labels, (0, missing), value=PADDING))
        boxes.append(F.pad(batch.boxes, (0, 0, 0, missing)))
    return RenderedBatch(
        images=torch.cat([batch.images for batch in batches]),
        labels=torch.cat(labels),
        token_characters=torch.cat([batch.token_characters for batch in batches]),
        boxes=torch.cat(boxes),
    )
