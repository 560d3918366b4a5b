"""What a decoder says about a batch of images."""

from dataclasses import dataclass

from jaxtyping import Float, Int64
from torch import Tensor

from vit_str.runtime.charset import PADDING


@dataclass(frozen=True, slots=True)
class Hypotheses:
    """One label per image and how sure the decoder is of it.

    Attributes:
        labels: ids of the characters, ``PADDING`` after the end.
        confidences: probability of each character given the image and those before it; 1 after
            the end.
        end_confidences: probability that the label ends where it does; 1 where it was cut at the
            longest length.
    """

    labels: Int64[Tensor, "batch position"]
    confidences: Float[Tensor, "batch position"]
    end_confidences: Float[Tensor, " batch"]

    @property
    def word_confidences(self) -> Float[Tensor, " batch"]:
        """Probability of the whole label: every character, then the end."""
        return self.confidences.prod(1) * self.end_confidences


def read_to_end(scores: Float[Tensor, "batch position symbol"], end: int) -> Hypotheses:
    """The most probable symbol at every position, up to the first end.

    Args:
        scores: of every symbol at every position; the last position is for the end of the longest
            label, which is cut there if it has none.
        end: the symbol that ends a label.
    """
    confidences, symbols = scores.softmax(-1).max(-1)
    ended = (symbols == end).cumsum(1) > 0
    ended[:, -1] = True
    lengths = (~ended).sum(1, keepdim=True)
    ends = confidences.gather(1, lengths)
    cut = symbols.gather(1, lengths) != end
    longest = int(lengths.max()) if len(lengths) else 0
    over = ended[:, :longest]
    return Hypotheses(
        symbols[:, :longest].masked_fill(over, PADDING),
        confidences[:, :longest].masked_fill(over, 1),
        ends.masked_fill(cut, 1)[:, 0],
    )
