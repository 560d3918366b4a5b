"""Reading order of boxes."""

import numpy as np
import pytest

from vit_str.pages.arrange.layout import reading_order
from vit_str.pages.find.geometry import leveled, rectangle


def _box(left: float, top: float, width: float, height: float = 10) -> np.ndarray:
    return np.array([left, top, left + width, top + height], float)


@pytest.mark.parametrize("degrees", [0, 5, -5])
def test_a_short_last_column_is_read_after_the_first(degrees):
    """With headings over and between the columns, and gaps of paragraphs in the first."""
    rows = [0, 1, 2, 4, 5, 6, 8, 9, 10, 11, 12]
    left = [_box(0, 40 + 14 * row, 100) for row in rows]
    right = [_box(130, 40 + 14 * row, 100) for row in rows[:3]]
    across = [_box(20, 0, 190), _box(60, 40 + 14 * 13.5, 120)]
    low = 40 + 14 * 15
    below = [
        _box(x, low + 14 * row, 100)
        for x, count in ((0, 4), (130, 2))
        for row in range(count)
    ]
    expected = [across[0], *left, *right, across[1], *below]
    turn = np.deg2rad(degrees)
    matrix = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    order = np.random.default_rng(0).permutation(len(expected))
    turned = leveled([rectangle(*expected[index]) @ matrix for index in order])
    boxes = [np.concatenate([corners.min(0), corners.max(0)]) for corners in turned]
    read = [
        order[index] for block in reading_order(boxes) for row in block for index in row
    ]
    assert read == list(range(len(expected)))


def test_a_name_above_one_of_two_columns_comes_before_both():
    columns = [_box(left, 40 + 14 * row, 100) for left in (0, 120) for row in range(3)]
    name = _box(160, 20, 60)
    assert reading_order([*columns, name])[0] == [[6]]
    title = _box(0, 2, 95)
    assert reading_order([*columns, name, title])[:2] == [[[7]], [[6]]]


def test_a_row_of_three_below_a_title_comes_before_three_columns():
    """However the tilt of a page has moved its parts."""
    columns = [
        _box(left, 60 + 14 * row, 100) for left in (0, 120, 240) for row in range(6)
    ]
    title = _box(0, 0, 200, 20)
    row = [_box(0, 26, 80), _box(150, 25, 40), _box(310, 24, 30)]
    read = reading_order([*columns, title, *row])
    assert read[0] == [[18]]
    assert [[19, 20, 21]] in read[1:2]
    assert [len(block) for block in read[2:]] == [6, 6, 6]


def test_the_heading_of_a_box_below_columns_stays_with_the_box():
    columns = [_box(left, 14 * row, 100) for left in (0, 120) for row in range(8)]
    heading = _box(5, 130, 40)
    lines = [_box(5, 148, 200), _box(5, 162, 190)]
    read = reading_order([*columns, heading, *lines])
    order = [index for block in read for row in block for index in row]
    assert order == list(range(19))


def test_a_box_below_three_columns_may_reach_the_second_only():
    starts = (0, 120, 240)
    columns = [_box(left, 14 * row, 100) for left in starts for row in range(8)]
    heading = _box(5, 130, 40)
    lines = [_box(5, 148, 212), _box(5, 162, 190), _box(5, 176, 170)]
    read = reading_order([*columns, heading, *lines])
    assert [index for block in read for row in block for index in row] == [*range(28)]


def test_a_heading_across_two_of_three_columns_is_read_before_these_two():
    """The third one goes on beside it."""
    rows = [row for row in range(12) if row != 5]
    two = [[_box(left, 14 * row, 100) for row in rows] for left in (0, 120)]
    heading = _box(0, 70, 215)
    third = [_box(240, 14 * row, 100) for row in range(12)]
    first_half = [*two[0][:5], *two[1][:5]]
    second_half = [*two[0][5:], *two[1][5:]]
    read = reading_order([*first_half, heading, *second_half, *third])
    assert [index for block in read for row in block for index in row] == [*range(35)]


ADDRESS = [(0, row, width) for row, width in enumerate((30, 70, 55, 50))]


