"""Our blocks against those of torch, with the same weights."""

import pytest
import torch
from torch import nn

from studies.sequences import TextTransformer
from vit_str.models import TransformerDecoder
from vit_str.models.attention import MultiHeadAttention
from vit_str.models.blocks import DecoderBlock, EncoderBlock, FeedForward


def copy_attention(ours: MultiHeadAttention, theirs: nn.MultiheadAttention) -> None:
    weight = theirs.in_proj_weight
    bias = theirs.in_proj_bias
    dim = len(bias) // 3
    ours.to_queries.load_state_dict({"weight": weight[:dim], "bias": bias[:dim]})
    ours.to_keys_values.load_state_dict({"weight": weight[dim:], "bias": bias[dim:]})
    ours.to_output.load_state_dict(theirs.out_proj.state_dict())


def copy_feed_forward(ours: FeedForward, theirs: nn.Module) -> None:
    ours[0].load_state_dict(theirs.linear1.state_dict())
    ours[2].load_state_dict(theirs.linear2.state_dict())


def copy_encoder_block(ours: EncoderBlock, theirs: nn.TransformerEncoderLayer) -> None:
    ours.attention_norm.load_state_dict(theirs.norm1.state_dict())
    copy_attention(ours.attention, theirs.self_attn)
    ours.feed_forward_norm.load_state_dict(theirs.norm2.state_dict())
    copy_feed_forward(ours.feed_forward, theirs)


def copy_decoder_block(ours: DecoderBlock, theirs: nn.TransformerDecoderLayer) -> None:
    ours.self_attention_norm.load_state_dict(theirs.norm1.state_dict())
    copy_attention(ours.self_attention, theirs.self_attn)
    ours.cross_attention_norm.load_state_dict(theirs.norm2.state_dict())
    copy_attention(ours.cross_attention, theirs.multihead_attn)
    ours.feed_forward_norm.load_state_dict(theirs.norm3.state_dict())
    copy_feed_forward(ours.feed_forward, theirs)


def unlike(module: nn.Module) -> nn.Module:
    """Norms and biases that are not all one or nought."""
    for parameter in module.parameters():
        if parameter.ndim == 1:
            nn.init.normal_(parameter)
    return module.eval()


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
def test_the_whole_is_the_transformer_of_the_paper():
    """Six layers, eight heads, width 512 on both sides."""
    torch.manual_seed(0)
    theirs = nn.Transformer(
        512, 8, 6, 6, 2048, 0.0, "gelu", batch_first=True, norm_first=True
    )
    unlike(theirs)
    encoder = TextTransformer(30, 512, depth=6, heads=8, maximum_length=11).eval()
    decoder = TransformerDecoder(
        30, 512, depth=6, heads=8, maximum_length=9, positions="sinusoidal"
    ).eval()
    with torch.no_grad():
        for ours, layer in zip(encoder.blocks, theirs.encoder.layers, strict=True):
            copy_encoder_block(ours, layer)
        for ours, layer in zip(decoder.blocks, theirs.decoder.layers, strict=True):
            copy_decoder_block(ours, layer)
        encoder.norm.load_state_dict(theirs.encoder.norm.state_dict())
        decoder.norm.load_state_dict(theirs.decoder.norm.state_dict())
        sources = torch.randint(30, (2, 11))
        labels = torch.randint(30, (2, 9))
        read = encoder.embed_positions(
            encoder.embed_characters(
                torch.cat([sources, torch.full((2, 1), encoder.end)], 1)
            )
        )
        written = decoder.embed_positions(
            decoder.embed_characters(decoder.inputs(labels))
        )
        causal = ~torch.ones(10, 10, dtype=torch.bool).tril()
        expected = decoder.classify(theirs(read, written, tgt_mask=causal))
        logits = decoder.logits(encoder(sources), labels)
    torch.testing.assert_close(logits, expected, atol=1e-5, rtol=1e-5)
