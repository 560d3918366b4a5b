"""Texts that are written symbol by symbol: greedily or with a beam, among what is allowed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vit_str.characters.charset import PADDING
from vit_str.decoding.hypotheses import Hypothesis

if TYPE_CHECKING:
    from jaxtyping import Float, Int64

    from vit_str.decoding.constraints import Constraint
    from vit_str.engines.interface import Steps


class ScoreSteps:
    """Scores of every position that do not depend on what is written.

    Args:
        scores: of every symbol; the last position is for the end of the longest text.
    """

    def __init__(self, scores: Float[np.ndarray, "row position symbol"]) -> None:
        self._scores = scores

    def step(
        self, symbols: Int64[np.ndarray, " row"], position: int
    ) -> Float[np.ndarray, "row symbol"]:
        """See `Steps`."""
        return self._scores[:, position]

    def keep(self, rows: Int64[np.ndarray, " row"]) -> None:
        """See `Steps`."""
        self._scores = self._scores[rows]


def beam_search(
    steps: Steps,
    count: int,
    end: int,
    longest: int,
    temperature: float = 1.0,
    beam_width: int = 1,
    constraint: Constraint | None = None,
    margin: float = math.inf,
) -> list[list[Hypothesis]]:
    """Write texts; for each up to ``beam_width`` hypotheses, the most probable first.

    A beam keeps the most probable texts so far, those that have ended with the others; a width
    of 1 is greedy. Rows that have ended cost nothing. A text that is cut at the greatest length
    counts as ended if it is free. None is found where nothing that is allowed can be written.

    Args:
        steps: at the start, with a row for each text.
        count: number of texts.
        end: id of the end.
        longest: most characters.
        temperature: divides the scores.
        beam_width: texts to keep while writing.
        constraint: what may be written; everything if None.
        margin: how far the logarithm of the probability of a text may fall behind the best of its
            image; others are dropped.
    """
    beam = _Beam(count, beam_width, end, longest, margin)
    states = [constraint.start] * count if constraint else []
    symbols = np.full(count, end)
    for position in range(longest + 1):
        scores = steps.step(symbols, position) / temperature
        logs = log_softmax(scores)
        allowed_logs = logs
        if constraint:
            is_allowed = np.stack([constraint.allowed(state) for state in states])
            allowed_logs = log_softmax(np.where(is_allowed, scores, -np.inf))
        if position == longest:
            is_free = constraint is None
            logs = _cut(logs, allowed_logs, end, is_free)
            allowed_logs = _cut(allowed_logs, allowed_logs, end, is_free)
        rows, symbols = beam.extend(logs, allowed_logs, position)
        if not len(rows):
            break
        if constraint:
            pairs = zip(rows.tolist(), symbols.tolist(), strict=True)
            states = [constraint.advance(states[row], symbol) for row, symbol in pairs]
        if not np.array_equal(rows, np.arange(len(scores))):
            steps.keep(rows)
    return beam.hypotheses()


def log_softmax(
    scores: Float[np.ndarray, "row symbol"],
) -> Float[np.ndarray, "row symbol"]:
    """Logarithms of probabilities; a row without a finite score has none."""
    top = scores.max(1, keepdims=True)
    is_possible = np.isfinite(top)
    if not is_possible.all():
        logs = np.full_like(scores, -np.inf)
        kept = is_possible[:, 0]
        if kept.any():
            logs[kept] = log_softmax(scores[kept])
        return logs
    shifted = scores - top
    return shifted - np.log(np.exp(shifted).sum(1, keepdims=True))


def _cut(
    logs: Float[np.ndarray, "row symbol"],
    allowed_logs: Float[np.ndarray, "row symbol"],
    end: int,
    is_free: bool,
) -> Float[np.ndarray, "row symbol"]:
    """Only the end, for nothing where another symbol is likelier: there is no room for one."""
    cut = np.full_like(logs, -np.inf)
    cut[:, end] = logs[:, end]
    if is_free:
        cut[allowed_logs.argmax(1) != end, end] = 0
    return cut


class _Choice(NamedTuple):
    """The best continuations of the texts of all images, image by image, the best first."""

    sources: Int64[np.ndarray, " text"]  # which texts go on
    # What they go on with; the end for what has ended
    symbols: Int64[np.ndarray, " text"]
    log_probabilities: Float[np.ndarray, " text"]  # of the texts that result


class _Beam:
    """The texts so far, image by image; each that has not ended is a row of the steps.

    Attributes:
        images: which image each text is of.
        labels: ids of the characters of each text.
        logs: of the confidence of each character and of the end, among what is allowed.
        log_probabilities: of each text, if every text were allowed.
        has_ended: which texts have ended.
    """

    def __init__(
        self,
        count: int,
        width: int,
        end: int,
        longest: int,
        margin: float,
    ) -> None:
        self.count = count
        self.width = width
        self.end = end
        self.margin = margin
        self.images = np.arange(count)  # one text for each image, without characters
        self.labels = np.full((count, longest + 1), PADDING)
        self.logs = np.zeros((count, longest + 1))
        self.log_probabilities = np.zeros(count)
        self.has_ended = np.zeros(count, dtype=bool)

    def extend(
        self,
        logs: Float[np.ndarray, "row symbol"],
        allowed_logs: Float[np.ndarray, "row symbol"],
        position: int,
    ) -> tuple[Int64[np.ndarray, " row"], Int64[np.ndarray, " row"]]:
        """Write the next symbol; returns the index of each row's parent, and its new symbol.

        Args:
            logs: of the probability of each symbol, if every text were allowed; these decide.
            allowed_logs: of its confidence, among what is allowed; minus infinity forbids.
            position: number of characters so far.
        """
        if allowed_logs is not logs:
            logs = np.where(np.isfinite(allowed_logs), logs, -np.inf)
        sources, symbols, log_probabilities = self._choose(logs)
        row_of_text = np.cumsum(~self.has_ended) - 1
        rows = row_of_text[sources]
        had_ended = self.has_ended[sources]
        is_longer = ~had_ended
        self.images = self.images[sources]
        self.labels = self.labels[sources]
        self.logs = self.logs[sources]
        written_logs = allowed_logs[rows[is_longer], symbols[is_longer]]
        self.logs[is_longer, position] = written_logs
        self.log_probabilities = log_probabilities
        self.has_ended = had_ended | (symbols == self.end)
        is_written = ~self.has_ended
        self.labels[is_written, position] = symbols[is_written]
        return rows[is_written], symbols[is_written]

    def _choose(self, logs: Float[np.ndarray, "row symbol"]) -> _Choice:
        """The most probable texts of each image with one more symbol, and those that have ended.

        Args:
            logs: of the probability of each symbol; minus infinity forbids.
        """
        writing = np.flatnonzero(~self.has_ended)
        ended = np.flatnonzero(self.has_ended)
        before = self.log_probabilities[writing]
        is_near = logs >= self._least(logs, writing)[:, None]
        rows, symbols = np.nonzero(is_near)  # few: only these are sorted
        sources = np.concatenate([writing[rows], ended])
        longer = before[rows] + logs[rows, symbols]
        totals = np.concatenate([longer, self.log_probabilities[ended]])
        symbols = np.concatenate([symbols, np.full(len(ended), self.end)])
        order = np.lexsort([-totals, self.images[sources]])
        images = self.images[sources[order]]
        ranks = np.arange(len(order)) - np.searchsorted(images, images)
        kept = order[ranks < self.width]
        return _Choice(sources[kept], symbols[kept], totals[kept])

    def _least(
        self, logs: Float[np.ndarray, "row symbol"], writing: Int64[np.ndarray, " row"]
    ) -> Float[np.ndarray, " row"]:
        """The least logarithm that a symbol may have after each text.

        With a margin, no text is kept that falls behind the best of its image by more; without
        one, no text goes on in more ways than a beam holds.
        """
        if math.isinf(self.margin):
            width = min(self.width, logs.shape[1])
            least = np.partition(logs, -width, axis=1)[:, -width]
        else:
            best = np.full(self.count, -np.inf)
            ended = self.has_ended
            np.maximum.at(best, self.images[ended], self.log_probabilities[ended])
            before = self.log_probabilities[writing]
            images = self.images[writing]
            np.maximum.at(best, images, before + logs.max(1))
            least = (best[images] - self.margin - before).astype(logs.dtype)
        return np.maximum(least, np.finfo(logs.dtype).min)  # above what is forbidden

    def hypotheses(self) -> list[list[Hypothesis]]:
        """The texts of each image, the most probable first."""
        found: list[list[Hypothesis]] = [[] for _ in range(self.count)]
        lengths = (self.labels != PADDING).sum(1).tolist()
        for text, image in enumerate(self.images.tolist()):
            label = self.labels[text, : lengths[text]]
            total = self.log_probabilities[text]
            found[image].append(Hypothesis.from_logs(label, self.logs[text], total))
        return found
