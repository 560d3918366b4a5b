"""What reading an image gives: text, confidence, characters, and where they are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple


class Box(NamedTuple):
    """Where a character is, in pixels from the left and the top of the image, turned upright."""

    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True)
class Character:
    """One character that was read.

    Attributes:
        character: the character.
        confidence: probability that the model gives it after those before it, 0 to 1.
        box: about where it is, from where the model looked; None if that was not asked for.
        attention: where the decoder looked while it wrote this, as shares of 1 in rows and columns
            that cover the image, turned upright; None if that was not asked for.
    """

    character: str
    confidence: float
    box: Box | None = None
    attention: tuple[tuple[float, ...], ...] | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """What an image says.

    Attributes:
        text: the characters together; empty if the model sees no text.
        confidence: probability of the whole text: of every character and of the end after them,
            among what is allowed. 0 if nothing that is allowed could be written.
        characters: one by one.
        path: the file of the image; None if it came from memory.
        free: what is read if every text is allowed; None if every text is.
        alternatives: the next most probable readings, if they were asked for.
        prior: what the frequency of its words added to the logarithm of the probability of the
            text; 0 where the image left no doubt, or without a language.
    """

    text: str
    confidence: float
    characters: tuple[Character, ...]
    path: str | None = None
    free: Reading | None = None
    alternatives: tuple[Reading, ...] = ()
    prior: float = 0.0

    def with_minimum_confidence(self, least: float | None) -> Reading:
        """This reading, with empty text if its confidence is below ``least``."""
        doubtful = least is not None and self.confidence < least
        return replace(self, text="", characters=()) if doubtful else self
