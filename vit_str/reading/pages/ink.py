"""What the ink of a line says about its type: where words begin and end, how large and how bold."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from PIL import Image

if TYPE_CHECKING:
    from jaxtyping import Float

_INKED = 0.4  # ink from which on a pixel is part of a letter
_MOST_TRIMMED = 0.6  # at each side of a word, over the height of the line
_BAND = 0.45  # of the ink of the fullest rows, that all rows of small letters have
_FULLEST = 90  # percentile of rows
_CAPITALS = 0.7  # height of small letters over that of capitals and digits


class Type(NamedTuple):
    """Of the letters of a line.

    Attributes:
        size: height of small letters, in pixels; 0 if the line has no ink.
        weight: width of strokes over that height.
    """

    size: float
    weight: float


def ink_of(image: Image.Image) -> "Float[np.ndarray, 'row column']":
    """How much ink each pixel of a line holds, 0 to 1; light on dark is ink too."""
    gray = np.asarray(image.convert("L"), np.float32)
    paper = float(np.median(gray))
    dark, bright = np.percentile(gray, (2, 98))
    if paper - dark >= bright - paper:
        ink = (paper - gray) / max(1.0, paper - dark)
    else:
        ink = (gray - paper) / max(1.0, bright - paper)
    return ink.clip(0, 1)


def trimmed(
    ink: "Float[np.ndarray, 'row column']", left: float, right: float
) -> tuple[float, float]:
    """The sides of a word without the white beside its ink; as they are if there is none near."""
    first, last = max(0, round(left)), min(ink.shape[1], round(right))
    inked = np.flatnonzero(ink[:, first:last].max(0, initial=0) > _INKED)
    if not inked.size:
        return left, right
    most = _MOST_TRIMMED * ink.shape[0]
    begin, end = first + int(inked[0]), first + int(inked[-1]) + 1
    return max(left, min(begin, left + most)), min(right, max(end, right - most))


def type_of(
    ink: "Float[np.ndarray, 'row column']", spans: Sequence[tuple[float, float]], text: str
) -> Type:
    """The type of a line.

    Args:
        ink: of the line.
        spans: from where to where it has words, in columns.
        text: of the words; capitals and digits are higher than small letters.
    """
    columns = [ink[:, max(0, round(left)) : max(0, round(right))] for left, right in spans]
    letters = np.concatenate([ink[:, :0], *columns], 1)
    rows = letters.mean(1) if letters.size else np.zeros(1)
    least = _BAND * float(np.percentile(rows, _FULLEST))
    height = float((rows > least).sum()) if least > 0 else 0.0
    if not height:
        return Type(0.0, 0.0)
    if not any(character.islower() for character in text):
        height *= _CAPITALS
    crossings = np.abs(np.diff(letters, axis=1)).sum() / 2
    return Type(height, float(letters.sum() / max(1.0, crossings)) / height)
