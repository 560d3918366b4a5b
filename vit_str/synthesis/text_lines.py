"""Lines of words, and which of their columns belong to a word: what a word splitter learns from."""

import random
from itertools import count
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, UInt8
from torch import Tensor

from vit_str.runtime.charset import PADDING
from vit_str.synthesis.glyphs import GlyphAtlas
from vit_str.synthesis.ingredients import Ingredients
from vit_str.synthesis.lexicon import WEIGHTS, Lexicon
from vit_str.synthesis.renderer import RenderedBatch, Renderer

WIDTHS = (48, 64, 96, 128, 192, 256, 384, 512)
"""Widths of lines, in pixels; all lines of a batch have one of them."""
_CHARACTER_WIDTH = 9.0, 22.0
"""Pixels that a character takes, from narrow to wide type."""
_MOST_CHARACTERS = 60  # in a line
_NARROWEST_GAP = 2.0  # columns
_SPACES = (" ", " ", " ", "  ", "   ")
"""What stands between two words: signs have wider gaps than books."""
_INGREDIENTS = Ingredients(
    stacked=0.0, turned=0.0, raised=0.3, curve=0.3, margin=1.3, rotation=0.5, perspective=0.6
)
"""Detectors give lines that are nearly straight, with wider margins than labelled words have."""
_TEXT = {**WEIGHTS, "words": 0.6, "numbers": 0.1, "contextless": 0.03} | dict.fromkeys(
    ("phrases", "cut", "nothing"), 0.0
)


class LineBatch(NamedTuple):
    """Lines of one width.

    Attributes:
        images: of the height of the renderer.
        in_word: for every column, whether it belongs to a word.
        extents: top and bottom of that word over the height of the line; zero between words.
    """

    images: UInt8[Tensor, "batch 3 height width"]
    in_word: Bool[Tensor, "batch column"]
    extents: Float[Tensor, "batch 2 column"]


class LineRenderer:
    """Draws lines of one to ten words as batches; an index gives the same batch every time.

    Args:
        atlas: the fonts; its charset must hold the space.
        language: of the words, see `Lexicon`.
        pictures: photographs to use as backgrounds.
        ingredients: strengths of the effects.
        height: of the lines, in pixels.
        stride: pixels from one column to the next.

    Raises:
        ValueError: a charset without the space.
    """

    def __init__(
        self,
        atlas: GlyphAtlas,
        language: str = "en",
        pictures: UInt8[Tensor, "picture 3 height width"] | None = None,
        ingredients: Ingredients = _INGREDIENTS,
        height: int = 32,
        stride: int = 2,
    ) -> None:
        if atlas.charset.unknown(" "):
            raise ValueError("lines of words need a charset with the space, for example european")
        self._space = atlas.charset.encode(" ")[0]
        self._lexicon = Lexicon(atlas.charset, language, None, _TEXT)
        self._charset, self._height, self._stride = atlas.charset, height, stride
        self._renderers = [
            Renderer(atlas, self._lexicon, (height, width), (2, width // 4), ingredients, pictures)
            for width in WIDTHS
        ]

    def batch(self, size: int, seed: int, index: int) -> LineBatch:
        """Batch number ``index`` of the endless stream of ``seed``."""
        rng = random.Random(f"{seed} {index}")
        renderer = rng.choice(self._renderers)
        width = renderer.image_size[1]
        labels = self._labels(size, width, rng)
        batch = renderer.render(labels, rng.getrandbits(62))
        return self._columns(batch)

    def _labels(self, size: int, width: int, rng: random.Random) -> list[str]:
        """Lines with about as many characters as the width holds."""
        words = (w for _ in count() for w in self._lexicon.sample(256, rng.getrandbits(62)))
        labels = []
        for _ in range(size):
            space, upper = rng.choice(_SPACES), rng.random() < 0.3
            length = min(_MOST_CHARACTERS, width / rng.uniform(*_CHARACTER_WIDTH))
            label = next(words)
            while len(label) < length - 3:
                label += space + next(words)
            upper = upper and not self._charset.unknown(label.upper())
            labels.append(label.upper() if upper else label)
        return labels

    def _columns(self, batch: RenderedBatch) -> LineBatch:
        """What is to be known of every column: a word is from its first to its last letter.

        Between words that touch or overlap, as slanted ones do, a narrow gap is kept.
        """
        is_space = batch.labels == self._space
        drawn = (batch.boxes[..., 2] > batch.boxes[..., 0]) & ~is_space & (batch.labels != PADDING)
        word = torch.where(drawn, is_space.cumsum(1), 0)
        count = int(word.max()) + 1

        def reduce(side: int, filler: float, how: str) -> Tensor:
            values = batch.boxes[..., side].where(drawn, filler)
            empty = values.new_full((len(values), count), filler)
            return empty.scatter_reduce(1, word, values, how)

        left, top = reduce(0, torch.inf, "amin"), reduce(1, torch.inf, "amin")
        right, bottom = reduce(2, -torch.inf, "amax"), reduce(3, -torch.inf, "amax")
        width = batch.images.shape[-1]
        x = (torch.arange(width // self._stride, device=left.device) + 0.5) * self._stride
        inside = (x > left[..., None]) & (x < right[..., None])
        # Double spaces leave words without letters: their gaps are those of their neighbors.
        before = right.cummax(1).values[:, :-1]
        after = left.flip(1).cummin(1).values.flip(1)[:, 1:]
        middle = ((before + after) / 2)[..., None]
        narrowest = _NARROWEST_GAP * self._stride
        narrow = (after - before < narrowest)[..., None]
        gap = narrow & ((x - middle).abs() < narrowest / 2)
        sides = torch.stack([top, bottom], 1)[..., None] / self._height
        shared = inside.sum(1).clamp(min=1)[:, None]
        extents = sides.where(inside[:, None], 0.0).sum(2) / shared
        return LineBatch(batch.images, inside.any(1) & ~gap.any(1), extents.clamp(0, 1))
