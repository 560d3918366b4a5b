"""Lines that are longer than a model sees at once: where to cut them, and one reading of all parts.

A line is cut in gaps between its words. Parts reach over their cuts, so that the model sees what
is beside a word, and whether there is a space. Of what is seen twice, each part gives the
characters on its own side of the cut.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from math import ceil, inf, prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from jaxtyping import Float, UInt8
    from PIL import Image

    from vit_str.runtime.image_decoding import DecodedImage
    from vit_str.runtime.images import Preprocessing
    from vit_str.runtime.reader import Character, Reading

_OVERLAP = 1.0  # what parts show beyond their cuts, over the height of the line
_LEAST_HEIGHT = 8  # pixels; lower lines are not legible, and would be cut into thousands of parts
_FREEDOM = 0.25  # share of the length of a part by which a cut may lie elsewhere
_CLEAR = 0.1  # of the usual ink of a column, below which it belongs to a gap
_WIDEST = 1.0  # gaps over the height; wider ones are no better places
_SPACE = 0.5  # over the height
_TOGETHER = 32  # parts that are read at once


class Span(NamedTuple):
    """A part of a line, in pixels of the image."""

    left: int  # what the model sees
    right: int
    start: float  # what it is asked for: from the cut before to the cut behind
    stop: float


class LinePart(NamedTuple):
    """A part of a line as the model gets it, and between which cuts it is asked for."""

    image: DecodedImage
    start: float
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
    least, much = np.quantile(steps, (0.02, 0.9))
    return (steps - least) / max(1.0, much - least)


def _best_place(ink: Float[np.ndarray, " column"], widest: int) -> int:
    """The middle of the widest gap that is nearest to the middle; else where there is least ink."""
    is_clear = np.pad(ink < _CLEAR, 1)
    changes = np.flatnonzero(is_clear[1:] != is_clear[:-1])
    middle = len(ink) / 2
    gaps = [
        (min(stop - start, widest), -abs((start + stop) / 2 - middle), (start + stop) // 2)
        for start, stop in changes.reshape(-1, 2).tolist()
    ]
    if not gaps:
        return int(ink.argmin())
    _, _, place = max(gaps)
    return int(place)


def read_with_parts(
    read: Callable[..., list[Reading]], images: Sequence[DecodedImage], boxes: bool
) -> list[Reading]:
    """Readings of images, some of which have parts.

    Args:
        read: reads images without parts, with ``boxes=True`` if it is told so.
        images: of any length.
        boxes: whether readings should have them.
    """
    short = [image for image in images if not image.parts]
    whole = iter(read(short, boxes=boxes) if short else ())
    parts = [part.image for image in images for part in image.parts]
    of_parts: list[Reading] = []
    for start in range(0, len(parts), _TOGETHER):
        of_parts += read(parts[start : start + _TOGETHER], boxes=True)
    waiting = iter(of_parts)
    readings = []
    for image in images:
        if not image.parts:
            readings.append(next(whole))
            continue
        together = joined(image.parts, [next(waiting) for _ in image.parts])
        readings.append(together if boxes else _without_boxes(together))
    return readings


def joined(parts: Sequence[LinePart], readings: Sequence[Reading]) -> Reading:
    """One reading of a line, without alternatives, from those of its parts with boxes in it."""
    written: list[Character] = []
    behind: list[Character] = []  # its cut, as the part before saw it
    for part, reading in zip(parts, readings, strict=True):
        characters = reading.characters
        before = [c for c in characters if _middle(c) < part.start]
        kept = [c for c in characters if part.start <= _middle(c) < part.stop]
        at_cut = [*written[-1:], *behind[:1], *before[-1:], *kept[:1]]
        is_space = any(c.character.isspace() for c in at_cut)
        written, kept = _stripped(written), _stripped(kept, right=False)
        if written and kept:
            space = _space_between(written[-1], kept[0])
            if is_space or _is_wide(space):
                written.append(space)
        written += kept
        behind = [c for c in characters if _middle(c) >= part.stop]
    written = _stripped(written)
    return replace(
        readings[0],
        text="".join(character.character for character in written),
        confidence=prod(character.confidence for character in written),
        characters=tuple(written),
        alternatives=(),
    )


def _space_between(left: Character, right: Character) -> Character:
    assert left.box is not None
    assert right.box is not None
    box = left.box._replace(left=left.box.right, right=max(left.box.right, right.box.left))
    return replace(left, character=" ", confidence=min(left.confidence, right.confidence), box=box)


def _is_wide(space: Character) -> bool:
    """Whether a gap is wide enough to be a space, whatever was read there."""
    assert space.box is not None
    left, top, right, bottom = space.box
    return right - left > _SPACE * (bottom - top)


def _middle(character: Character) -> float:
    assert character.box is not None
    return (character.box.left + character.box.right) / 2


def _stripped(characters: list[Character], right: bool = True) -> list[Character]:
    """Characters without spaces at the right or at the left end."""
    text = "".join(character.character for character in characters)
    if right:
        return characters[: len(text.rstrip())]
    return characters[len(text) - len(text.lstrip()) :]


def _without_boxes(reading: Reading) -> Reading:
    return replace(reading, characters=tuple(replace(c, box=None) for c in reading.characters))
