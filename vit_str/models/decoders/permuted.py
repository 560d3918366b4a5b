"""A Transformer decoder that learned to write in any order (PARSeq, Bautista and Atienza 2022)."""

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int64
from torch import Tensor, nn

from vit_str.characters.charset import PADDING
from vit_str.models.attention import KeysValues, KeyValueCache
from vit_str.models.blocks import DecoderBlock
from vit_str.models.decoders.autoregressive import AutoregressiveDecoder
from vit_str.models.decoders.transformer import CachedState
from vit_str.models.positions import LearnedPositions

_DECODINGS = ("autoregressive", "parallel")


class PermutedDecoder(AutoregressiveDecoder):
    """Every position queries, by its index alone, what others have written and the image.

    Trained in several orders at once, it can write from left to right, all characters at once, and
    refine each character given all the others: one set of weights reads fast or carefully.

    Args:
        charset_size: number of characters it writes.
        dim: width of a token, the encoder's ``dim``.
        heads: attention heads.
        maximum_length: most characters it writes.
        mlp_ratio: hidden width of the feed-forward over ``dim``.
        dropout: share of block outputs dropped in training.
        label_smoothing: share of the target spread over all symbols in training.
        orders: number of orders in a training step: from left to right, from right to left, then
            random ones, each followed by its reverse.
        decoding: ``autoregressive`` or ``parallel``.
        refinements: how often the label is read again, each character from all others.

    Raises:
        ValueError: an argument is outside its range.
    """

    loop = "refine"

    def __init__(
        self,
        charset_size: int = 94,
        dim: int = 192,
        heads: int = 6,
        maximum_length: int = 25,
        mlp_ratio: float = 4.0,
        dropout: float = 0.0,
        label_smoothing: float = 0.0,
        orders: int = 6,
        decoding: str = "autoregressive",
        refinements: int = 1,
    ) -> None:
        super().__init__(charset_size, dim, maximum_length, label_smoothing)
        if decoding not in _DECODINGS:
            raise ValueError(
                f"decoding must be {' or '.join(_DECODINGS)}, found {decoding!r}"
            )
        if orders < 1 or refinements < 0:
            raise ValueError(
                f"orders must be 1 or more and refinements 0 or more, found {orders} "
                f"and {refinements}"
            )
        self.heads = heads
        self.mlp_ratio = mlp_ratio
        self.dropout = dropout
        self.orders = orders
        self.decoding = decoding
        self.refinements = refinements
        self.embed_characters = nn.Embedding(charset_size + 1, dim)
        nn.init.normal_(self.embed_characters.weight, std=0.02)
        self.embed_positions = LearnedPositions(maximum_length + 1, dim)
        # One block: in a second, what a position has written would carry what others wrote.
        self.block = DecoderBlock(dim, heads, mlp_ratio, dropout)
        self.norm = nn.LayerNorm(dim)
        self.classify = nn.Linear(dim, charset_size + 1)

    def logits(
        self,
        features: Float[Tensor, "batch token dim"],
        labels: Int64[Tensor, "batch position"],
    ) -> Float[Tensor, "batch position_and_end symbol"]:
        """Scores from left to right, each from the characters of the label before it."""
        positions = labels.shape[1] + 1
        mask = permutation_mask(torch.arange(positions, device=labels.device))
        return self._logits(self._image(features), labels, mask)

    def loss(
        self,
        features: Float[Tensor, "batch token dim"],
        labels: Int64[Tensor, "batch position"],
    ) -> Float[Tensor, ""]:
        """Mean cross-entropy per symbol, the end included, in nats, over all orders.

        Without training only from left to right, as other decoders' losses are.
        """
        orders = sample_orders(labels.shape[1], self.orders if self.training else 1)
        masks = torch.stack(list(map(permutation_mask, orders)))
        masks = masks.to(labels.device, non_blocking=True)
        is_written = F.pad(labels != PADDING, (1, 0), value=True)
        masks = masks[:, None, None] & is_written[:, None, None]
        targets = self.targets(labels)
        losses = []
        for mask in masks:
            logits = self._logits(self._image(features), labels, mask)
            losses.append(self.cross_entropy(logits, targets))
        return torch.stack(losses).mean()

    def begin(self, features: Float[Tensor, "batch token dim"]) -> CachedState:
        """The image projected once, and nothing written yet."""
        return CachedState(
            [self._image(features)], [KeyValueCache(self.maximum_length + 1)]
        )

    def step(  # type: ignore[override]
        self, symbols: Int64[Tensor, " batch"], position: int, state: CachedState
    ) -> Float[Tensor, "batch symbol"]:
        """Scores of the position behind ``symbols``, which the state then holds."""
        written = self.embed_characters(symbols[:, None])
        if position:
            written = self.embed_positions(written, first=position - 1)
        state.past[0].append(self.block.project_past(written))
        queries = self.embed_positions(torch.zeros_like(written), first=position)
        x = self.block(queries, state.image[0], past=state.past[0].keys_values)
        return self.classify(self.norm(x))[:, 0]

    def refine(
        self,
        features: Float[Tensor, "batch token dim"],
        labels: Int64[Tensor, "batch position"],
    ) -> Float[Tensor, "batch position_and_end symbol"]:
        """Scores of every position from all others; from the image alone where nothing is written.

        There are always scores for the longest label and its end.
        """
        return self.refine_with(self._image(features), labels)

    def refine_with(
        self, image: KeysValues, labels: Int64[Tensor, "batch position"]
    ) -> Float[Tensor, "batch position_and_end symbol"]:
        """As `refine`, with keys and values of the image."""
        missing = self.maximum_length - labels.shape[1]
        labels = F.pad(labels, (0, missing), value=PADDING)
        others = ~torch.eye(
            self.maximum_length + 1,
            self.maximum_length,
            dtype=torch.bool,
            device=labels.device,
        )
        mask = F.pad(others & (labels != PADDING)[:, None, None], (1, 0), value=True)
        return self._logits(image, labels, mask)

    def _image(self, features: Float[Tensor, "batch token dim"]) -> KeysValues:
        return self.block.cross_attention.project_keys_values(features)

    def _logits(
        self,
        image: KeysValues,
        labels: Int64[Tensor, "batch position"],
        mask: Bool[Tensor, "*batch position_and_end position_and_start"],
    ) -> Float[Tensor, "batch position_and_end symbol"]:
        inputs = self.embed_characters(self.inputs(labels))
        start = inputs[:, :1]
        characters = self.embed_positions(inputs[:, 1:])
        past = self.block.project_past(torch.cat([start, characters], 1))
        queries = self.embed_positions(torch.zeros_like(inputs))
        return self.classify(
            self.norm(self.block(queries, image, past=past, mask=mask))
        )


def permutation_mask(
    order: Int64[Tensor, " position_and_end"],
) -> Bool[Tensor, "position_and_end position_and_start"]:
    """The mask of a permutation: positions attend to the start, and to those earlier in the order.

    Args:
        order: the turn of every position; the last position is for an end only.
    """
    earlier = order[None, :-1] < order[:, None]
    return F.pad(earlier, (1, 0), value=True)


def sample_orders(length: int, count: int) -> list[Int64[Tensor, " position_and_end"]]:
    """Orders to write labels of ``length`` characters in: the turn of every position.

    From left to right, from right to left, then random ones, each followed by its reverse; in the
    random ones, the position after the last character has the last turn both times.
    """
    forward = torch.arange(length + 1)
    orders = [forward, forward.flip(0)]
    while len(orders) < count:
        turns = torch.randperm(length)
        reverse = length - 1 - turns
        orders.append(F.pad(turns, (0, 1), value=length))
        orders.append(F.pad(reverse, (0, 1), value=length))
    return orders[:count]
