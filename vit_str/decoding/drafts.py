"""Texts that a head beside the decoder drafts, and that the decoder checks in one call.

Speculative decoding (Leviathan et al. 2023), with a draft from the encoder (`CtcHead`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vit_str.characters.charset import PADDING
from vit_str.decoding.beam_search import beam_search, log_softmax
from vit_str.decoding.ctc import collapse
from vit_str.decoding.effort import MOST_DRAFT_CHECKS
from vit_str.decoding.hypotheses import Hypothesis

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Int64

    from vit_str.engines.interface import Scorer


def greedy_from_drafts(
    scorer: Scorer,
    encoded: Any,
    count: int,
    end: int,
    longest: int,
    temperature: float = 1.0,
) -> list[list[Hypothesis]]:
    """What `beam_search` with a width of 1 finds, mostly in one call of the decoder.

    The scores after every character of a draft tell whether the decoder would have written it. A
    text that it would not is corrected and checked again.

    Args:
        scorer: of a model that drafts texts.
        encoded: images.
        count: number of images.
        end: id of the end.
        longest: most characters.
        temperature: divides the scores.
    """
    found: list[list[Hypothesis]] = [[] for _ in range(count)]
    rows = np.arange(count)
    texts = collapse(scorer.scores(encoded), longest)
    for _ in range(MOST_DRAFT_CHECKS):
        labels = texts[:, : longest - 1]
        remaining = encoded
        if len(rows) < count:
            remaining = scorer.select(encoded, rows.tolist())
        scores = scorer.verify(remaining, labels) / temperature
        texts = _until_end(scores.argmax(2), end)
        agreed = _equal(texts, labels)
        for place in np.flatnonzero(agreed):
            ids = texts[place]
            ids = ids[ids != PADDING]
            found[rows[place]] = [text_hypothesis(ids, scores[place], end)]
        rows = rows[~agreed]
        texts = texts[~agreed]
        if not len(rows):
            return found
    steps = scorer.begin(scorer.select(encoded, rows.tolist()))
    searched = beam_search(steps, len(rows), end, longest, temperature)
    for row, hypotheses in zip(rows, searched, strict=True):
        found[row] = hypotheses
    return found


def _until_end(
    best: Int64[np.ndarray, "row position"], end: int
) -> Int64[np.ndarray, "row position"]:
    """Texts without their ends and what follows, padded."""
    return np.where((best == end).cumsum(1) > 0, PADDING, best)


def _equal(
    texts: Int64[np.ndarray, "row position_and_end"],
    labels: Int64[np.ndarray, "row position"],
) -> Bool[np.ndarray, " row"]:
    """Which texts are the labels and end after them."""
    return (texts[:, :-1] == labels).all(1) & (texts[:, -1] == PADDING)


def text_hypothesis(
    ids: Int64[np.ndarray, " character"],
    scores: Float[np.ndarray, "position symbol"],
    end: int,
) -> Hypothesis:
    """A text with its probabilities, from the scores at every position of it and at its end."""
    symbols = np.append(ids, end)
    logs = log_softmax(scores[: len(symbols)])
    chosen = logs[np.arange(len(symbols)), symbols]
    return Hypothesis.from_logs(ids, chosen, float(chosen.sum()))
