"""Test-time augmentation: doubtful images, changed, and one result of all their readings."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vit_str.decoding.hypotheses import Candidates, Hypothesis
from vit_str.decoding.prior import LOG_WEIGHT_OF_OTHERS

if TYPE_CHECKING:
    from jaxtyping import Float, UInt8

    TextPrior = Callable[[Sequence[Hypothesis]], Float[np.ndarray, " hypothesis"]]


class Augmentation(NamedTuple):
    """An image closer up or farther away, with another slope, or blurred."""

    # Share of every side that is cut; negative for as much more around the image
    cut: float = 0.0
    # Heights that the line falls over the width, or climbs if it is negative
    slope: float = 0.0
    blurred: bool = False  # whether every pixel becomes the mean of the nine around it


_PROBABILITY = attrgetter("probability")


def augmented_images(
    pixels: UInt8[np.ndarray, "batch channel height width"],
    augmentations: Sequence[Augmentation],
) -> UInt8[np.ndarray, "augmented_batch channel height width"]:
    """All images under the first augmentation, then all under the second, and so on."""
    return np.concatenate([_augmented(pixels, each) for each in augmentations])


def merge_readings(
    readings: Sequence[Candidates], count: int, prior: TextPrior | None = None
) -> Candidates:
    """One result of the readings of an image; the first is of the image as it is.

    That an augmented image shows no text says little, so of those only texts count. The probability
    of a text is the geometric mean of its probability in the reading that is surest of it and of
    its mean over all, 0 where another text is read: the best alone is too sure, the mean too
    unsure. The confidence is scaled alike.
    """
    hypotheses = _ranked([reading.hypotheses for reading in readings])
    if prior and hypotheses:
        hypotheses = _weighed(hypotheses, prior(hypotheses))
    free = _ranked([[reading.free] if reading.free else [] for reading in readings])
    return Candidates(hypotheses[:count], free[0] if free else None)


def _ranked(readings: Sequence[Sequence[Hypothesis]]) -> list[Hypothesis]:
    """Every text once, the most probable first."""
    texts: dict[tuple[int, ...], list[Hypothesis]] = {}
    for number, hypotheses in enumerate(readings):
        for hypothesis in hypotheses:
            if hypothesis.ids or number == 0:
                texts.setdefault(hypothesis.ids, []).append(hypothesis)
    agreed = (_agreed(same, len(readings)) for same in texts.values())
    return sorted(agreed, key=_PROBABILITY, reverse=True)


def _weighed(
    hypotheses: Sequence[Hypothesis], prior: Float[np.ndarray, " hypothesis"]
) -> list[Hypothesis]:
    """Bayes' rule: probabilities times the prior, over the sum of all, the best first.

    What no hypothesis says has the rest of the probability.
    """
    probabilities = np.array([hypothesis.probability for hypothesis in hypotheses])
    weighed = probabilities * np.exp(prior)
    rest = max(0.0, 1 - sum(probabilities.tolist()))
    shares = weighed / (weighed.sum() + rest * math.exp(LOG_WEIGHT_OF_OTHERS))
    order = np.argsort(-shares, kind="stable")
    found = []
    for place in order.tolist():
        hypothesis = replace(
            hypotheses[place],
            confidence=float(shares[place]),
            probability=float(shares[place]),
            prior=float(prior[place]),
        )
        found.append(hypothesis)
    return found


def _agreed(same: Sequence[Hypothesis], readings: int) -> Hypothesis:
    best = max(same, key=_PROBABILITY)
    mean = sum(hypothesis.probability for hypothesis in same) / readings
    share = math.sqrt(mean / best.probability) if best.probability else 1.0
    return replace(
        best,
        confidence=best.confidence * share,
        probability=best.probability * share,
    )


def _augmented(
    pixels: UInt8[np.ndarray, "batch channel height width"], augmentation: Augmentation
) -> UInt8[np.ndarray, "batch channel height width"]:
    """Images on their size, bilinear, edges repeated."""
    if augmentation.blurred:
        return _blurred(pixels)
    height, width = pixels.shape[-2:]
    across = (np.arange(width) + 0.5) / width - 0.5
    down = ((np.arange(height) + 0.5) / height - 0.5)[:, None]
    scale = 1 - 2 * augmentation.cut
    x = np.clip((across * scale + 0.5) * width - 0.5, 0, width - 1)
    y = np.clip(
        (down * scale + augmentation.slope * across + 0.5) * height - 0.5, 0, height - 1
    )
    left = np.floor(x).astype(int)
    top = np.floor(y).astype(int)
    right = np.minimum(left + 1, width - 1)
    below = np.minimum(top + 1, height - 1)
    to_right = x - left
    down_by = y - top

    def row(rows: np.ndarray) -> Float[np.ndarray, "batch channel height width"]:
        at_left = pixels[..., rows, left] * (1 - to_right)
        at_right = pixels[..., rows, right] * to_right
        return at_left + at_right

    seen = row(top) * (1 - down_by) + row(below) * down_by
    return np.rint(seen).astype(np.uint8)


def _blurred(
    pixels: UInt8[np.ndarray, "batch channel height width"],
) -> UInt8[np.ndarray, "batch channel height width"]:
    edges = ((0, 0), (0, 0), (1, 1), (1, 1))
    around = np.lib.stride_tricks.sliding_window_view(
        np.pad(pixels, edges, mode="edge"), (3, 3), axis=(2, 3)
    )
    return np.rint(around.mean((-2, -1))).astype(np.uint8)
