"""Which way text runs, by what is read each way."""

import numpy as np
import pytest

from vit_str.pages.find.geometry import rectangle
from vit_str.pages.read.directions import Directions

LINE = rectangle(0, 0, 300, 30)
DIGIT = rectangle(0, 0, 15, 24)
SQUARE = rectangle(0, 0, 40, 40)
COLUMN = rectangle(0, 0, 30, 300)


def told(*lines, **readings):
    """Directions of lines, and the length and probability of what was read, as `qline_quarters`."""
    directions = Directions(lines)
    for name, (length, probability) in readings.items():
        line, quarters = map(int, name.strip("q").split("_"))
        directions.add(line, quarters, length, probability)
    return directions


def test_a_line_is_first_read_along_its_page_and_columns_both_ways():
    directions = Directions([LINE, DIGIT, COLUMN])
    assert [directions.asked_of_line(n, 0) for n in range(3)] == [0, 0, 1]
    assert [directions.asked_of_line(n, 2) for n in range(2)] == [2, 2]
    directions.add(2, 1, 20, 0.5)
    assert directions.asked_of_line(2, 0) == 3


def test_what_is_read_surely_is_not_read_again():
    directions = told(LINE, DIGIT, q0_0=(30, 0.1), q1_0=(1, 0.9))
    assert directions.asked_of_line(0, 0) is None
    assert directions.asked_of_line(1, 0) is None
    assert directions.asked_of_page([0, 1], 0) is None


def test_a_lone_digit_is_upright_unless_its_side_is_much_surer():
    assert told(DIGIT, q0_0=(1, 0.62), q0_1=(1, 0.94)).line(0, 0) == 0
    assert told(DIGIT, q0_0=(1, 0.05), q0_1=(2, 0.99)).line(0, 0) == 1


@pytest.mark.parametrize(("upright", "upside_down"), [(0.9, 1.0), (0.05, 1.0)])
def test_what_can_be_read_both_ways_is_upright(upright, upside_down):
    directions = told(SQUARE, q0_0=(2, upright), q0_2=(2, upside_down))
    assert directions.page([0]) == 0
    assert directions.line(0, 0) == 0


def test_longer_texts_tell_more():
    upright = {"q0_0": (30, 1e-9), "q1_0": (30, 1e-9), "q2_0": (2, 0.9)}
    upside_down = {"q0_2": (30, 0.5), "q1_2": (30, 0.5), "q2_2": (2, 0.2)}
    directions = told(LINE, LINE, SQUARE, **upright, **upside_down)
    assert directions.page(range(3)) == 2
    assert directions.line(2, 2) == 2


def test_one_line_against_many_is_turned_by_itself():
    lines = [LINE] * 4
    readings = {f"q{n}_0": (20, 0.8) for n in range(3)}
    readings |= {f"q{n}_2": (20, 1e-6) for n in range(3)}
    directions = told(*lines, **readings, q3_0=(20, 1e-6), q3_2=(20, 0.9))
    assert directions.page(range(4)) == 0
    assert [directions.line(n, 0) for n in range(4)] == [0, 0, 0, 2]
    assert directions.disagree(range(4), 0)
    assert not directions.disagree(range(3), 0)


def test_doubts_of_the_page_ask_for_the_most_telling_line_the_other_way():
    directions = told(LINE, LINE, q0_0=(20, 0.02), q1_0=(20, 0.02))
    assert directions.asked_of_line(0, 0) is None
    assert directions.asked_of_page([1, 0], 0) == (1, 2)
    directions.add(1, 2, 20, 1e-9)
    assert directions.asked_of_page([1, 0], 0) is None


def test_bars_without_text_do_not_turn_a_page():
    bars = [rectangle(0, 0, 30, 150)] * 6
    directions = told(*bars, SQUARE, q6_0=(2, 0.98), q6_1=(2, 0.3), q6_3=(2, 0.3))
    for bar in range(6):
        directions.add(bar, 1, 0, 0.0)
        directions.add(bar, 3, 0, 0.0)
    assert directions.first_page() in (1, 3), "by their shapes"
    assert directions.page(range(7)) == 0


def test_without_lines_a_page_is_upright():
    directions = Directions([])
    assert directions.first_page() == directions.page([]) == 0
    assert directions.asked_of_page([], 0) is None


def test_a_line_runs_as_others_that_are_turned():
    end = rectangle(0, 0, 22, 39)
    readings = {"q0_0": (1, 0.6), "q0_1": (3, 0.12), "q0_3": (4, 0.285)}
    readings |= {"q1_1": (9, 1e-4), "q1_3": (9, 0.99)}
    directions = told(end, COLUMN, **readings)
    assert directions.line(0, 0) == 0
    assert directions.expect_more([0, 1], 0)
    assert directions.line(0, 0) == 3


def test_more_lines_upside_down_are_looked_for_where_there_is_one():
    directions = told(LINE, LINE, q0_0=(19, 0.04), q1_0=(17, 1e-9), q1_2=(17, 0.99))
    assert directions.asked_of_line(0, 0) is None
    assert directions.expect_more([0, 1], 0)
    assert directions.asked_of_line(0, 0) == 2


def test_several_lines_that_are_a_little_surer_upside_down_convince_each_other():
    rows = [LINE + 60 * n * np.array([0, 1]) for n in range(4)]
    readings = {f"q{n}_0": (18, 0.15) for n in range(4)}
    readings |= {f"q{n}_2": (18, 0.99) for n in range(4)}
    far = [LINE + np.array([2000, 60 * n]) for n in range(4)]
    readings |= {f"q{n}_0": (18, 0.99) for n in range(4, 8)}
    directions = told(*rows, *far, **readings)
    assert [directions.line(n, 0) for n in range(8)] == [0] * 8
    assert directions.expect_more(range(8), 0)
    assert [directions.line(n, 0) for n in range(8)] == [2] * 4 + [0] * 4


def test_lines_along_their_page_change_no_expectation():
    directions = told(LINE, DIGIT, q0_0=(30, 0.9), q1_0=(1, 0.9))
    assert not directions.expect_more([0, 1], 0)
