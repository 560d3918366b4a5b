"""Autoregressive Transformer decoder (Vaswani et al. 2017) with cached, exact greedy decoding."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn

from vit_str.models.attention import KeysValues, KeyValueCache
from vit_str.models.blocks import DecoderBlock
from vit_str.models.decoders.autoregressive import AutoregressiveDecoder, Rows
from vit_str.models.decoders.ctc import CtcHead
from vit_str.models.positions import (
    LearnedPositions,
    Positions,
    position_embedding,
    sinusoidal_positions,
)


@dataclass(slots=True)
class CachedState:
    """State of the decoding of a batch: the image once, the past of every block."""

    image: list[KeysValues]
    past: list[KeyValueCache]

    def keep(self, rows: Rows) -> None:
        """See `DecodingState`."""
        self.image = [
            KeysValues(keys[rows], values[rows]) for keys, values in self.image
        ]
        for cache in self.past:
            cache.keep(rows)


class TransformerDecoder(AutoregressiveDecoder):
    """Writes a label character by character, looking at the image before each.

    Args:
        charset_size: number of characters it writes.
        dim: width of a token, the encoder's ``dim``.
        depth: number of blocks.
        heads: attention heads per block.
        maximum_length: most characters it writes.
        mlp_ratio: hidden width of the feed-forward over ``dim``.
        dropout: share of block outputs dropped in training.
        label_smoothing: share of the target spread over all symbols in training.
        positions: ``learned`` (started from noise) or ``sinusoidal`` (fixed).
        draft_grid: the encoder's ``grid``, for a `CtcHead` whose texts reading checks in one call
            instead of writing them step by step (speculative decoding, Leviathan et al. 2023).
    """

    blocks: Iterable[DecoderBlock]

    def __init__(
        self,
        charset_size: int = 94,
        dim: int = 192,
        depth: int = 3,
        heads: int = 3,
        maximum_length: int = 25,
        mlp_ratio: float = 4.0,
        dropout: float = 0.0,
        label_smoothing: float = 0.0,
        positions: str = "learned",
        draft_grid: tuple[int, int] | None = None,
    ) -> None:
        super().__init__(charset_size, dim, maximum_length, label_smoothing)
        self.depth = depth
        self.heads = heads
        self.mlp_ratio = mlp_ratio
        self.dropout = dropout
        self.embed_characters = nn.Embedding(charset_size + 1, dim)
        nn.init.normal_(self.embed_characters.weight, std=0.02)
        self.positions = positions
        self.embed_positions: Positions
        if positions == "learned":
            self.embed_positions = LearnedPositions(maximum_length + 1, dim)
        else:
            waves = sinusoidal_positions(maximum_length + 1, dim)
            self.embed_positions = position_embedding(positions, waves)
        self.blocks = nn.ModuleList(  # type: ignore[assignment]
            DecoderBlock(dim, heads, mlp_ratio, dropout) for _ in range(depth)
        )
        self.norm = nn.LayerNorm(dim)
        self.classify = nn.Linear(dim, charset_size + 1)
        self.draft_grid = draft_grid
        self.draft: CtcHead | None = (
            CtcHead(dim, charset_size, draft_grid) if draft_grid else None
        )

    def logits(
        self,
        features: Float[Tensor, "batch token dim"],
        labels: Int64[Tensor, "batch position"],
    ) -> Float[Tensor, "batch position_and_end symbol"]:
        """Scores of all positions at once, each from the characters of the label before it."""
        return self.logits_with(self._image(features), self.inputs(labels))

    def logits_with(
        self, image: Sequence[KeysValues], inputs: Int64[Tensor, "batch position"]
    ) -> Float[Tensor, "batch position symbol"]:
        """As `logits`, with keys and values of the image, and `inputs` of labels."""
        x = self.embed_positions(self.embed_characters(inputs))
        length = x.shape[1]
        causal = torch.ones(length, length, dtype=torch.bool, device=x.device).tril()
        for block, keys_values in zip(self.blocks, image, strict=True):
            x = block(x, keys_values, mask=causal)
        return self.classify(self.norm(x))

    def begin(self, features: Float[Tensor, "batch token dim"]) -> CachedState:
        """The image projected once for every block, and nothing written yet."""
        caches = [KeyValueCache(self.maximum_length + 1) for _ in self.blocks]
        return CachedState(self._image(features), caches)

    def _image(self, features: Float[Tensor, "batch token dim"]) -> list[KeysValues]:
        return [
            block.cross_attention.project_keys_values(features) for block in self.blocks
        ]

    def step(  # type: ignore[override]
        self, symbols: Int64[Tensor, " batch"], position: int, state: CachedState
    ) -> Float[Tensor, "batch symbol"]:
        """Scores of the position behind ``symbols``, which the state then holds."""
        x = self.embed_positions(
            self.embed_characters(symbols[:, None]), first=position
        )
        kept = zip(self.blocks, state.image, state.past, strict=True)
        for block, image, past in kept:
            past.append(block.project_past(x))
            x = block(x, image, past=past.keys_values)
        return self.classify(self.norm(x))[:, 0]
