from datetime import date, timedelta

import pytest

from vit_str.charset import PADDING
from studies.spoken import (
    LIMIT,
    WORDS,
    date_in_digits,
    date_in_words,
    ids_of,
    in_digits,
    in_words,
)

VALUES = {
    **{word: number for number, word in enumerate(WORDS[10:30])},
    **{word: 10 * number for number, word in enumerate(WORDS[30:38], 2)},
}


def value(words: tuple[str, ...]) -> int:
    """What words say, read as people read them: the other way round than they were made."""
    total = part = 0
    for word in words:
        if word == "hundred":
            part *= 100
        elif word == "thousand":
            total, part = part * 1000, 0
        else:
            part += VALUES[word]
    return total + part


def test_words_say_the_number() -> None:
    numbers = [*range(2000), *range(2000, LIMIT, 997), LIMIT - 1]
    assert [value(in_words(number)) for number in numbers] == numbers
    assert len({in_words(number) for number in numbers}) == len(numbers)
    assert max(len(in_words(number)) for number in numbers) == 9


def test_examples() -> None:
    assert " ".join(in_words(407_012)) == "four hundred seven thousand twelve"
    assert in_words(0) == ("zero",)
    assert in_digits(407) == ("4", "0", "7")
    for number in (-1, LIMIT):
        with pytest.raises(ValueError, match="words for 0 to 999999"):
            in_words(number)


@pytest.mark.parametrize(
    ("day", "words"),
    [
        (date(1984, 3, 23), "march twenty three nineteen eighty four"),
        (date(1905, 1, 1), "january one nineteen oh five"),
        (date(1900, 12, 20), "december twenty nineteen hundred"),
        (date(2000, 6, 10), "june ten two thousand"),
        (date(2005, 5, 5), "may five two thousand five"),
        (date(2022, 5, 20), "may twenty twenty twenty two"),
    ],
)
def test_dates(day: date, words: str) -> None:
    assert " ".join(date_in_words(day)) == words
    assert "".join(date_in_digits(day)) == day.isoformat()


def test_no_two_days_sound_alike() -> None:
    days = [date(1800, 1, 1) + timedelta(number) for number in range(109_572)]
    assert days[-1].year == 2099
    assert len({date_in_words(day) for day in days}) == len(days)
    assert max(len(date_in_words(day)) for day in days) == 6


def test_ids_are_padded() -> None:
    ids = ids_of([in_digits(12), in_words(0)])
    assert ids.tolist() == [[1, 2], [WORDS.index("zero"), PADDING]]
    assert len(set(WORDS)) == len(WORDS)
