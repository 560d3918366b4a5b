"""Where to cut a line that is longer than a model sees at once.

A line is cut in gaps between its words. Parts reach over their cuts, so that the model sees what
is beside a word, and whether there is a space.
"""

from __future__ import annotations

from itertools import pairwise
from math import ceil, inf
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from jaxtyping import Float, UInt8
    from PIL import Image

    from vit_str.images.preprocessing import Preprocessing

_OVERLAP = 1.0  # what parts show beyond their cuts, over the height of the line
# pixels; lower lines are not legible, and would be cut into thousands of parts
_LEAST_HEIGHT = 8
_FREEDOM = 0.25  # share of the length of a part by which a cut may lie elsewhere
_USUAL = 0.02, 0.9  # quantiles of columns between which the usual ink lies
_CLEAR = 0.1  # of the usual ink of a column, below which it belongs to a gap
_WIDEST = 1.0  # gaps over the height; wider ones are no better places


class Span(NamedTuple):
    """A part of a line, in pixels of the image."""

    left: int  # what the model sees
    right: int
    start: float  # what it is asked for: from the cut before to the cut behind
    stop: float


def spans(image: Image.Image, preprocessing: Preprocessing) -> list[Span]:
    """The parts of a line that is too long for the model; none if it sees all at once."""
    if not preprocessing.width_step or preprocessing.turns(image.height, image.width):
        return []
    scale = preprocessing.height / image.height
    width = round(image.width * scale)
    if width <= preprocessing.width or image.height < _LEAST_HEIGHT:
        return []
    beyond = round(_OVERLAP * preprocessing.height)
    small = np.asarray(image.convert("L").resize((width, preprocessing.height)))
    places = cuts(small, preprocessing.width - 2 * beyond)
    found = []
    for start, stop in pairwise([0, *places, width]):
        found.append(
            Span(
                left=max(0, round((start - beyond) / scale)),
                right=min(image.width, round((stop + beyond) / scale)),
                start=start / scale if start else -inf,
                stop=stop / scale if stop < width else inf,
            )
        )
    return found


def cuts(line: UInt8[np.ndarray, "height width"], longest: int) -> list[int]:
    """Columns at which to cut a line, so that no part is longer: in wide gaps, about evenly."""
    height, width = line.shape
    ink = _ink(line)
    places: list[int] = []
    start = 0
    while width - start > longest:
        target = (width - start) / ceil((width - start) / longest)
        first = round(start + (1 - _FREEDOM) * target)
        last = min(start + longest, round(start + (1 + _FREEDOM) * target))
        start = first + _best_place(ink[first:last], round(_WIDEST * height))
        places.append(start)
    return places


def _ink(line: UInt8[np.ndarray, "height width"]) -> Float[np.ndarray, " width"]:
    """How much is in each column, over what is usual: of even steps, such as rules, nothing."""
    steps = np.abs(np.diff(line.astype(np.float32), axis=0)).sum(0)
    least, much = np.quantile(steps, _USUAL)
    return (steps - least) / max(1.0, much - least)


def _best_place(ink: Float[np.ndarray, " column"], widest: int) -> int:
    """The middle of the widest gap that is nearest to the middle; else where there is least ink."""
    is_clear = np.pad(ink < _CLEAR, 1)
    changes = np.flatnonzero(is_clear[1:] != is_clear[:-1])
    middle = len(ink) / 2
    gaps = []
    for start, stop in changes.reshape(-1, 2).tolist():
        width = min(stop - start, widest)
        distance = abs((start + stop) / 2 - middle)
        gaps.append((width, -distance, (start + stop) // 2))
    if not gaps:
        return int(ink.argmin())
    _, _, place = max(gaps)
    return int(place)
