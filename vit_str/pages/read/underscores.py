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
    from vit_str.pages.find.ink import Ink

LOW_LINE = "_"

_INKED = 0.4 * 255  # ink from which on a pixel is part of a stroke
# Of the height of a strip: where letters have ink, and where low lines are
_LETTERS = (0.15, 0.66)
_FOOT = 0.62
_THICKEST = 0.15
# Over the height of small letters: a low line is about as wide
_SHORTEST = 0.6
# White from which on it is a space: beside low lines of names, where readers see none at all, and
# beside blanks, which mostly have one. Of 1,352 places in 80 faces 76 are otherwise
_SPACE = 0.45
_UNSEEN_SPACE = 0.8
_SPACE_OF_BLANK = 0.3
_SPACE_BEFORE_MARK = 0.8  # which there mostly is none before
_MARKS = frozenset(".,;:")
_BLANK = 2.3  # low lines from which on they are one
_WIDTH = 1.1  # of a low line
# Low lines that a stroke may be wider or narrower than a reader sees; at the ends of a name, where
# there often are two, less
_BELIEVED = 0.75
_BELIEVED_AT_ENDS = 0.5
# What goes on so far under a letter is its foot, as that of an L; and so far, if in part, a line
# below words
_FOOT_OF_LETTER = 0.12
_UNDER_LETTERS = 0.6
_BROKEN = 0.5  # share of such a line that a scan leaves
# Of the height of a strip: below that an f does not lean over what follows
_SMALL = 0.3
_HIGH = 0.12  # above which is no bar of a T behind it
_LOWEST = 0.92  # below which are other lines
_GAP = 0.25  # between low lines that touch each other nearly, over the height of small letters
_DASHES = frozenset("-–—")  # which a reader may take a low line for


class _Stroke(NamedTuple):
    """A low line, in columns of a strip, and the white on both sides of it, up to letters."""

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
    spans = _spans(reading)
    size = type_of(strip.ink, spans).size
    strokes = _strokes(strip.ink > _INKED, size) if size else []
    if not strokes:
        return reading
    # Without them, which may begin within the box of a letter
    size = type_of(_without(strip.ink, strokes), spans).size
    strokes = _strokes(strip.ink > _INKED, size)
    letters = [
        place
        for place, character in enumerate(reading.characters)
        if character.box is not None and not _is_of_stroke(character, strokes)
    ]
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
        after = reading.text[place : place + 1]
        written = [
            _written(stroke, size, len(strip.ink), read, after) for stroke in own
        ]
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


def _is_of_stroke(character: Character, strokes: Sequence[_Stroke]) -> bool:
    """Whether a character is a low line, or no letter where one is."""
    if _is_low(character.character):
        return True
    middle = _middle(character)
    is_there = any(stroke.left <= middle < stroke.right for stroke in strokes)
    return is_there and character.character in _DASHES


def _middle(character: Character) -> float:
    box = character.box
    return (box.left + box.right) / 2 if box else 0.0


def _written(
    stroke: _Stroke,
    size: float,
    height: int,
    read: Sequence[Character],
    after: str,
) -> list[Character]:
    """Low lines, as many as fit or a reader sees, with spaces where there is white beside them.

    Faces have low lines of other widths.
    """
    wide = (stroke.right - stroke.left) / (_WIDTH * size)
    least = size * _least_space(wide, read)
    is_before = stroke.white_before > least
    if after in _MARKS:
        least = size * _SPACE_BEFORE_MARK
    is_behind = stroke.white_behind > least
    seen = sum(each.character == LOW_LINE for each in read)
    believed = _BELIEVED_AT_ENDS if is_before or is_behind else _BELIEVED
    count = seen if seen and abs(wide - seen) < believed else max(1, round(wide))
    step = (stroke.right - stroke.left) / count
    sides = [stroke.left + place * step for place in range(count + 1)]
    lines = [
        Character(LOW_LINE, 1.0, Box(left, 0, right, height))
        for left, right in pairwise(sides)
    ]
    space = Character(" ", 1.0)
    return [space] * is_before + lines + [space] * is_behind


def _least_space(wide: float, read: Sequence[Character]) -> float:
    """White over the height of small letters, from which on it is a space."""
    if read and not any(each.character.isspace() for each in read):
        return _UNSEEN_SPACE
    return _SPACE_OF_BLANK if wide >= _BLANK else _SPACE


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
    height, width = dark.shape
    first, last = (round(share * height) for share in _LETTERS)
    is_white = np.asarray(~dark[first:last].any(0))
    foot = dark[round(_FOOT * height) :]
    lowest = round(_LOWEST * height)
    inked = np.flatnonzero(dark[round(_SMALL * height) : lowest].any(0))
    inked_behind = np.flatnonzero(dark[round(_HIGH * height) : lowest].any(0))
    found = []
    for start, end in runs(is_white):
        parts = [
            (start + left, start + right)
            for left, right in runs(np.asarray(foot[:, start:end].any(0)))
            if _is_level(foot, start + left, start + right, start, end, size)
        ]
        for left, right in _joined(parts, _GAP * size):
            if right - left < _SHORTEST * size:
                continue
            if left < 2 or right > width - 2:
                continue  # cut by the end of the strip: a line to write on
            before = inked[inked < left]
            behind = inked_behind[inked_behind >= right]
            white_before = left - int(before[-1]) - 1 if len(before) else width
            white_behind = int(behind[0]) - right if len(behind) else width
            found.append(_Stroke(left, right, white_before, white_behind))
    return found


def _is_level(
    foot: Bool[np.ndarray, "row column"],
    left: int,
    right: int,
    start: int,
    end: int,
    size: float,
) -> bool:
    """Whether ink between two letters, which start and end there, is of a low line."""
    rows = _rows(foot[:, left:right])
    return rows is not None and not _goes_on(foot[rows], start, end, size)


def _joined(runs: Sequence[tuple[int, int]], gap: float) -> list[tuple[int, int]]:
    """Runs, of which those that a gap parts at most are one."""
    joined: list[tuple[int, int]] = []
    for start, end in runs:
        if joined and start - joined[-1][1] <= gap:
            start = joined.pop()[0]
        joined.append((start, end))
    return joined


def _without(ink: Ink, strokes: Sequence[_Stroke]) -> Ink:
    """Ink with white where low lines are."""
    letters = ink.copy()
    for stroke in strokes:
        letters[round(_FOOT * len(ink)) :, stroke.left : stroke.right] = 0
    return letters


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
