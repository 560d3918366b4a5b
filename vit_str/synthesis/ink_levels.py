"""How finely ink is kept: half as much in a file, and nothing that the eye sees."""

import numpy as np
from jaxtyping import UInt8

INK_STEP = 17
"""Between the 16 levels of ink, 0 to 255."""


def in_levels(ink: UInt8[np.ndarray, "column row"]) -> UInt8[np.ndarray, "column row"]:
    """Ink in the nearest of 16 levels."""
    levels = np.arange(256) + INK_STEP // 2
    table = (levels // INK_STEP * INK_STEP).clip(max=255).astype(np.uint8)
    return table[ink]
