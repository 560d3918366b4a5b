"""Runs of what is alike in a row: of ink, of white, of a gap."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from jaxtyping import Bool


def runs(row: "Bool[np.ndarray, ' place']") -> list[tuple[int, int]]:
    """Starts and ends of the runs of true values."""
    between = np.zeros(len(row) + 2, bool)
    between[1:-1] = row
    steps = np.flatnonzero(between[1:] != between[:-1])
    return [(start, end) for start, end in steps.reshape(-1, 2).tolist()]
