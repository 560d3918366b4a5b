"""Fit the temperature that makes the confidence of a word the share of such words that is right.

A model is surer or less sure than it should be of words unlike those it learned from. One number
that all scores are divided by (Guo et al. 2017, section 4.2) corrects most of that. Here it is
fitted to what users see, the confidence of the whole word after every look and the frequency of
words, rather than to single symbols: the words are read at several temperatures, and the likelihood
of their being right or wrong decides. Unlike the calibration error, which bins words, likelihood is
smooth and rewards confidences that tell right from wrong.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int64
from numpy.polynomial.polynomial import polyfit, polyval

from vit_str.evaluation.metrics import FULL
from vit_str.evaluation.statistics import Interval, percentile_interval, resamples
from vit_str.evaluation.words.calibration_error import calibrate
from vit_str.evaluation.words.results import ReadWords, together

FACTORS = np.geomspace(0.4, 2.5, 9)
"""Factors to try on the temperature of the model; between two of them the loss is smooth."""

LEAST_WORDS = 50  # to fit a temperature to
_SUREST = 1 - 1e-12  # a wrong word that is surer costs 28 nats, not infinitely many
_DEGREE = 4  # of the polynomial that smooths the loss over the logarithm of the factor
# 1 % apart, finer than words can tell
_FINE = np.geomspace(FACTORS[0], FACTORS[-1], 184)


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
        return cls(*words.judged_confidences(FULL))

    def __len__(self) -> int:
        return len(self.right)

    def select(self, places: Int64[np.ndarray, " place"]) -> "JudgedWords":
        """Some of the words."""
        return JudgedWords(self.confidences[places], self.right[places])

    def scores(self) -> dict[str, Any]:
        """How good the confidences are, as plain values.

        Share of words that is right (``accuracy``), mean ``confidence``, calibration ``error`` and
        its ``interval`` as of `calibrate`, and ``loss``: the mean of `losses`.
        """
        calibration = calibrate(self.confidences, self.right)
        return {
            "accuracy": float(self.right.mean()),
            "confidence": calibration.confidence,
            "error": calibration.error,
            "interval": list(calibration.interval),
            "loss": float(self.losses.mean()),
        }

    @property
    def losses(self) -> Float[np.ndarray, " word"]:
        """Negative log-likelihood of each word being right or wrong, in nats."""
        sure = np.clip(self.confidences, 1 - _SUREST, _SUREST)
        return -np.log(np.where(self.right, sure, 1 - sure))


def fit_to_half(
    read: Callable[[float], Mapping[str, ReadWords]], before: float
) -> tuple[dict[str, Any], bool]:
    """Fit to one half of the words of every set, and say what it brings to the other half.

    Args:
        read: gives the words of every set, as users see them at a temperature.
        before: the temperature of the model.

    Returns:
        Plain values for JSON, and whether no temperature that was tried is extreme enough.
    """
    first = read(before)
    halves = _second_halves(first)
    judged_on = np.concatenate(list(halves.values()))
    tried = [_all_judged(read(before * factor)) for factor in FACTORS]
    fitted_to = np.setdiff1d(np.arange(len(tried[0])), judged_on)
    result = fit([words.select(fitted_to) for words in tried])
    temperature = round(before * result.factor, 4)
    old = _all_judged(first)
    new = _all_judged(read(temperature))
    if len(halves) > 1:
        halves["all"] = judged_on
    sets = {}
    for name, places in halves.items():
        sets[name] = {
            "n": len(places),
            "before": old.select(places).scores(),
            "after": new.select(places).scores(),
        }
    values = {
        "temperature": temperature,
        "interval": [round(before * end, 4) for end in result.interval],
        "words": result.n,
        "before": before,
        "sets": sets,
    }
    return values, result.is_at_edge


def _all_judged(sets: Mapping[str, ReadWords]) -> JudgedWords:
    return JudgedWords.of(together(sets.values()))


def _second_halves(
    sets: Mapping[str, ReadWords],
) -> dict[str, Int64[np.ndarray, " place"]]:
    """Name of half of a set -> the places of its words among those of all sets."""
    generator = np.random.default_rng(0)
    halves = {}
    start = 0
    for name, words in sets.items():
        count = len(JudgedWords.of(words))
        if not count:
            raise ValueError(
                f"{name}: no word to judge; give labeled images that can be read"
            )
        places = generator.permutation(count)[count // 2 :]
        halves[f"{name}, other half"] = start + places
        start += count
    return halves


def fit(tried: Sequence[JudgedWords]) -> Fit:
    """The factor under which right and wrong words, read at each of ``FACTORS``, are likeliest.

    Raises:
        ValueError: for too few words, or words that are all right or all wrong.
    """
    n = len(tried[0])
    counts = [int(words.right.sum()) for words in tried]
    if n < LEAST_WORDS or max(counts) == n or min(counts) == 0:
        raise ValueError(
            f"a temperature needs {LEAST_WORDS} words or more, some read right and "
            f"some wrong, found {n} to fit to (half of them all) with {max(counts)} "
            "right; give more words, or harder ones"
        )
    losses = np.stack([words.losses for words in tried], axis=1)
    counts_of_words = (np.bincount(places, minlength=n) for places in resamples(n))
    drawn = np.stack([counts @ losses for counts in counts_of_words])
    return Fit(
        factor=float(_best_factors(losses.sum(0)[None])[0]),
        interval=percentile_interval(_best_factors(drawn)),
        n=n,
    )


def _best_factors(losses: Float[np.ndarray, "fit factor"]) -> Float[np.ndarray, " fit"]:
    """Where a smooth curve through the losses of each fit is lowest."""
    curves = polyfit(np.log(FACTORS), losses.T, _DEGREE)
    smooth = polyval(np.log(_FINE), curves)
    return _FINE[smooth.argmin(1)]
