"""Numbers and dates in words and in digits: languages that are translated exactly.

``four hundred seven thousand twelve`` is ``407012``: there are as many words as digits or fewer,
and neither their number nor their order tells where a zero stands. ``march twenty three nineteen
eighty four`` is ``1984-03-23``: what comes last comes first. A word is one symbol.
"""

import calendar
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import filterfalse, islice

import torch

from studies.training import Labels
from vit_str.runtime.search import padded

Text = tuple[str, ...]

_SMALL = (
    *("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"),
    *("twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_DIGITS = tuple("0123456789")
_MONTHS = tuple(name.lower() for name in calendar.month_name[1:])
_FIRST_DAY, _LAST_DAY = date(1800, 1, 1).toordinal(), date(2099, 12, 31).toordinal()

SYMBOLS = (*_DIGITS, "zero", *_SMALL, *_TENS, "hundred", "thousand", *_MONTHS, "oh", "-")
"""All symbols of all languages; the index of a symbol is its id."""

_IDS = {symbol: id_ for id_, symbol in enumerate(SYMBOLS)}


@dataclass(frozen=True, slots=True)
class Languages:
    """Two ways to write the same things, each of which can be had from the other."""

    things: str
    draw: Callable[[], int]
    words: Callable[[int], Text]
    digits: Callable[[int], Text]

    def draw_training(self, count: int) -> list[int]:
        """So many things, none of them held out."""
        return list(islice(filterfalse(is_held_out, iter(self.draw, None)), count))

    def draw_tests(self, count: int) -> list[int]:
        """So many different things, all of them held out."""
        drawn: dict[int, None] = {}
        while len(drawn) < count:
            if is_held_out(thing := self.draw()):
                drawn[thing] = None
        return list(drawn)


def numbers(digits: int) -> Languages:
    """Numbers of 1 to so many digits, every count of digits as often as the others."""

    def draw() -> int:
        length = int(torch.randint(1, digits + 1, ()))
        return int(torch.randint(10 ** (length - 1) if length > 1 else 0, 10**length, ()))

    return Languages("numbers", draw, in_words, lambda number: tuple(str(number)))


def dates() -> Languages:
    """Days of three centuries; in digits as ISO 8601 has them."""
    return Languages(
        "dates",
        lambda: int(torch.randint(_FIRST_DAY, _LAST_DAY + 1, ())),
        lambda day: date_in_words(date.fromordinal(day)),
        lambda day: tuple(date.fromordinal(day).isoformat()),
    )


def is_held_out(number: int) -> bool:
    """A fifth of all numbers, spread without a rule that shows in their digits.

    Never 0, the only number that is written with the symbol "zero".
    """
    return number > 0 and number * 7919 % 10_007 % 5 == 0


def in_words(number: int) -> Text:
    """The words of a number below a million."""
    thousands, rest = divmod(number, 1000)
    words = (*_below_thousand(thousands), "thousand") if thousands else ()
    return (*words, *_below_thousand(rest)) or ("zero",)


def date_in_words(day: date) -> Text:
    """Month, day and year, as one says them; years from 1000 to 9999."""
    return (_MONTHS[day.month - 1], *in_words(day.day), *_year_in_words(day.year))


def ids_of(texts: Sequence[Text]) -> Labels:
    """Ids of the symbols, padded with ``PADDING`` to the longest text."""
    return torch.from_numpy(padded([[_IDS[symbol] for symbol in text] for text in texts]))


def _below_thousand(number: int) -> Text:
    hundreds, rest = divmod(number, 100)
    words = (_SMALL[hundreds - 1], "hundred") if hundreds else ()
    return (*words, *_below_hundred(rest))


def _below_hundred(number: int) -> Text:
    if number < 20:
        return _SMALL[number - 1 : number] if number else ()
    tens, ones = divmod(number, 10)
    return (_TENS[tens - 2], *_below_hundred(ones))


def _year_in_words(year: int) -> Text:
    century, rest = divmod(year, 100)
    if century % 10 == 0 and rest < 10:  # two thousand five, but nineteen oh five
        return in_words(year)
    if rest == 0:
        return (*_below_hundred(century), "hundred")
    return (*_below_hundred(century), *(("oh",) if rest < 10 else ()), *_below_hundred(rest))
