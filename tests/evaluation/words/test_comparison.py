import json

import pytest

from vit_str.evaluation.words.comparison import Comparison
from vit_str.evaluation.words.results import ReadWords

FULL = ("word", "full")


def read(labels: list[str], texts: list[str]) -> ReadWords:
    return ReadWords(labels, texts, [0.5] * len(texts))


def test_comparison_by_set_and_together():
    easy = ["Ab", "cd", "!?"]
    hard = ["ef"]
    first = {"easy": read(easy, ["ab", "x", "!?"]), "hard": read(hard, ["x"])}
    second = {"easy": read(easy, ["AB", "cd", "x"]), "hard": read(hard, ["ef!"])}
    comparison = Comparison(("old", "new"), first, second)
    values = json.loads(json.dumps(comparison.to_dict(), allow_nan=False))
    assert (values["first"], values["second"]) == ("old", "new")
    assert list(values["differences"]) == [
        f"word_accuracy_{each}" for each in (36, 94, "full")
    ]
    differences = values["differences"]["word_accuracy_36"]
    assert [differences[name]["n"] for name in ("easy", "hard", "all")] == [2, 1, 3]
    assert [differences[name]["difference"] for name in ("easy", "hard")] == [0.5, 1]
    assert differences["all"]["difference"] == pytest.approx(2 / 3)
    exact = values["differences"]["word_accuracy_full"]
    assert [exact[name]["n"] for name in ("easy", "hard", "all")] == [3, 1, 4]
    assert [exact[name]["difference"] for name in ("easy", "hard")] == [0, 0]
    blocks = comparison.table().split("\n\n")
    assert [block.split()[:2] for block in blocks] == [
        ["word", "36"],
        ["word", "94"],
        [*FULL],
    ]
    lines = blocks[0].splitlines()
    assert lines[0].split()[-2:] == ["McNemar", "p"]
    assert lines[1].split()[:3] == ["easy", "2", "50.0"]
    assert lines[2].split() == [
        "hard",
        "1",
        "100.0",
        "[100.0,",
        "100.0]",
        "0",
        "1",
        "1",
    ]
    assert blocks[-1].splitlines()[-1].startswith("new minus old")


def test_a_section_in_markdown():
    sets = {"a|b": read(["a"], ["a"])}
    lines = Comparison(("old_1", "new"), sets, sets).markdown()
    assert lines[0] == r"## new against old\_1"
    assert lines[2].startswith(
        r"| word 36 | words | difference | only old\_1 | only new |"
    )
    assert lines[4] == r"| a\|b | 1 | 0.0 [0.0, 0.0] | 0 | 0 | 1 |"
    assert "new minus" in lines[-1]
