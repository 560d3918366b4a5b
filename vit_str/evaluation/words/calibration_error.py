"""Whether a confidence means what it says: of the words read with 0.8, are 8 of 10 right?"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int64

from vit_str.evaluation.statistics import Interval, percentile_interval, resamples

BINS = 15  # of equal width, as in Guo et al. 2017

Values = Float[np.ndarray, " word"]


@dataclass(frozen=True, slots=True)
class Bin:
    """Words whose confidences are alike."""

    low: float  # least confidence, not included but for 0
    high: float  # highest confidence, included
    n: int  # words
    confidence: float  # their mean
    accuracy: float  # share of them that is right; nan, as the mean, without any word


@dataclass(frozen=True, slots=True)
class Calibration:
    """How far confidences are from the share that is right."""

    n: int  # words
    # Expected calibration error: the distance between mean confidence and share of right words of a
    # bin, mean over words (Guo et al. 2017, equation 5); nan without any word
    error: float
    # Its 95 % interval, from drawing words with replacement. Chance alone makes the error larger
    # than it is with few words, and drawing adds as much again: that is taken off the interval
    interval: Interval
    confidence: float  # mean; above the accuracy, readings promise too much
    bins: tuple[Bin, ...]  # of equal width, the reliability table


def calibrate(
    confidences: Values | Sequence[float],
    right: Bool[np.ndarray, " word"] | Sequence[bool],
) -> Calibration:
    """Compare confidences with what is right."""
    sure = np.asarray(confidences, dtype=float)
    truth = np.asarray(right, dtype=float)
    edges = np.linspace(0, 1, BINS + 1)
    # Bins are open below and closed above, so that a confidence of exactly 1 has a bin.
    places = np.searchsorted(edges, sure, side="left")
    bin_of = np.clip(places - 1, 0, BINS - 1)
    bins = []
    for index in range(BINS):
        mask = bin_of == index
        of_index = Bin(
            low=float(edges[index]),
            high=float(edges[index + 1]),
            n=int(mask.sum()),
            confidence=_mean(sure[mask]),
            accuracy=_mean(truth[mask]),
        )
        bins.append(of_index)
    return Calibration(
        n=len(sure),
        error=_error(sure - truth, bin_of),
        interval=_interval(sure - truth, bin_of),
        confidence=_mean(sure),
        bins=tuple(bins),
    )


def _error(gaps: Values, bin_of: Int64[np.ndarray, " word"]) -> float:
    """Sum over bins of the size of the sum of gaps, over all words.

    That is the distance of the means of a bin, times its share of the words.
    """
    if not len(gaps):
        return math.nan
    return float(np.abs(np.bincount(bin_of, gaps, BINS)).sum() / len(gaps))


def _interval(gaps: Values, bin_of: Int64[np.ndarray, " word"]) -> Interval:
    n = len(gaps)
    if not n:
        return math.nan, math.nan
    errors = np.array([_error(gaps[drawn], bin_of[drawn]) for drawn in resamples(n)])
    excess = errors.mean() - _error(gaps, bin_of)
    low, high = percentile_interval(errors)
    return max(0.0, float(low - excess)), float(high - excess)


def _mean(values: Values) -> float:
    return float(values.mean()) if len(values) else math.nan
