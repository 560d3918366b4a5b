"""Encoded images -> texts: greedily or with beams, among what is allowed, or from drafts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from vit_str.runtime.charset import PADDING
from vit_str.runtime.ctc import TINY, CtcSteps, prefix_probabilities, symbol_shares
from vit_str.runtime.prior import NO_LANGUAGE

if TYPE_CHECKING:
    from jaxtyping import Float, Int64

    from vit_str.runtime.constraints import Constraint
    from vit_str.runtime.engine import Engine, Scorer

_EFFORTS = {"fast": ("parallel", 1), "careful": ("autoregressive", 1)}
_CONSTRAINED_BEAMS = 5  # under a lexicon or a pattern, which the most probable start may not fit
_MOST_CHECKS = 3  # of a draft, before the text is written step by step


class Steps(Protocol):
    """A batch of texts while they are written; whoever writes owns it.

    The start, an input, and the end, an output, have the last id of all symbols.
    """

    def step(
        self, symbols: Int64[np.ndarray, " row"], position: int
    ) -> Float[np.ndarray, "row symbol"]:
        """Scores of the next symbol of each row, after ``symbols`` were written."""

    def keep(self, rows: Int64[np.ndarray, " row"]) -> None:
        """Go on with these rows, in any order, some perhaps repeated."""


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


@dataclass(frozen=True, slots=True)
class Search:
    """Which readings to look for.

    Attributes:
        n_best: readings to give for each image.
        beams: texts to keep while writing; None for as many as are to be given, and 5 or more
            under a lexicon or a pattern.
        lexicon: the words that may be read.
        pattern: a regular expression, as the ``regex`` package takes it, which a text must match
            as a whole.
        alphabet: the characters that may be read.
        language: whose words to expect in doubtful images, see `prior_of`; None for those of the
            model, or for none if a lexicon, pattern or alphabet says what may be read.

    Raises:
        ValueError: a number below 1, fewer beams than readings, or a language beside a lexicon,
            pattern or alphabet.
    """

    n_best: int = 1
    beams: int | None = None
    lexicon: Iterable[str] | None = None
    pattern: str | None = None
    alphabet: str | None = None
    language: str | None = None

    def __post_init__(self) -> None:
        if self.n_best < 1 or self.width < self.n_best:
            raise ValueError(
                f"n_best must be 1 or more and beams no fewer, found {self.n_best} and {self.beams}"
            )
        if self.is_constrained and self.language not in (None, NO_LANGUAGE):
            raise ValueError(
                "a language decides between free texts: give it without a lexicon, pattern or "
                "alphabet"
            )

    @property
    def is_constrained(self) -> bool:
        """Whether not every text may be read."""
        return not (self.lexicon is None and self.pattern is None and self.alphabet is None)

    @property
    def width(self) -> int:
        """Texts to keep while writing."""
        if self.beams is not None:
            return self.beams
        chooses = self.lexicon is not None or self.pattern is not None
        return max(self.n_best, _CONSTRAINED_BEAMS if chooses else 1)


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A text as ids, and how sure the model is of it."""

    ids: tuple[int, ...]  # of the characters
    confidences: tuple[float, ...]  # of each character, given those before it
    confidence: float  # of every character and of the end after them
    probability: float  # what `confidence` would be if every text were allowed
    # What was added to the logarithm of the probability before texts were compared
    prior: float = 0.0


class BeamResult(NamedTuple):
    """Hypotheses of an image, the most probable first; and the free one where not all may be."""

    hypotheses: list[Hypothesis]
    free: Hypothesis | None


