"""Texts that are written symbol by symbol: greedily or with a beam, among what is allowed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vit_str.runtime.charset import PADDING
from vit_str.runtime.hypotheses import Hypothesis

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Int64

    from vit_str.runtime.constraints import Constraint
    from vit_str.runtime.interface import Steps


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
        scores = steps.step(symbols, position).astype(np.float64) / temperature
        logs = log_softmax(scores)
        allowed_logs = logs
        if constraint:
            is_allowed = np.stack([constraint.allowed(state) for state in states])
            allowed_logs = log_softmax(np.where(is_allowed, scores, -np.inf))
        if position == longest:
            is_free = constraint is None
            allowed_logs, logs = (
                _cut(allowed_logs, allowed_logs, end, is_free),
                _cut(logs, allowed_logs, end, is_free),
            )
        rows, symbols = beam.extend(logs, allowed_logs, position)
        if not len(rows):
            break
        if constraint:
            pairs = zip(rows.tolist(), symbols.tolist(), strict=True)
            states = [constraint.advance(states[row], symbol) for row, symbol in pairs]
        if not np.array_equal(rows, np.arange(len(scores))):
            steps.keep(rows)
    return beam.hypotheses()


def log_softmax(scores: Float[np.ndarray, "row symbol"]) -> Float[np.ndarray, "row symbol"]:
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
    """The best continuations of the texts of all images, ``width`` for each image."""

    sources: Int64[np.ndarray, " place"]  # places of the texts that go on
    symbols: Int64[np.ndarray, " place"]  # what they go on with
    log_probabilities: Float[np.ndarray, " place"]  # of the texts that result
    is_kept: Bool[np.ndarray, " place"]  # False where no text is possible, or one far behind


class _Beam:
    """The texts so far: places for each image, and a row of the steps for each unfinished text.

    Attributes:
        labels: ids of the characters of each text.
        logs: of the confidence of each character and of the end, among what is allowed.
        log_probabilities: of each text, if every text were allowed.
        is_used: which places hold a text.
        has_ended: which texts have ended.
        writing: the place of each row.
        first_places: the first place of each image.
    """

    def __init__(self, count: int, width: int, end: int, longest: int, margin: float) -> None:
        self.count = count
        self.width = width
        self.end = end
        self.margin = margin
        places = count * width
        self.labels = np.full((places, longest + 1), PADDING)
        self.logs = np.zeros((places, longest + 1))
        self.log_probabilities = np.zeros(places)
        self.first_places = np.arange(0, places, width)[:, None]
        self.writing = np.arange(0, places, width)  # one text for each image, without characters
        self.is_used = np.zeros(places, dtype=bool)
        self.is_used[self.writing] = True
        self.has_ended = np.zeros(places, dtype=bool)

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
        chosen = self._choose(logs, np.isfinite(allowed_logs))
        row_of_place = np.full(len(self.labels), -1)
        row_of_place[self.writing] = np.arange(len(self.writing))
        rows = row_of_place[chosen.sources]
        had_ended = self.has_ended[chosen.sources]
        is_longer = chosen.is_kept & ~had_ended
        self.labels = self.labels[chosen.sources]
        self.logs = self.logs[chosen.sources]
        self.logs[is_longer, position] = allowed_logs[rows[is_longer], chosen.symbols[is_longer]]
        self.log_probabilities = chosen.log_probabilities
        self.is_used = chosen.is_kept
        self.has_ended = had_ended | (chosen.symbols == self.end)
        self.writing = np.flatnonzero(is_longer & ~self.has_ended)
        self.labels[self.writing, position] = chosen.symbols[self.writing]
        return rows[self.writing], chosen.symbols[self.writing]

    def _choose(
        self,
        logs: Float[np.ndarray, "row symbol"],
        may_follow: Bool[np.ndarray, "row symbol"],
    ) -> _Choice:
        """The most probable texts of each image with one more symbol, and those that have ended."""
        symbols = logs.shape[1]
        totals = np.full((len(self.labels), symbols), -np.inf)
        ended = np.flatnonzero(self.is_used & self.has_ended)
        totals[ended, self.end] = self.log_probabilities[ended]
        longer = self.log_probabilities[self.writing, None] + logs
        totals[self.writing] = np.where(may_follow, longer, -np.inf)
        best = _largest(totals.reshape(self.count, -1), self.width)
        sources = (self.first_places + best // symbols).ravel()
        written = (best % symbols).ravel()
        log_probabilities = totals[sources, written]
        of_images = log_probabilities.reshape(best.shape)
        is_near = (of_images >= of_images[:, :1] - self.margin).ravel()
        return _Choice(
            sources, written, log_probabilities, np.isfinite(log_probabilities) & is_near
        )

    def hypotheses(self) -> list[list[Hypothesis]]:
        """The texts of each image, the most probable first."""
        found: list[list[Hypothesis]] = [[] for _ in range(self.count)]
        for place in np.flatnonzero(self.is_used):
            length = int((self.labels[place] != PADDING).sum())
            hypothesis = Hypothesis.from_logs(
                self.labels[place, :length], self.logs[place], self.log_probabilities[place]
            )
            found[place // self.width].append(hypothesis)
        return found


def _largest(
    values: Float[np.ndarray, "image value"], count: int
) -> Int64[np.ndarray, "image rank"]:
    """Indices of the ``count`` largest values of each row, the largest first."""
    if count == 1:
        return values.argmax(1)[:, None]
    best = np.argpartition(-values, count - 1, axis=1)[:, :count]
    order = np.argsort(-np.take_along_axis(values, best, 1), axis=1, kind="stable")
    return np.take_along_axis(best, order, 1)
