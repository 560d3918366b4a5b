"""Numbers and dates in words and in digits: languages that are translated exactly.

``four hundred seven thousand twelve`` is ``407012``: there are as many words as digits or fewer,
and neither their number nor their order tells where a zero stands. ``march twenty three nineteen
eighty four`` is ``1984-03-23``: what comes last comes first. A word is one symbol.
"""

from collections.abc import Sequence
from datetime import date

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

_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july", "august"),
    *("september", "october", "november", "december"),
)

WORDS = (*_DIGITS, "zero", *_SMALL, *_TENS, "hundred", "thousand", *_MONTHS, "oh", "-")
"""All symbols of all languages; the place of a symbol is its id."""

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


def date_in_words(day: date) -> tuple[str, ...]:
    """Month, day and year, as one says them; years from 1000 to 9999."""
    return (_MONTHS[day.month - 1], *in_words(day.day), *_year_in_words(day.year))


def date_in_digits(day: date) -> tuple[str, ...]:
    """Year, month and day, as ISO 8601 has them."""
    return tuple(day.isoformat())


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


def _year_in_words(year: int) -> tuple[str, ...]:
    century, rest = divmod(year, 100)
    if century % 10 == 0 and rest < 10:  # two thousand five, but nineteen oh five
        return in_words(year)
    if rest == 0:
        return (*_below_hundred(century), "hundred")
    return (*_below_hundred(century), *(("oh",) if rest < 10 else ()), *_below_hundred(rest))
