"""Greedy texts from drafts that the decoder checks.

Speculative decoding (Leviathan et al. 2023), with a draft from the encoder (`CtcHead`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vit_str.runtime.charset import PADDING
from vit_str.runtime.ctc import collapse
from vit_str.runtime.engine import Scorer
from vit_str.runtime.search import Hypothesis, hypothesis, log_softmax, search

if TYPE_CHECKING:
    from jaxtyping import Float, Int64

_MOST_CHECKS = 3  # of a text, before it is written step by step


def greedy_from_drafts(
    scorer: Scorer, encoded: Any, count: int, end: int, longest: int, temperature: float = 1.0
) -> list[list[Hypothesis]]:
    """What `search` with a width of 1 finds, mostly in one call of the decoder.

    The scores after every character of a draft tell whether the decoder would have written it. A
    text that it would not is corrected and checked again.
    """
    found: list[list[Hypothesis]] = [[] for _ in range(count)]
    rows = np.arange(count)
    texts = collapse(scorer.scores(encoded), longest)
    for _ in range(_MOST_CHECKS):
        labels, remaining = texts[:, : longest - 1], encoded
        if len(rows) < count:
            remaining = scorer.select(encoded, rows.tolist())
        scores = scorer.verify(remaining, labels).astype(np.float64) / temperature
        logs = log_softmax(scores.reshape(-1, scores.shape[2])).reshape(scores.shape)
        texts = _until_end(logs.argmax(2), end)
        agreed = _equal(texts, labels)
        for row, ids, log in zip(rows[agreed], texts[agreed], logs[agreed], strict=True):
            found[row] = [_greedy(ids[ids != PADDING], log, end)]
        rows, texts = rows[~agreed], texts[~agreed]
        if not len(rows):
            return found
    steps = scorer.begin(scorer.select(encoded, rows.tolist()))
    for row, written in zip(rows, search(steps, len(rows), end, longest, temperature), strict=True):
        found[row] = written
    return found


def _until_end(
    best: Int64[np.ndarray, "row position"], end: int
) -> Int64[np.ndarray, "row position"]:
    """Texts without their ends and what follows, padded."""
    return np.where((best == end).cumsum(1) > 0, PADDING, best)


def _equal(
    texts: Int64[np.ndarray, "row position_and_end"], labels: Int64[np.ndarray, "row position"]
) -> np.ndarray:
    """Which texts are the labels and end after them."""
    padded_labels = np.pad(labels, ((0, 0), (0, 1)), constant_values=PADDING)
    return (texts == padded_labels).all(1)


def _greedy(
    ids: Int64[np.ndarray, " character"], logs: Float[np.ndarray, "position symbol"], end: int
) -> Hypothesis:
    written = np.append(ids, end)
    chosen = logs[np.arange(len(written)), written]
    return hypothesis(ids, chosen, float(chosen.sum()))
