"""Beam search: several labels of an image are written side by side, and the most probable wins."""

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from vit_str.charset import PADDING
from vit_str.models.decoders.autoregressive import AutoregressiveDecoder
from vit_str.models.hypotheses import Hypotheses


@torch.no_grad()
def beam_search(
    decoder: AutoregressiveDecoder, features: Float[Tensor, "batch token dim"], width: int
) -> Hypotheses:
    """The most probable label of each image among those that a beam finds.

    Labels that have ended stay in the beam for as long as no more probable ones push them out. A
    width of 1 is greedy decoding; a larger one never has a less probable result than the beam
    has seen, but may lose the greedy label on the way.

    Args:
        decoder: what writes.
        features: of the images.
        width: number of labels kept per image.

    Raises:
        ValueError: a width below 1.
    """
    if width < 1:
        raise ValueError(f"the width of a beam must be 1 or more, found {width}")
    if not len(features):
        return decoder.generate(features)
    beam = _Beam(len(features), width, decoder, features.device)
    state = decoder.begin(features)
    state.keep(torch.arange(len(features), device=features.device).repeat_interleave(width))
    for position in range(decoder.maximum_length + 1):
        scores = decoder.step(beam.symbols, position, state).float()
        state.keep(beam.extend(scores.log_softmax(-1), position))
        if beam.ended.all():
            break
    return beam.best()


class _Beam:
    """The labels so far, ``width`` rows per image, the most probable first."""

    def __init__(
        self, batch: int, width: int, decoder: AutoregressiveDecoder, device: torch.device
    ) -> None:
        self.batch, self.width = batch, width
        self.end, self.longest = decoder.end, decoder.maximum_length
        rows = batch * width
        self.symbols = torch.full((rows,), decoder.start, device=device)
        self.ended = torch.zeros(rows, dtype=torch.bool, device=device)
        self._labels = torch.full((rows, self.longest), PADDING, device=device)
        self._steps = torch.zeros(rows, self.longest + 1, device=device)
        # At first all rows of an image are the same: only the first counts.
        self._total = torch.full((batch, width), -torch.inf, device=device)
        self._total[:, 0] = 0

    def extend(self, scores: Float[Tensor, "row symbol"], position: int) -> Int64[Tensor, " row"]:
        """Write the next symbol of each row; returns the index of each row's parent.

        Args:
            scores: logarithms of probabilities.
            position: number of characters written so far.
        """
        nothing = torch.full_like(scores, -torch.inf)
        nothing[:, self.end] = 0  # a label that has ended stays as it is
        scores = torch.where(self.ended[:, None], nothing, scores)
        if position == self.longest:
            scores = self._cut(scores)
        symbols = scores.shape[1]
        totals = (self._total.view(-1, 1) + scores).view(self.batch, -1)
        self._total, chosen = totals.topk(self.width)
        first = torch.arange(self.batch, device=chosen.device)[:, None] * self.width
        rows = (first + chosen // symbols).flatten()
        self.symbols = (chosen % symbols).flatten()
        steps = scores[rows, self.symbols]
        self._labels, self._steps, self.ended = (
            each[rows] for each in (self._labels, self._steps, self.ended)
        )
        self._steps[:, position] += steps.where(~self.ended, 0)
        self.ended = self.ended | (self.symbols == self.end)
        if position < self.longest:
            self._labels[:, position] = self.symbols.where(~self.ended, PADDING)
        return rows

    def _cut(self, scores: Float[Tensor, "row symbol"]) -> Float[Tensor, "row symbol"]:
        """Only the likeliest symbol, for nothing unless it is the end: no room to write it."""
        likeliest = scores.argmax(-1, keepdim=True)
        worth = scores.gather(1, likeliest).where(likeliest == self.end, 0)
        return torch.full_like(scores, -torch.inf).scatter(1, likeliest, worth)

    def best(self) -> Hypotheses:
        """The first row of each image."""
        labels, steps = self._labels[:: self.width], self._steps[:: self.width].exp()
        lengths = (labels != PADDING).sum(1, keepdim=True)
        ended = self.ended[:: self.width]
        longest = int(lengths.max())
        return Hypotheses(
            labels[:, :longest],
            steps[:, :longest].masked_fill(labels[:, :longest] == PADDING, 1),
            steps.gather(1, lengths)[:, 0].masked_fill(~ended, 1),
        )
