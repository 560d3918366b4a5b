"""Doubtful images: other views of them, and one result from what was read in all."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np

from vit_str.runtime.prior import LOG_WEIGHT_OF_OTHERS
from vit_str.runtime.search import Hypothesis
from vit_str.runtime.text_decoding import BeamResult

if TYPE_CHECKING:
    from jaxtyping import Float, UInt8

    TextPrior = Callable[[Sequence[Hypothesis]], Float[np.ndarray, " hypothesis"]]

DOUBTFUL = 0.8
"""Confidence below which reading from other views mends more than it spoils."""

# Chosen on real words; six views mend nearly a third more than these two.
_CUT = 0.05  # of every side
_SLOPES = (0.2, -0.2)  # heights that the line climbs or falls over the width
_PROBABILITY = attrgetter("probability")


def other_views(
    pixels: UInt8[np.ndarray, "batch channel height width"],
) -> UInt8[np.ndarray, "view_batch channel height width"]:
    """All images closer up with a falling line, then all with a rising one."""
    return np.concatenate([_view(pixels, slope) for slope in _SLOPES])


def merge_views(
    views: Sequence[BeamResult], count: int, prior: TextPrior | None = None
) -> BeamResult:
    """What all views of an image together say; the first is the image as it is.

    That another view shows no text says little, so of those only texts count. The probability of a
    text is the geometric mean of its probability in the view that reads it most surely and of its
    mean over views, 0 where another text is read: the best alone is too sure, the mean too unsure.
    The confidence is scaled alike.

    Args:
        views: what was read in each.
        count: hypotheses to give.
        prior: logarithms of what speaks for each hypothesis before the image is seen, if any.
    """
    hypotheses = _ranked([found.hypotheses for found in views])
    if prior and hypotheses:
        hypotheses = _weighed(hypotheses, prior(hypotheses))
    free = _ranked([[found.free] if found.free else [] for found in views])
    return BeamResult(hypotheses[:count], free[0] if free else None)


def _ranked(views: Sequence[Sequence[Hypothesis]]) -> list[Hypothesis]:
    """Every text once, the most probable first."""
    texts: dict[tuple[int, ...], list[Hypothesis]] = {}
    for number, hypotheses in enumerate(views):
        for each in hypotheses:
            if each.ids or number == 0:
                texts.setdefault(each.ids, []).append(each)
    agreed = (_agreed(same, len(views)) for same in texts.values())
    return sorted(agreed, key=_PROBABILITY, reverse=True)


def _weighed(
    hypotheses: Sequence[Hypothesis], prior: Float[np.ndarray, " hypothesis"]
) -> list[Hypothesis]:
    """Bayes' rule: probabilities times the prior, over the sum of all, the best first.

    What no hypothesis says has the rest of the probability.
    """
    weighed = np.array([each.probability for each in hypotheses]) * np.exp(prior)
    rest = max(0.0, 1 - sum(each.probability for each in hypotheses))
    shares = weighed / (weighed.sum() + rest * math.exp(LOG_WEIGHT_OF_OTHERS))
    order = np.argsort(-shares, kind="stable")
    return [
        replace(
            hypotheses[place],
            confidence=float(shares[place]),
            probability=float(shares[place]),
            prior=float(prior[place]),
        )
        for place in order.tolist()
    ]


def _agreed(same: Sequence[Hypothesis], views: int) -> Hypothesis:
    best = max(same, key=_PROBABILITY)
    mean = sum(each.probability for each in same) / views
    share = math.sqrt(mean / best.probability) if best.probability else 1.0
    return replace(best, confidence=best.confidence * share, probability=best.probability * share)


def _view(
    pixels: UInt8[np.ndarray, "batch channel height width"], slope: float
) -> UInt8[np.ndarray, "batch channel height width"]:
    """The middle of images, sloped, on their size: bilinear, edges repeated."""
    height, width = pixels.shape[-2:]
    across = (np.arange(width) + 0.5) / width - 0.5
    down = ((np.arange(height) + 0.5) / height - 0.5)[:, None]
    x = (across * (1 - 2 * _CUT) + 0.5) * width - 0.5
    y = np.clip((down * (1 - 2 * _CUT) + slope * across + 0.5) * height - 0.5, 0, height - 1)
    left, top = np.floor(x).astype(int), np.floor(y).astype(int)
    right, below = np.minimum(left + 1, width - 1), np.minimum(top + 1, height - 1)

    def row(rows: np.ndarray) -> Float[np.ndarray, "batch channel height width"]:
        return pixels[..., rows, left] * (1 - (x - left)) + pixels[..., rows, right] * (x - left)

    return np.rint(row(top) * (1 - (y - top)) + row(below) * (y - top)).astype(np.uint8)
