import random
from itertools import pairwise

import pytest

from vit_str.analysis.characters.measure import matches


@pytest.mark.parametrize(
    ("text", "label", "expected"),
    [
        ("", "", []),
        ("", "abc", []),
        ("abc", "", []),
        ("abc", "abc", [(0, 0), (1, 1), (2, 2)]),
        ("axc", "abc", [(0, 0), (2, 2)]),
        ("ac", "abc", [(0, 0), (1, 2)]),
        ("abxc", "abc", [(0, 0), (1, 1), (3, 2)]),
        ("Ab", "ab", [(1, 1)]),
        ("xyz", "abc", []),
    ],
)
def test_equal_characters_are_matched(
    text: str, label: str, expected: list[tuple[int, int]]
) -> None:
    assert matches(text, label) == expected


def test_matches_are_of_an_alignment_of_least_edit_distance() -> None:
    rng = random.Random(0)
    for _ in range(300):
        text, label = ("".join(rng.choices("abc", k=rng.randint(0, 6))) for _ in range(2))
        pairs = matches(text, label)
        assert all(text[i] == label[j] for i, j in pairs)
        steps = [(-1, -1), *pairs, (len(text), len(label))]
        gaps = [
            (after[0] - before[0] - 1, after[1] - before[1] - 1)
            for before, after in pairwise(steps)
        ]
        assert all(min(gap) >= 0 for gap in gaps)  # in order, each once
        assert sum(max(gap) for gap in gaps) == _edit_distance(text, label)


def _edit_distance(text: str, label: str) -> int:
    row = list(range(len(label) + 1))
    for i, character in enumerate(text, 1):
        before, row[0] = row[0], i
        for j, other in enumerate(label, 1):
            before, row[j] = row[j], min(before + (character != other), row[j] + 1, row[j - 1] + 1)
    return row[-1]
