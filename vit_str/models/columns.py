"""Spelling a word column by column: a third question to the encoder, besides tokens and decoder."""

import torch.nn.functional as F
from einops import reduce
from jaxtyping import Float, Int64
from torch import Tensor, nn

from vit_str.charset import PADDING


class ColumnSpeller(nn.Module):
    """Spells the label along the columns of the grid (CTC, Graves et al. 2006).

    Tokens of a column are averaged. Unlike `TokenClassifier` it needs no places of characters, so
    it helps with real crops too; words of more characters (and repeats) than there are columns
    cannot be spelled and do not count. Used in training only.

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
        """Negative logarithm of the probability of the labels, per character, in nats."""
        rows, columns = self.grid
        means = reduce(features, "b (row col) d -> col b d", "mean", row=rows, col=columns)
        scores = self.classify(means).float().log_softmax(-1)
        lengths = (labels != PADDING).sum(1)
        widths = lengths.new_full((len(labels),), columns)
        total = F.ctc_loss(
            scores,
            labels.clamp(min=0),
            widths,
            lengths,
            blank=self.blank,
            reduction="sum",
            zero_infinity=True,
        )
        return total / lengths.sum()
