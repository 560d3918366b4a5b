"""Ranges of the numbers inside a model, which a weights file can know.

They make graphs in 8 bits that measure nothing while they read.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

Ranges = Mapping[str, tuple[float, float]]
"""Points of a model -> least and largest number there."""

PIXELS = "pixel_values"
"""The point at which images come in."""

_LARGEST = 1e6  # beyond, the model is broken


def input_of(layer: str) -> str:
    """The point before a layer."""
    return f"{layer}.input"


def output_of(layer: str) -> str:
    """The point behind a layer."""
    return f"{layer}.output"


def checked_ranges(values: Any) -> dict[str, tuple[float, float]]:
    """Ranges as a weights file has them, if they are some.

    Raises:
        ValueError: for what is no table of points, or has limits that are not finite and in
            order.
    """
    if not isinstance(values, Mapping):
        raise ValueError("ranges are a table of points")
    return {str(point): _checked(point, limits) for point, limits in values.items()}


def _checked(point: str, limits: Any) -> tuple[float, float]:
    match limits:
        case [int() | float() as low, int() | float() as high]:
            if -_LARGEST <= low <= high <= _LARGEST and math.isfinite(high - low):
                return float(low), float(high)
    raise ValueError(
        f"the range of {point} is two numbers, the smaller one first, not {limits}"
    )
