"""What images tell of their script, and what lines of a page tell each other."""

import math

import pytest

from vit_str.characters.charset import CHARSETS, Charset
from vit_str.decoding.readings import Character, Reading
from vit_str.scripts.evidence import (
    is_surer,
    log_odds_of_others,
    probably_of_other,
    sees_other_script,
)


def reading(text: str, confidence: float) -> Reading:
    """A reading whose characters have a confidence each."""
    return Reading(text, confidence, tuple(Character(c, confidence) for c in text))


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


@pytest.mark.parametrize(
    ("own", "other", "is_believed"),
    [
        ("64", "БЧ", False),
        ("0000", "ОООО", False),
        ("64", "БЧМ", True),
        ("3A", "ЗА", False),
        ("3AO", "ЗАО", True),
        ("10,9002", "10,900원", True),
    ],
)
def test_digits_are_no_letters_that_are_much_like_them(own, other, is_believed):
    latin = Charset(CHARSETS["latin"])
    texts = [reading(own, 0.8)], [reading(other, 0.97)]
    assert sees_other_script(*texts, latin) == is_believed
    assert is_surer(*texts, latin) == is_believed
