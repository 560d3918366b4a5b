"""Type of a line by its ink: where words begin and end, how large and how bold."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from PIL import Image

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Int, UInt8

    Ink = UInt8[np.ndarray, "row column"]

_FULL = 255  # ink
_SHADES = 2, 50, 98  # percentiles of pixels: dark, paper, bright
_INKED = 0.4 * _FULL  # ink from which on a pixel is part of a letter
_THIN = 0.2  # of the height of a line, up to which ink apart from a word is no letter
_MOST_TRIMMED = 0.6  # at each side of a word, over the height of the line
# Of the ink of the fullest rows: rows of small letters have more than that
_BAND = 0.3, 0.6
_FULLEST = 90  # percentile of rows
_CAPITALS = 0.7  # height of small letters over that of capitals and digits


class Type(NamedTuple):
    """The type that the letters of a line are set in.

    Attributes:
        size: height of small letters, in pixels; 0 if the line has no ink.
        weight: width of strokes along the line, in pixels.
    """

    size: float
    weight: float


def ink_of(image: Image.Image) -> "Ink":
    """How much ink each pixel of a line holds, 0 to 255; light on dark is ink too."""
    gray = image.convert("L")
    dark, paper, bright = _percentiles(gray, _SHADES)
    darkest = dark if paper - dark >= bright - paper else bright
    # One value for each of 256 shades: no array of numbers in between.
    shades = np.arange(_FULL + 1)
    contrast = max(1.0, abs(darkest - paper)) * np.sign(darkest - paper)
    ink = (shades - paper) / contrast if contrast else np.zeros(len(shades))
    return (_FULL * ink.clip(0, 1)).round().astype(np.uint8)[np.asarray(gray)]


def _percentiles(gray: Image.Image, percents: Sequence[float]) -> list[float]:
    """Percentiles as of ``numpy.percentile``, from how often each shade occurs, without sorting."""
    ends = np.cumsum(gray.histogram())
    places = np.array(percents) / 100 * (ends[-1] - 1)
    below = np.searchsorted(ends, np.floor(places), side="right")
    above = np.searchsorted(ends, np.ceil(places), side="right")
    share = places % 1
    from_below = below + (above - below) * share
    from_above = above - (above - below) * (1 - share)
    return np.where(share < 0.5, from_below, from_above).tolist()  # to the last bit


def trimmed(
    ink: "Ink", left: float, right: float, room: float = 0.0
) -> tuple[float, float]:
    """The sides of a word without the white beside its ink; as they are if there is none near.

    Where a side runs through a letter, it goes on to the end of its ink, through ``room`` at most.
    """
    is_inked = ink.max(0, initial=0) > _INKED
    first = max(0, round(left))
    last = min(len(is_inked), round(right))
    farthest = max(0, round(left - room)), min(len(is_inked), round(right + room))
    while first > farthest[0] and is_inked[first - 1 : first + 1].all():
        first -= 1
    while last < farthest[1] and is_inked[last - 1 : last + 1].all():
        last += 1
    left = min(left, first)
    right = max(right, last)
    inked = np.flatnonzero(is_inked[first:last])
    if not inked.size:
        return left, right
    most = _MOST_TRIMMED * ink.shape[0]
    begin = first + int(inked[0])
    end = first + int(inked[-1]) + 1
    return max(left, min(begin, left + most)), min(right, max(end, right - most))


def inked_rows(ink: "Ink", left: float, right: float) -> tuple[float, float] | None:
    """The first row of the letters of a word and the row behind the last; None if it has no ink.

    Rules above and below it, and letters of other lines that the strip of its line cuts, do not
    count.
    """
    is_inked = ink[:, max(0, round(left)) : max(0, round(right))] > _INKED
    rows = np.flatnonzero(is_inked.any(1))
    if not rows.size:
        return None
    parts = np.split(rows, np.flatnonzero(np.diff(rows) > 1) + 1)
    letters = [part for part in parts if not _is_alien(part, is_inked)] or parts
    return float(letters[0][0]), float(letters[-1][-1] + 1)


def _is_alien(
    part: "Int[np.ndarray, 'row']", is_inked: "Bool[np.ndarray, 'row column']"
) -> bool:
    """Whether some rows of ink are a rule, or cut by the edge of the strip of a line."""
    is_thin = len(part) < _THIN * len(is_inked)
    is_cut = part[0] == 0 or part[-1] == len(is_inked) - 1
    return is_thin and (is_cut or bool(is_inked[part].all()))


def type_of(ink: "Ink", words: Sequence[tuple[str, tuple[float, float]]]) -> Type:
    """The type of a line.

    Capitals and digits are higher than small letters: the size is that of words of small letters,
    if there are some.

    Args:
        ink: of the line.
        words: with the columns that they begin and end at.
    """
    everything = _letters(ink, [span for _, span in words])
    small = [span for text, span in words if _is_small(text)]
    height = _band(_letters(ink, small)) if small else _CAPITALS * _band(everything)
    crossings = float(np.abs(np.diff(everything, axis=1)).sum()) / 2
    weight = float(everything.sum()) / crossings if crossings else 0.0
    return Type(height, weight)


def _is_small(text: str) -> bool:
    """Whether most of a word is small letters."""
    return len(text) > 1 and 2 * sum(map(str.islower, text)) > len(text)


def _letters(
    ink: "Ink", spans: Sequence[tuple[float, float]]
) -> "Float[np.ndarray, 'row column']":
    """The columns of some words, their ink from 0 to 1."""
    parts = [
        ink[:, max(0, round(left)) : max(0, round(right))] for left, right in spans
    ]
    return np.concatenate([ink[:, :0], *parts], 1).astype(np.float32) / _FULL


def _band(letters: "Float[np.ndarray, 'row column']") -> float:
    """How many rows have as much ink as most of the letters give; those at the edge in part."""
    if not letters.size:
        return 0.0
    rows = letters.mean(1)
    fullest = _percentile(rows, _FULLEST)
    if fullest <= 0:
        return 0.0
    none, all_ = (share * fullest for share in _BAND)
    shares = ((rows - none) / (all_ - none)).clip(0, 1)
    return float(shares.sum())


def _percentile(values: "Float[np.ndarray, 'row']", percent: float) -> float:
    """A percentile as of ``numpy.percentile``, in less time for few values."""
    ordered = np.sort(values).tolist()
    place = percent / 100 * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)
