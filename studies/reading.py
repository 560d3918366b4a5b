"""Rendered words for the studies of vision, and small recognizers that learn to read them."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path

import matplotlib
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from studies.training import Labels, fit, seeded
from vit_str.characters.charset import PADDING, Charset
from vit_str.images.preprocessing import Preprocessing
from vit_str.models import (
    ConvolutionalEncoder,
    Encoder,
    Recognizer,
    TransformerDecoder,
    VisionTransformer,
)
from vit_str.models.auxiliary import TokenClassifier
from vit_str.synthesis.glyph_cache import load_or_draw_glyphs
from vit_str.synthesis.glyphs import GlyphAtlas
from vit_str.synthesis.lexicon import Lexicon
from vit_str.synthesis.renderer import RenderedBatch, Renderer
from vit_str.torch_runtime.engine import generate

VIT = "ViT"
CONVOLUTION = "convolution"
SYSTEMS = (VIT, CONVOLUTION)

ONLY_WORDS: Mapping[str, float] = {"words": 1.0}
ANY_STRINGS: Mapping[str, float] = {"contextless": 1.0}

_WARM_UP = 0.1


@dataclass(frozen=True, slots=True)
class Sizes:
    """How large the two systems are, and what they read."""

    image_size: tuple[int, int]
    # Of the ViT, and the cell of a token of the convolution
    patch_size: tuple[int, int]
    dim: int
    depth: int  # blocks of the ViT
    heads: int
    # Of the stages of the convolution but the last, which has ``dim``
    widths: tuple[int, ...]
    depths: tuple[int, ...]  # residual blocks of its stages, each with a stride of 2
    decoder_depth: int
    maximum_length: int

    @property
    def grid(self) -> tuple[int, int]:
        """Rows and columns of tokens."""
        height, width = self.image_size
        return height // self.patch_size[0], width // self.patch_size[1]


SMALL = Sizes((16, 32), (8, 8), 64, 3, 4, (16, 32), (1, 1, 1), 1, maximum_length=2)
"""Two characters in an image; both encoders have about 0.13 M parameters."""
STANDARD = Sizes(
    (32, 128), (8, 8), 256, 6, 4, (48, 96), (1, 1, 3), 2, maximum_length=25
)
"""Words; the encoder and decoder of ``configs/conv_transformer.yaml``, and a ViT of that size."""


def word_renderer(
    charset: Charset, sizes: Sizes = STANDARD, shares: Mapping[str, float] = ONLY_WORDS
) -> Renderer:
    """What draws words, of these shares of the ingredients of `Lexicon`, in matplotlib's fonts.

    The fonts of the system would be more, but other ones on every machine, and drawing all of
    their characters at first use takes minutes.
    """
    lexicon = Lexicon(charset, weights=shares, maximum_length=sizes.maximum_length)
    return Renderer(_atlas(charset), lexicon, sizes.image_size, sizes.grid)


@cache
def _atlas(charset: Charset) -> GlyphAtlas:
    fonts = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
    return load_or_draw_glyphs(charset, [fonts])


def select(words: RenderedBatch, index: slice | list[int]) -> RenderedBatch:
    """Some words of a batch."""
    return RenderedBatch(
        *(getattr(words, field.name)[index] for field in fields(words))
    )


def distinct(words: RenderedBatch) -> RenderedBatch:
    """The first of every text, so that none is tested twice."""
    first = {
        tuple(ids): index
        for index, ids in reversed(list(enumerate(words.labels.tolist())))
    }
    return select(words, sorted(first.values()))


def build_reader(system: str, sizes: Sizes, charset_size: int, seed: int) -> Recognizer:
    """A recognizer with fresh weights that depend on the seed alone."""
    with seeded(seed):
        decoder = TransformerDecoder(
            charset_size,
            sizes.dim,
            sizes.decoder_depth,
            sizes.heads,
            sizes.maximum_length,
        )
        if system == VIT:
            encoder: Encoder = VisionTransformer(
                sizes.dim, sizes.depth, sizes.heads, sizes.image_size, sizes.patch_size
            )
        else:
            strides = ((2, 2),) * len(sizes.depths)
            widths = (*sizes.widths, sizes.dim)
            encoder = ConvolutionalEncoder(
                widths, sizes.depths, strides, sizes.image_size
            )
        return Recognizer(encoder, decoder)


def train_reader(
    recognizer: Recognizer,
    words: RenderedBatch,
    seed: int,
    *,
    steps: int,
    batch_size: int,
    learning_rate: float,
    device: str = "cpu",
) -> Recognizer:
    """Go through a fixed set of words in an order that depends on the seed, again and again.

    The losses are those of ``vit-str train``: the decoder's, and the character under each token,
    which fades. The learning rate rises, then falls along a cosine.
    """
    recognizer.to(device).train()
    preprocessing = Preprocessing(*recognizer.encoder.image_size)
    words = words.to(device)
    with seeded(seed):
        dim = recognizer.encoder.dim
        names = TokenClassifier(dim, recognizer.decoder.charset_size).to(device)
    parameters = [*recognizer.parameters(), *names.parameters()]
    parameters = [parameter for parameter in parameters if parameter.numel()]
    # Every word is in a batch once before any comes again.
    generator = torch.Generator().manual_seed(seed)
    rounds = math.ceil(steps * batch_size / len(words))
    order = torch.cat(
        [torch.randperm(len(words), generator=generator) for _ in range(rounds)]
    )

    def loss(step: int) -> Tensor:
        chosen = order[step * batch_size : (step + 1) * batch_size].to(device)
        features = recognizer.encode(preprocessing.normalize(words.images[chosen]))
        characters = names.loss(features, words.token_characters[chosen])
        fading = 1 - 0.9 * step / steps
        return (
            recognizer.decoder.loss(features, words.labels[chosen])
            + fading * characters
        )

    def rate(step: int) -> float:
        share = step / steps
        return min(1.0, share / _WARM_UP + 0.05) * (1 + math.cos(math.pi * share)) / 2

    optimizer = torch.optim.AdamW(
        parameters,
        learning_rate,
        weight_decay=0.05,
        fused=True,
    )
    fit(loss, steps, optimizer, rate)
    return recognizer.eval()


@torch.no_grad()
def read_words(
    recognizer: Recognizer,
    words: RenderedBatch,
    device: str = "cpu",
) -> list[bool]:
    """Which of the words are read exactly."""
    recognizer.to(device).eval()
    preprocessing = Preprocessing(*recognizer.encoder.image_size)
    right: list[bool] = []
    for start in range(0, len(words), 256):
        part = select(words, slice(start, start + 256))
        pixels = preprocessing.normalize(part.images.to(device))
        written = generate(recognizer.decoder, recognizer.encode(pixels)).labels
        right += same_labels(written.cpu(), part.labels).tolist()
    return right


def same_labels(written: Labels, labels: Labels) -> Tensor:
    """Which rows are equal, whatever the padding after them."""
    first, second = pad_sequence(
        [written.T, labels.T],
        batch_first=True,
        padding_value=PADDING,
    )
    return (first == second).all(0)
