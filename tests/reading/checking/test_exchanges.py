"""Numbers that a text has in each other's row."""

from dataclasses import replace

import numpy as np
import pytest

from vit_str.pages.page import Word
from vit_str.reading.checking.alignment import align
from vit_str.reading.checking.exchanges import with_exchanges
from vit_str.reading.checking.places import PageWord
from vit_str.reading.checking.texts import parse_text

NAMES = ["apples", "pears", "plums", "cherries", "peaches", "lemons", "figs", "dates"]
AMOUNTS = ["5,00", "6,00", "7,00", "8,00", "9,00", "11,00", "12,00", "13,00"]
DATES = [f"{n}.{n}.200{n}" for n in range(1, 9)]


def printed(text: str, left: float, row: int, slope: float = 0.0) -> PageWord:
    top = 40 * row + slope * left
    polygon = (
        (left, top),
        (left + 80, top + 80 * slope),
        (left + 80, top + 20 + 80 * slope),
        (left, top + 20),
    )
    line = 10 * round(left) + row  # every cell is one
    return PageWord(Word(text, 1.0, polygon), 1, 1.0, (9.0, 9.0), line)


@pytest.fixture(params=[0.0, 0.1])
def columns(request) -> list[PageWord]:
    """A table that was read column by column; it may be tilted."""
    words = [printed(name, 0, n, request.param) for n, name in enumerate(NAMES)]
    return words + [
        printed(amount, 300, n, request.param) for n, amount in enumerate(AMOUNTS)
    ]


def partners(text: str, page: list[PageWord]) -> list[str]:
    """What is printed where words of a text belong, a row of it in a line."""
    given = parse_text(text, "text")
    words = [word.text for word in given.words]
    lines = list(range(len(page)))
    groups = align(words, [each.word.text for each in page], lines)
    groups = with_exchanges(groups, words, page, given.begin_lines())
    found = {group.text[0]: page[group.page[0]].word.text for group in groups}
    return [found.get(place, "") for place in range(len(words))]


def rows(*columns: list[str]) -> str:
    return "\n".join(map(" ".join, zip(*columns, strict=True)))


def exchanged(words: list[str], one: int, other: int) -> list[str]:
    moved = list(words)
    moved[one], moved[other] = words[other], words[one]
    return moved


@pytest.mark.parametrize(("one", "other"), [(0, 1), (3, 4), (2, 6)])
def test_amounts_stand_for_what_is_in_their_row(columns, one, other):
    text = rows(NAMES, exchanged(AMOUNTS, one, other))
    assert partners(text, columns) == rows(NAMES, AMOUNTS).split()


def test_cells_of_words_are_exchanged_too(columns):
    goods = [f"{n} {name}-trees" for n, name in enumerate(NAMES, 30)]
    more = [
        printed(word, 500 + 100 * place, n, slope_of(columns))
        for n, cell in enumerate(goods)
        for place, word in enumerate(cell.split())
    ]
    text = rows(NAMES, AMOUNTS, exchanged(goods, 4, 5))
    assert partners(text, columns + more) == rows(NAMES, AMOUNTS, goods).split()


def test_an_amount_that_stands_for_one_nobody_has_is_found():
    """The other is too short to be looked for anywhere."""
    page = [
        printed(word, 300 * column, row)
        for row, words in enumerate(zip(NAMES, AMOUNTS, strict=True))
        for column, word in enumerate(words)
    ]
    text = rows(NAMES, exchanged(AMOUNTS, 2, 6)).replace("figs 7,00", "figs 7")
    found = dict(zip(text.split(), partners(text, page), strict=True))
    assert found["12,00"] == "7,00"
    assert found["7"] == "12,00"


@pytest.mark.parametrize(
    "text",
    [
        rows(NAMES, AMOUNTS),
        " ".join([*NAMES, *AMOUNTS]),
        "\n".join([*NAMES, *AMOUNTS]),
        rows(AMOUNTS, NAMES),
        rows([*NAMES[3:], *NAMES[:3]], [*AMOUNTS[3:], *AMOUNTS[:3]]),
    ],
)
def test_rows_and_columns_may_come_in_any_order(columns, text):
    assert partners(text, columns) == text.split()


def row_by_row(*columns: list[str]) -> list[PageWord]:
    """A table that was read row by row, each a line."""
    return [
        replace(printed(word, 300 * column + 100 * place, row), line=row)
        for row, cells in enumerate(zip(*columns, strict=True))
        for column, cell in enumerate(cells)
        for place, word in enumerate(cell.split())
    ]


@pytest.mark.parametrize(("one", "other"), [(0, 1), (3, 4), (2, 5)])
def test_columns_show_what_is_exchanged_whatever_their_order(one, other):
    """To the end of a row, and to the next, a text takes the steps of one as printed."""
    goods = [f"{n} x {name}" for n, name in enumerate(NAMES, 30)]
    text = rows(exchanged(AMOUNTS, one, other), goods)
    page = row_by_row(goods, AMOUNTS)
    assert partners(text, page) == rows(AMOUNTS, goods).split()


@pytest.mark.parametrize(("one", "other"), [(0, 1), (3, 4), (6, 7), (2, 5)])
def test_texts_that_go_down_columns_show_what_is_exchanged(one, other):
    text = "\n".join([*NAMES, *exchanged(AMOUNTS, one, other), *DATES])
    page = row_by_row(NAMES, AMOUNTS, DATES)
    assert partners(text, page) == [*NAMES, *AMOUNTS, *DATES]


def test_numbers_of_a_row_keep_their_order(columns):
    second = [printed(date, 500, n, slope_of(columns)) for n, date in enumerate(DATES)]
    right = rows(NAMES, AMOUNTS, DATES)
    text = right.replace("7,00 3.3.2003", "3.3.2003 7,00")
    assert partners(text, columns + second) == right.split()


def test_a_text_may_have_columns_in_another_order(columns):
    second = [printed(date, 500, n, slope_of(columns)) for n, date in enumerate(DATES)]
    text = rows(NAMES, DATES, AMOUNTS)
    assert partners(text, columns + second) == text.split()


def test_stretches_may_go_on_over_pages():
    """Words in random order, some of which follow each other from one page to the next."""
    random = np.random.default_rng(0)
    words = [f"{letter}{number}" for number in range(5, 15) for letter in "abcdefgh"]
    page = [
        replace(printed(word, 100 * (n % 4), n // 4), page=1 + n // 8, line=n // 4)
        for n, word in enumerate(words)
    ]
    for _ in range(20):
        stretches = np.split(np.array(words), np.sort(random.integers(1, 80, 30)))
        random.shuffle(stretches)
        text = " ".join(np.concatenate(stretches))
        found = partners(text, page)
        assert len(found) == len(words)


def slope_of(columns: list[PageWord]) -> float:
    (x, y), *_ = columns[-1].word.polygon
    return (y - 40 * (len(AMOUNTS) - 1)) / x
