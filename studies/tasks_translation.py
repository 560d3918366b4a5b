"""What is translated: numbers and dates, some of which are held out of training."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date

import torch

from studies.spoken import date_in_digits, date_in_words, in_digits, in_words

Text = tuple[str, ...]

_FIRST_DAY, _LAST_DAY = date(1800, 1, 1).toordinal(), date(2099, 12, 31).toordinal()


@dataclass(frozen=True, slots=True)
class Languages:
    """Two ways to write the same things, each of which can be had from the other.

    Attributes:
        things: what is written, in the plural.
        draw: one of them, by torch's generator.
        words: it in words.
        digits: it in digits.
    """

    things: str
    draw: Callable[[], int]
    words: Callable[[int], Text]
    digits: Callable[[int], Text]

    @property
    def directions(self) -> tuple[str, str]:
        """From words to digits, and back."""
        return f"{self.things}, words to digits", f"{self.things}, digits to words"


def numbers(digits: int) -> Languages:
    """Numbers of 1 to so many digits, every count of digits as often as the others."""

    def draw() -> int:
        length = int(torch.randint(1, digits + 1, ()))
        return int(torch.randint(10 ** (length - 1) if length > 1 else 0, 10**length, ()))

    return Languages("numbers", draw, in_words, in_digits)


def dates() -> Languages:
    """Days of three centuries."""

    def draw() -> int:
        return int(torch.randint(_FIRST_DAY, _LAST_DAY + 1, ()))

    return Languages(
        "dates",
        draw,
        lambda day: date_in_words(date.fromordinal(day)),
        lambda day: date_in_digits(date.fromordinal(day)),
    )


def is_held_out(number: int) -> bool:
    """A fifth of all numbers, spread without a rule that shows in their digits."""
    return number * 7919 % 10_007 % 5 == 0


def draw_many(count: int, spoken: Languages, held_out: bool) -> list[int]:
    """So many things to write, all of them held out of training or none."""
    found: list[int] = []
    while len(found) < count:
        drawn = spoken.draw()
        if is_held_out(drawn) == held_out:
            found.append(drawn)
    return found
