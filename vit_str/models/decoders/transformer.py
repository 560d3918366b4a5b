"""Autoregressive Transformer decoder (Vaswani et al. 2017) with cached, exact greedy decoding."""

from collections.abc import Iterable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int64
from torch import Tensor, nn

from vit_str.charset import PADDING
from vit_str.models.attention import KeysValues, KeyValueCache
from vit_str.models.blocks import DecoderBlock
from vit_str.models.hypotheses import Hypotheses
from vit_str.models.interfaces import Decoder
from vit_str.models.positions import LearnedPositions


@dataclass(slots=True)
class DecodingState:
    """What decoding remembers of a batch: the image once, the past of every block."""

    image: list[KeysValues]
    past: list[KeyValueCache]

    def keep(self, rows: Bool[Tensor, " batch"]) -> None:
        """Drop finished rows."""
        self.image = [KeysValues(keys[rows], values[rows]) for keys, values in self.image]
        for cache in self.past:
            cache.keep(rows)


class TransformerDecoder(Decoder):
    """Writes a label character by character, looking at the image before each.

    The start and the end are symbols of the decoder's own: the start is an input only, the end
    an output only, and both have the id ``charset_size``.

    Args:
        charset_size: number of characters it writes.
        dim: width of a token, the encoder's ``dim``.
        depth: number of blocks.
        heads: attention heads per block.
        maximum_length: most characters it writes.
        mlp_ratio: hidden width of the feed-forward over ``dim``.
        dropout: share of block outputs dropped in training.
        label_smoothing: share of the target spread over all symbols in training.
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
    ) -> None:
        super().__init__()
        self.charset_size, self.dim, self.depth, self.heads = charset_size, dim, depth, heads
        self.maximum_length, self.mlp_ratio, self.dropout = maximum_length, mlp_ratio, dropout
        self.label_smoothing = label_smoothing
        self.end = self.start = charset_size

        self.embed_characters = nn.Embedding(charset_size + 1, dim)
        nn.init.normal_(self.embed_characters.weight, std=0.02)
        self.embed_positions = LearnedPositions(maximum_length + 1, dim)
        self.blocks = nn.ModuleList(  # type: ignore[assignment]
            DecoderBlock(dim, heads, mlp_ratio, dropout) for _ in range(depth)
        )
        self.norm = nn.LayerNorm(dim)
        self.classify = nn.Linear(dim, charset_size + 1)

    def logits(
        self,
        features: Float[Tensor, "batch token dim"],
        labels: Int64[Tensor, "batch position"],
    ) -> Float[Tensor, "batch position_and_end symbol"]:
        """Scores of every symbol after the start and after each character of ``labels``.

        Raises:
            ValueError: the labels are longer than ``maximum_length``.
        """
        if labels.shape[1] > self.maximum_length:
            raise ValueError(
                f"labels of up to {labels.shape[1]} characters, but maximum_length is "
                f"{self.maximum_length}; drop longer labels or raise decoder.maximum_length"
            )
        inputs = F.pad(labels, (1, 0), value=self.start).where(
            F.pad(labels, (1, 0), value=0) != PADDING, self.end
        )
        x = self.embed_positions(self.embed_characters(inputs))
        causal = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).tril()
        for block in self.blocks:
            x = block(x, block.cross_attention.project_keys_values(features), mask=causal)
        return self.classify(self.norm(x))

    def targets(
        self, labels: Int64[Tensor, "batch position"]
    ) -> Int64[Tensor, "batch position_and_end"]:
        """The labels followed by the end, then ``PADDING``."""
        targets = F.pad(labels, (0, 1), value=PADDING)
        lengths = (labels != PADDING).sum(1, keepdim=True)
        return targets.scatter(1, lengths, self.end)

    def loss(
        self,
        features: Float[Tensor, "batch token dim"],
        labels: Int64[Tensor, "batch position"],
    ) -> Float[Tensor, ""]:
        """Mean cross-entropy per symbol, the end included, in nats (teacher forcing)."""
        return F.cross_entropy(
            self.logits(features, labels).flatten(0, 1).float(),
            self.targets(labels).flatten(),
            ignore_index=PADDING,
            label_smoothing=self.label_smoothing if self.training else 0.0,
        )

    @torch.no_grad()
    def generate(self, features: Float[Tensor, "batch token dim"]) -> Hypotheses:
        """Greedy decoding: each row stops at its own end and costs nothing afterwards."""
        batch, device = len(features), features.device
        labels = torch.full((batch, self.maximum_length), PADDING, device=device)
        confidences = torch.ones(batch, self.maximum_length, device=device)
        ends = torch.ones(batch, device=device)
        if not batch:
            return Hypotheses(labels, confidences, ends)
        rows = torch.arange(batch, device=device)
        symbols = torch.full((batch,), self.start, device=device)
        state = self._start(features)
        for position in range(self.maximum_length + 1):
            scores = self._step(symbols, position, state)
            probabilities, symbols = scores.float().softmax(-1).max(-1)
            writing = symbols != self.end
            ends[rows[~writing]] = probabilities[~writing]
            if position == self.maximum_length or not writing.any():
                break
            if not writing.all():
                rows, symbols, probabilities = (
                    rows[writing],
                    symbols[writing],
                    probabilities[writing],
                )
                state.keep(writing)
            labels[rows, position] = symbols
            confidences[rows, position] = probabilities
        longest = int((labels != PADDING).sum(1).max())
        return Hypotheses(labels[:, :longest], confidences[:, :longest], ends)

    def _start(self, features: Float[Tensor, "batch token dim"]) -> DecodingState:
        """The image projected once for every block, and nothing written yet."""
        return DecodingState(
            [block.cross_attention.project_keys_values(features) for block in self.blocks],
            [KeyValueCache(self.maximum_length + 1) for _ in self.blocks],
        )

    def _step(
        self, symbols: Int64[Tensor, " batch"], position: int, state: DecodingState
    ) -> Float[Tensor, "batch symbol"]:
        """Scores of the next symbol of each row; ``state`` remembers ``symbols``."""
        x = self.embed_positions(self.embed_characters(symbols[:, None]), first=position)
        for block, image, past in zip(self.blocks, state.image, state.past, strict=True):
            past.append(block.project_past(x))
            x = block(x, image, past=past.keys_values)
        return self.classify(self.norm(x))[:, 0]
