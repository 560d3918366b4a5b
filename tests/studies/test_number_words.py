import pytest

from vit_str.charset import PADDING
from vit_str.studies.number_words import LIMIT, WORDS, ids_of, in_digits, in_words

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


def test_ids_are_padded() -> None:
    ids = ids_of([in_digits(12), in_words(0)])
    assert ids.tolist() == [[1, 2], [WORDS.index("zero"), PADDING]]
    assert len(set(WORDS)) == len(WORDS)
