"""Characters along columns of features, without looking back at what was written (CTC)."""

from typing import Any

import torch
import torch.nn.functional as F
from einops import rearrange
from jaxtyping import Float, Int64
from torch import Tensor, nn

from vit_str.models.interfaces import Decoder
from vit_str.runtime.charset import PADDING


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


class CtcHead(nn.Module):
    """Spells the label along the columns of a grid, beside the decoder that writes it.

    Args:
        dim: width of a token.
        charset_size: number of characters; the class after them is the blank.
        grid: rows and columns of tokens.
    """

    def __init__(self, dim: int, charset_size: int, grid: tuple[int, int]) -> None:
        super().__init__()
        self.grid = grid
        self.classify = nn.Linear(grid[0] * dim, charset_size + 1)

    def forward(
        self, features: Float[Tensor, "batch token dim"]
    ) -> Float[Tensor, "batch column symbol"]:
        """Scores of every symbol under every column, the blank last."""
        rows, columns = self.grid
        tokens = features[:, -rows * columns :]
        return self.classify(
            rearrange(tokens, "b (row col) d -> b col (row d)", row=rows)
        )


def ctc_loss(
    scores: Float[Tensor, "batch column symbol"],
    labels: Int64[Tensor, "batch position"],
) -> Float[Tensor, ""]:
    """Negative logarithm of the probability of the labels, per character, in nats.

    The last symbol is the blank. Labels with more characters (and repeats) than there are columns
    cannot be spelled and do not count.
    """
    batch, columns, symbols = scores.shape
    lengths = (labels != PADDING).sum(1)
    every_column = lengths.new_full((batch,), columns)
    log_probabilities = scores.float().log_softmax(-1).transpose(0, 1)
    texts = labels.clamp(min=0)
    blank = symbols - 1
    if torch.compiler.is_compiling():
        total, _ = _ctc_in_one_piece(
            log_probabilities, texts, every_column, lengths, blank
        )
    else:
        total = F.ctc_loss(
            log_probabilities,
            texts,
            every_column,
            lengths,
            blank=blank,
            reduction="sum",
            zero_infinity=True,
        )
    return total / lengths.sum().clamp(min=1)


@torch.library.custom_op("vit_str::ctc_loss", mutates_args=())
def _ctc_in_one_piece(
    log_probabilities: Tensor,
    texts: Tensor,
    columns: Tensor,
    lengths: Tensor,
    blank: int,
) -> tuple[Tensor, Tensor]:
    """The sum of ``F.ctc_loss`` over a batch and its gradient, for ``torch.compile``.

    Inside of ``F.ctc_loss`` are tables whose size depends on the lengths of the texts, which a
    compiled graph cannot hold: it would end there. Here the graph has one operation.
    """
    losses, alpha = torch.ops.aten._ctc_loss.Tensor(
        log_probabilities, texts, columns, lengths, blank, True
    )
    gradient = torch.ops.aten._ctc_loss_backward.Tensor(
        torch.ones_like(losses),
        log_probabilities,
        texts,
        columns,
        lengths,
        losses,
        alpha,
        blank,
        True,
    )
    # Contiguous whatever the strides given, as the compiler is told below: it checks them.
    return losses.where(losses.isfinite(), 0.0).sum(), gradient.contiguous()


@_ctc_in_one_piece.register_fake
def _(
    log_probabilities: Tensor,
    texts: Tensor,
    columns: Tensor,
    lengths: Tensor,
    blank: int,
) -> tuple[Tensor, Tensor]:
    gradient = log_probabilities.new_empty(log_probabilities.shape)
    return log_probabilities.new_empty(()), gradient


def _keep_gradient(
    ctx: Any,
    inputs: tuple[Any, ...],
    output: tuple[Tensor, Tensor],
) -> None:
    ctx.save_for_backward(output[1])
    ctx.set_materialize_grads(False)  # nothing asks for the gradient of the gradient


def _backward(
    ctx: Any,
    of_loss: Tensor,
    _of_gradient: None,
) -> tuple[Tensor | None, ...]:
    (gradient,) = ctx.saved_tensors
    return of_loss * gradient, None, None, None, None


_ctc_in_one_piece.register_autograd(_backward, setup_context=_keep_gradient)
