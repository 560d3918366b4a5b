"""Characters read off the encoder's tokens, all at once (ViTSTR, Atienza 2021): no decoder."""

import torch.nn.functional as F
from jaxtyping import Float, Int64
from torch import Tensor, nn

from vit_str.characters.charset import PADDING
from vit_str.models.interfaces import Decoder


class ParallelDecoder(Decoder):
    """The first feature names the first character, the second the second, until one says end.

    The encoder must bring every character to its token; it has to have as many tokens as the
    longest label has characters, and one for the end.

    Args:
        charset_size: number of characters it writes; the class after them is the end.
        dim: width of a feature.
        maximum_length: most characters it writes.
    """

    loop = "scores"

    def __init__(
        self,
        charset_size: int = 94,
        dim: int = 192,
        maximum_length: int = 25,
    ) -> None:
        super().__init__()
        self.charset_size = charset_size
        self.dim = dim
        self.maximum_length = maximum_length
        self.end = charset_size
        self.classify = nn.Linear(dim, charset_size + 1)

    @property
    def least_tokens(self) -> int:
        """Fewest features that it reads from."""
        return self.maximum_length + 1

    def logits(
        self, features: Float[Tensor, "batch token dim"]
    ) -> Float[Tensor, "batch position_and_end symbol"]:
        """Scores of every symbol at every position."""
        return self.classify(features[:, : self.least_tokens])

    def loss(
        self,
        features: Float[Tensor, "batch token dim"],
        labels: Int64[Tensor, "batch position"],
    ) -> Float[Tensor, ""]:
        """Mean cross-entropy per symbol, the end included, in nats."""
        self.check_length(labels)
        missing = self.least_tokens - labels.shape[1]
        lengths = (labels != PADDING).sum(1, keepdim=True)
        padded = F.pad(labels, (0, missing), value=PADDING)
        targets = padded.scatter(1, lengths, self.end)
        logits = self.logits(features).flatten(0, 1).float()
        return F.cross_entropy(logits, targets.flatten(), ignore_index=PADDING)
