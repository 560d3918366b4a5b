"""Large digits that are found one by one are a line; what is small, wide or elsewhere is left."""

import numpy as np
import pytest

from vit_str.pages.find.geometry import rectangle
from vit_str.pages.find.large_signs import with_large_signs_joined


def boxes(*sides: tuple[float, float, float, float]) -> list[tuple[float, ...]]:
    """Left, top, right and bottom of the lines that come out."""
    found = with_large_signs_joined([rectangle(*each) for each in sides])
    return sorted((*line.min(0), *line.max(0)) for line in found)


def test_digits_beside_each_other_are_a_line_whatever_was_found_of_their_height():
    number = [(351, 69, 437, 170), (101, 26, 230, 293), (220, 30, 339, 290)]
    assert boxes(*number) == [(101, 26, 437, 293)]
    other = (122, 330, 240, 520)
    assert boxes(*number, other) == [(101, 26, 437, 293), other]


@pytest.mark.parametrize(
    "beside",
    [
        (260, 26, 300, 80),  # small
        (260, 26, 900, 290),  # a line of its own
        (320, 26, 450, 290),  # too far away
        (240, 250, 370, 500),  # lower
    ],
)
def test_other_lines_stay(beside):
    sign = (101, 26, 240, 290)
    assert boxes(sign, beside) == sorted([sign, beside])


def test_lines_that_run_up_stay():
    lines = [(40 * k, 20, 40 * k + 30, 400) for k in range(5)]
    assert boxes(*lines) == sorted(lines)


def test_lines_of_a_page_stay():
    lines = [
        (300 * (k % 5), 200 * (k // 5), 300 * (k % 5) + 280, 200 * (k // 5) + 150)
        for k in range(30)
    ]
    assert boxes(*lines) == sorted(lines)


def test_nothing_is_joined_where_nothing_was_found():
    assert with_large_signs_joined([]) == []
    line = rectangle(0, 0, 50, 200)
    np.testing.assert_array_equal(with_large_signs_joined([line])[0], line)
