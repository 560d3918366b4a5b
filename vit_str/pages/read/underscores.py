"""Low lines: strokes at the foot of a line, under no letters, that readers take for spaces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, groupby, pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vit_str.decoding.boxes import Box
from vit_str.decoding.readings import Character, Reading
from vit_str.pages.find.ink import type_of
from vit_str.pages.find.runs import runs

if TYPE_CHECKING:
    from jaxtyping import Bool

    from vit_str.pages.find.geometry import Strip

LOW_LINE = "_"

_INKED = 0.4 * 255  # ink from which on a pixel is part of a stroke
# Of the height of a strip: where letters have ink, and where low lines are
_LETTERS = (0.15, 0.66)
_FOOT = 0.62
_THICKEST = 0.15
# Over the height of small letters: a low line is about as wide, white wider than this is a space
_SHORTEST = 0.6
_SPACE = 0.45
_WIDTH = 1.1  # of a low line
_BELIEVED = 0.75  # low lines that a stroke may be wider or narrower than a reader sees
# What goes on so far under a letter is its foot, as that of an L; and so far, if in part, a line
# below words
_FOOT_OF_LETTER = 0.12
_UNDER_LETTERS = 0.6
_BROKEN = 0.5  # share of such a line that a scan leaves
# Of the height of a strip: below that an f does not lean over what follows
_SMALL = 0.3


class _Stroke(NamedTuple):
    """A low line, in columns of a strip, and the white on both sides of it."""

    left: int
    right: int
    white_before: int
    white_behind: int


def with_low_lines(strip: Strip, reading: Reading) -> Reading:
    """A line as it was read, with low lines where there are strokes.

    Args:
        strip: of the line.
        reading: of the line, with boxes in the strip.
    """
    letters = [
        place
        for place, character in enumerate(reading.characters)
        if character.box is not None and not _is_low(character.character)
    ]
    size = type_of(strip.ink, _spans(reading)).size
    strokes = _strokes(strip.ink > _INKED, size) if size else []
    if not strokes:
        return reading
    middles = [_middle(reading.characters[place]) for place in letters]
    parts: dict[int, list[_Stroke]] = {}
    for stroke in strokes:
        middle = (stroke.left + stroke.right) / 2
        parts.setdefault(int(np.searchsorted(middles, middle)), []).append(stroke)
    characters: list[Character] = []
    before = 0
    for number, place in enumerate([*letters, len(reading.characters)]):
        read = reading.characters[before:place]
        own = parts.get(number, [])
        written = [_written(stroke, size, len(strip.ink), read) for stroke in own]
        characters += chain.from_iterable(written) if written else read
        characters += reading.characters[place : place + 1]
        before = place + 1
    return _stripped(reading, characters)


def is_same_without_low_lines(text: str, other: str) -> bool:
    """Whether two texts differ by low lines at most."""
    return text.replace(LOW_LINE, "") == other.replace(LOW_LINE, "")


def _spans(reading: Reading) -> list[tuple[str, tuple[float, float]]]:
    """The words of a line, and where they begin and end."""
    found = []
    for is_low, group in groupby(reading.characters, lambda c: _is_low(c.character)):
        word = [(each.character, each.box) for each in group if each.box]
        if word and not is_low:
            text = "".join(character for character, _ in word)
            boxes = [box for _, box in word]
            span = min(box.left for box in boxes), max(box.right for box in boxes)
            found.append((text, span))
    return found


def _is_low(character: str) -> bool:
    return character.isspace() or character == LOW_LINE


def _middle(character: Character) -> float:
    box = character.box
    return (box.left + box.right) / 2 if box else 0.0


def _written(
    stroke: _Stroke, size: float, height: int, read: Sequence[Character]
) -> list[Character]:
    """Low lines, as many as fit or a reader sees, with spaces where there is white beside them.

    Faces have low lines of other widths. Where a reader sees low lines alone, there are no spaces.
    """
    wide = (stroke.right - stroke.left) / (_WIDTH * size)
    seen = sum(each.character == LOW_LINE for each in read)
    count = seen if seen and abs(wide - seen) < _BELIEVED else max(1, round(wide))
    step = (stroke.right - stroke.left) / count
    sides = [stroke.left + place * step for place in range(count + 1)]
    lines = [
        Character(LOW_LINE, 1.0, Box(left, 0, right, height))
        for left, right in pairwise(sides)
    ]
    space = Character(" ", 1.0)
    has_space = not read or any(each.character.isspace() for each in read)
    before = [space] if has_space and stroke.white_before > _SPACE * size else []
    behind = [space] if has_space and stroke.white_behind > _SPACE * size else []
    return [*before, *lines, *behind]


def _stripped(reading: Reading, characters: Sequence[Character]) -> Reading:
    """A reading of other characters, without spaces at its ends and twice in a row."""
    kept: list[Character] = []
    for character in characters:
        is_space = character.character.isspace()
        if not is_space or (kept and not kept[-1].character.isspace()):
            kept.append(character)
    if kept and kept[-1].character.isspace():
        kept.pop()
    text = "".join(character.character for character in kept)
    return replace(reading, text=text, characters=tuple(kept))


def _strokes(dark: Bool[np.ndarray, "row column"], size: float) -> list[_Stroke]:
    """Low lines between letters."""
    height = len(dark)
    first, last = (round(share * height) for share in _LETTERS)
    is_white = np.asarray(~dark[first:last].any(0))
    foot = dark[round(_FOOT * height) :]
    inked = np.flatnonzero(dark[round(_SMALL * height) : last].any(0))
    found = []
    for start, end in runs(is_white):
        for left, right in runs(np.asarray(foot[:, start:end].any(0))):
            if right - left < _SHORTEST * size:
                continue
            rows = _rows(foot[:, start + left : start + right])
            if rows is None or _goes_on(foot[rows], start, end, size):
                continue
            left, right = start + left, start + right
            if left < 2 or right > dark.shape[1] - 2:
                continue  # cut by the end of the strip: a line to write on
            before = inked[inked < left]
            behind = inked[inked >= right]
            white_before = left - int(before[-1]) - 1 if len(before) else 0
            white_behind = int(behind[0]) - right if len(behind) else 0
            found.append(_Stroke(left, right, white_before, white_behind))
    return found


def _rows(stroke: Bool[np.ndarray, "row column"]) -> slice | None:
    """The rows of a stroke that is level and thin; None of other ink.

    A stroke that is tilted a little steps from row to row.
    """
    inked = np.flatnonzero(stroke.any(1))
    first, last = int(inked[0]), int(inked[-1]) + 1
    thickest = max(3.0, _THICKEST * len(stroke) / (1 - _FOOT))
    return slice(first, last) if last - first <= thickest else None


def _goes_on(
    rows: Bool[np.ndarray, "row column"], start: int, end: int, size: float
) -> bool:
    """Whether what is between two letters goes on under one of them."""
    dark: Bool[np.ndarray, " column"] = np.asarray(rows.any(0))
    near = max(2, round(_FOOT_OF_LETTER * size))
    far = max(2, round(_UNDER_LETTERS * size))
    before = dark[max(0, start - far) : start][::-1]
    behind = dark[end : end + far]
    return any(
        len(side) >= near and (side[:near].all() or side.mean() >= _BROKEN)
        for side in (before, behind)
    )
