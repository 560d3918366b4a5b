"""Short words of tables in another order."""

from collections.abc import Sequence

import pytest

from vit_str.pages.page import Word
from vit_str.reading.checking.matching import match_words
from vit_str.reading.checking.places import PageWord

ROWS = [
    ["bolt", "12", "V", "3.5"],
    ["screw", "45", "W", "71"],
    ["washer", "78", "A", "940"],
    ["rivet", "30", "DC", "62%"],
    ["hinge", "91", "Hz", "8/9"],
    ["bracket", "56", "kg", "2k"],
    ["spring", "24", "mm", "M5"],
    ["clamp", "67", "Pa", "0"],
]


def printed(text: str, left: float, row: int) -> PageWord:
    top = 40 * row
    corners = ((left, top), (left + 80, top), (left + 80, top + 20), (left, top + 20))
    return PageWord(Word(text, 1.0, corners), 1, 1.0, (9.0, 9.0), row)


ALIKE = [
    ["month", "2024", "2025", "more"],
    ["January", "141", "142", "1"],
    ["February", "142", "144", "2"],
    ["March", "151", "141", "10"],
    ["April", "144", "151", "7"],
]
"""Numbers of which each stands twice, or is like others."""


def page_of(rows: list[list[str]]) -> list[PageWord]:
    """The words of a table."""
    cells = [
        (row, *cell) for row, words in enumerate(rows) for cell in enumerate(words)
    ]
    return [printed(word, 300 * column, row) for row, column, word in cells]


PAGE = page_of(ROWS)


def partners(text: list[list[str]], page: Sequence[PageWord] = PAGE) -> list[str]:
    """What is printed where words of a text belong, a list of words in a line."""
    words = [word for line in text for word in line]
    begin_lines = [not place for line in text for place in range(len(line))]
    groups = match_words(words, page, begin_lines)
    found = {group.text[0]: page[group.page[0]].word.text for group in groups}
    return [found.get(place, "") for place in range(len(words))]


def test_cells_are_found_down_columns():
    columns = [list(column) for column in zip(*ROWS, strict=True)]
    assert partners(columns) == [word for column in columns for word in column]


@pytest.mark.parametrize("order", [(0, 2, 1, 3), (3, 0, 2, 1)])
def test_cells_are_found_whatever_the_order_of_columns(order):
    """Also where alignment has put the last cell of a row in place of the first of the next."""
    moved = [[row[column] for column in order] for row in ROWS]
    assert partners(moved) == [word for row in moved for word in row]


def test_a_short_word_elsewhere_on_the_page_is_not_taken():
    """The text lacks the cell that has it, in another row and column."""
    text = [["bolt", "12", "V", "3.5", "30"], *ROWS[1:3], ["rivet", "DC", "62%"]]
    assert partners(text)[4] == ""


@pytest.mark.parametrize(
    "order", [(0, 2, 1, 3), (1, 0, 3, 2), (1, 3, 0, 2), (2, 1, 3, 0), (3, 2, 0, 1)]
)
def test_a_cell_is_not_taken_for_a_number_that_is_like_it(order):
    moved = [[row[column] for column in order] for row in ALIKE]
    assert partners(moved, page_of(ALIKE)) == [word for row in moved for word in row]


def test_a_digit_that_was_changed_stays_in_its_place():
    """Also where the last row has the number, and the text lacks it there."""
    page = page_of([*ALIKE, ["total", "590", "585", "20"]])
    text = [
        *ALIKE[:2],
        ["February", "590", "144", "2"],
        *ALIKE[3:],
        ["total", "585", "20"],
    ]
    assert partners(text, page)[9] == "142"
