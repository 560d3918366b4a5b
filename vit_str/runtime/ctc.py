"""What the columns of an image spell (connectionist temporal classification)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vit_str.runtime.charset import PADDING
from vit_str.runtime.search import (
    Hypothesis,
    hypothesis,
    log_softmax,
    padded,
    teacher_forcing_scores,
)

if TYPE_CHECKING:
    from jaxtyping import Float, Int64


class CtcSteps:
    """Exact probabilities of the next character under CTC, all alignments counted.

    What a text may go on with follows from the forward variables of Graves 2012 (section 7.3.1):
    the probability that the text so far was spelled in the columns up to each one, ending in a
    blank or in its last character.

    Args:
        scores: of every character and, last, the blank, under every column, divided by the
            temperature.
    """

    def __init__(self, scores: Float[np.ndarray, "row column symbol"]) -> None:
        shifted = np.exp(scores.astype(np.float64) - scores.max(2, keepdims=True))
        self._shares = shifted / shifted.sum(2, keepdims=True)
        rows, columns, self._blank = len(scores), scores.shape[1], scores.shape[2] - 1
        blanks = np.cumprod(self._shares[:, :, -1], 1)
        self._after_blank = np.concatenate([np.ones((rows, 1)), blanks], 1)
        self._after_character = np.zeros((rows, columns + 1))
        self._last = np.full(rows, PADDING)

    def step(
        self, symbols: Int64[np.ndarray, " row"], position: int
    ) -> Float[np.ndarray, "row symbol"]:
        """Logarithms of probabilities; see `Steps`."""
        if position:
            self._append(symbols)
        before = self._after_blank + self._after_character
        begins = np.einsum("rc,rcs->rs", before[:, :-1], self._shares)
        written = np.flatnonzero(self._last != PADDING)
        last = self._last[written]
        repeated = self._after_character[written, :-1] * self._shares[written, :, last]
        begins[written, last] -= repeated.sum(1)  # the same character again needs a blank
        begins[:, self._blank] = before[:, -1]
        with np.errstate(divide="ignore"):
            return np.log(np.maximum(begins, 0))

    def _append(self, symbols: Int64[np.ndarray, " row"]) -> None:
        """Forward variables of the texts with one more character."""
        before = self._after_blank + np.where(
            (symbols == self._last)[:, None], 0, self._after_character
        )
        shares = self._shares[np.arange(len(symbols)), :, symbols]
        after_blank, after_character = np.zeros_like(before), np.zeros_like(before)
        for column in range(shares.shape[1]):
            blank = self._shares[:, column, self._blank]
            spelled = after_character[:, column]
            after_blank[:, column + 1] = blank * (after_blank[:, column] + spelled)
            after_character[:, column + 1] = shares[:, column] * (spelled + before[:, column])
        self._after_blank, self._after_character = after_blank, after_character
        self._last = symbols

    def keep(self, rows: Int64[np.ndarray, " row"]) -> None:
        """See `Steps`."""
        self._shares, self._last = self._shares[rows], self._last[rows]
        self._after_blank = self._after_blank[rows]
        self._after_character = self._after_character[rows]


def collapse(
    scores: Float[np.ndarray, "row column symbol"], longest: int
) -> Int64[np.ndarray, "row position"]:
    """The texts of the most probable alignments, up to ``longest`` characters, padded."""
    best = scores.argmax(2)
    blank = scores.shape[2] - 1
    before = np.pad(best, ((0, 0), (1, 0)), constant_values=blank)[:, :-1]
    spelled = (best != blank) & (best != before)
    return padded([row[kept][:longest].tolist() for row, kept in zip(best, spelled, strict=True)])


def best_alignments(
    scores: Float[np.ndarray, "row column symbol"], longest: int
) -> list[list[Hypothesis]]:
    """The text of the most probable alignment of each row, with its exact probabilities."""
    blank = scores.shape[2] - 1
    labels = collapse(scores, longest)
    every_step = teacher_forcing_scores(CtcSteps(scores), labels, blank)
    logs = log_softmax(every_step.reshape(-1, blank + 1)).reshape(every_step.shape)
    targets = np.pad(labels, ((0, 0), (0, 1)), constant_values=PADDING)
    targets[targets == PADDING] = blank
    chosen = np.take_along_axis(logs, targets[:, :, None], 2)[:, :, 0]
    lengths = (labels != PADDING).sum(1)
    return [
        [hypothesis(ids[:length], log[: length + 1], log[: length + 1].sum())]
        for ids, log, length in zip(labels, chosen, lengths, strict=True)
    ]
