"""Texts of the columns of an image (connectionist temporal classification)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from vit_str.characters.charset import PADDING
from vit_str.decoding.hypotheses import Hypothesis
from vit_str.decoding.look_alikes import JOINED
from vit_str.engines.labels import padded

if TYPE_CHECKING:
    from jaxtyping import Float, Int64

    from vit_str.decoding.look_alikes import LookAlikes

    _OfBeginnings = Float[np.ndarray, "row position_and_none"]

_TINY = np.finfo(np.float64).tiny  # for logarithms


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
        # Products of many, of which some are subtracted from each other
        self._shares = symbol_shares(scores).astype(np.float64)
        rows, columns, symbols = scores.shape
        self._blank = symbols - 1
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
        shares = self._shares[written, :, last]
        repeated = self._after_character[written, :-1] * shares
        # The same character again needs a blank
        begins[written, last] -= repeated.sum(1)
        begins[:, self._blank] = before[:, -1]
        with np.errstate(divide="ignore"):
            return np.log(np.maximum(begins, 0))

    def _append(self, symbols: Int64[np.ndarray, " row"]) -> None:
        """Forward variables of the texts with one more character."""
        is_repeated = (symbols == self._last)[:, None]
        before = self._after_blank + np.where(is_repeated, 0, self._after_character)
        shares = self._shares[np.arange(len(symbols)), :, symbols]
        after_blank = np.zeros_like(before)
        after_character = np.zeros_like(before)
        for column in range(shares.shape[1]):
            blank = self._shares[:, column, self._blank]
            spelled = after_character[:, column]
            after_blank[:, column + 1] = blank * (after_blank[:, column] + spelled)
            spelled_or_begun = spelled + before[:, column]
            after_character[:, column + 1] = shares[:, column] * spelled_or_begun
        self._after_blank = after_blank
        self._after_character = after_character
        self._last = symbols

    def keep(self, rows: Int64[np.ndarray, " row"]) -> None:
        """See `Steps`."""
        self._shares = self._shares[rows]
        self._last = self._last[rows]
        self._after_blank = self._after_blank[rows]
        self._after_character = self._after_character[rows]


def symbol_shares(
    scores: Float[np.ndarray, "row column symbol"],
) -> Float[np.ndarray, "row column symbol"]:
    """Probabilities under every column."""
    shifted = np.exp(scores - scores.max(2, keepdims=True))
    return shifted / shifted.sum(2, keepdims=True)


def prefix_probabilities(
    shares: Float[np.ndarray, "row column symbol"],
    labels: Int64[np.ndarray, "row position"],
) -> tuple[_OfBeginnings, _OfBeginnings]:
    """For every beginning of a text, what begins with it and what is exactly it.

    All beginnings at once, column by column; see `CtcSteps`.

    Args:
        shares: of `symbol_shares`.
        labels: padded; values after the end mean nothing.

    Returns:
        Probability that the text begins with the first 0, 1, 2, ... characters, and that it is
        these and no more.
    """
    rows, columns, _ = shares.shape
    known = np.maximum(labels, 0)
    characters = np.take_along_axis(shares, known[:, None], 2)
    first = np.ones_like(known[:, :1], bool)
    differs = np.hstack([first, known[:, 1:] != known[:, :-1]])
    differs = differs[:, : known.shape[1]]
    after_blank = np.zeros((rows, labels.shape[1] + 1))
    after_blank[:, 0] = 1
    after_character = np.zeros_like(after_blank)
    begins = after_blank.copy()
    for column in range(columns):
        character = characters[:, column]
        blank = shares[:, column, -1:]
        after_other = after_character[:, :-1] * differs
        entered = character * (after_blank[:, :-1] + after_other)
        begins[:, 1:] += entered
        after_blank = blank * (after_blank + after_character)
        after_character[:, 1:] = character * after_character[:, 1:] + entered
    return begins, after_blank + after_character


def collapse(
    scores: Float[np.ndarray, "row column symbol"], longest: int
) -> Int64[np.ndarray, "row position"]:
    """The texts of the most probable alignments, up to ``longest`` characters, padded."""
    return _spelled(scores.argmax(2), scores.shape[2] - 1, longest)


def _spelled(
    best: Int64[np.ndarray, "row column"], blank: int, longest: int
) -> Int64[np.ndarray, "row position"]:
    """The texts of alignments, padded."""
    spelled = best != blank
    spelled[:, 1:] &= best[:, 1:] != best[:, :-1]
    texts = [row[kept] for row, kept in zip(best, spelled, strict=True)]
    return padded([text[:longest].tolist() for text in texts])


def best_alignments(
    scores: Float[np.ndarray, "row column symbol"],
    longest: int,
    look_alikes: LookAlikes | None = None,
) -> list[list[Hypothesis]]:
    """The text of the most probable alignment of each row, with its exact probabilities.

    Args:
        scores: of every character and, last, the blank, under every column.
        longest: most characters.
        look_alikes: signs whose probabilities are summed before a text is judged.
    """
    if look_alikes is None:
        return text_probabilities(scores, collapse(scores, longest))
    shares = symbol_shares(scores)
    members = look_alikes.sum_up(shares)
    labels = collapse(shares, longest)
    found = _of_shares(shares, labels)
    for row, (hypothesis,) in enumerate(found):
        if look_alikes.alone(hypothesis.ids) or look_alikes.of_kinds(hypothesis.ids):
            found[row] = [
                _in_context(hypothesis, shares[row], members[row], look_alikes)
            ]
    return found


def _in_context(
    hypothesis: Hypothesis,
    shares: Float[np.ndarray, "column symbol"],
    members: Float[np.ndarray, "column member"],
    look_alikes: LookAlikes,
) -> Hypothesis:
    """A text of signs that were read as one of their kind, with those that they are.

    A text of one sign is judged with all that are round; a minus stands at its number.
    """
    sign = look_alikes.alone(hypothesis.ids)
    if sign is not None:
        shares = look_alikes.as_round(shares, members)
        hypothesis = _judged(shares, sign)
    scores = shares  # of which the best spell the text
    joined = look_alikes.with_its_number(hypothesis.ids)
    if joined is not None:
        other = _judged(shares, joined)
        hypothesis = _joined_or_parted(other, hypothesis, JOINED)
        scores = np.log(shares + _TINY)
    (owners,) = alignment(scores[None], np.array([hypothesis.ids]))
    ids = list(hypothesis.ids)
    chosen = hypothesis
    for place in look_alikes.of_kinds(hypothesis.ids):
        of_place = members[owners == place].sum(0)
        ids[place], sure = look_alikes.choose(hypothesis.ids, place, of_place)
        chosen = _less_sure(chosen, place, sure)
    return replace(chosen, ids=tuple(ids))


def _joined_or_parted(
    joined: Hypothesis, parted: Hypothesis, odds: float
) -> Hypothesis:
    """The more probable of a minus at its number, and of one with a space between."""
    both = joined.probability + parted.probability
    likely = (
        odds * joined.probability / (odds * joined.probability + parted.probability)
    )
    if likely < 1 / 2:
        return parted
    return _less_sure(joined, 1, likely * both / joined.probability)


def _judged(
    shares: Float[np.ndarray, "column symbol"], ids: Sequence[int]
) -> Hypothesis:
    """A text with the probability that some columns spell it."""
    ((hypothesis,),) = _of_shares(shares[None], np.array([ids]))
    return hypothesis


def _less_sure(hypothesis: Hypothesis, place: int, times: float) -> Hypothesis:
    """A text whose character at a place is so many times as probable."""
    confidences = list(hypothesis.confidences)
    confidences[place] = min(1.0, confidences[place] * times)
    return replace(
        hypothesis,
        confidences=tuple(confidences),
        confidence=min(1.0, hypothesis.confidence * times),
        probability=min(1.0, hypothesis.probability * times),
    )


def text_probabilities(
    scores: Float[np.ndarray, "row column symbol"],
    labels: Int64[np.ndarray, "row position"],
) -> list[list[Hypothesis]]:
    """Given texts, padded, with the exact probabilities that the columns spell them."""
    return _of_shares(symbol_shares(scores), labels)


def _of_shares(
    shares: Float[np.ndarray, "row column symbol"],
    labels: Int64[np.ndarray, "row position"],
) -> list[list[Hypothesis]]:
    begins, exactly = prefix_probabilities(shares, labels)
    log_begins = np.log(begins + _TINY)
    characters = np.diff(log_begins, axis=1)
    ends = np.log(exactly + _TINY) - log_begins
    found = []
    for row, length in enumerate((labels != PADDING).sum(1)):
        written = characters[row, :length]
        end = ends[row, length]
        logs = np.append(written, end)
        total = written.sum() + end
        hypothesis = Hypothesis.from_logs(labels[row, :length], logs, total)
        found.append([hypothesis])
    return found


def column_boxes(
    scores: Float[np.ndarray, "row column symbol"],
    labels: Int64[np.ndarray, "row position"],
    size: tuple[int, int],
) -> Float[np.ndarray, "row position side"]:
    """Left, top, right, bottom of every character in pixels; zero where there is none.

    A character reaches half of the way to its neighbors, at the ends of the line as far as to its
    other side, and from the top of the line to its bottom.

    Args:
        scores: of every character and, last, the blank, under every column.
        labels: padded texts that the columns can spell.
        size: height and width of the image under the columns.
    """
    height, width = size
    boxes = np.zeros((*labels.shape, 4), np.float32)
    owners = alignment(scores, labels)
    for row, owner in enumerate(owners):
        length = (labels[row] >= 0).sum()
        columns = [np.flatnonzero(owner == place) for place in range(length)]
        first = np.array([own[0] for own in columns])
        last = np.array([own[-1] for own in columns])
        middles = (first + last + 1) / 2
        middles = middles * (width / len(owner))
        halves = np.array([height / 4])
        if len(middles) > 1:
            halves = np.diff(middles) / 2
        inner = halves[: len(middles) - 1]
        left = np.append(halves[:1], inner)
        right = np.append(inner, halves[-1:])
        for place, x in enumerate(middles):
            start = max(0, x - left[place])
            stop = min(width, x + right[place])
            boxes[row, place] = (start, 0, stop, height)
    return boxes


def alignment(
    scores: Float[np.ndarray, "row column symbol"],
    labels: Int64[np.ndarray, "row position"],
) -> Int64[np.ndarray, "row column"]:
    """The place of the character under every column in the most probable way to spell a text.

    Blanks have ``PADDING``. Mostly it is the most probable way of all.
    """
    blank = scores.shape[2] - 1
    best = scores.argmax(2)
    begins = (best != blank) & (np.diff(best, axis=1, prepend=blank) != 0)
    owners = np.where(best == blank, PADDING, begins.cumsum(1) - 1)
    spelled = [ids[first].tolist() for ids, first in zip(best, begins, strict=True)]
    wanted = [ids[ids != PADDING].tolist() for ids in labels]
    pairs = zip(spelled, wanted, strict=True)
    differs = np.array([own != asked for own, asked in pairs], bool)
    if differs.any():
        owners[differs] = _viterbi(scores[differs], labels[differs])
    return owners


def _viterbi(
    scores: Float[np.ndarray, "row column symbol"],
    labels: Int64[np.ndarray, "row position"],
) -> Int64[np.ndarray, "row column"]:
    """`alignment` of any text: states are its characters, with blanks between them."""
    rows, columns, symbols = scores.shape
    states = np.full((rows, 2 * labels.shape[1] + 1), symbols - 1)
    states[:, 1::2] = np.maximum(labels, 0)
    logs = np.log(symbol_shares(scores) + _TINY)
    fits = np.take_along_axis(logs, states[:, None], 2)
    skips = np.zeros(states.shape, bool)
    skips[:, 3::2] = states[:, 3::2] != states[:, 1:-2:2]
    best = np.where(np.arange(states.shape[1]) < 2, fits[:, 0], -np.inf)
    steps = np.zeros((columns, *states.shape), np.int8)
    for column in range(1, columns):
        one = np.pad(best, ((0, 0), (1, 0)), constant_values=-np.inf)[:, :-1]
        two = np.pad(best, ((0, 0), (2, 0)), constant_values=-np.inf)[:, :-2]
        ways = np.stack([best, one, np.where(skips, two, -np.inf)])
        steps[column] = ways.argmax(0)
        best = ways.max(0) + fits[:, column]
    every = np.arange(rows)
    last = 2 * (labels != PADDING).sum(1)
    ends_before = best[every, np.maximum(last - 1, 0)] > best[every, last]
    state = np.where(ends_before, last - 1, last)
    owners = np.full((rows, columns), PADDING)
    for column in reversed(range(columns)):
        owners[:, column] = np.where(state % 2, state // 2, PADDING)
        state = state - steps[column, every, state]
    return owners
