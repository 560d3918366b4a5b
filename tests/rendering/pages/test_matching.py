"""Found words are matched to those of a page by place and text."""

import numpy as np

from vit_str.rendering.pages.matching import match_words

WORDS = ["Total", "amount", "12.50", "below"]
BOXES = np.array(
    [[0, 0, 50, 20], [55, 0, 120, 20], [300, 0, 350, 20], [0, 22, 50, 42]], float
)


def matched(found: list[str], boxes: list[list[float]]) -> list[int]:
    return match_words(found, np.array(boxes, float), WORDS, BOXES).place.tolist()


def test_exact_words_are_found():
    result = match_words(WORDS, BOXES + 2, WORDS, BOXES)
    assert result.place.tolist() == [0, 1, 2, 3]
    assert result.is_found.all()


def test_joined_words_are_the_first_and_both_are_found():
    result = match_words(["Totalamount"], np.array([[1.0, 0, 119, 19]]), WORDS, BOXES)
    assert result.place.tolist() == [0]
    assert result.is_found.tolist() == [True, True, False, False]


def test_parts_of_a_word_are_that_word():
    assert matched(["12.", "50"], [[301, 1, 320, 19], [322, 1, 349, 19]]) == [2, 2]


def test_lines_close_to_each_other_are_told_apart():
    assert matched(["below", "Total"], [[0, 18, 50, 44], [0, -2, 50, 22]]) == [3, 0]


def test_misread_words_are_matched_by_place_and_junk_is_not():
    assert matched(
        ["Tofa1", "|", "~"], [[0, 0, 50, 20], [200, 0, 204, 20], [0, 90, 9, 99]]
    ) == [
        0,
        -1,
        -1,
    ]


def test_nothing_is_matched_to_nothing():
    none = np.zeros((0, 4))
    assert match_words([], none, WORDS, BOXES).place.tolist() == []
    assert match_words(["a"], np.ones((1, 4)), [], none).place.tolist() == [-1]
