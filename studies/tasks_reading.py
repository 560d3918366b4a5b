"""Small recognizers that learn to read a fixed set of rendered words: a ViT and a convolution."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Int64
from torch import Tensor, nn

from vit_str.charset import PADDING
from vit_str.images import Preprocessing
from vit_str.models import (
    ConvolutionalEncoder,
    Encoder,
    Recognizer,
    TransformerDecoder,
    VisionTransformer,
)
from vit_str.models.dense import TokenClassifier
from vit_str.synthesis.renderer import RenderedBatch

VIT, CONVOLUTION = "ViT", "convolution"
SYSTEMS = (VIT, CONVOLUTION)

_WARM_UP = 0.1
_WEIGHT_DECAY = 0.05
_TEST_BATCH = 256


@dataclass(frozen=True, slots=True)
class Sizes:
    """How large the two systems are, and what they read.

    Attributes:
        image_size: height and width, in pixels.
        patch_size: of the ViT, and the cell of a token of the convolution: powers of 2.
        dim: width of a token.
        depth: blocks of the ViT.
        heads: of every attention.
        widths: channels of the stages of the convolution but the last, which has ``dim``.
        depths: residual blocks of its stages.
        strides: of its stages.
        decoder_depth: blocks of the decoder, the same for both.
        maximum_length: most characters of a word.
    """

    image_size: tuple[int, int]
    patch_size: tuple[int, int]
    dim: int
    depth: int
    heads: int
    widths: tuple[int, ...]
    depths: tuple[int, ...]
    strides: tuple[tuple[int, int], ...]
    decoder_depth: int
    maximum_length: int

    @property
    def grid(self) -> tuple[int, int]:
        """Rows and columns of tokens."""
        height, width = self.image_size
        return height // self.patch_size[0], width // self.patch_size[1]


SMALL = Sizes(
    (16, 32), (8, 8), 64, 3, 4, (16, 32), (1, 1, 1), ((2, 2), (2, 2), (2, 2)), 1, maximum_length=2
)
"""Two characters in an image; both encoders have about 0.13 M parameters."""
STANDARD = Sizes((32, 128), (8, 8), 256, 6, 4, (48, 96), (1, 1, 3), ((2, 2), (2, 2), (2, 2)), 2, 25)
"""Words; the encoder and the decoder of ``configs/conv_transformer.yaml``, and a ViT beside it."""


def build_reader(system: str, sizes: Sizes, charset_size: int, seed: int) -> Recognizer:
    """A recognizer with fresh weights that depend on the seed alone."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        decoder = TransformerDecoder(
            charset_size, sizes.dim, sizes.decoder_depth, sizes.heads, sizes.maximum_length
        )
        return Recognizer(_encoder(system, sizes), decoder)


def train_reader(
    recognizer: Recognizer,
    words: RenderedBatch,
    steps: int,
    batch_size: int,
    seed: int,
    device: str = "cpu",
    learning_rate: float = 2e-3,
    advance: Callable[[int], object] = lambda steps: None,
) -> Recognizer:
    """Go through a fixed set of words in an order that depends on the seed, again and again.

    The losses are those of ``vit-str train``: the decoder's, and the character under each token,
    which fades. The learning rate rises, then falls along a cosine.

    Args:
        recognizer: is trained in place, and returned ready to read.
        words: the set.
        steps: so many batches.
        batch_size: words in each.
        seed: of the order.
        device: to compute on.
        learning_rate: the highest.
        advance: is told 1 after each step.
    """
    recognizer.to(device).train()
    preprocessing = Preprocessing(*recognizer.encoder.image_size)
    words = words.to(device)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        names = TokenClassifier(recognizer.encoder.dim, recognizer.decoder.charset_size).to(device)
    parameters = [*recognizer.parameters(), *names.parameters()]
    optimizer = torch.optim.AdamW(
        [each for each in parameters if each.numel()],
        learning_rate,
        weight_decay=_WEIGHT_DECAY,
        fused=True,
    )
    for step, chosen in enumerate(_places(len(words), steps, batch_size, seed)):
        share = step / steps
        for group in optimizer.param_groups:
            group["lr"] = learning_rate * _rate(share)
        chosen = chosen.to(device)
        features = recognizer.encode(preprocessing.normalize(words.images[chosen]))
        loss = recognizer.decoder.loss(features, words.labels[chosen])
        loss = loss + (1 - 0.9 * share) * names.loss(features, words.token_characters[chosen])
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        advance(1)
    return recognizer.eval()


@torch.no_grad()
def read_words(recognizer: Recognizer, words: RenderedBatch, device: str = "cpu") -> list[bool]:
    """Which of the words are read exactly."""
    recognizer.to(device).eval()
    preprocessing = Preprocessing(*recognizer.encoder.image_size)
    right: list[bool] = []
    for start in range(0, len(words), _TEST_BATCH):
        part = slice(start, start + _TEST_BATCH)
        images = preprocessing.normalize(words.images[part].to(device))
        found = recognizer.generate(images).labels.cpu()
        right += same_labels(found, words.labels[part])
    return right


def same_labels(
    found: Int64[Tensor, "batch position"], labels: Int64[Tensor, "batch length"]
) -> list[bool]:
    """Which rows are equal, padding left out."""
    width = max(found.shape[1], labels.shape[1])
    one, other = (
        nn.functional.pad(ids, (0, width - ids.shape[1]), value=PADDING) for ids in (found, labels)
    )
    return [bool(equal) for equal in (one == other).all(1).tolist()]


def _encoder(system: str, sizes: Sizes) -> Encoder:
    if system == VIT:
        return VisionTransformer(
            sizes.dim, sizes.depth, sizes.heads, sizes.image_size, sizes.patch_size
        )
    return ConvolutionalEncoder(
        (*sizes.widths, sizes.dim), sizes.depths, sizes.strides, sizes.image_size
    )


def _rate(share: float) -> float:
    return min(1.0, share / _WARM_UP + 0.05) * (1 + math.cos(math.pi * share)) / 2


def _places(words: int, steps: int, batch_size: int, seed: int) -> list[Int64[Tensor, " batch"]]:
    """Which words are in which batch: every word once before any comes again."""
    generator = torch.Generator().manual_seed(seed)
    rounds = -(-steps * batch_size // words)
    order = torch.cat([torch.randperm(words, generator=generator) for _ in range(rounds)])
    return [order[step * batch_size : (step + 1) * batch_size] for step in range(steps)]
