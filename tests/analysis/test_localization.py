import math

import pytest
import torch
from torch import Tensor

from vit_str.analysis.characters.localization import (
    character_attention,
    covered,
    iou,
    monotonic_share,
    score_characters,
    slices,
)
from vit_str.analysis.geometry import TokenGrid

GRID = TokenGrid(4, 8, (8, 16))  # 32 x 128 pixels, neither image nor patches square
WHOLE = [0.0, 0.0, 128.0, 32.0]
QUARTERS = slices(4, GRID).boxes


def boxes(*rows: list[float]) -> Tensor:
    return torch.tensor(rows, dtype=torch.float64)


def on_tokens(*places: tuple[int, int]) -> Tensor:
    """Maps with all of their mass on one token (row, column) each."""
    maps = torch.zeros(len(places), 4, 8, dtype=torch.float64)
    for character, (row, column) in enumerate(places):
        maps[character, row, column] = 1
    return maps


def scores(
    maps: Tensor, truth: Tensor, predicted: Tensor | None = None
) -> dict[str, list[float]]:
    attended = character_attention(
        maps, truth if predicted is None else predicted, GRID
    )
    pairs = [(index, index) for index in range(len(truth))]
    found = score_characters(attended, truth, pairs, GRID)
    return {name: values.tolist() for name, values in found.items()}


def test_all_attention_on_a_token_in_the_box():
    # Row 2, column 5 is from (80, 16) to (96, 24), its middle is (88, 20).
    found = scores(on_tokens((2, 5)), boxes([80, 16, 96, 24]))
    assert found["pointing"] == found["pointing_near"] == found["energy"] == [1]
    assert found["lift"] == [32]
    assert found["center_error"] == found["center_error_y"] == [0]
    assert found["drift"] == [0]


def test_all_attention_on_a_token_outside_of_the_box():
    found = scores(on_tokens((2, 5)), boxes([16, 0, 48, 8]))
    assert (
        found["pointing"]
        == found["pointing_near"]
        == found["energy"]
        == found["lift"]
        == [0]
    )
    assert found["center_error"] == [pytest.approx(56 / 32)]
    assert found["center_error_y"] == [pytest.approx(16 / 8)]


def test_half_a_token_off_is_near():
    inside, beside, above = (
        boxes([81, 17, 95, 23]),
        boxes([95, 17, 99, 23]),
        boxes([81, 3, 95, 17]),
    )
    for box, hit, near in ((inside, 1, 1), (beside, 0, 1), (above, 0, 1)):
        found = scores(on_tokens((2, 5)), box)
        assert (found["pointing"], found["pointing_near"]) == ([hit], [near])
    far = scores(on_tokens((2, 5)), boxes([97, 17, 99, 23]))
    assert far["pointing_near"] == [0]


@pytest.mark.parametrize(
    "box",
    [WHOLE, [0, 0, 16, 8], [7, 3, 61.5, 30], [100, 10, 127, 11], [-5, -3, 20, 40]],
)
def test_uniform_attention_has_a_lift_of_one(box):
    found = scores(torch.full((1, 4, 8), 1 / 32, dtype=torch.float64), boxes(box))
    assert found["lift"] == [pytest.approx(1)]


def test_energy_counts_cut_tokens_by_area():
    assert scores(on_tokens((1, 2)), boxes([40, 0, 128, 32]))["energy"] == [
        pytest.approx(0.5)
    ]
    assert scores(on_tokens((1, 2)), boxes([40, 10, 128, 32]))["energy"] == [
        pytest.approx(0.375)
    ]
    shares = covered(boxes(WHOLE, [40, 10, 128, 32]), GRID)
    assert (shares[0] == 1).all()
    assert shares.sum((1, 2)).tolist() == [32, pytest.approx(88 * 22 / 128)]


@pytest.mark.parametrize("shift", [0, 4, 10, 20, 30])
def test_iou_of_shifted_boxes(shift):
    box = boxes([10, 5, 30, 25])
    sideways = iou(box, box + torch.tensor([shift, 0, shift, 0]))
    expected = max(0, 20 - shift) / (20 + min(shift, 20))
    assert sideways.tolist() == [pytest.approx(expected)]
    up = iou(box, box + torch.tensor([0, shift, 0, shift]))
    torch.testing.assert_close(up, sideways)


def test_iou_sideways_forgives_the_height_and_boxes_without_an_area_have_none():
    found = scores(on_tokens((2, 5)), boxes([80, 16, 96, 24]), boxes([80, 0, 96, 32]))
    assert found["iou"] == [pytest.approx(0.25)]
    assert found["iou_x"] == [pytest.approx(1)]
    assert iou(boxes([5, 5, 5, 9]), boxes([5, 5, 5, 9])).tolist() == [0]


def test_drift_is_to_look_at_a_neighbor():
    home = scores(on_tokens((1, 0), (1, 2), (1, 4), (1, 6)), QUARTERS)
    right = scores(on_tokens((1, 2), (1, 4), (1, 6), (1, 6)), QUARTERS)
    far = scores(on_tokens((1, 6), (1, 6), (1, 0), (1, 0)), QUARTERS)
    assert home["drift"] == [0, 0, 0, 0]
    assert right["drift"] == [1, 1, 1, 0]
    assert far["drift"] == [0, 0, 0, 0]  # neither at home nor at a neighbor's


def test_monotonic_and_reversed():
    centers = character_attention(
        on_tokens((0, 1), (3, 3), (1, 7)), boxes(WHOLE, WHOLE, WHOLE), GRID
    ).centers
    assert monotonic_share(centers) == 1
    assert monotonic_share(centers.flip(0)) == 0
    assert monotonic_share(centers[[0, 2, 1]]) == 0.5
    assert monotonic_share(centers[[1, 1]]) == 0  # standing still is not going on
    assert math.isnan(monotonic_share(centers[:1]))


def test_characters_keep_their_neighbors_when_some_are_scored():
    attended = character_attention(
        on_tokens((1, 0), (1, 4)), QUARTERS[:2], GRID
    )  # at characters 0 and 2
    found = score_characters(attended, QUARTERS, [(0, 0), (1, 1)], GRID)
    assert found["drift"].tolist() == [0, 1]
    assert found["offset"].tolist() == pytest.approx([-0.25, 0.75])
    assert score_characters(attended, QUARTERS, [(1, 3)], GRID)["drift"].tolist() == [1]
