"""Several methods that tell what made a decoder write a character, and a test of their maps.

All are maps over the tokens of the image, one for each character, that sum to 1. None of them is
the truth; how much the model's own certainty falls when the tokens that a map names are hidden is
a test that needs none.
"""

from collections.abc import Callable, Mapping
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float, Float64, Int64
from torch import Tensor

from vit_str.analysis.geometry import attention_maps
from vit_str.analysis.images import Batch
from vit_str.analysis.map_sheet import MappedWord, mapped_words
from vit_str.analysis.relevance.measure import character_relevance
from vit_str.analysis.rollout.measure import character_rollout, looked_at
from vit_str.analysis.subjects import Subject
from vit_str.models import Recognizer
from vit_str.runtime.charset import PADDING
from vit_str.torch_runtime.engine import generate

Images = Float[Tensor, "batch channel height width"]
Labels = Int64[Tensor, "batch position"]
CharacterMaps = Float64[Tensor, "batch position row column"]


@torch.no_grad()
def attention(recognizer: Recognizer, images: Images, labels: Labels) -> CharacterMaps:
    """Cross-attention of the last block, mean over its heads."""
    seen = looked_at(recognizer.decoder, recognizer.encode(images), labels)
    return attention_maps(recognizer.encoder, seen)


def gradient_times_input(recognizer: Recognizer, images: Images, labels: Labels) -> CharacterMaps:
    """|gradient x input| of the score of each character, summed over colors and pixels of a token.

    One backward pass per position (Simonyan et al. 2014; Shrikumar et al. 2016).
    """
    images = images.detach().requires_grad_()
    grid, decoder = recognizer.encoder.grid, _scoring_decoder(recognizer)
    maps = [images.new_zeros(len(images), 0, *grid)]
    with torch.enable_grad():
        scores = decoder.logits(recognizer.encode(images), labels)
        for position in range(labels.shape[1]):
            chosen = scores[:, position].gather(1, labels[:, position, None].clamp(min=0))
            (gradients,) = torch.autograd.grad(chosen.sum(), images, retain_graph=True)
            shares = (gradients * images).detach().abs().sum(1, keepdim=True)
            maps.append(F.adaptive_avg_pool2d(shares, grid))
    shares = torch.cat(maps, 1).cpu().double()
    return shares / shares.sum((2, 3), keepdim=True).clamp(min=torch.finfo(torch.double).tiny)


def rollout_words(
    subject: Subject, batch: Batch, images: Images, residual: float
) -> list[MappedWord]:
    """The words of the first images of a batch, with cross-attention, rollout and gradients."""
    recognizer = subject.recognizer
    labels = generate(recognizer.decoder, recognizer.encode(images)).labels
    maps = {
        "cross-attention": attention(recognizer, images, labels),
        "through the encoder by rollout": character_rollout(recognizer, images, labels, residual),
        "|gradient × input|": gradient_times_input(recognizer, images, labels),
    }
    return mapped_words(subject.charset, batch, labels, maps)


METHODS: Mapping[str, Callable[[Recognizer, Images, Labels], CharacterMaps]] = {
    "cross-attention": attention,
    "rollout": character_rollout,
    "relevance": character_relevance,
    "gradient × input": gradient_times_input,
}
"""By name."""


def random_maps(like: CharacterMaps, seed: int) -> CharacterMaps:
    """Random maps: what chance gives."""
    generator = torch.Generator().manual_seed(seed)
    maps = torch.rand(like.shape, generator=generator, dtype=torch.float64)
    return maps / maps.sum((2, 3), keepdim=True)


@torch.no_grad()
def probabilities(
    recognizer: Recognizer, images: Images, labels: Labels
) -> Float[Tensor, "batch position"]:
    """Probability of every character of ``labels`` given the image and those before it."""
    scores = _scoring_decoder(recognizer).logits(recognizer.encode(images), labels)
    given = scores.float().softmax(-1)[:, : labels.shape[1]]
    return given.gather(2, labels[..., None].clamp(min=0))[..., 0]


@torch.no_grad()
def drops(
    recognizer: Recognizer, images: Images, labels: Labels, maps: CharacterMaps, share: float = 0.1
) -> Float64[Tensor, "batch position"]:
    """By how much the probability of a character falls without the tokens its map names first.

    A share of the tokens, at least one, gets the mean color of the image; NaN for padding.
    """
    fallen = probabilities(recognizer, images, labels).double().cpu()
    for position in range(labels.shape[1]):
        rows = (labels[:, position] != PADDING).nonzero()[:, 0]
        hidden = hide(images[rows], maps[rows.cpu(), position], share)
        left = probabilities(recognizer, hidden, labels[rows, : position + 1])[:, position]
        fallen[rows.cpu(), position] -= left.double().cpu()
    return fallen.masked_fill(labels.cpu() == PADDING, torch.nan)


def hide(images: Images, maps: Float64[Tensor, "batch row column"], share: float) -> Images:
    """Paint the tokens of the highest values in the mean color of the image."""
    rows, columns = maps.shape[1:]
    count = max(1, round(share * rows * columns))
    chosen = maps.flatten(1).topk(count).indices
    hidden = torch.zeros(len(maps), rows * columns).scatter_(1, chosen, 1.0)
    mask = F.interpolate(hidden.view(-1, 1, rows, columns), images.shape[2:], mode="nearest")
    mean = images.mean((2, 3), keepdim=True)
    return images.where(mask.to(images.device) < 0.5, mean)


def _scoring_decoder(recognizer: Recognizer) -> Any:
    """The decoder, if it can score a given text."""
    if not hasattr(recognizer.decoder, "logits"):
        name = type(recognizer.decoder).__name__
        raise ValueError(f"{name} cannot score the characters of a given text")
    return recognizer.decoder
