"""Spelling a word column by column: a third question to the encoder, besides tokens and decoder."""

from einops import reduce
from jaxtyping import Float, Int64
from torch import Tensor, nn

from vit_str.models.ctc import ctc_loss


class ColumnSpeller(nn.Module):
    """Spells the label along the columns of the grid, with the loss of `ctc_loss`.

    Tokens of a column are averaged. Unlike `TokenClassifier` it needs no places of characters, so
    it helps with real crops too. Used in training only.

    Args:
        dim: width of a token.
        charset_size: number of characters; the class after them is the blank.
        grid: rows and columns of tokens.
    """

    def __init__(self, dim: int, charset_size: int, grid: tuple[int, int]) -> None:
        super().__init__()
        self.blank, self.grid = charset_size, grid
        self.classify = nn.Linear(dim, charset_size + 1)

    def loss(
        self,
        features: Float[Tensor, "batch token dim"],
        labels: Int64[Tensor, "batch position"],
    ) -> Float[Tensor, ""]:
        """See `ctc_loss`."""
        rows, columns = self.grid
        means = reduce(features, "b (row col) d -> b col d", "mean", row=rows, col=columns)
        return ctc_loss(self.classify(means), labels)
