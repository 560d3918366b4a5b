"""Encoded images -> hypotheses, for every type of decoder."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vit_str.runtime.constraints import Constraint, constraint_of
from vit_str.runtime.ctc import CtcSteps, best_alignments
from vit_str.runtime.engine import Engine, Scorer
from vit_str.runtime.prior import BEAMS, MARGIN, NO_LANGUAGE, prior_of
from vit_str.runtime.search import (
    Hypothesis,
    ScoreSteps,
    greedy_from_drafts,
    padded,
    search,
)

if TYPE_CHECKING:
    from jaxtyping import Float

    TextPrior = Callable[[Sequence[Hypothesis]], Float[np.ndarray, " hypothesis"]]

_EFFORTS = {"fast": ("parallel", 1), "careful": ("autoregressive", 1)}
_CONSTRAINED_BEAMS = 5


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


class BeamResult(NamedTuple):
    """Hypotheses of an image, the most probable first; and the free one where not all may be."""

    hypotheses: list[Hypothesis]
    free: Hypothesis | None


class TextDecoder:
    """Texts of what an engine has encoded."""

    def __init__(self, engine: Engine, effort: str | None, options: Search) -> None:
        self._engine, self._options = engine, options
        self._decoding = decoding_options(engine, effort)
        self._constraint: Constraint | None = None
        if options.is_constrained:
            self._constraint = constraint_of(
                engine.model.charset,
                self._decoding.longest,
                options.lexicon,
                options.pattern,
                options.alphabet,
            )
        elif options.language:
            _ = self.prior  # refuses what is no language

    def decode(self, encoded: Any, count: int) -> list[BeamResult]:
        """The readings of ``count`` images."""
        found = self._hypotheses(encoded, count, self._options.width, self._constraint)
        chosen = [hypotheses[: self._options.n_best] for hypotheses in found]
        if self._constraint is None:
            return [BeamResult(hypotheses, None) for hypotheses in chosen]
        free = self._hypotheses(encoded, count, 1, None)
        return [BeamResult(*pair) for pair in zip(chosen, (f[0] for f in free), strict=True)]

    def decode_for_prior(self, encoded: Any, count: int) -> list[BeamResult]:
        """All texts between which the prior may have to decide."""
        width = max(self._options.width, BEAMS)
        found = self._hypotheses(encoded, count, width, None, MARGIN)
        return [BeamResult(hypotheses, None) for hypotheses in found]

    @cached_property
    def prior(self) -> TextPrior | None:
        """What speaks for texts before the image is seen; only doubtful images ask for it."""
        if self._options.is_constrained:
            return None
        model = self._engine.model
        words = prior_of(self._options.language, model.provenance.get("language"))
        if words is None:
            return None
        decode = model.charset.decode
        return lambda hypotheses: words.log_weights([decode(each.ids) for each in hypotheses])

    def _hypotheses(
        self,
        encoded: Any,
        count: int,
        width: int,
        constraint: Constraint | None,
        margin: float = math.inf,
    ) -> list[list[Hypothesis]]:
        # The temperature may be another one by now: calibrating tries several.
        options = replace(self._decoding, temperature=self._engine.model.temperature)
        return decode_texts(self._engine, encoded, count, options, width, constraint, margin)


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
    if options.loop == "ctc":
        scores = scorer.scores(encoded) / np.float32(options.temperature)
        if width > 1 or constraint:
            return search(CtcSteps(scores), count, end, longest, 1.0, width, constraint)
        return best_alignments(scores, longest)
    beam = (count, end, longest, options.temperature, width, constraint, margin)
    if options.drafts and width == 1 and constraint is None:
        return greedy_from_drafts(scorer, encoded, count, end, longest, options.temperature)
    if options.loop == "step":
        return search(scorer.begin(encoded), *beam)
    if options.loop == "scores":
        return search(ScoreSteps(scorer.scores(encoded)), *beam)
    if options.decoding == "autoregressive":
        written = search(scorer.begin(encoded), *beam)
        refinements = options.refinements
    else:
        written = [[] for _ in range(count)]
        refinements = 1 + options.refinements
    for _ in range(refinements):
        first = [hypotheses[0].ids if hypotheses else () for hypotheses in written]
        written = search(ScoreSteps(scorer.refine(encoded, padded(first))), *beam)
    return written


def decoding_options(engine: Engine, effort: str | None) -> DecodingOptions:
    """How the texts of a model are decoded with this effort, see ``vit_str.load``."""
    model, interface = engine.model, engine.model.interface
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
