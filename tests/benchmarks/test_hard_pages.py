"""Pages that are hard to decide hold what is said of them, and are counted as they are read."""

import random
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import hard_pages


@pytest.mark.parametrize("kind", hard_pages.KINDS)
def test_a_page_is_the_same_each_time_and_another_for_each_number(kind):
    draw = hard_pages.KINDS[kind]
    first, again = (draw(random.Random("1")) for _ in range(2))
    assert (first.words, first.doubtful) == (again.words, again.doubtful)
    assert first.image.tobytes() == again.image.tobytes()
    assert first.words
    others = {tuple(draw(random.Random(str(n))).words) for n in range(8)}
    assert len(others) > 1 or first.doubtful


def test_words_are_counted_as_a_bag_and_dashes_as_one_kind():
    drawn = hard_pages.Drawn(
        hard_pages.Image.new("RGB", (9, 9)),
        ["−5", "5", "a", "__:"],
        ["0O1lI"],
        ["−5 5", "a __:"],
    )
    right = hard_pages.score("–5\n5\na ___: 001ll", drawn)
    assert right == {
        "texts": 2,
        "whole": 2,
        "wanted": 4,
        "hits": 4,
        "others": 0,
        "codes": 1,
        "kept": 1,
    }
    wrong = hard_pages.score("5 5 a x _:", drawn)
    assert (wrong["hits"], wrong["others"], wrong["kept"]) == (3, 2, 0)
    assert wrong["whole"] == 0
    expected = ["1", "82.4%", "2 of 4", "1 of 2"]
    assert hard_pages.summary([right, wrong]) == expected
