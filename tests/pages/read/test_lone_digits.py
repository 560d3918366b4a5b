"""Single signs in cells, which the numbers of their column and row vouch for."""

import pytest

from vit_str.decoding.boxes import Box
from vit_str.decoding.readings import Character, Reading
from vit_str.pages.find.geometry import rectangle
from vit_str.pages.read.lines import Line
from vit_str.pages.read.lone_digits import with_lone_digits


def cell(text, column, row, confidence=0.99, quarters=0):
    """A cell of a table, columns 100 pixels apart and rows 30."""
    left, top = 100 * column, 30 * row
    if quarters % 2:
        left, top = top, left
    box = Box(0, 0, 20, 20)
    characters = tuple(Character(letter, confidence, box) for letter in text)
    reading = Reading(text, confidence, characters)
    around = rectangle(left, top, left + 20, top + 20)
    return Line(around, quarters, ((None, reading),), None, reading)


def read(*cells):
    """The text of the last cell among others, and its confidence."""
    reading = with_lone_digits(cells)[-1].readings[0]
    assert "".join(each.character for each in reading.characters) == reading.text
    return reading.text, reading.confidence


NUMBERS = [cell(text, 1, row) for row, text in enumerate(("12", "3", "8.50", "7"))]
WORDS = [cell(text, 1, row) for row, text in enumerate(("IV", "II", "III", "X"))]


@pytest.mark.parametrize(
    ("sign", "digit"), [("O", "0"), ("○", "0"), ("o", "0"), ("l", "1"), ("I", "1")]
)
@pytest.mark.parametrize("quarters", [0, 1])
def test_letters_in_a_column_of_numbers_are_digits(sign, digit, quarters):
    numbers = [
        cell(line.whole.text, 1, row, quarters=quarters)
        for row, line in enumerate(NUMBERS)
    ]
    text, confidence = read(*numbers, cell(sign, 1, 4, quarters=quarters))
    assert text == digit
    assert 0.5 < confidence < 0.9, "a doubt is left"


def test_a_doubtful_digit_is_as_sure_as_its_column_makes_it():
    text, confidence = read(*NUMBERS, cell("0", 1, 4, confidence=0.75))
    assert text == "0"
    assert confidence > 0.9
    assert read(*WORDS, cell("0", 1, 4, confidence=0.75)) == ("0", 0.75)


@pytest.mark.parametrize("others", [WORDS, NUMBERS[:1], []])
def test_letters_stay_beside_words_and_single_numbers(others):
    assert read(*others, cell("I", 1, 4)) == ("I", 0.99)


def test_numbers_of_the_row_count_half():
    row = [cell("5", 2, 4), cell("12.50", 3, 4)]
    assert read(*NUMBERS[:2], *row, cell("l", 1, 4))[0] == "1"
    assert read(*row, cell("l", 1, 4))[0] == "l"


def test_longer_words_and_surer_digits_stay():
    assert read(*NUMBERS, cell("Il", 1, 4)) == ("Il", 0.99)
    assert read(*NUMBERS, cell("7", 1, 4, confidence=0.999))[1] >= 0.999
