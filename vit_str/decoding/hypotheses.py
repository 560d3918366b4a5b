"""Texts that an image may say, as ids with probabilities, before they become a `Reading`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from jaxtyping import Float, Int64


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A text as ids, and how sure the model is of it.

    Attributes:
        ids: of the characters.
        confidences: of each character, given those before it, among what is allowed.
        confidence: of every character and of the end after them, among what is allowed.
        probability: what ``confidence`` would be if every text were allowed.
        prior: what was added to the logarithm of the probability before texts were compared.
    """

    ids: tuple[int, ...]
    confidences: tuple[float, ...]
    confidence: float
    probability: float
    prior: float = 0.0

    @classmethod
    def from_logs(
        cls,
        ids: Int64[np.ndarray, " character"],
        logs: Float[np.ndarray, " step"],
        log_probability: float,
    ) -> Hypothesis:
        """A hypothesis from the logarithms of its confidences, the last that of the end."""
        confidences = np.exp(logs[: len(ids)])
        return cls(
            ids=tuple(ids.tolist()),
            confidences=tuple(confidences.tolist()),
            confidence=float(np.exp(logs[: len(ids) + 1].sum())),
            probability=float(np.exp(log_probability)),
        )


_NOTHING = Hypothesis(ids=(), confidences=(), confidence=0.0, probability=0.0)


@dataclass(frozen=True, slots=True)
class Candidates:
    """The candidate texts of one image.

    Attributes:
        hypotheses: texts that are allowed, the most probable first.
        free: the most probable text if every text were allowed; None if every text is.
    """

    hypotheses: Sequence[Hypothesis]
    free: Hypothesis | None = None

    @property
    def best(self) -> Hypothesis:
        """The most probable; no text with a probability of 0 if nothing that is allowed fits."""
        return self.hypotheses[0] if self.hypotheses else _NOTHING
