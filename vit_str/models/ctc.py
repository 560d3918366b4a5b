"""Connectionist temporal classification (Graves et al. 2006): a label spelled along columns.

Every column of an image names a character or the blank. A way to spell a label names its
characters in order, each in one column or several side by side, blanks anywhere between; two equal
characters in a row need one. The probability of a label is the sum over all of its ways.
"""

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
