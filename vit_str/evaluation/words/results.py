"""The words of a set and what was read in them."""

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from itertools import chain

import numpy as np
from jaxtyping import Bool, Float

from vit_str.evaluation.metrics import (
    Protocol,
    Scores,
    normalize_label,
    right_words,
    score,
)
from vit_str.evaluation.words.calibration_error import Calibration, calibrate
from vit_str.images.loading import ImageSize


@dataclass(frozen=True, slots=True)
class ReadWords:
    """The words of a set and what was read, one of each per image."""

    labels: list[str]  # what the images say
    texts: list[str]  # what was read; empty where an image is damaged
    # Probability of each text according to the model; None for a damaged image
    confidences: list[float | None]
    # One line for every word that has no image or no label
    missing: list[str] = field(default_factory=list)
    # One line for every image that cannot be read
    damaged: list[str] = field(default_factory=list)
    # Of the images; None where it is not known
    sizes: list[ImageSize | None] = field(default_factory=list)
    # Numbers of the words in their set, the place of each in its data set
    places: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Sizes and places may be left out."""
        self.sizes.extend([None] * (len(self.labels) - len(self.sizes)))
        self.places.extend(range(len(self.places), len(self.labels)))

    @property
    def problems(self) -> list[str]:
        """One line about every word that could not be read."""
        return [*self.missing, *self.damaged]

    def judged(self, protocol: Protocol = 36) -> Bool[np.ndarray, " word"]:
        """Which of the words the protocol can judge."""
        normalized = [normalize_label(label, protocol) for label in self.labels]
        return np.array([bool(label) for label in normalized], bool)

    def right(self, protocol: Protocol = 36) -> Bool[np.ndarray, " word"]:
        """Which of the words that the protocol can judge are read exactly."""
        return right_words(self.texts, self.labels, protocol)

    def scores(self) -> Scores:
        """All metrics."""
        return score(self.texts, self.labels, len(self.damaged), len(self.missing))

    def calibration(self, protocol: Protocol = 36) -> Calibration:
        """Confidences against what is right under a protocol, of the words that it can judge."""
        return calibrate(*self.judged_confidences(protocol))

    def judged_confidences(
        self, protocol: Protocol = 36
    ) -> tuple[Float[np.ndarray, " judged"], Bool[np.ndarray, " judged"]]:
        """Confidences, and what is right, of the words that were read and can be judged."""
        confidences = np.array(self.confidences, dtype=float)[self.judged(protocol)]
        is_read = ~np.isnan(confidences)  # None has become nan
        return confidences[is_read], self.right(protocol)[is_read]


def together(sets: Iterable[ReadWords]) -> ReadWords:
    """The words of all sets as one set."""
    names = [field.name for field in fields(ReadWords)]
    parts = [[getattr(words, name) for name in names] for words in sets]
    columns = zip(*parts, strict=True)
    return ReadWords(*(list(chain.from_iterable(column)) for column in columns))
