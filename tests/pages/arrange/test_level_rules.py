"""Tables that have level rules only."""

import pytest

from vit_str.pages.arrange.grids import grids
from vit_str.pages.arrange.structure import parts_of
from vit_str.pages.arrange.tables import Table
from vit_str.pages.page import Page, Rule, Word

HEIGHT, LETTER, SPACE = 10.0, 6.0, 4.0
HEAD = [("Line", 10, 108), ("Late", 140, 108), ("Main cause", 200, 108)]
FIRST = [
    ("1 Harbour", 10, 128), ("12%", 146, 128), ("Traffic at the big roundabout", 200, 128),
    ("before nine", 200, 140),
]  # fmt: skip
SECOND = [("2 West coast", 10, 152), ("7%", 152, 152), ("Coins", 200, 152)]
TOTAL = [("Total", 10, 176), ("19%", 146, 176)]


def words(text: str, left: float, top: float) -> list[Word]:
    """Words beside each other, from a place on."""
    found = []
    for each in text.split():
        right = left + LETTER * len(each)
        corners = (
            (left, top),
            (right, top),
            (right, top + HEIGHT),
            (left, top + HEIGHT),
        )
        found.append(Word(each, 1.0, corners))
        left = right + SPACE
    return found


def level(*heights: float, left: float = 8, right: float = 400) -> tuple[Rule, ...]:
    """Level rules."""
    return tuple(((left, height), (right, height)) for height in heights)


def table(rules: tuple[Rule, ...], *cells: tuple[str, float, float]) -> list[list[str]]:
    """The cells of the only table that rules make of texts."""
    inside = [word for cell in cells for word in words(*cell)]
    (grid,) = grids(rules, 800, [word.box for word in inside])
    rows = grid.table(inside).rows
    return [[" ".join(word.text for word in cell) for cell in row] for row in rows]


def test_lines_between_rules_are_rows_but_those_that_go_on_with_a_cell():
    assert table(level(100, 122, 168), *HEAD, *FIRST, *SECOND) == [
        ["Line", "Late", "Main cause"],
        ["1 Harbour", "12%", "Traffic at the big roundabout before nine"],
        ["2 West coast", "7%", "Coins"],
    ]


def test_a_rule_above_the_sum_parts_it_from_the_rows():
    found = table(level(100, 122, 168, 190), *HEAD, *FIRST, *SECOND, *TOTAL)
    assert found[1:] == [
        ["1 Harbour", "12%", "Traffic at the big roundabout before nine"],
        ["2 West coast", "7%", "Coins"],
        ["Total", "19%", ""],
    ]


def test_where_all_rows_have_rules_a_row_is_what_is_between_two():
    # The line had room for more
    free = ("Ask Ms Ilse", 200, 128), ("or the desk", 200, 140)
    found = table(
        level(100, 122, 151, 168, 190), *HEAD, *FIRST[:2], *free, *SECOND, *TOTAL
    )
    assert found[1] == ["1 Harbour", "12%", "Ask Ms Ilse or the desk"]


def test_a_frame_around_level_rules_changes_nothing():
    upright = tuple(((x, 100.0), (x, 168.0)) for x in (8.0, 400.0))
    rules = level(100, 122, 146, 168)
    cells = *HEAD, *FIRST[:3], *SECOND
    assert table(rules + upright, *cells) == table(rules, *cells)
    assert len(table(rules, *cells)[0]) == 3


def test_text_between_two_tables_is_in_none_of_them():
    cells = *HEAD, *FIRST, *SECOND
    below = [(text, left, top + 200) for text, left, top in cells]
    between = [("Buses that did not run at all are not in this table at all.", 10, 220)]
    inside = [word for cell in [*cells, *below, *between] for word in words(*cell)]
    rules = level(100, 122, 168, 300, 322, 368)
    found = grids(rules, 800, [word.box for word in inside])
    assert [grid.rows[0] for grid in found] == [100, 300]
    assert [grid.rows[-1] for grid in found] == [168, 368]


def test_rules_above_and_below_columns_of_text_make_no_table():
    lines = [
        (text, left, 130 + 14.0 * number)
        for number in range(8)
        for text, left in (
            ("The road ran along the bank", 10),
            ("for a mile or a bit more", 220),
        )
    ]
    inside = [
        word
        for cell in [*lines, ("Ways", 10, 108), ("1788", 350, 108)]
        for word in words(*cell)
    ]
    assert grids(level(100, 122, 250), 800, [word.box for word in inside]) == []


@pytest.mark.parametrize(
    "rules", [level(100, 168), level(100, 122), level(100, 122, right=200)]
)
def test_fewer_rules_say_nothing(rules):
    inside = [word for cell in (*HEAD, *FIRST, *SECOND) for word in words(*cell)]
    assert grids(rules, 800, [word.box for word in inside]) == []


def test_pages_have_such_tables():
    lines = [tuple(words(*cell)) for cell in (*HEAD, *FIRST, *SECOND)]
    rows = [
        tuple(word for line in lines for word in line if word.box.top == top)
        for top in (108, 128, 140, 152)
    ]
    page = Page(500, 800, (tuple(rows),), rules=level(100, 122, 168))
    ((found,),) = parts_of([page])
    assert isinstance(found, Table)
    assert len(found.rows) == 3
