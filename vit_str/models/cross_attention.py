"""Where a decoder looked while it wrote each character."""

import copy

import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn

from vit_str.models.attention import record_attention
from vit_str.models.blocks import DecoderBlock
from vit_str.models.interfaces import Decoder


def looking_blocks(decoder: Decoder) -> list[DecoderBlock]:
    """The blocks of a decoder that look at the image, in their order.

    Raises:
        ValueError: for a decoder without cross-attention.
    """
    blocks = [
        module for module in decoder.modules() if isinstance(module, DecoderBlock)
    ]
    if not blocks:
        raise ValueError(
            f"{type(decoder).__name__} has no cross-attention, which tells where a "
            "character is: no boxes, use a model with a Transformer decoder"
        )
    return blocks


def cross_attention(
    decoder: Decoder,
    features: Float[Tensor, "batch token dim"],
    labels: Int64[Tensor, "batch position"],
) -> Float[Tensor, "batch block head position token"]:
    """How every head looks at the features while the decoder writes ``labels`` (teacher forcing).

    Rows sum to 1. Those of the padding after a label mean nothing.
    """
    # The recorder changes modules: those of a copy that shares the weights, so that other threads
    # can use the decoder meanwhile.
    shared = {
        id(tensor): tensor for tensor in (*decoder.parameters(), *decoder.buffers())
    }
    recorded = copy.deepcopy(decoder, shared)
    blocks = nn.ModuleList(block.cross_attention for block in looking_blocks(recorded))
    with record_attention(blocks) as maps:
        recorded.loss(features, labels)
    first = torch.stack([calls[0] for calls in maps.values()], 1)
    return first[:, :, :, : labels.shape[1]]
