"""The scores behind a label: what a decoder thought of every symbol at each step of writing it."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from vit_str.charset import PADDING
from vit_str.models.decoders.recurrent import RecurrentDecoder
from vit_str.models.decoders.transformer import TransformerDecoder
from vit_str.models.interfaces import Decoder


@dataclass(frozen=True, slots=True)
class StepScores:
    """Every step of writing a batch of labels, word after word, without those after an end.

    Attributes:
        scores: of every symbol, before the temperature and the softmax.
        symbols: the symbol that the label has at this step, the end included.
        words: the label in the batch that the step belongs to.
        count: labels in the batch.
    """

    scores: Float[Tensor, "step symbol"]
    symbols: Int64[Tensor, " step"]
    words: Int64[Tensor, " step"]
    count: int

    def log_confidences(
        self, temperatures: Float[Tensor, " temperature"]
    ) -> Float[Tensor, "word temperature"]:
        """Logarithm of the probability of each whole label, its end included, per temperature.

        In float64: the words that matter most are nearly certain, and float32 takes 0.99999999
        for 1.
        """
        knows_float64 = self.scores.device.type != "mps"
        scores = (self.scores if knows_float64 else self.scores.cpu()).double()
        chosen = scores.gather(1, self.symbols.to(scores.device)[:, None])[:, 0]
        columns = []
        for temperature in temperatures.tolist():  # one after the other, for the memory
            steps = (chosen / temperature) - (scores / temperature).logsumexp(1)
            words = torch.zeros(self.count, dtype=steps.dtype, device=steps.device)
            columns.append(words.index_add(0, self.words.to(scores.device), steps))
        return torch.stack(columns, 1)


def step_scores(
    decoder: Decoder,
    features: Float[Tensor, "batch token dim"],
    labels: Int64[Tensor, "batch position"],
) -> StepScores:
    """Let a decoder write ``labels``, padded with ``PADDING``, and keep what it thought.

    A label of the greatest length that the decoder would have made longer has no end: generating
    cuts it there.

    Raises:
        ValueError: a decoder that does not write step by step, or labels that are too long.
    """
    if not isinstance(decoder, TransformerDecoder | RecurrentDecoder):
        raise ValueError(
            f"{type(decoder).__name__} has no scores step by step; use a model with a "
            "TransformerDecoder or a RecurrentDecoder"
        )
    scores, targets = decoder.logits(features, labels), decoder.targets(labels)
    kept = targets != PADDING
    last = decoder.maximum_length
    kept[:, last:] &= scores[:, last:].argmax(-1) == decoder.end
    words, _ = kept.nonzero(as_tuple=True)
    return StepScores(scores[kept].float(), targets[kept], words, len(labels))
