"""Means over seeds and how sure they are."""

import math
from collections.abc import Sequence

# Two-sided 95 % points of Student's t for 1, 2, ... degrees of freedom; the normal one beyond.
_STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)
_NORMAL = 1.960


def mean_interval(values: Sequence[float]) -> tuple[float, tuple[float, float]]:
    """Mean of independent repetitions and its 95 % interval by Student's t.

    A single value has no interval: it is returned as both ends.

    Raises:
        ValueError: there is no value.
    """
    n = len(values)
    if not n:
        raise ValueError("a mean needs one value or more, found none")
    mean = math.fsum(values) / n
    if n == 1:
        return mean, (mean, mean)
    spread = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (n - 1) / n)
    points = _STUDENT[n - 2] if n - 2 < len(_STUDENT) else _NORMAL
    return mean, (mean - points * spread, mean + points * spread)


def with_interval(values: Sequence[float], digits: int = 3) -> str:
    """``mean [low, high]`` as text."""
    mean, (low, high) = mean_interval(values)
    return f"{mean:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"
