"""Which tokens made a decoder write a character: attention weighted by its gradients.

The generic method of Chefer et al. 2021 for encoder-decoders. The attention of every layer counts
as far as more of it would raise the score of the character: mean over heads of (gradient * map)
where that is positive. Relevance is carried through the layers by additions and products:
section 3, equations 5 to 11 of the paper.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn

from vit_str.charset import PADDING
from vit_str.models import Recognizer
from vit_str.models.attention import Mask, ScaledDotProductAttention, attention_weights
from vit_str.models.character_boxes import attention_maps, looking_blocks

Weighted = Float[Tensor, "batch query key"]
Maps = dict[nn.Module, Float[Tensor, "batch head query key"]]


class DecoderLayer(NamedTuple):
    """Weighted attention of one block: of characters to characters, and to the image."""

    to_characters: Weighted
    to_image: Weighted


@contextmanager
def differentiable_attention(model: nn.Module) -> Iterator[Maps]:
    """Compute attention by explicit maps inside the ``with``, and keep them, with gradients.

    The fused kernel has no maps that a gradient could be asked of. What the model computes is the
    same up to rounding. Maps are by module, those of its last call.

    Raises:
        ValueError: the model holds no attention of this project.
    """
    maps: Maps = {}
    cores = [each for each in model.modules() if isinstance(each, ScaledDotProductAttention)]
    if not cores:
        raise ValueError(f"{type(model).__name__} holds no attention")

    def explicit(core: nn.Module) -> Any:
        def forward(queries: Tensor, keys: Tensor, values: Tensor, mask: Mask | None = None) -> Any:
            weights = attention_weights(queries, keys, mask)
            if not weights.requires_grad:  # frozen weights: gradients start at the map
                weights.requires_grad_()
            maps[core] = weights
            return weights @ values

        return forward

    try:
        for core in cores:
            core.forward = explicit(core)  # type: ignore[method-assign]
        yield maps
    finally:
        for core in cores:
            del core.forward  # the method of the class is seen again


def propagate(
    encoder: Sequence[Weighted], decoder: Sequence[DecoderLayer]
) -> Float[Tensor, "batch character token"]:
    """Relevance of every token of the image for every character, from weighted attention.

    Args:
        encoder: of the encoder's layers; none for an encoder without attention.
        decoder: of the decoder's.
    """
    batch, characters, tokens = decoder[0].to_image.shape
    like = decoder[0].to_image
    image = torch.eye(tokens, device=like.device, dtype=like.dtype).expand(batch, -1, -1)
    for weighted in encoder:
        image = image + weighted @ image
    text = torch.eye(characters, device=like.device, dtype=like.dtype).expand(batch, -1, -1)
    crossed = torch.zeros_like(like)
    for layer in decoder:
        # Both right sides are of the layer before: equations 6 and 7, then 10.
        text, crossed = (
            text + layer.to_characters @ text,
            crossed + layer.to_characters @ crossed,
        )
        mixed = _normalized(text).transpose(1, 2) @ layer.to_image @ _normalized(image)
        crossed = crossed + mixed
    return crossed


def character_relevance(
    recognizer: Recognizer,
    images: Float[Tensor, "batch channel height width"],
    labels: Int64[Tensor, "batch position"],
) -> Float[Tensor, "batch position row column"]:
    """Relevance of the tokens of the grid for every character of ``labels``.

    One backward pass per position; every map sums to 1. Maps of padding, and of a character that
    nothing speaks for, are zero.

    Raises:
        ValueError: the decoder has no cross-attention.
    """
    decoder: Any = recognizer.decoder
    found = []
    with torch.enable_grad(), differentiable_attention(recognizer) as maps:
        scores = decoder.logits(recognizer.encode(images), labels)
        for position in range(labels.shape[1]):
            there = labels[:, position] != PADDING
            chosen = scores[:, position].gather(1, labels[:, position, None].clamp(min=0))[:, 0]
            weighted = _weighted(maps, (chosen * there).sum())
            layers = _decoder_layers(recognizer, weighted)
            relevance = propagate(_encoder_layers(recognizer, weighted), layers)[:, position]
            found.append(relevance.detach() * there[:, None])
    if not found:
        return images.new_zeros(len(images), 0, *recognizer.encoder.grid)
    return attention_maps(recognizer.encoder, torch.stack(found, 1))


def _weighted(maps: Maps, score: Float[Tensor, ""]) -> dict[nn.Module, Weighted]:
    """Mean over heads of the positive part of gradient * map (equation 5)."""
    gradients = torch.autograd.grad(score, list(maps.values()), retain_graph=True)
    return {
        core: (gradient * weights).clamp(min=0).mean(1)
        for (core, weights), gradient in zip(maps.items(), gradients, strict=True)
    }


def _encoder_layers(recognizer: Recognizer, weighted: dict[nn.Module, Weighted]) -> list[Weighted]:
    blocks: Any = getattr(recognizer.encoder, "blocks", [])
    return [weighted[block.attention.attend] for block in blocks]


def _decoder_layers(
    recognizer: Recognizer, weighted: dict[nn.Module, Weighted]
) -> list[DecoderLayer]:
    return [
        DecoderLayer(weighted[block.self_attention.attend], weighted[block.cross_attention.attend])
        for block in looking_blocks(recognizer.decoder)
    ]


def _normalized(relevance: Weighted) -> Weighted:
    """What was added to the identity, as shares of each row, plus the identity (equations 8, 9)."""
    unit = torch.eye(relevance.shape[-1], device=relevance.device, dtype=relevance.dtype)
    added = relevance - unit
    sums = added.sum(-1, keepdim=True)
    return added / sums.where(sums > 0, 1.0) + unit
