"""Readings of a place -> the probability that the page has a text there.

The pixels decide: both readers give the exact probability of the text and of what was read there,
without any prior over words, so that a misspelling is confirmed where it is printed. How these four
numbers become one probability, and from where on a word is confirmed or contradicted, was fitted by
``benchmarks/checking.py --fit`` on pages that its measures do not use.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log
from operator import mul

from vit_str.reading.checking.absence import Absence
from vit_str.reading.checking.checked import Verdict
from vit_str.reading.checking.spelling import is_same

LEAST = -30.0
"""Logarithm that stands for all smaller probabilities."""
SURE = 0.98
"""Confidence per character from which on what is read as in the text is not looked at again."""

CONFIRMED = 0.98
"""Probability from which on a word is confirmed; on the pages of the fit 3 in 10,000 words that
were right had less."""
CONTRADICTED = 0.9
"""Probability below which it is contradicted; 2 in 10,000 had less."""
# Intercept and weights of `Absence`, fitted on 44 pages: of 3,976 words without a place the page
# had 20
_ABSENT = (-7.538, 2.569, 0.554, 1.488, 0.965, 2.450)
# Intercept and weights of `Evidence.features`, fitted on 38 pages: of 15,946 words that were
# read as in the text 9 were wrong, of 552 that were not 7 were right
_SAME = (7.479, 0.0, 0.0, 0.0)
_OTHER = (10.942, 0.217, 0.562, 0.218, 0.541)


@dataclass(frozen=True, slots=True)
class Evidence:
    """Readings of the place of a text.

    Attributes:
        text: that is asked for.
        found: that was read.
        confidence: geometric mean of the characters of ``found``.
        line: logarithms of the probabilities of both texts by the reader of lines; None if it was
            not asked, or cannot write them.
        words: the same by the reader of words.
    """

    text: str
    found: str
    confidence: float
    line: tuple[float, float] | None = None
    words: tuple[float, float] | None = None

    @property
    def is_same(self) -> bool:
        """Whether the text is what was read, but for typography."""
        return is_same(self.text, self.found)

    @property
    def features(self) -> list[float]:
        """Numbers that decide: of what was read, or of what was not."""
        line = self.line or self.words or (LEAST, 0.0)
        words = self.words or line
        own = [max(LEAST, line[0]), max(LEAST, words[0])]
        if self.is_same:
            doubt = log(max(1e-6, 1 - self.confidence))
            asked = self.line or self.words
            return [-doubt / 10, *(own if asked else (0.0, 0.0))]
        ahead = [clipped(line[0] - line[1]), clipped(words[0] - words[1])]
        return [*ahead, *own]

    @property
    def probability(self) -> float:
        """That the page says the text."""
        intercept, *weights = _SAME if self.is_same else _OTHER
        value = sum(w * f for w, f in zip(weights, self.features, strict=True))
        return logistic(intercept + value)

    @property
    def likelihood(self) -> float | None:
        """Of the text, by the surer reader."""
        return self._surer(0)

    @property
    def found_likelihood(self) -> float | None:
        """Of what was read, by the surer reader."""
        return self._surer(1)

    @property
    def read_by(self) -> tuple[str, ...]:
        """The readers that find the text as probable as what was read."""
        sides = {"line": self.line, "words": self.words}
        return tuple(
            name for name, pair in sides.items() if pair and pair[0] >= pair[1]
        )

    def _surer(self, place: int) -> float | None:
        known = [pair[place] for pair in (self.line, self.words) if pair]
        return exp(max(known)) if known else None


def verdict_of(probability: float) -> Verdict:
    """The verdict on a word that has a place."""
    if probability >= CONFIRMED:
        return "confirmed"
    return "contradicted" if probability < CONTRADICTED else "doubtful"


def absent_probability(absence: Absence) -> float:
    """That a word stands on a page where it was not found."""
    intercept, *weights = _ABSENT
    return logistic(intercept + sum(map(mul, weights, absence)))


def together(evidence: Sequence[Evidence]) -> float:
    """The probability of a word that is cut into parts."""
    return min(each.probability for each in evidence)


def clipped(value: float) -> float:
    """A difference of logarithms within limits."""
    return min(-LEAST, max(LEAST, value))


def logistic(value: float) -> float:
    """The logistic function."""
    return 1 / (1 + exp(-max(-60.0, min(60.0, value))))
