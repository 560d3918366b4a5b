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

    from vit_str.decoding.look_alikes import LookAlikes
    from vit_str.engines.interface import Scorer


def greedy_from_drafts(
    scorer: Scorer,
    encoded: Any,
    count: int,
    end: int,
    longest: int,
    temperature: float = 1.0,
    look_alikes: LookAlikes | None = None,
) -> list[list[Hypothesis]]:
    """The texts of `beam_search` with a width of 1, mostly in one call of the decoder.

    The scores after every character of a draft tell whether the decoder would have written it. A
    text that it would not is corrected and checked again.

    Args:
        scorer: of a model that drafts texts.
        encoded: images.
        count: number of images.
        end: id of the end.
        longest: most characters.
        temperature: divides the scores.
        look_alikes: signs whose probabilities are summed before a text is written.
    """
    found: list[list[Hypothesis]] = [[] for _ in range(count)]
    rows = np.arange(count)
    drafts, _ = _summed(scorer.scores(encoded), look_alikes)
    texts = collapse(drafts, longest)
    for _ in range(MOST_DRAFT_CHECKS):
        labels = texts[:, : longest - 1]
        remaining = encoded
        if len(rows) < count:
            remaining = scorer.select(encoded, rows.tolist())
        verified = scorer.verify(remaining, labels) / temperature
        scores, members = _summed(verified, look_alikes)
        texts = _until_end(scores.argmax(2), end)
        agreed = _equal(texts, labels)
        for place in np.flatnonzero(agreed):
            ids = texts[place]
            ids = ids[ids != PADDING]
            hypothesis = text_hypothesis(ids, scores[place], end)
            if look_alikes is not None:
                hypothesis = look_alikes.told_apart(hypothesis, members[place])
            found[rows[place]] = [hypothesis]
        rows = rows[~agreed]
        texts = texts[~agreed]
        if not len(rows):
            return found
    steps = scorer.begin(scorer.select(encoded, rows.tolist()))
    searched = beam_search(steps, len(rows), end, longest, temperature)
    for row, hypotheses in zip(rows, searched, strict=True):
        found[row] = hypotheses
    return found


def _summed(
    scores: Float[np.ndarray, "row position symbol"], look_alikes: LookAlikes | None
) -> tuple[
    Float[np.ndarray, "row position symbol"], Float[np.ndarray, "row position member"]
]:
    """Scores with those of a kind at its first sign, and the probabilities of its signs."""
    if look_alikes is None:
        return scores, np.empty((*scores.shape[:2], 0), scores.dtype)
    shifted = np.exp(scores - scores.max(2, keepdims=True))
    shares = shifted / shifted.sum(2, keepdims=True)
    members = look_alikes.sum_up(shares)
    return np.log(np.maximum(shares, np.finfo(shares.dtype).tiny)), members


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
