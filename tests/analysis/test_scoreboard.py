from typing import Any

import pandas as pd
import pytest
import torch
from torch import Tensor

from vit_str.analysis.characters.localization import METRICS, slices
from vit_str.analysis.characters.measure import Source, Word, matches
from vit_str.analysis.characters.scores import (
    SLICES,
    Scoreboard,
    groups,
    not_better,
    slope,
)
from vit_str.analysis.geometry import TokenGrid


@pytest.mark.parametrize(
    ("text", "label", "expected"),
    [
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
def test_equal_characters_are_matched(text, label, expected):
    assert matches(text, label) == expected


GRID = TokenGrid(4, 8, (8, 16))


def word(
    text: str = "abcd",
    label: str | None = "abcd",
    true_boxes: Tensor | None = None,
    maps: Tensor | None = None,
    blocks: int = 2,
    heads: int = 2,
) -> Word:
    """A word whose every head looks at equal slices, unless told otherwise."""
    even = slices(max(len(text), 1), GRID).maps[: len(text)] if maps is None else maps
    attention = even.expand(blocks, heads, *even.shape)
    if true_boxes is None and label is not None:
        true_boxes = slices(len(label), GRID).boxes
    special = torch.zeros(blocks, heads, len(text), dtype=torch.float64)
    pixels = torch.zeros(3, 32, 128, dtype=torch.uint8)
    confidences = [0.9] * len(text)
    return Word(
        "w",
        pixels,
        text,
        label,
        confidences,
        {"m": attention},
        {"m": special},
        true_boxes,
    )


def board(*words: Word, block: int = 1, head: int | None = None) -> Scoreboard:
    scoreboard = Scoreboard(Source("m", block, head), [], GRID)
    for each in words:
        scoreboard.add(each)
    return scoreboard


def find(rows: pd.DataFrame, **wanted: object) -> Any:
    wanted = {"versus": "", "group": "all", "head": 0} | wanted
    known = rows.fillna({"block": 0, "head": 0})[list(wanted)] == pd.Series(wanted)
    (row,) = rows[known.all(axis=1)].itertuples()
    return row


def test_every_block_and_head_is_scored_and_slices_once():
    scoreboard = board(word(), word("ab", "ab"))
    rows = scoreboard.rows().query("group == 'all' and metric == 'energy'")
    plain = rows[rows["versus"] == ""].fillna({"block": 0, "head": 0})
    own = [("m", block, head) for block in (1, 2) for head in (0, 1, 2)]
    places = plain[["model", "block", "head"]].itertuples(index=False, name=None)
    assert sorted(places) == sorted([*own, (SLICES, 0, 0)])
    assert rows["n"].eq(2).all()
    assert (scoreboard.words, scoreboard.characters) == (2, 6)


def test_looking_at_slices_is_as_good_as_slices_and_never_better():
    rows = board(word(), word("ab", "ab")).rows()
    assert find(rows, model="m", block=2, metric="energy").mean == pytest.approx(1)
    difference = find(rows, versus=SLICES, metric="energy")
    assert difference.mean == pytest.approx(0)
    losses = not_better(rows)
    assert "energy" in losses.loc[losses["group"] == "all", "metric"].tolist()
    assert not losses["metric"].eq("monotonic").any()


def test_means_are_over_words_of_means_over_characters():
    maps = slices(4, GRID).maps
    wrong_way = maps.flip(0)  # no character of four is where it should be
    rows = board(word(), word(maps=wrong_way), word(), word()).rows()
    row = find(rows, model="m", block=2, metric="energy")
    assert row.mean == pytest.approx(0.75)
    assert row.low < 0.75 < row.high
    assert find(rows, model="m", block=2, metric="monotonic").mean == pytest.approx(
        0.75
    )


def test_matched_characters_of_wrong_readings_count():
    boxes = slices(4, GRID).boxes
    scoreboard = board(word("axcd", "abcd", boxes))
    assert scoreboard.characters == 3
    row = find(scoreboard.rows(), model="m", block=2, metric="energy", group="wrong")
    assert row.mean == pytest.approx(1)
    assert set(scoreboard.rows()["group"]) == {"all", "wrong", "length 4-6", "level"}


def test_what_cannot_be_scored_does_not_count():
    scoreboard = board(word("", "abcd"), word("xy", "ab"))
    assert scoreboard.words == 0
    assert scoreboard.rows().empty
    boxes = slices(4, GRID).boxes  # of which no font draws the second
    boxes[1] = 0
    assert board(word(true_boxes=boxes)).characters == 3


def test_photographs_have_a_direction_only_and_a_single_character_has_none():
    unknown = word("ab", None)
    assert set(board(unknown).rows()["metric"]) == {"monotonic"}
    assert list(groups(unknown)) == ["all", "length 1-3"]
    rows = board(word("a", "a")).rows()
    assert set(rows["metric"]) == set(METRICS) - {"monotonic"}


def test_the_combination_decides_boxes():
    mixed, maps = word("ab", "ab"), slices(2, GRID).maps
    mixed.attention["m"] = torch.stack([maps, maps.flip(0)])[:, None]
    rows = board(mixed, block=0, head=0).rows()
    assert find(rows, model="m", versus=SLICES, metric="drift", head=1).block == 1
    assert find(
        rows, model="m", head=1, block=1, metric="energy"
    ).mean == pytest.approx(1)
    assert find(
        rows, model="m", head=1, block=2, metric="energy"
    ).mean == pytest.approx(0)


@pytest.mark.parametrize(
    ("ys", "expected"),
    [
        ([10.0] * 5, ["level"]),
        ([10, 11, 10, 11, 10.0], ["level"]),
        ([5, 8, 11, 14, 17.0], ["rotated"]),
        ([17, 14, 11, 8, 5.0], ["rotated"]),
        ([10, 5, 3, 5, 10.0], ["curved"]),
        ([0, 1, 4, 10, 20.0], ["rotated", "curved"]),
        ([10, 4, 10.0], ["level"]),
        ([5, 15.0], ["rotated"]),
        ([5.0], ["level"]),
    ],
)
def test_how_lines_run(ys, expected):
    x, y = torch.linspace(10, 110, len(ys)).double(), torch.tensor(ys).double()
    assert slope(torch.stack([x, y, x + 8, y + 10], 1)) == expected
