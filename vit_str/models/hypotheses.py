"""What a decoder says about a batch of images."""

from dataclasses import dataclass

from jaxtyping import Float, Int64
from torch import Tensor


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
