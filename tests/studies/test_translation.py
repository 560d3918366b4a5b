from datetime import date, timedelta

import pytest

from studies import translation
from studies.training import seeded
from studies.translation import SYMBOLS, date_in_words, dates, ids_of, in_words, numbers
from vit_str.characters.charset import PADDING

VALUES = {
    **{word: number for number, word in enumerate(SYMBOLS[10:30])},
    **{word: 10 * number for number, word in enumerate(SYMBOLS[30:38], 2)},
}


def value(words: tuple[str, ...]) -> int:
    """What words say, read as people read them: the other way round than they were made."""
    total = part = 0
    for word in words:
        if word == "hundred":
            part *= 100
        elif word == "thousand":
            total = part * 1000
            part = 0
        else:
            part += VALUES[word]
    return total + part


def test_words_say_the_number():
    numbers = [*range(2000), *range(2000, 1_000_000, 997), 999_999]
    assert [value(in_words(number)) for number in numbers] == numbers
    assert len({in_words(number) for number in numbers}) == len(numbers)
    assert max(len(in_words(number)) for number in numbers) == 9


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
def test_dates(day, words):
    assert " ".join(date_in_words(day)) == words
    assert "".join(dates().digits(day.toordinal())) == day.isoformat()


def test_no_two_days_sound_alike():
    days = [date(1800, 1, 1) + timedelta(number) for number in range(109_572)]
    assert days[-1].year == 2099
    assert len({date_in_words(day) for day in days}) == len(days)
    assert max(len(date_in_words(day)) for day in days) == 6


def test_ids_are_padded():
    ids = ids_of([numbers(2).digits(12), in_words(0)])
    assert ids.tolist() == [[1, 2], [SYMBOLS.index("zero"), PADDING]]
    assert len(set(SYMBOLS)) == len(SYMBOLS)


def test_a_fifth_of_the_numbers_is_held_out_but_not_zero():
    share = sum(map(translation.is_held_out, range(10_000))) / 10_000
    assert share == pytest.approx(0.2, abs=0.005)
    with seeded(0):
        tests = numbers(3).draw_tests(100)
        training = numbers(3).draw_training(2000)
    assert len(set(tests)) == 100
    assert not set(tests) & set(training)
    assert {len(str(number)) for number in tests} == {1, 2, 3}
    assert 0 in training  # no other number has its word
