import pytest
import torch

from vit_str.analysis.distance.offsets import OffsetMaps, by_offset
from vit_str.analysis.geometry import TokenGrid, uniform_attention
from vit_str.models.attention import attention_weights

GRID = TokenGrid(8, 16, (4, 8))


@pytest.mark.parametrize(
    ("grid", "expected"),
    [
        (GRID, 45.553421),
        (TokenGrid(14, 14, (16, 16)), 116.492),
        (TokenGrid(7, 7, (32, 32)), 115.503),
        (TokenGrid(8, 32, (4, 4)), 45.620),
        (TokenGrid(12, 40, (4, 8)), 109.892),
    ],
)
def test_uniform_distance(grid, expected):
    assert grid.uniform_distance() == pytest.approx(expected, abs=1e-3)


def test_centers_are_in_reading_order_and_in_x_y():
    centers = GRID.centers
    assert centers.shape == (128, 2)
    assert centers[0].tolist() == [4.0, 2.0]
    assert centers[1].tolist() == [12.0, 2.0]
    assert centers[16].tolist() == [4.0, 6.0]


@pytest.mark.parametrize(
    "arguments", [(0, 4, (4, 4)), (4, 4, (0, 4)), (4, 4, (4, 4), -1)]
)
def test_a_grid_that_cannot_be(arguments):
    with pytest.raises(ValueError, match="found"):
        TokenGrid(*arguments)


SMALL = TokenGrid(3, 5, (4, 8))


def test_a_head_that_looks_at_the_right_neighbor():
    maps = torch.zeros(1, 15, 15, dtype=torch.float64)
    for token in range(15):
        if token % 5 < 4:
            maps[0, token, token + 1] = 1
    found = by_offset(maps, SMALL)
    assert found.shape == (1, 5, 9)
    assert found[0, 2, 5] == 1
    assert found.sum() == 1


def test_uniform_attention_is_even_at_every_offset():
    found = by_offset(uniform_attention(torch.ones(1, 15, 15, dtype=torch.bool)), SMALL)
    torch.testing.assert_close(found, torch.full_like(found, 1 / 15))


def test_images_and_batches_are_averaged():
    grid = TokenGrid(3, 5, (4, 8), special_tokens=1)
    queries, keys = torch.randn(2, 6, 2, 16, 8)
    offsets = OffsetMaps(grid)
    offsets.update("layer", queries[:4], keys[:4])
    offsets.update("layer", queries[4:], keys[4:])
    assert offsets.images == 6
    maps = attention_weights(queries, keys)[..., 1:, 1:].double()
    mean = (maps / maps.sum(-1, keepdim=True)).mean(0)
    torch.testing.assert_close(
        offsets.maps()[0], by_offset(mean, grid), atol=1e-6, rtol=1e-5
    )


def test_offsets_are_of_the_chosen_queries():
    grid = TokenGrid(3, 5, (4, 8))
    queries, keys = torch.randn(2, 2, 2, 15, 8)
    chosen = torch.zeros(2, 15, dtype=torch.bool)
    chosen[0, [0, 7]] = True
    chosen[1, 7] = True
    offsets = OffsetMaps(grid)
    offsets.only(chosen)
    offsets.update("layer", queries, keys)
    (found,) = offsets.maps()
    maps = attention_weights(queries, keys).double()
    middle = maps[:, :, 7].mean(0)
    torch.testing.assert_close(found[:, 1, 2], middle[:, 0], atol=1e-6, rtol=1e-5)
    to_itself = (maps[0, :, 0, 0] + maps[0, :, 7, 7] + maps[1, :, 7, 7]) / 3
    torch.testing.assert_close(found[:, 2, 4], to_itself, atol=1e-6, rtol=1e-5)
    assert found[:, 0, 0].isnan().all(), "no chosen token has a neighbor there"