def search(
    steps: Steps,
    count: int,
    end: int,
    longest: int,
    temperature: float = 1.0,
    width: int = 1,
    constraint: Constraint | None = None,
    margin: float = math.inf,
) -> list[list[Hypothesis]]:
    """Write ``count`` texts; for each up to ``width`` hypotheses, the most probable first.

    A beam keeps the most probable texts so far, those that have ended with the others; a width
    of 1 is greedy. Rows that have ended cost nothing. A text that is cut at the greatest length
    counts as ended if it is free. None is found where nothing that is allowed can be written.

    Args:
        steps: at the start, with a row for each text.
        count: number of texts.
        end: id of the end.
        longest: most characters.
        temperature: divides the scores.
        width: of the beam.
        constraint: what may be written; everything if None.
        margin: how far the logarithm of the probability of a text may fall behind the best of its
            image; others are dropped.
    """
    beam = _Beam(count, width, end, longest, margin)
    states = [constraint.start] * count if constraint else []
    symbols = np.full(count, end)
    for position in range(longest + 1):
        scores = steps.step(symbols, position).astype(np.float64) / temperature
        free = log_softmax(scores)
        chosen = free
        if constraint:
            allowed = np.stack([constraint.allowed(state) for state in states])
            chosen = log_softmax(np.where(allowed, scores, -np.inf))
        if position == longest:
            free, chosen = (_cut(logs, chosen, end, bool(constraint)) for logs in (free, chosen))
        rows, symbols = beam.extend(free, chosen, position)
        if not len(rows):
            break
        if constraint:
            pairs = zip(rows.tolist(), symbols.tolist(), strict=True)
            states = [constraint.advance(states[row], symbol) for row, symbol in pairs]
        if not np.array_equal(rows, np.arange(len(scores))):
            steps.keep(rows)
    return beam.hypotheses()


def greedy_from_drafts(
    scorer: Scorer, encoded: Any, count: int, end: int, longest: int, temperature: float = 1.0
) -> list[list[Hypothesis]]:
    """What `search` with a width of 1 finds, mostly in one call of the decoder.

    Speculative decoding (Leviathan et al. 2023), with a draft from the encoder (`CtcHead`).
    The scores after every character of a draft tell whether the decoder would have written it. A
    text that it would not is corrected and checked again.
    """
    found: list[list[Hypothesis]] = [[] for _ in range(count)]
    rows = np.arange(count)
    texts = collapse(scorer.scores(encoded), longest)
    for _ in range(_MOST_CHECKS):
        labels = texts[:, : longest - 1]
        remaining = encoded
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
    return (texts[:, :-1] == labels).all(1) & (texts[:, -1] == PADDING)


def _greedy(
    ids: Int64[np.ndarray, " character"], logs: Float[np.ndarray, "position symbol"], end: int
) -> Hypothesis:
    written = np.append(ids, end)
    chosen = logs[np.arange(len(written)), written]
    return hypothesis(ids, chosen, float(chosen.sum()))


def collapse(
    scores: Float[np.ndarray, "row column symbol"], longest: int
) -> Int64[np.ndarray, "row position"]:
    """The texts of the most probable alignments, up to ``longest`` characters, padded."""
    best = scores.argmax(2)
    blank = scores.shape[2] - 1
    spelled = best != blank
    spelled[:, 1:] &= best[:, 1:] != best[:, :-1]
    return padded([row[kept][:longest].tolist() for row, kept in zip(best, spelled, strict=True)])


