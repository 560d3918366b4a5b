"""What images tell of their script, and what lines of a page tell each other."""

import math

import pytest

from vit_str.decoding.readings import Reading
from vit_str.scripts.evidence import log_odds_of_others, probably_of_other


def test_words_of_a_line_speak_together_for_the_scripts_of_each_other_reader():
    seen = [
        Reading("x", 0.5, (), other_script=0.9, of_others=(0.8, 0.1)),
        Reading("y", 0.5, (), other_script=0.6, of_others=(0.2, 0.4)),
        Reading("z", 0.5, ()),
    ]
    first = math.log(0.8 / 0.1) + math.log(0.2 / 0.4)
    second = math.log(0.1 / 0.1) + math.log(0.4 / 0.4)
    assert log_odds_of_others(seen) == pytest.approx((first, second))
    assert log_odds_of_others(seen[2:]) == ()


def test_a_detector_is_never_certain():
    certain = Reading("x", 0.5, (), other_script=1.0, of_others=(1.0, 0.0))
    for_first, for_second = log_odds_of_others([certain])
    assert 5 < for_first < 15
    assert abs(for_second) < 15


def test_a_line_has_to_speak_louder_on_a_page_of_the_first_script():
    assert probably_of_other([3.0], others=0) == [0]
    assert probably_of_other([3.0], others=100) == []
    assert probably_of_other([9.0], others=100) == [0]
    assert probably_of_other([], others=3) == []


def test_lines_of_another_script_vouch_for_each_other():
    doubtful = 1.0
    assert probably_of_other([doubtful, -8.0], others=4) == []
    lines = [9.0, 9.0, 9.0, 9.0, 9.0, 9.0, doubtful, -8.0]
    assert probably_of_other(lines, others=4) == [0, 1, 2, 3, 4, 5, 6]
