"""The same architecture in the Transformer layers that come with torch, to compare speed with.

Sizes, patches or stem, positions, norms, losses and weights are those of the recognizer it is made
from; only the blocks are other classes. So the two have as many parameters and the same loss, and
a difference in speed is one of the code.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from vit_str.characters.charset import PADDING
from vit_str.models import Recognizer, TransformerDecoder, VisionTransformer
from vit_str.models.attention import MultiHeadAttention
from vit_str.models.blocks import DecoderBlock, EncoderBlock, FeedForward


class PlainDecoder(TransformerDecoder):
    """The decoder with ``nn.TransformerDecoderLayer`` for its blocks."""

    @classmethod
    def of(cls, decoder: TransformerDecoder) -> "PlainDecoder":
        """One of the same sizes and weights."""
        plain = cls(
            decoder.charset_size,
            decoder.dim,
            decoder.depth,
            decoder.heads,
            decoder.maximum_length,
            decoder.mlp_ratio,
            decoder.dropout,
            decoder.label_smoothing,
            draft_grid=decoder.draft_grid,
        )
        if decoder.draft is not None:
            plain.draft.load_state_dict(decoder.draft.state_dict())
        for name in ("embed_characters", "embed_positions", "norm", "classify"):
            getattr(plain, name).load_state_dict(getattr(decoder, name).state_dict())
        plain.blocks = nn.ModuleList(map(_decoder_layer, decoder.blocks))  # type: ignore[assignment]
        return plain

    def logits(self, features: Tensor, labels: Tensor) -> Tensor:
        """Scores as those of the class above, block by block as torch has them."""
        inputs = F.pad(labels, (1, 0), value=self.start).where(
            F.pad(labels, (1, 0), value=0) != PADDING, self.end
        )
        x = self.embed_positions(self.embed_characters(inputs))
        causal = nn.Transformer.generate_square_subsequent_mask(
            x.shape[1], device=x.device, dtype=x.dtype
        )
        for block in self.blocks:
            x = block(x, features, tgt_mask=causal, tgt_is_causal=True)
        return self.classify(self.norm(x))


def plain(recognizer: Recognizer) -> Recognizer:
    """The recognizer with the blocks of torch, of the same weights.

    An encoder without Transformer blocks stays as it is.

    Raises:
        ValueError: another decoder than a `TransformerDecoder`.
    """
    if type(recognizer.decoder) is not TransformerDecoder:
        raise ValueError(
            "expected a TransformerDecoder to compare with torch's layers, found "
            f"{type(recognizer.decoder).__name__}; leave out --plain"
        )
    encoder = recognizer.encoder
    if isinstance(encoder, VisionTransformer):
        encoder.blocks = nn.ModuleList(map(_encoder_layer, encoder.blocks))
    return Recognizer(encoder, PlainDecoder.of(recognizer.decoder))


def _encoder_layer(block: EncoderBlock) -> nn.TransformerEncoderLayer:
    layer = nn.TransformerEncoderLayer(**_sizes(block.attention, block))
    _copy_attention(layer.self_attn, block.attention)
    _copy(layer.norm1, block.attention_norm)
    _copy(layer.norm2, block.feed_forward_norm)
    _copy_feed_forward(layer, block.feed_forward)
    return layer


def _decoder_layer(block: DecoderBlock) -> nn.TransformerDecoderLayer:
    layer = nn.TransformerDecoderLayer(**_sizes(block.self_attention, block))
    _copy_attention(layer.self_attn, block.self_attention)
    _copy_attention(layer.multihead_attn, block.cross_attention)
    _copy(layer.norm1, block.self_attention_norm)
    _copy(layer.norm2, block.cross_attention_norm)
    _copy(layer.norm3, block.feed_forward_norm)
    _copy_feed_forward(layer, block.feed_forward)
    return layer


def _sizes(
    attention: MultiHeadAttention,
    block: EncoderBlock | DecoderBlock,
) -> dict[str, object]:
    first = block.feed_forward[0]
    return {
        "d_model": first.in_features,
        "nhead": attention.heads,
        "dim_feedforward": first.out_features,
        "dropout": block.dropout.p,
        "activation": F.gelu,
        "batch_first": True,
        "norm_first": True,
    }


@torch.no_grad()
def _copy_attention(theirs: nn.MultiheadAttention, ours: MultiHeadAttention) -> None:
    for name in ("weight", "bias"):
        parts = getattr(ours.to_queries, name), getattr(ours.to_keys_values, name)
        getattr(theirs, f"in_proj_{name}").copy_(torch.cat(parts))
    _copy(theirs.out_proj, ours.to_output)


def _copy_feed_forward(
    theirs: nn.TransformerEncoderLayer | nn.TransformerDecoderLayer, ours: FeedForward
) -> None:
    _copy(theirs.linear1, ours[0])
    _copy(theirs.linear2, ours[2])


def _copy(theirs: nn.Module, ours: nn.Module) -> None:
    theirs.load_state_dict(ours.state_dict())