def log_softmax(scores: Float[np.ndarray, "row symbol"]) -> Float[np.ndarray, "row symbol"]:
    """Logarithms of probabilities; a row without a finite score has none."""
    top = scores.max(1, keepdims=True)
    shifted = scores - np.where(np.isfinite(top), top, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = shifted - np.log(np.exp(shifted).sum(1, keepdims=True))
    return np.where(np.isfinite(top), logs, -np.inf)


def _cut(
    logs: Float[np.ndarray, "row symbol"],
    chosen: Float[np.ndarray, "row symbol"],
    end: int,
    constrained: bool,
) -> Float[np.ndarray, "row symbol"]:
    """Only the end, for nothing where another symbol is likelier: there is no room for one."""
    cut = np.full_like(logs, -np.inf)
    cut[:, end] = logs[:, end]
    if not constrained:
        cut[chosen.argmax(1) != end, end] = 0
    return cut


class _Beam:
    """The texts so far, ``width`` for each image; a row of the engine for each unfinished."""

    def __init__(self, count: int, width: int, end: int, longest: int, margin: float) -> None:
        self.count = count
        self.width = width
        self.end = end
        self.margin = margin
        places = count * width
        self.labels = np.full((places, longest + 1), PADDING)
        self.logs = np.zeros((places, longest + 1))
        self.free = np.full(places, -np.inf)
        self.free[::width] = 0  # at first all texts of an image are the same: the first counts
        self.ended = np.zeros(places, dtype=bool)
        self.writing = np.arange(0, places, width)  # the place of each row

    def extend(
        self,
        free: Float[np.ndarray, "row symbol"],
        chosen: Float[np.ndarray, "row symbol"],
        position: int,
    ) -> tuple[Int64[np.ndarray, " row"], Int64[np.ndarray, " row"]]:
        """Write the next symbol; returns the index of each row's parent, and its new symbol.

        Logarithms of probabilities, free, decide among those chosen that are not minus infinity.
        """
        symbols = free.shape[1]
        totals = np.full((self.count * self.width, symbols), -np.inf)
        totals[self.ended, self.end] = self.free[self.ended]
        possible = np.where(np.isneginf(chosen), -np.inf, free)
        totals[self.writing] = self.free[self.writing, None] + possible
        by_image = totals.reshape(self.count, -1)
        best = _largest(by_image, self.width)
        if self.margin < math.inf:
            behind = by_image < by_image.max(1, keepdims=True) - self.margin
            by_image[behind] = -np.inf
        sources = (best // symbols + np.arange(self.count)[:, None] * self.width).ravel()
        written = (best % symbols).ravel()
        row_of = np.full(len(totals), -1)
        row_of[self.writing] = np.arange(len(self.writing))
        self.labels, self.logs = self.labels[sources], self.logs[sources]
        self.free, was_ended = totals[sources, written], self.ended[sources]
        new = ~was_ended & np.isfinite(self.free)
        rows = row_of[sources]
        self.logs[new, position] = chosen[rows[new], written[new]]
        self.ended = was_ended | (written == self.end)
        self.writing = np.flatnonzero(new & ~self.ended)
        self.labels[self.writing, position] = written[self.writing]
        return rows[self.writing], written[self.writing]

    def hypotheses(self) -> list[list[Hypothesis]]:
        """What is in the beam, image by image."""
        found: list[list[Hypothesis]] = [[] for _ in range(self.count)]
        for place in np.flatnonzero(np.isfinite(self.free)):
            length = int((self.labels[place] != PADDING).sum())
            found[place // self.width].append(
                hypothesis(self.labels[place, :length], self.logs[place], self.free[place])
            )
        return found


def hypothesis(
    ids: Int64[np.ndarray, " character"], logs: Float[np.ndarray, " step"], free: float
) -> Hypothesis:
    """Of the logarithms of the confidence of each character and of the end after them."""
    confidences = np.exp(logs[: len(ids)])
    return Hypothesis(
        tuple(ids.tolist()),
        tuple(confidences.tolist()),
        float(np.exp(logs[: len(ids) + 1].sum())),
        float(np.exp(free)),
    )


def teacher_forcing_scores(
    steps: Steps, labels: Int64[np.ndarray, "batch position"], end: int
) -> Float[np.ndarray, "batch position_and_end symbol"]:
    """Scores at every step of writing given texts, padded with ``PADDING`` (teacher forcing)."""
    inputs = teacher_forcing_inputs(labels, end)
    return np.stack([steps.step(inputs[:, i], i) for i in range(inputs.shape[1])], 1)


def teacher_forcing_inputs(
    labels: Int64[np.ndarray, "batch position"], end: int
) -> Int64[np.ndarray, "batch position_and_start"]:
    """The start, then the labels; the end in the place of the padding."""
    inputs = np.insert(labels, 0, end, axis=1)
    inputs[inputs == PADDING] = end
    return inputs


def padded(texts: Sequence[Sequence[int]]) -> Int64[np.ndarray, "batch position"]:
    """Texts as ids in one array."""
    labels = np.full((len(texts), max(map(len, texts), default=0)), PADDING)
    for row, text in zip(labels, texts, strict=True):
        row[: len(text)] = text
    return labels


def _largest(
    values: Float[np.ndarray, "image value"], count: int
) -> Int64[np.ndarray, "image rank"]:
    """Indices of the ``count`` largest values of each row, the largest first."""
    if count == 1:
        return values.argmax(1)[:, None]
    best = np.argpartition(-values, count - 1, axis=1)[:, :count]
    order = np.argsort(-np.take_along_axis(values, best, 1), axis=1, kind="stable")
    return np.take_along_axis(best, order, 1)


@dataclass(frozen=True, slots=True)
class DecodingOptions:
    """How the scores of a decoder become texts."""

    loop: str  # of `LOOPS`, see `Interface`
    end: int  # id of the end, or of the blank
    longest: int  # most characters
    temperature: float = 1.0  # divides the scores
    decoding: str = "autoregressive"  # `autoregressive` or `parallel`, with `refine`
    refinements: int = 0  # how often the text is read again, with `refine`
    drafts: bool = False  # see `Interface`


def decode_texts(
    scorer: Scorer,
    encoded: Any,
    count: int,
    options: DecodingOptions,
    width: int = 1,
    constraint: Constraint | None = None,
    margin: float = math.inf,
) -> list[list[Hypothesis]]:
    """Hypotheses for each of ``count`` encoded images, for every type of decoder; see `search`."""
    if not count:
        return []
    end, longest = options.end, options.longest
    write = partial(
        search,
        count=count,
        end=end,
        longest=longest,
        temperature=options.temperature,
        width=width,
        constraint=constraint,
        margin=margin,
    )
    if options.loop == "ctc":
        scores = scorer.scores(encoded) / np.float32(options.temperature)
        if width > 1 or constraint:
            return write(CtcSteps(scores), temperature=1.0, margin=math.inf)
        return best_alignments(scores, longest)
    if options.drafts and width == 1 and constraint is None:
        return greedy_from_drafts(scorer, encoded, count, end, longest, options.temperature)
    if options.loop == "step":
        return write(scorer.begin(encoded))
    if options.loop == "scores":
        return write(ScoreSteps(scorer.scores(encoded)))
    if options.decoding == "autoregressive":
        written = write(scorer.begin(encoded))
        refinements = options.refinements
    else:
        written = [[] for _ in range(count)]
        refinements = 1 + options.refinements
    for _ in range(refinements):
        first = [hypotheses[0].ids if hypotheses else () for hypotheses in written]
        written = write(ScoreSteps(scorer.refine(encoded, padded(first))))
    return written


def decoding_options(engine: Engine, effort: str | None) -> DecodingOptions:
    """How the texts of a model are decoded with this effort, see ``vit_str.load``."""
    model = engine.model
    interface = engine.model.interface
    decoding, refinements = interface.decoding, interface.refinements
    if effort is not None:
        if interface.loop != "refine" and not model.preprocessing.reread_below:
            raise ValueError(
                f"{interface.decoder} reads in one way only: leave effort out, or take a model "
                "that reads doubtful images again, or one with a PermutedDecoder"
            )
        if effort not in _EFFORTS:
            raise ValueError(f"effort must be {' or '.join(_EFFORTS)}, found {effort!r}")
        decoding, refinements = _EFFORTS[effort]
    return DecodingOptions(
        loop=interface.loop,
        end=len(model.charset),
        longest=interface.maximum_length,
        temperature=model.temperature,
        decoding=decoding,
        refinements=refinements,
        drafts=interface.drafts,
    )


def best_alignments(
    scores: Float[np.ndarray, "row column symbol"], longest: int
) -> list[list[Hypothesis]]:
    """The text of the most probable alignment of each row, with its exact probabilities."""
    labels = collapse(scores, longest)
    known = prefix_probabilities(symbol_shares(scores), labels)
    begins, exactly = (np.log(probabilities + TINY) for probabilities in known)
    logs = np.diff(begins, axis=1)
    ends = exactly - begins
    lengths = (labels != PADDING).sum(1)
    return [
        [hypothesis(ids[:n], np.append(log[:n], end[n]), log[:n].sum() + end[n])]
        for ids, log, end, n in zip(labels, logs, ends, lengths, strict=True)
    ]
