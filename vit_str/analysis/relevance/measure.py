"""Which tokens made a decoder write a character: attention weighted by its gradients.

The generic method of Chefer et al. 2021 for encoder-decoders. The attention of every layer counts
as far as more of it would raise the score of the character: mean over heads of (gradient * map)
where that is positive. Relevance is carried through the layers by additions and products:
section 3, equations 5 to 11 of the paper.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Float64, Int64
from torch import Tensor, nn

from vit_str.analysis.geometry import attention_maps
from vit_str.models import Recognizer
from vit_str.models.attention import attention_modules, attention_weights, forward_hooks
from vit_str.models.cross_attention import looking_blocks
from vit_str.runtime.charset import PADDING

Weighted = Float[Tensor, "batch query key"]


class AttentionCall(NamedTuple):
    """What one call of attention computed."""

    weights: Float[Tensor, "batch head query key"]
    values: Float[Tensor, "batch head key value_dim"]
    output: Float[Tensor, "batch head query value_dim"]


class DecoderLayer(NamedTuple):
    """Weighted attention of one block: of characters to characters, and to the image."""

    to_characters: Weighted
    to_image: Weighted


def propagate(
    encoder: Sequence[Weighted], decoder: Sequence[DecoderLayer]
) -> Float[Tensor, "batch character token"]:
    """Relevance of every token of the image for every character, from weighted attention."""
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
) -> Float64[Tensor, "batch position row column"]:
    """Relevance of the tokens of the grid for every character of ``labels``.

    One backward pass per position; every map sums to 1. Maps of padding, and of a character that
    nothing speaks for, are zero.
    """
    decoder: Any = recognizer.decoder
    calls: dict[nn.Module, AttentionCall] = {}
    modules = attention_modules(recognizer)

    def keep(name: str, inputs: tuple[Any, ...], _: object, output: Tensor) -> None:
        queries, keys, values, *mask = inputs
        weights = attention_weights(queries, keys, *mask).detach()
        if not output.requires_grad:  # frozen weights: gradients start here
            output.requires_grad_()
        calls[modules[name]] = AttentionCall(weights, values.detach(), output)

    blocks: Any = getattr(recognizer.encoder, "blocks", [])
    maps = [images.new_zeros(len(images), 0, *recognizer.encoder.grid)]
    with torch.enable_grad():
        with forward_hooks(modules, keep):
            scores = decoder.logits(recognizer.encode(images), labels)
        for position in range(labels.shape[1]):
            known = labels[:, position] != PADDING
            chosen = scores[:, position].gather(1, labels[:, position, None].clamp(min=0))[:, 0]
            weighted = _weighted(calls, (chosen * known).sum())
            layers = [
                DecoderLayer(
                    weighted[block.self_attention.attend], weighted[block.cross_attention.attend]
                )
                for block in looking_blocks(decoder)
            ]
            of_encoder = [weighted[block.attention.attend] for block in blocks]
            relevance = propagate(of_encoder, layers)[:, position].detach() * known[:, None]
            maps.append(attention_maps(recognizer.encoder, relevance[:, None]))
    return torch.cat(maps, 1).cpu().double()


def _weighted(
    calls: Mapping[nn.Module, AttentionCall], score: Float[Tensor, ""]
) -> dict[nn.Module, Weighted]:
    """Mean over heads of the positive part of gradient * map (equation 5).

    The output of attention is map @ values, so that the gradient of the map is that of the output
    @ values transposed.
    """
    outputs = [call.output for call in calls.values()]
    gradients = torch.autograd.grad(score, outputs, retain_graph=True)
    return {
        module: (gradient @ call.values.mT * call.weights).clamp(min=0).mean(1)
        for (module, call), gradient in zip(calls.items(), gradients, strict=True)
    }


def _normalized(relevance: Weighted) -> Weighted:
    """What was added to the identity, as shares of each row, plus the identity (equations 8, 9)."""
    unit = torch.eye(relevance.shape[-1], device=relevance.device, dtype=relevance.dtype)
    added = relevance - unit
    sums = added.sum(-1, keepdim=True)
    return added / sums.where(sums > 0, 1.0) + unit
