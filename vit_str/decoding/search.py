"""Which readings a user asks for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from vit_str.decoding.effort import CONSTRAINED_BEAMS
from vit_str.decoding.prior import NO_LANGUAGE

MOST_BEAMS = 1000
"""Texts to keep while writing: of more than that, memory would hold every text that there is."""


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
        ValueError: a number below 1, fewer beams than readings, more of them than `MOST_BEAMS`, a
            text as lexicon, or a language beside a lexicon, pattern or alphabet.
    """

    n_best: int = 1
    beams: int | None = None
    lexicon: Iterable[str] | None = None
    pattern: str | None = None
    alphabet: str | None = None
    language: str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.lexicon, str):  # its letters would be the words
            raise ValueError("a lexicon is a list of words, found a text")
        if isinstance(self.lexicon, Iterator):  # several readers look at it
            object.__setattr__(self, "lexicon", tuple(self.lexicon))
        if self.n_best < 1 or self.beam_width < self.n_best:
            raise ValueError(
                f"n_best must be 1 or more and beams no fewer, found {self.n_best} and "
                f"{self.beams}"
            )
        if self.beam_width > MOST_BEAMS:
            raise ValueError(
                f"n_best and beams can be {MOST_BEAMS:,} at most, found "
                f"{self.beam_width:,}"
            )
        if self.is_constrained and self.language not in (None, NO_LANGUAGE):
            raise ValueError(
                "a language decides between free texts: give it without a lexicon, "
                "pattern or alphabet"
            )

    @property
    def is_constrained(self) -> bool:
        """Whether not every text may be read."""
        constraints = (self.lexicon, self.pattern, self.alphabet)
        return any(constraint is not None for constraint in constraints)

    @property
    def beam_width(self) -> int:
        """Texts to keep while writing."""
        if self.beams is not None:
            return self.beams
        if self.lexicon is None and self.pattern is None:
            return self.n_best
        return max(self.n_best, CONSTRAINED_BEAMS)
