"""Characters along columns of features, without looking back at what was written (CTC)."""

import math
from typing import Any

import torch
import torch.nn.functional as F
from einops import rearrange
from jaxtyping import Bool, Float, Int64
from torch import Tensor, nn

from vit_str.characters.charset import PADDING
from vit_str.models.interfaces import Decoder

_MOST_COLUMNS = 64
"""Up to which a GPU goes column by column: a few small kernels for each."""


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
    if _is_on_gpu(scores) or torch.compiler.is_compiling():
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


def _is_on_gpu(values: Tensor) -> bool:
    return values.is_cuda


@torch.library.custom_op("vit_str::ctc_loss", mutates_args=())
def _ctc_in_one_piece(
    log_probabilities: Tensor,
    texts: Tensor,
    columns: Tensor,
    lengths: Tensor,
    blank: int,
) -> tuple[Tensor, Tensor]:
    """The sum of ``F.ctc_loss`` over a batch and its gradient, as one operation.

    Inside of ``F.ctc_loss`` are tables whose size depends on the lengths of the texts, which a
    compiled graph cannot hold: it would end there. On a GPU it also waits for the lengths, and
    with them for all work that was given to the device before.
    """
    if _is_on_gpu(log_probabilities) and len(log_probabilities) <= _MOST_COLUMNS:
        return ctc_by_column(log_probabilities, texts, lengths, blank)
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


def ctc_by_column(
    log_probabilities: Float[Tensor, "column batch symbol"],
    texts: Int64[Tensor, "batch position"],
    lengths: Int64[Tensor, " batch"],
    blank: int,
) -> tuple[Float[Tensor, ""], Float[Tensor, "column batch symbol"]]:
    """The sum of ``F.ctc_loss`` over a batch, and its gradient, without waiting for the device.

    The recursions of Graves et al. 2006 (equations 6 and 10), both at once: the way back is the
    way ahead through columns and symbols in reverse order.

    Args:
        log_probabilities: of every symbol under every column.
        texts: ids of the characters; what is behind the lengths does not matter.
        lengths: of the texts, in characters.
        blank: id of the blank, which is in no text.
    """
    columns, batch, _ = log_probabilities.shape
    states = 2 * texts.shape[1] + 1  # characters, and blanks around them
    spelled = texts.new_full((batch, states), blank)
    spelled[:, 1::2] = texts
    place = torch.arange(states, device=texts.device)
    last = 2 * lengths[:, None]
    exists = place <= last
    starts = exists & (place < 2)
    ends = exists & (place >= last - 1)
    # From a character to the next without a blank, unless they are the same.
    skips = torch.zeros_like(exists)
    skips[:, 3::2] = texts[:, 1:] != texts[:, :-1]
    emitted = log_probabilities.gather(2, spelled.expand(columns, -1, -1))
    emitted = emitted.masked_fill(~exists, -math.inf)

    skips_back = F.pad(skips.flip(1), (2, 0))[:, :states]
    reached = _ways(
        torch.cat([emitted, emitted.flip(0, 2)], 1),
        torch.cat([starts, ends.flip(1)]),
        torch.cat([skips, skips_back]),
    )
    ahead = reached[:, :batch]
    back = reached[:, batch:].flip(0, 2)
    whole = ahead[-1].masked_fill(~ends, -math.inf).logsumexp(1, keepdim=True)

    # Not a number where there is no way, of states or of whole texts.
    visits = (ahead + back - emitted - whole).exp().nan_to_num(nan=0.0, posinf=0.0)
    gradient = torch.zeros(
        log_probabilities.shape,
        dtype=log_probabilities.dtype,
        device=log_probabilities.device,
    )
    characters = texts.expand(columns, -1, -1)
    gradient.scatter_add_(2, characters, -visits[:, :, 1::2])
    gradient[:, :, blank] = -visits[:, :, ::2].sum(2)
    return -whole.where(whole.isfinite(), 0.0).sum(), gradient


def _ways(
    emitted: Float[Tensor, "column batch state"],
    starts: Bool[Tensor, "batch state"],
    skips: Bool[Tensor, "batch state"],
) -> Float[Tensor, "column batch state"]:
    """Logarithm of the probability of all ways that lead to every state, column by column."""
    columns, batch, states = emitted.shape
    # Two states before the first, which no way leads to.
    reached = emitted.new_full((columns, batch, states + 2), -math.inf)
    reached[0, :, 2:] = emitted[0].masked_fill(~starts, -math.inf)
    barred = torch.zeros_like(emitted[0]).masked_fill(~skips, -math.inf)
    for column in range(1, columns):
        before = reached[column - 1]
        near = torch.logaddexp(before[:, 2:], before[:, 1:-1])
        all_ways = torch.logaddexp(near, before[:, :-2] + barred)
        torch.add(all_ways, emitted[column], out=reached[column, :, 2:])
    return reached[:, :, 2:]


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