@pytest.mark.parametrize(
    ("left", "pitch", "above", "blocks"),
    [(200, 13, 1, [4, 4]), (200, 17, 1, [1]), (110, 13, 1, [1]), (200, 13, 3, [1])],
)
def test_addresses_beside_each_other_are_read_one_after_the_other(
    left, pitch, above, blocks
):
    """A table at this place has more white between rows, less between columns, or a title."""
    first = [_box(x, 60 + pitch * row, width) for x, row, width in ADDRESS]
    second = [_box(x + left, 60 + pitch * row, width) for x, row, width in ADDRESS]
    titles = [_box(0, 14 * row, 150) for row in range(above)]
    below = [_box(0, 160 + 14 * row, 300) for row in range(3)]
    read = reading_order([*titles, *first, *second, *below])
    if blocks == [1]:
        assert all(len(row) == 2 for block in read for row in block if above in row)
    else:
        assert [above, above + 1, above + 2, above + 3] in [
            [index for row in block for index in row] for block in read
        ]


def test_a_name_at_the_right_comes_before_columns_of_which_one_begins_with_a_heading():
    """The heading has white above it, so that its column begins farther below."""
    left = [_box(0, 52 + 14 * row, 100) for row in range(3)]
    right = [_box(120, 40 + 14 * row, 100) for row in range(4)]
    assert reading_order([*left, *right, _box(160, 20, 60)])[0] == [[7]]


def test_a_name_at_the_right_may_be_near_to_the_column_below_it():
    """Authors below a title: half a line of white is what paragraphs leave, they leave less."""
    left = [_box(0, 52 + 14 * row, 100) for row in range(3)]
    right = [_box(120, 40 + 14 * row, 100) for row in range(4)]
    name = _box(160, 26, 60)
    assert reading_order([*left, *right, name])[0] == [[7]]
    at_the_left = _box(120, 26, 60)
    assert reading_order([*left, *right, at_the_left])[0] != [[7]]


def test_a_letter_with_an_address_and_a_signature_has_no_columns():
    """What is at its right is beside little of what is at its left."""
    sender = [_box(300, 14 * row, 100) for row in range(3)]
    address = [_box(0, 60 + 14 * row, 100) for row in range(5)]
    text = [_box(0, 160 + 14 * row, 400) for row in range(6)]
    names = [_box(0, 260 + 14 * row, 100) for row in range(4)]
    prices = [_box(370, 260 + 14 * row, 30) for row in range(4)]
    signed = [_box(x, 340 + 14 * row, 100) for row in range(2) for x in (0, 300)]
    found = reading_order([*sender, *address, *text, *names, *prices, *signed])
    assert [row for block in found for row in block] == [
        *([line] for line in range(14)),
        *([14 + row, 18 + row] for row in range(4)),
        *([22], [24], [23], [25]),
    ]


def test_lines_of_columns_may_be_half_a_line_apart():
    """Boxes of born-digital files are as low as their letters."""
    left = [_box(0, 18 * row, 100) for row in range(6)]
    right = [_box(120, 9 + 18 * row, 100) for row in range(6)]
    found = reading_order([*left, *right])
    assert [row for block in found for row in block] == [[line] for line in range(12)]


@pytest.mark.parametrize("top", [26, 12])
def test_a_column_beside_a_picture_or_a_heading_keeps_its_first_line(top):
    """White is below the line or none, and then one column begins farther below."""
    left = [_box(0, 26 + 14 * row + (40 - top), 100) for row in range(3)]
    right = [_box(120, 40 + 14 * row, 100) for row in range(3)]
    read = [
        index
        for block in reading_order([*left, *right, _box(120, top, 60)])
        for index in block
    ]
    assert read[:3] == [[0], [1], [2]]


def test_names_and_prices_of_a_receipt_share_rows():
    names = [_box(0, 14 * row, 90) for row in range(4)]
    prices = [_box(160, 14 * row + 1, 30) for row in range(4)]
    assert reading_order(names + prices) == [[[0, 4], [1, 5], [2, 6], [3, 7]]]


def test_what_lies_above_each_other_is_no_row():
    names = [_box(0, 14 * row, 90, 26) for row in range(3)]
    prices = [_box(160, 14 * row - 5, 30, 26) for row in range(3)]
    assert reading_order(names + prices) == [[[0, 3], [1, 4], [2, 5]]]


def test_signs_far_from_each_other_are_blocks():
    assert reading_order([_box(0, 100, 40), _box(0, 0, 40)]) == [[[1]], [[0]]]


def test_nothing_gives_nothing():
    assert reading_order([]) == []
