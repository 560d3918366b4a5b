"""Of what kind a word is: its length, case, aspect, height and the confidence of its reading."""

import math
import unicodedata
from collections.abc import Callable, Sequence
from functools import cache

from vit_str.evaluation.words import ReadWords, Size
from vit_str.images import TALL

Kinds = dict[str, Callable[[str], bool]]

_ENDS_OF_LENGTHS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15)
_ENDS_OF_HEIGHTS = (11, 15, 23, 31, 47, 63, 95)
# The first that holds counts.
_CASES: Kinds = {
    "with symbols or spaces": lambda label: not all(map(_is_letter_or_digit, label)),
    "digits": lambda label: all(map(_is_digit, label)),
    "letters and digits": lambda label: any(map(_is_digit, label)),
    "letters without case": lambda label: label.lower() == label.upper(),
    "lower case": lambda label: label == label.lower(),
    "upper case": lambda label: label == label.upper(),
    "capitalized": lambda label: label[1:] == label[1:].lower(),
    "mixed case": lambda label: True,
}
_ASPECTS: dict[str, float] = {
    f"tall: height over {TALL:g} times the width": 1 / TALL,
    "about square: up to as wide as high": 1.0,
    "width up to 2 times the height": 2.0,
    "width up to 3 times the height": 3.0,
    "width up to 5 times the height": 5.0,
    "wider": math.inf,
}
_ORIENTATIONS = ("wide", f"tall: height over {TALL:g} times the width")


def _lengths(words: ReadWords) -> list[str | None]:
    return [_range(len(label), _ENDS_OF_LENGTHS) if label else None for label in words.labels]


def _cases(words: ReadWords) -> list[str | None]:
    return [case_of(label) if label else None for label in words.labels]


def case_of(label: str) -> str:
    """The kind of characters that a label holds, one of the groups of ``case``."""
    return next(name for name, holds in _CASES.items() if holds(label))


def _orientations(words: ReadWords) -> list[str | None]:
    return [size and _ORIENTATIONS[is_tall(size)] for size in words.sizes]


def is_tall(size: Size) -> bool:
    """Whether an image of this size more likely holds a line that runs down or up."""
    return size[0] > TALL * size[1]


def _aspects(words: ReadWords) -> list[str | None]:
    return [size and _aspect(size) for size in words.sizes]


def _aspect(size: Size) -> str:
    if is_tall(size):
        return next(iter(_ASPECTS))
    aspect = size[1] / size[0]
    return next(name for name, most in list(_ASPECTS.items())[1:] if aspect <= most)


def _heights(words: ReadWords) -> list[str | None]:
    return [size and _range(line_height(size), _ENDS_OF_HEIGHTS) for size in words.sizes]


def line_height(size: Size) -> int:
    """How high a line in an image of this size is at most, in pixels: the width of a tall one."""
    return size[1] if is_tall(size) else size[0]


def _confidences(words: ReadWords) -> list[str | None]:
    names = _names_of_confidences()
    return [
        None if each is None else names[min(9, max(0, math.ceil(10 * each) - 1))]
        for each in words.confidences
    ]


def _range(number: int, ends: tuple[int, ...]) -> str:
    """The group of a whole number, where groups end with some numbers, the last never."""
    place = sum(number > end for end in ends)
    return _names_of_ranges(ends)[place]


@cache
def _names_of_ranges(ends: tuple[int, ...]) -> list[str]:
    starts = [1, *(end + 1 for end in ends)]
    names = [
        f"{start}" if start == end else f"{start} to {end}"
        for start, end in zip(starts, ends, strict=False)
    ]
    return [*names, f"{starts[-1]} and more"]


def _names_of_confidences() -> list[str]:
    return [f"{tenth / 10:.1f} to {(tenth + 1) / 10:.1f}" for tenth in range(10)]


def _is_letter_or_digit(character: str) -> bool:
    # Marks are parts of letters: accents that were split off, vowels of Indian scripts.
    return unicodedata.category(character)[0] in "LMN"


def _is_digit(character: str) -> bool:
    return unicodedata.category(character)[0] == "N"


Rule = Callable[[ReadWords], Sequence[str | None]]

RULES: dict[str, tuple[Rule, Sequence[str]]] = {
    "length": (_lengths, _names_of_ranges(_ENDS_OF_LENGTHS)),
    "case": (_cases, tuple(_CASES)),
    "orientation": (_orientations, _ORIENTATIONS),
    "aspect": (_aspects, tuple(_ASPECTS)),
    "height": (_heights, _names_of_ranges(_ENDS_OF_HEIGHTS)),
    "confidence": (_confidences, _names_of_confidences()),
}
"""Dimension -> how to tell the kinds of all words, None where unknown, and the kinds in order."""
