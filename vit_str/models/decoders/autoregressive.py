"""Base class of decoders that write character by character: teacher forcing, step by step."""

from abc import abstractmethod
from typing import Protocol, runtime_checkable

import torch.nn.functional as F
from jaxtyping import Bool, Float, Int64
from torch import Tensor

from vit_str.characters.charset import PADDING
from vit_str.models.interfaces import Decoder

Rows = Bool[Tensor, " batch"] | Int64[Tensor, " row"]


@runtime_checkable
class DecodingState(Protocol):
    """State of the decoding of a batch; the decoding loop owns it."""

    def keep(self, rows: Rows) -> None:
        """Keep these rows only: a mask, or indices in any order, some perhaps repeated."""


class AutoregressiveDecoder(Decoder):
    """Writes a label character by character, each with regard to those before it.

    The start and the end are symbols of the decoder's own: the start is an input only, the end
    an output only, and both have the id ``charset_size``.

    Args:
        charset_size: number of characters it writes.
        dim: width of a feature.
        maximum_length: most characters it writes.
        label_smoothing: share of the target spread over all symbols in training.
    """

    def __init__(
        self, charset_size: int, dim: int, maximum_length: int, label_smoothing: float
    ) -> None:
        super().__init__()
        self.charset_size = charset_size
        self.dim = dim
        self.maximum_length = maximum_length
        self.label_smoothing = label_smoothing
        # One number for both: the start is only read, the end only written.
        self.start = charset_size
        self.end = charset_size

    @abstractmethod
    def logits(
        self,
        features: Float[Tensor, "batch token dim"],
        labels: Int64[Tensor, "batch position"],
    ) -> Float[Tensor, "batch position_and_end symbol"]:
        """Scores of every symbol after the start and after each character of ``labels``."""

    @abstractmethod
    def begin(self, features: Float[Tensor, "batch token dim"]) -> DecodingState:
        """The state before anything is written."""

    @abstractmethod
    def step(
        self, symbols: Int64[Tensor, " batch"], position: int, state: DecodingState
    ) -> Float[Tensor, "batch symbol"]:
        """Scores of the symbol after ``position`` characters, of which ``symbols`` are the last.

        The first are the start; ``state`` remembers them.
        """

    def inputs(
        self, labels: Int64[Tensor, "batch position"]
    ) -> Int64[Tensor, "batch position_and_start"]:
        """The start, then the labels; the end in the place of the padding."""
        self.check_length(labels)
        return F.pad(labels, (1, 0), value=self.start).where(
            F.pad(labels, (1, 0), value=0) != PADDING, self.end
        )

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
        return self.cross_entropy(self.logits(features, labels), self.targets(labels))

    def cross_entropy(
        self,
        logits: Float[Tensor, "batch position symbol"],
        targets: Int64[Tensor, "batch position"],
    ) -> Float[Tensor, ""]:
        """Mean over the targets that are not ``PADDING``."""
        return F.cross_entropy(
            logits.flatten(0, 1).float(),
            targets.flatten(),
            ignore_index=PADDING,
            label_smoothing=self.label_smoothing if self.training else 0.0,
        )
