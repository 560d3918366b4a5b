"""Characters along columns of features, without looking back at what was written (CTC)."""

from jaxtyping import Float, Int64
from torch import Tensor, nn

from vit_str.models.ctc import ctc_loss
from vit_str.models.interfaces import Decoder


class CtcDecoder(Decoder):
    """Names a character or nothing under every feature, read from left to right.

    The features are those of a grid of one row: a recurrent encoder's, or a convolutional one's
    that ends in one row.

    Args:
        charset_size: number of characters it writes; the class after them is the blank.
        dim: width of a feature.
        maximum_length: most characters it writes.
    """

    reads_columns = True
    loop = "ctc"

    def __init__(self, charset_size: int = 94, dim: int = 192, maximum_length: int = 25) -> None:
        super().__init__()
        self.charset_size, self.dim, self.maximum_length = charset_size, dim, maximum_length
        self.blank = charset_size
        self.classify = nn.Linear(dim, charset_size + 1)

    def loss(
        self,
        features: Float[Tensor, "batch token dim"],
        labels: Int64[Tensor, "batch position"],
    ) -> Float[Tensor, ""]:
        """See `ctc_loss`."""
        return ctc_loss(self.logits(features), labels)

    def logits(
        self, features: Float[Tensor, "batch token dim"]
    ) -> Float[Tensor, "batch column symbol"]:
        """Scores of every symbol under every column, the blank last."""
        return self.classify(features)
