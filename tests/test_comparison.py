import json
import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from vit_str.comparison import Comparison, mcnemar, paired_difference
from vit_str.evaluation import ReadWords
from vit_str.metrics import wilson_interval


def by_counting(only_first: int, only_second: int) -> float:
    """All falls of as many coins, those at least as uneven counted one by one."""
    n, uneven = only_first + only_second, abs(only_first - only_second)
    falls = [abs(n - 2 * sum(coins)) >= uneven for coins in product((0, 1), repeat=n)]
    return float(Fraction(sum(falls), len(falls)))


@pytest.mark.parametrize("split", [(0, 0), (1, 0), (0, 5), (3, 9), (6, 6), (10, 2), (7, 6)])
def test_mcnemar_against_counting(split: tuple[int, int]) -> None:
    assert mcnemar(*split) == pytest.approx(by_counting(*split))
    assert mcnemar(*split) == mcnemar(*reversed(split))


def test_mcnemar_against_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    for only_first, only_second in [(5, 21), (300, 240), (1200, 1100), (0, 40), (3000, 2000)]:
        expected = stats.binomtest(only_first, only_first + only_second).pvalue
        assert mcnemar(only_first, only_second) == pytest.approx(expected, rel=1e-6)


def test_difference_of_pairs() -> None:
    first = np.array([True, True, False, False] * 100)
    second = np.array([True, False, True, True] * 100)
    found = paired_difference(first, second)
    assert (found.n, found.only_first, found.only_second) == (400, 100, 200)
    assert found.difference == 0.25
    # The variance of a difference of pairs: (b + c - (c - b)^2 / n) / n^2.
    half = 1.96 * math.sqrt(300 - 100**2 / 400) / 400
    assert found.interval == pytest.approx((0.25 - half, 0.25 + half), abs=0.015)
    assert found.p_value == mcnemar(100, 200)
    back = paired_difference(second, first)
    assert (back.difference, back.p_value) == (-0.25, found.p_value)


def test_pairs_say_more_than_two_shares() -> None:
    """Two models that differ in ten of a thousand words, all in favor of one."""
    first = np.arange(1000) % 2 == 0
    second = first | (np.arange(1000) < 20)
    found = paired_difference(first, second)
    assert found.interval[0] > 0
    assert found.p_value < 0.01
    assert wilson_interval(500, 1000)[1] > 0.51


def test_nothing_to_compare() -> None:
    found = paired_difference([], [])
    assert math.isnan(found.difference)
    assert found.p_value == 1
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["difference"] is None


def test_the_same_words() -> None:
    with pytest.raises(ValueError, match="same words, found 1 and 2"):
        paired_difference([True], [True, False])


FULL = ("word", "full")


def read(labels: list[str], texts: list[str]) -> ReadWords:
    return ReadWords(labels, texts, [0.5] * len(texts))


def test_comparison_by_set_and_together() -> None:
    easy, hard = ["Ab", "cd", "!?"], ["ef"]
    first = {"easy": read(easy, ["ab", "x", "!?"]), "hard": read(hard, ["x"])}
    second = {"easy": read(easy, ["AB", "cd", "x"]), "hard": read(hard, ["ef!"])}
    comparison = Comparison(("old", "new"), first, second)
    values = json.loads(json.dumps(comparison.to_dict(), allow_nan=False))
    assert (values["first"], values["second"]) == ("old", "new")
    assert list(values["differences"]) == [f"word_accuracy_{each}" for each in (36, 94, "full")]
    differences = values["differences"]["word_accuracy_36"]
    assert [differences[name]["n"] for name in ("easy", "hard", "all")] == [2, 1, 3]
    assert [differences[name]["difference"] for name in ("easy", "hard")] == [0.5, 1]
    assert differences["all"]["difference"] == pytest.approx(2 / 3)
    exact = values["differences"]["word_accuracy_full"]
    assert [exact[name]["n"] for name in ("easy", "hard", "all")] == [3, 1, 4]
    assert [exact[name]["difference"] for name in ("easy", "hard")] == [0, 0]
    blocks = comparison.table().split("\n\n")
    assert [block.split()[:2] for block in blocks] == [["word", "36"], ["word", "94"], [*FULL]]
    lines = blocks[0].splitlines()
    assert lines[0].split()[-2:] == ["McNemar", "p"]
    assert lines[1].split()[:3] == ["easy", "2", "50.0"]
    assert lines[2].split() == ["hard", "1", "100.0", "[100.0,", "100.0]", "0", "1", "1"]
    assert blocks[-1].splitlines()[-1].startswith("new minus old")


def test_words_in_another_script_are_compared_in_full() -> None:
    labels = ["한글", "서울"]
    sets = [{"korean": read(labels, texts)} for texts in (["한굴", "서을"], ["한글", "서울"])]
    comparison = Comparison(("old", "new"), *sets)
    assert comparison.differences()["korean"].n == 0
    found = comparison.differences("full")["korean"]
    assert (found.n, found.difference, found.only_second) == (2, 1, 2)
    assert comparison.table().splitlines()[1].split()[:3] == ["korean", "0", "-"]


def test_a_section_in_markdown() -> None:
    sets = {"a|b": read(["a"], ["a"])}
    lines = Comparison(("old_1", "new"), sets, sets).markdown()
    assert lines[0] == r"## new against old\_1"
    assert lines[2].startswith(r"| word 36 | words | difference | only old\_1 | only new |")
    assert lines[4] == r"| a\|b | 1 | 0.0 [0.0, 0.0] | 0 | 0 | 1 |"
    assert "new minus" in lines[-1]


def test_one_set_has_no_total() -> None:
    sets = {"only": read(["a"], ["a"])}
    assert list(Comparison(("x", "y"), sets, sets).differences()) == ["only"]


def test_comparison_of_other_words() -> None:
    with pytest.raises(ValueError, match="same sets of words"):
        Comparison(("a", "b"), {"x": read(["a"], ["a"])}, {"x": read(["b"], ["b"])})
