"""Numbers in words and in digits: two languages that are translated exactly.

``four hundred seven thousand twelve`` is ``407012``. A word is one symbol; there are as many as a
number has digits or fewer, and neither their number nor their order tells where a zero stands.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Int64
from torch import Tensor

from vit_str.charset import PADDING

_SMALL = (
    *("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"),
    *("twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_DIGITS = tuple("0123456789")

WORDS = (*_DIGITS, "zero", *_SMALL, *_TENS, "hundred", "thousand")
"""All symbols of both languages; the place of a symbol is its id."""

LIMIT = 1_000_000
"""The first number that there is no word for here."""

_IDS = {word: id_ for id_, word in enumerate(WORDS)}


def in_words(number: int) -> tuple[str, ...]:
    """The words of a number.

    Raises:
        ValueError: it is below 0 or not below a million.
    """
    if not 0 <= number < LIMIT:
        raise ValueError(f"there are words for 0 to {LIMIT - 1}, found {number}")
    thousands, rest = divmod(number, 1000)
    words = (*_below_thousand(thousands), "thousand") if thousands else ()
    return (*words, *_below_thousand(rest)) or ("zero",)


def in_digits(number: int) -> tuple[str, ...]:
    """The digits of a number, without zeros before it."""
    return tuple(str(number))


def ids_of(texts: Sequence[Sequence[str]]) -> Int64[Tensor, "batch position"]:
    """Ids of the symbols, padded with ``PADDING`` to the longest text."""
    longest = max(map(len, texts))
    return torch.tensor(
        [[_IDS[word] for word in text] + [PADDING] * (longest - len(text)) for text in texts]
    )


def _below_thousand(number: int) -> tuple[str, ...]:
    hundreds, rest = divmod(number, 100)
    words = (_SMALL[hundreds - 1], "hundred") if hundreds else ()
    return (*words, *_below_hundred(rest))


def _below_hundred(number: int) -> tuple[str, ...]:
    if number < 20:
        return _SMALL[number - 1 : number] if number else ()
    tens, ones = divmod(number, 10)
    return (_TENS[tens - 2], *_below_hundred(ones))
