"""One reading of a line that is longer than a model sees at once, from those of its parts.

Of what parts see twice, beside their cuts, each gives the characters on its own side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain
from math import prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vit_str.decoding.readings import Character, Reading
    from vit_str.images.image_decoding import DecodedImage, LinePart

_SPACE = 0.5  # width of a gap that is a space, over its height
_TOGETHER = 32  # parts that are read at once


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
    all_parts = chain.from_iterable(image.parts for image in images)
    parts = [part.image for part in all_parts]
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
        left_of_cut = [*written[-1:], *before[-1:]]
        right_of_cut = [*behind[:1], *kept[:1]]
        at_cut = left_of_cut + right_of_cut
        is_space = any(c.character.isspace() for c in at_cut)
        written = _stripped(written)
        kept = _stripped(kept, right=False)
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
    start = left.box.right
    stop = max(start, right.box.left)
    return replace(
        left,
        character=" ",
        confidence=min(left.confidence, right.confidence),
        box=left.box._replace(left=start, right=stop),
    )


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
    characters = tuple(replace(each, box=None) for each in reading.characters)
    return replace(reading, characters=characters)
