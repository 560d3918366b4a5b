"""Encoded images -> texts, for every type of decoder."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from vit_str.characters.charset import PADDING
from vit_str.decoding.beam_search import ScoreSteps, beam_search
from vit_str.decoding.ctc import CtcSteps, best_alignments, text_probabilities
from vit_str.decoding.drafts import greedy_from_drafts, text_hypothesis
from vit_str.decoding.hypotheses import Candidates, Hypothesis
from vit_str.engines.labels import padded, teacher_forcing_scores

if TYPE_CHECKING:
    from jaxtyping import Float, Int64

    from vit_str.decoding.constraints import Constraint
    from vit_str.decoding.effort import DecodingOptions
    from vit_str.engines.interface import Scorer


def decode_texts(
    scorer: Scorer,
    encoded: Any,
    count: int,
    options: DecodingOptions,
    beam_width: int = 1,
    constraint: Constraint | None = None,
    margin: float = math.inf,
) -> list[list[Hypothesis]]:
    """Hypotheses for each of some encoded images, the most probable first.

    Args:
        scorer: of the model that has encoded the images.
        encoded: images.
        count: number of images.
        options: how scores become texts.
        beam_width: see `beam_search`.
        constraint: see `beam_search`.
        margin: see `beam_search`; without effect on CTC, whose probabilities are exact.
    """
    if not count:
        return []
    write = partial(
        beam_search,
        count=count,
        end=options.end,
        longest=options.longest,
        temperature=options.temperature,
        beam_width=beam_width,
        constraint=constraint,
        margin=margin,
    )
    is_greedy = beam_width == 1 and constraint is None
    if options.loop == "ctc":
        scores = scorer.scores(encoded) / np.float32(options.temperature)
        if is_greedy:
            return best_alignments(scores, options.longest, options.look_alikes)
        return write(CtcSteps(scores), temperature=1.0, margin=math.inf)
    if options.drafts and is_greedy:
        return greedy_from_drafts(
            scorer,
            encoded,
            count,
            end=options.end,
            longest=options.longest,
            temperature=options.temperature,
            look_alikes=options.look_alikes,
        )
    if options.loop == "step":
        return write(scorer.begin(encoded))
    if options.loop == "scores":
        return write(ScoreSteps(scorer.scores(encoded)))
    return _refined(scorer, encoded, count, options, write)


def given_texts(
    scorer: Scorer,
    encoded: Any,
    labels: Int64[np.ndarray, "batch position"],
    options: DecodingOptions,
) -> list[Hypothesis]:
    """How probable given texts are, one for each of some encoded images.

    The probabilities are exact: no text is searched for, and no prior adds to them.

    Args:
        scorer: of the model that has encoded the images.
        encoded: images.
        labels: the texts, padded, none longer than ``options.longest`` less the end.
        options: how scores become texts.
    """
    if options.loop == "ctc":
        columns = scorer.scores(encoded) / np.float32(options.temperature)
        return [found for (found,) in text_probabilities(columns, labels)]
    scores = _scores_of(scorer, encoded, labels, options) / options.temperature
    return [
        text_hypothesis(ids[ids != PADDING], row, options.end)
        for ids, row in zip(labels, scores, strict=True)
    ]


def _scores_of(
    scorer: Scorer,
    encoded: Any,
    labels: Int64[np.ndarray, "batch position"],
    options: DecodingOptions,
) -> Float[np.ndarray, "batch position_and_end symbol"]:
    if options.loop == "scores":
        return scorer.scores(encoded)
    if options.loop == "refine":
        return scorer.refine(encoded, labels)
    if options.drafts:
        return scorer.verify(encoded, labels)
    return teacher_forcing_scores(scorer.begin(encoded), labels, options.end)


def _refined(
    scorer: Scorer,
    encoded: Any,
    count: int,
    options: DecodingOptions,
    write: Callable[[Any], list[list[Hypothesis]]],
) -> list[list[Hypothesis]]:
    """Texts that are read again, each character from all others; written first, or from nothing."""
    refinements = options.refinements
    if options.decoding == "autoregressive":
        written = write(scorer.begin(encoded))
    else:
        written = [[] for _ in range(count)]
        refinements += 1  # the first reads all characters at once
    for _ in range(refinements):
        first = [hypotheses[0].ids if hypotheses else () for hypotheses in written]
        written = write(ScoreSteps(scorer.refine(encoded, padded(first))))
    return written


@dataclass(frozen=True, slots=True)
class TextDecoder:
    """Makes of encoded images the texts that a user asks for.

    Attributes:
        scorer: of the model that encodes the images.
        options: how its scores become texts.
        n_best: texts to give for each image.
        beam_width: texts to keep while writing.
        constraint: what may be written; everything if None.
    """

    scorer: Scorer
    options: DecodingOptions
    n_best: int = 1
    beam_width: int = 1
    constraint: Constraint | None = None

    def decode(self, encoded: Any, count: int) -> list[Candidates]:
        """The text of each of ``count`` encoded images."""
        chosen = self._texts(encoded, count, self.beam_width, self.constraint)
        best = [hypotheses[: self.n_best] for hypotheses in chosen]
        if self.constraint is None:
            return [Candidates(hypotheses) for hypotheses in best]
        free = [found[0] for found in self._texts(encoded, count, 1, None)]
        return list(map(Candidates, best, free))

    def decode_widely(
        self, encoded: Any, count: int, beam_width: int, margin: float
    ) -> list[Candidates]:
        """All texts that a beam of this width or wider finds, not far behind the best."""
        width = max(self.beam_width, beam_width)
        texts = self._texts(encoded, count, width, None, margin)
        return [Candidates(found) for found in texts]

    def given(
        self, encoded: Any, labels: Int64[np.ndarray, "batch position"]
    ) -> list[Hypothesis]:
        """How probable given texts are, see `given_texts`."""
        return given_texts(self.scorer, encoded, labels, self.options)

    def with_options(self, **changes: Any) -> TextDecoder:
        """The same with other options by name."""
        return replace(self, options=replace(self.options, **changes))

    def _texts(
        self,
        encoded: Any,
        count: int,
        beam_width: int,
        constraint: Constraint | None,
        margin: float = math.inf,
    ) -> list[list[Hypothesis]]:
        return decode_texts(
            self.scorer, encoded, count, self.options, beam_width, constraint, margin
        )
