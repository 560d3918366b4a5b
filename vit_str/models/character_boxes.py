"""Where a decoder looked while it wrote each character, and the box around the character.

A Transformer decoder is never shown where the characters are, yet the heads of its last block look
at the one they are about to write. The middle of that attention is the middle of the character,
its spread is the height, and half of the way to the neighbors is the width. It needs no fonts, no
language and no training of its own. How good the boxes of a model are is measured, not promised:
``vit-str analyze characters``.
"""

import copy
import math

import torch
from einops import rearrange
from jaxtyping import Bool, Float, Int64
from torch import Tensor, nn

from vit_str.models.attention import record_attention
from vit_str.models.blocks import DecoderBlock
from vit_str.models.interfaces import Decoder, Encoder

# Chosen on rendered words in the fonts of training, to be measured on words in others. An even
# spread over a side of length 1 has the deviation 1 / sqrt(12) = 1 / 3.46; attention has tails.
_HEIGHT = 2.2  # of a character, in standard deviations of the attention to it
_NARROWEST, _WIDEST = 0.3, 4.0  # that it reaches to either side, in the same


def looking_blocks(decoder: Decoder) -> list[DecoderBlock]:
    """The blocks of a decoder that look at the image, in their order.

    Raises:
        ValueError: there are none.
    """
    blocks = [module for module in decoder.modules() if isinstance(module, DecoderBlock)]
    if not blocks:
        raise ValueError(
            f"{type(decoder).__name__} has no cross-attention, which tells where a character is: "
            "no boxes, use a model with a Transformer decoder"
        )
    return blocks


def cross_attention(
    decoder: Decoder,
    features: Float[Tensor, "batch token dim"],
    labels: Int64[Tensor, "batch position"],
) -> Float[Tensor, "batch block head position token"]:
    """How every head looks at the features while the decoder writes ``labels`` (teacher forcing).

    Rows sum to 1. Those of the padding after a label mean nothing.

    Raises:
        ValueError: the decoder has no cross-attention.
    """
    # The recorder changes modules: those of a copy that shares the weights, so that other threads
    # can use the decoder meanwhile.
    shared = {id(tensor): tensor for tensor in (*decoder.parameters(), *decoder.buffers())}
    recorded = copy.deepcopy(decoder, shared)
    blocks = nn.ModuleList(block.cross_attention for block in looking_blocks(recorded))
    with record_attention(blocks) as maps:
        recorded.loss(features, labels)
    first = torch.stack([calls[0] for calls in maps.values()], 1)
    return first[:, :, :, : labels.shape[1]]


def attention_maps(
    encoder: Encoder,
    attention: Float[Tensor, "batch position token"],
) -> Float[Tensor, "batch position row column"]:
    """Attention over the grid of an encoder: without its special tokens, every map sums to 1."""
    rows, _ = encoder.grid
    seen = attention[..., encoder.special_tokens :]
    seen = seen / seen.sum(-1, keepdim=True).clamp(min=torch.finfo(seen.dtype).tiny)
    return rearrange(seen, "batch position (row column) -> batch position row column", row=rows)


def locate_characters(
    encoder: Encoder,
    decoder: Decoder,
    features: Float[Tensor, "batch token dim"],
    labels: Int64[Tensor, "batch position"],
) -> Float[Tensor, "batch position side"]:
    """Boxes of ``labels``, characters that were read from ``features``; see `character_boxes`.

    Raises:
        ValueError: the decoder has no cross-attention.
    """
    attention = cross_attention(decoder, features, labels)[:, -1].mean(1)
    return character_boxes(attention_maps(encoder, attention), labels >= 0, encoder.image_size)


def character_boxes(
    maps: Float[Tensor, "batch position row column"],
    mask: Bool[Tensor, "batch position"],
    image_size: tuple[int, int],
) -> Float[Tensor, "batch position side"]:
    """Left, top, right, bottom of every character in pixels; zero where there is none.

    Args:
        maps: attention to each character; every map sums to 1.
        mask: True where there is a character, up to the length of a word.
        image_size: height and width of the image under the maps.
    """
    height, width = image_size
    y, deviation_y = _moments(maps.sum(3), height)
    x, deviation_x = _moments(maps.sum(2), width)
    left, right = (
        reach.clamp(_NARROWEST * deviation_x, _WIDEST * deviation_x) for reach in _reach(x, mask)
    )
    tall = _steady_height(deviation_y, mask) * _HEIGHT / 2
    y = _steady_line(y, mask)
    boxes = torch.stack(
        [
            (x - left).clamp(min=0),
            (y - tall).clamp(min=0),
            (x + right).clamp(max=width),
            (y + tall).clamp(max=height),
        ],
        -1,
    )
    return boxes * mask[..., None]


def centroids(
    maps: Float[Tensor, "*batch row column"], image_size: tuple[int, int]
) -> Float[Tensor, "*batch 2"]:
    """Middle (x, y) of the attention of each map, in pixels."""
    x, _ = _moments(maps.sum(-2), image_size[1])
    y, _ = _moments(maps.sum(-1), image_size[0])
    return torch.stack([x, y], -1)


def _moments(
    shares: Float[Tensor, "*batch patch"], length: int
) -> tuple[Float[Tensor, "*batch"], Float[Tensor, "*batch"]]:
    """Mean and standard deviation of shares that lie evenly over patches side by side."""
    side = length / shares.shape[-1]
    places = (torch.arange(shares.shape[-1], device=shares.device) + 0.5) * side
    mean = shares @ places.to(shares.dtype)
    variance = (shares * (places - mean[..., None]).square()).sum(-1) + side**2 / 12
    return mean, variance.sqrt()


def _reach(
    x: Float[Tensor, "batch position"], mask: Bool[Tensor, "batch position"]
) -> tuple[Float[Tensor, "batch position"], Float[Tensor, "batch position"]]:
    """Half of the way to the neighbors on the left and right, without limit where there is none.

    Words may run in both directions.
    """
    steps = x.diff(dim=1)
    halves = (steps.abs() / 2).where(mask[:, 1:], math.inf)
    unlimited = torch.full_like(x[:, :1], math.inf)
    before, after = torch.cat([unlimited, halves], 1), torch.cat([halves, unlimited], 1)
    backwards = (steps * mask[:, 1:]).sum(1, keepdim=True) < 0
    return torch.where(backwards, after, before), torch.where(backwards, before, after)


def _steady_height(
    deviation: Float[Tensor, "batch position"], mask: Bool[Tensor, "batch position"]
) -> Float[Tensor, "batch position"]:
    """Halfway between each and the mean of the word: letters of a word are about as tall."""
    mean = (deviation * mask).sum(1, keepdim=True) / mask.sum(1, keepdim=True).clamp(min=1)
    return (deviation + mean) / 2


def _steady_line(
    y: Float[Tensor, "batch position"], mask: Bool[Tensor, "batch position"]
) -> Float[Tensor, "batch position"]:
    """Halfway between each and the mean of its two neighbors, which keeps slopes as they are."""
    if y.shape[1] < 3:
        return y
    between = (y[:, :-2] + y[:, 2:]) / 2
    steady = y.clone()
    steady[:, 1:-1] = torch.where(mask[:, 2:], (y[:, 1:-1] + between) / 2, y[:, 1:-1])
    return steady
