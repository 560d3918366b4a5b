"""Numbers that a text has in each other's row."""

import pytest

from vit_str.pages.page import Word
from vit_str.reading.checking.alignment import align
from vit_str.reading.checking.exchanges import with_exchanges
from vit_str.reading.checking.places import PageWord

NAMES = ["apples", "pears", "plums"]
AMOUNTS = ["5,00", "6,00", "7,00"]


def printed(text: str, left: float, row: int, slope: float = 0.0) -> PageWord:
    top = 40 * row + slope * left
    polygon = (
        (left, top),
        (left + 80, top + 80 * slope),
        (left + 80, top + 20 + 80 * slope),
        (left, top + 20),
    )
    return PageWord(Word(text, 1.0, polygon), 1, 1.0, (9.0, 9.0), 0)


@pytest.fixture(params=[0.0, 0.1])
def columns(request) -> list[PageWord]:
    """A table that was read column by column; it may be tilted."""
    words = [printed(name, 0, n, request.param) for n, name in enumerate(NAMES)]
    return words + [
        printed(amount, 300, n, request.param) for n, amount in enumerate(AMOUNTS)
    ]


def partners(text: str, page: list[PageWord]) -> list[str]:
    words = text.split()
    lines = list(range(len(page)))
    groups = align(words, [each.word.text for each in page], lines)
    groups = with_exchanges(groups, words, page)
    return [page[group.page[0]].word.text for group in groups]


def test_amounts_stand_for_what_is_in_their_row(columns):
    text = "apples 6,00 pears 5,00 plums 7,00"
    assert partners(text, columns) == [
        "apples",
        "5,00",
        "pears",
        "6,00",
        "plums",
        "7,00",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "apples 5,00 pears 6,00 plums 7,00",
        "apples pears plums 5,00 6,00 7,00",
        "plums 7,00 apples 5,00 pears 6,00",
    ],
)
def test_rows_and_columns_may_come_in_any_order(columns, text):
    assert partners(text, columns) == text.split()


def test_numbers_of_a_row_keep_their_order(columns):
    (x, y), *_ = columns[3].word.polygon
    slope = y / x
    second = [
        printed(amount, 500, n, slope)
        for n, amount in enumerate(["1.1.2001", "2.2.2002", "3.3.2003"])
    ]
    text = "apples 1.1.2001 5,00 pears 6,00 2.2.2002 plums 7,00 3.3.2003"
    right = "apples 5,00 1.1.2001 pears 6,00 2.2.2002 plums 7,00 3.3.2003"
    assert partners(text, columns + second) == right.split()
