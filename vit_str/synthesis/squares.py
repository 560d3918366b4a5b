"""Characters as wide as high, such as syllables of Hangul, which need more pixels than letters."""

from vit_str.characters.alphabets import HANGUL, script_of

SQUARE = 2.5
"""Letters of Latin that one square character counts as: in width, and in columns to be read."""


def is_square(character: str) -> bool:
    """Whether it is a syllable or letter of Hangul, or a Chinese character."""
    return script_of(character) == HANGUL or "\u4e00" <= character <= "\u9fff"


def width_of(text: str) -> float:
    """About how wide a text is, in letters of Latin."""
    squares = sum(map(is_square, text))
    return len(text) + squares * (SQUARE - 1)
