"""Characters along columns of features, without looking back at what was written (CTC)."""

import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn

from vit_str.models.ctc import collapse, ctc_loss, label_probabilities
from vit_str.models.hypotheses import Hypotheses
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

    @torch.no_grad()
    def generate(
        self, features: Float[Tensor, "batch token dim"], temperature: float = 1.0
    ) -> Hypotheses:
        """The label of the most probable way, and its exact probabilities, all ways counted."""
        scores = self.logits(features).float() / temperature
        labels = collapse(scores.argmax(-1), self.blank)[:, : self.maximum_length]
        there = labels != PADDING
        length = there.sum(1, keepdim=True).cpu()
        # In float64, which some devices lack: products over columns leave the range of float32.
        probabilities = scores.softmax(-1).cpu().double()
        begins, exactly = label_probabilities(probabilities, labels.cpu())
        steps = _share(begins[:, 1:], begins[:, :-1]).to(features.device)
        ends = _share(exactly.gather(1, length), begins.gather(1, length)).to(features.device)
        return Hypotheses(labels, steps.masked_fill(~there, 1), ends[:, 0])


def _share(
    part: Float[Tensor, "batch position"], whole: Float[Tensor, "batch position"]
) -> Float[Tensor, "batch position"]:
    return (part / whole.clamp(min=torch.finfo(whole.dtype).tiny)).clamp(max=1).float()
