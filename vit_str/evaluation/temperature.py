"""Fit the temperature that makes the confidence of a word the share of such words that is right.

A model is surer or less sure than it should be of words unlike those it learned from. One number
that all scores are divided by (Guo et al. 2017, section 4.2) corrects most of that. Here it is
fitted to what users see, the confidence of the whole word after every look and the frequency of
words, rather than to single symbols: the words are read at several temperatures, and the likelihood
of their being right or wrong decides. Unlike the calibration error, which bins words, likelihood is
smooth and rewards confidences that tell right from wrong.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int64

from vit_str.evaluation.calibration import calibrate
from vit_str.evaluation.metrics import FULL
from vit_str.evaluation.statistics import Interval, percentile_interval, resamples
from vit_str.evaluation.words import ReadWords

FACTORS = np.geomspace(0.4, 2.5, 9)
"""What is tried, times the temperature of the model; between two of them the loss is smooth."""

LEAST_WORDS = 50
_SUREST = 1 - 1e-12  # a wrong word that is surer costs 28 nats, not infinitely many
_DEGREE = 4  # of the polynomial that smooths the loss over the logarithm of the factor
_FINE = np.geomspace(FACTORS[0], FACTORS[-1], 184)  # 1 % apart, finer than words can tell


@dataclass(frozen=True, slots=True)
class Fit:
    """A fitted factor of the temperature."""

    factor: float  # the most likely of those between the ends of `FACTORS`
    interval: Interval  # its 95 % interval, from drawing words with replacement
    n: int  # words it was fitted to

    @property
    def is_at_edge(self) -> bool:
        """Whether a smaller or larger one than was tried may be more likely."""
        return self.factor in (_FINE[0], _FINE[-1])


@dataclass(frozen=True, slots=True)
class JudgedWords:
    """How surely words were read, and which of them right."""

    confidences: Float[np.ndarray, " word"]
    right: Bool[np.ndarray, " word"]

    @classmethod
    def of(cls, words: ReadWords) -> "JudgedWords":
        """The words with a label whose image could be read."""
        chosen = np.flatnonzero(words.judged(FULL))
        readable = [words.confidences[place] is not None for place in chosen]
        confidences = [words.confidences[place] for place in chosen[readable]]
        return cls(np.array(confidences, float), words.right(FULL)[readable])

    def __len__(self) -> int:
        return len(self.right)

    def select(self, places: Int64[np.ndarray, " place"]) -> "JudgedWords":
        """Some of the words."""
        return JudgedWords(self.confidences[places], self.right[places])

    @classmethod
    def together(cls, parts: Sequence["JudgedWords"]) -> "JudgedWords":
        """All words as one set."""
        return cls(
            np.concatenate([part.confidences for part in parts]),
            np.concatenate([part.right for part in parts]),
        )

    def scores(self) -> dict[str, Any]:
        """How good the confidences are, as plain values.

        Share of words that is right (``accuracy``), mean ``confidence``, calibration ``error`` and
        its ``interval`` as of `calibrate`, and ``loss``: the mean of `losses`.
        """
        found = calibrate(self.confidences, self.right)
        return {
            "accuracy": float(self.right.mean()),
            "confidence": found.confidence,
            "error": found.error,
            "interval": list(found.interval),
            "loss": float(self.losses.mean()),
        }

    @property
    def losses(self) -> Float[np.ndarray, " word"]:
        """Negative log-likelihood of each word being right or wrong, in nats."""
        sure = np.clip(self.confidences, 1 - _SUREST, _SUREST)
        return -np.log(np.where(self.right, sure, 1 - sure))


def fit(tried: Sequence[JudgedWords]) -> Fit:
    """The factor under which right and wrong words, read at each of ``FACTORS``, are likeliest."""
    n = len(tried[0])
    counts = [int(words.right.sum()) for words in tried]
    if n < LEAST_WORDS or max(counts) == n or min(counts) == 0:
        raise ValueError(
            f"a temperature needs {LEAST_WORDS} words or more, some read right and some wrong, "
            f"found {n} to fit to (half of them all) with "
            f"{max(counts)} right; give more words, or harder ones"
        )
    losses = np.stack([words.losses for words in tried], axis=1)
    drawn = np.stack([np.bincount(places, minlength=n) @ losses for places in resamples(n)])
    return Fit(
        factor=float(_best_factors(losses.sum(0)[None])[0]),
        interval=percentile_interval(_best_factors(drawn)),
        n=n,
    )


def _best_factors(losses: Float[np.ndarray, "fit factor"]) -> Float[np.ndarray, " fit"]:
    """Where a smooth curve through the losses of each fit is lowest."""
    curves = np.polynomial.polynomial.polyfit(np.log(FACTORS), losses.T, _DEGREE)
    return _FINE[np.polynomial.polynomial.polyval(np.log(_FINE), curves).argmin(1)]
