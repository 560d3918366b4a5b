"""Errors against images seen: which points are comparable, and what a power law makes of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float

from vit_str.evaluation.statistics import Interval

Phase = Literal["before reading", "constant", "decay"]
Curve = Float[np.ndarray, "sample point"]

_EXPONENTS = np.linspace(0.02, 3.0, 299)
_SAMPLES = 1000


@dataclass(frozen=True, slots=True)
class Point:
    """A validation.

    Attributes:
        images: seen in training until then.
        error: share of words read wrong.
        n: words.
        phase: ``before reading`` until the model has taken off, ``constant`` while the learning
            rate is at its highest, ``decay`` while it falls.
    """

    images: int
    error: float
    n: int
    phase: Phase


@dataclass(frozen=True, slots=True, eq=False)
class PowerLaw:
    """``error = floor + scale * images ** -exponent`` and how else it could have come out.

    Attributes:
        floor: what is left after endless training.
        scale: error above the floor after one image.
        exponent: how fast the error falls.
        samples: floor, scale and exponent of fits to errors drawn anew.
    """

    floor: float
    scale: float
    exponent: float
    samples: Float[np.ndarray, "sample number"]

    def at(self, images: float) -> float:
        """The error after so many images."""
        return self.floor + self.scale * images**-self.exponent

    def interval(self, images: float) -> Interval:
        """Where 95 % of the fits to errors drawn anew are after so many images."""
        floor, scale, exponent = self.samples.T
        low, high = np.percentile(floor + scale * images**-exponent, [2.5, 97.5])
        return float(low), float(high)


def fit_power_law(points: Sequence[Point], with_floor: bool, seed: int = 0) -> PowerLaw:
    """Least squares, each point weighted by how many words it is on.

    The spread comes from drawing every error anew, right or wrong word by word, around the one
    that was seen. That knows of chance in the words and of nothing else: not of another seed, nor
    of laws that are no power laws.

    Args:
        points: to fit, all in one phase.
        with_floor: whether the floor is free; else it is 0.
        seed: of the draws.

    Raises:
        ValueError: fewer points than numbers to find.
    """
    needed = 3 if with_floor else 2
    if len(points) < needed:
        raise ValueError(
            f"{needed} numbers need as many points or more, found {len(points)}"
        )
    images = np.array([point.images for point in points], dtype=float)
    errors = np.array([point.error for point in points])
    words = np.array([point.n for point in points])
    drawn = (
        np.random.default_rng(seed).binomial(words, errors, (_SAMPLES, len(points)))
        / words
    )
    weights = words / np.clip(errors * (1 - errors), 1 / words, None)
    unit = float(np.exp(np.log(images).mean()))  # keeps the scale near the errors
    fits = _fit(images / unit, np.vstack([errors, drawn]), weights, with_floor)
    fits[:, 1] *= unit ** fits[:, 2]
    floor, scale, exponent = fits[0].tolist()
    return PowerLaw(floor, scale, exponent, fits[1:])


def _fit(
    images: Float[np.ndarray, " point"],
    errors: Curve,
    weights: Float[np.ndarray, " point"],
    with_floor: bool,
) -> Float[np.ndarray, "sample number"]:
    """Floor, scale and exponent of every sample: for each exponent the rest is linear."""
    best = np.full(len(errors), np.inf)
    fits = np.zeros((len(errors), 3))
    total = weights.sum()
    mean = errors @ weights / weights.sum()
    for exponent in _EXPONENTS:
        falling = images**-exponent
        center = falling @ weights / total
        spread = (falling - center) ** 2 @ weights
        scale = np.clip(
            (errors - mean[:, None]) @ (weights * (falling - center)) / spread, 0, None
        )
        floor = mean - scale * center
        # A floor below 0 is none: then the scale alone is found.
        alone = errors @ (weights * falling) / (falling**2 @ weights)
        negative = (floor < 0) | (not with_floor)
        floor = np.where(negative, 0, floor)
        scale = np.where(negative, alone, scale)
        rest = (errors - floor[:, None] - scale[:, None] * falling) ** 2 @ weights
        better = rest < best
        best = np.where(better, rest, best)
        found = np.stack([floor, scale, np.full_like(floor, exponent)], 1)
        fits = np.where(better[:, None], found, fits)
    return fits
