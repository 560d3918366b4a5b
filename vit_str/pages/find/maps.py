"""The maps of the network that finds, one value for each cell of a picture."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from jaxtyping import Float

MAPS = (
    "ink",
    "gap",
    "across",
    "down",
    "box",
    "ticked",
    "picture",
    "cos",
    "sin",
    "height",
)
"""Of a cell: whether it is in the core of a line of text; between two of its words; on a ruled line
across or down; in a box to tick; in one that is ticked; in a picture; then, where there is a line,
the direction in which it is read, as cosine and sine of the angle to the right, and the height of
its letters, see `to_height`."""
SHARES = MAPS.index("cos")
"""The first maps are logits of probabilities; the others are values."""
CORE = 0.4
"""Height of the core of a line over that of its letters."""
LEAST_CORE = 4.0
"""The same in pixels, at least."""
SHRUNK = 0.15
"""Of the height of letters, by which a core is shorter than its line at both ends, but no more than
`MOST_SHRUNK` of its length."""
MOST_SHRUNK = 0.1
LEAST_GAP = 4.0
"""Pixels between two words on the map of gaps, however close they are."""
_MIDDLE = 16.0  # pixels, of which the logarithm is 0


def to_height(values: "Float[np.ndarray, '*cell']") -> "Float[np.ndarray, '*cell']":
    """Pixels from the top of the tallest letters to the bottom of the deepest."""
    return _MIDDLE * np.exp2(values)


def from_height(pixels: "Float[np.ndarray, '*cell']") -> "Float[np.ndarray, '*cell']":
    """Values of the map for heights, the inverse of `to_height`."""
    return np.log2(pixels / _MIDDLE)
