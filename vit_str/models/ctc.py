"""Connectionist temporal classification (Graves et al. 2006): a label spelled along columns.

Every column of an image names a character or the blank. A way to spell a label names its
characters in order, each in one column or several side by side, blanks anywhere between; two equal
characters in a row need one. The probability of a label is the sum over all of its ways.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int64
from torch import Tensor

from vit_str.runtime.charset import PADDING


def ctc_loss(
    scores: Float[Tensor, "batch column symbol"], labels: Int64[Tensor, "batch position"]
) -> Float[Tensor, ""]:
    """Negative logarithm of the probability of the labels, per character, in nats.

    Labels with more characters (and repeats) than there are columns cannot be spelled and do not
    count.

    Args:
        scores: of every character and, last, the blank.
        labels: padded with ``PADDING``.
    """
    batch, columns, symbols = scores.shape
    lengths = (labels != PADDING).sum(1)
    total = F.ctc_loss(
        scores.float().log_softmax(-1).transpose(0, 1),
        labels.clamp(min=0),
        lengths.new_full((batch,), columns),
        lengths,
        blank=symbols - 1,
        reduction="sum",
        zero_infinity=True,
    )
    return total / lengths.sum().clamp(min=1)


def collapse(best: Int64[Tensor, "batch column"], blank: int) -> Int64[Tensor, "batch position"]:
    """The label that a way spells: repeats and blanks dropped, ``PADDING`` after the end."""
    changes = F.pad(best, (1, 0), value=blank)[:, :-1] != best
    spelled = (best != blank) & changes
    index = spelled.cumsum(1) - 1
    longest = int(spelled.sum(1).max()) if len(best) else 0
    labels = best.new_full((len(best), longest), PADDING)
    rows, columns = spelled.nonzero(as_tuple=True)
    labels[rows, index[rows, columns]] = best[rows, columns]
    return labels


def label_probabilities(
    probabilities: Float[Tensor, "batch column symbol"], labels: Int64[Tensor, "batch position"]
) -> tuple[Float[Tensor, "batch position_and_none"], Float[Tensor, "batch position_and_none"]]:
    """For every beginning of a label, what begins with it and what is exactly it.

    The forward variables of Graves 2012 (section 7.3.1), summed over columns for beginnings.

    Args:
        probabilities: of every character and, last, the blank; float64, as they are multiplied
            column by column.
        labels: padded with ``PADDING``; values after the end mean nothing.

    Returns:
        Probability that the label begins with the first 0, 1, 2, ... characters, and that it is
        these and no more.
    """
    batch, columns, symbols = probabilities.shape
    known = labels.clamp(min=0)
    characters = probabilities.gather(2, known[:, None].expand(-1, columns, -1))
    blanks = probabilities[:, :, symbols - 1 :]
    repeats = F.pad(known, (1, 0), value=-1)[:, :-1] == known
    # The label so far ends in a blank (or is nothing yet), or in its last character.
    after_blank = probabilities.new_zeros(batch, labels.shape[1] + 1)
    after_blank[:, 0] = 1
    after_character = torch.zeros_like(after_blank)
    begins = after_blank.clone()
    for column in range(columns):
        character, blank = characters[:, column], blanks[:, column]
        before = after_blank[:, :-1] + after_character[:, :-1].masked_fill(repeats, 0)
        entered = character * before
        begins[:, 1:] += entered
        after_blank = blank * (after_blank + after_character)
        after_character = F.pad(character * after_character[:, 1:] + entered, (1, 0))
    return begins, after_blank + after_character
