import torch

from vit_str.analysis.distance.offsets import OffsetMaps, by_offset
from vit_str.analysis.geometry import TokenGrid, uniform_attention
from vit_str.models.attention import attention_weights

GRID = TokenGrid(3, 5, (4, 8))


def test_a_head_that_looks_at_the_right_neighbor() -> None:
    maps = torch.zeros(1, 15, 15, dtype=torch.float64)
    for token in range(15):
        if token % 5 < 4:
            maps[0, token, token + 1] = 1
    found = by_offset(maps, GRID)
    assert found.shape == (1, 5, 9)
    assert found[0, 2, 5] == 1
    assert found.sum() == 1


def test_uniform_attention_is_even_at_every_offset() -> None:
    found = by_offset(uniform_attention(GRID)[None], GRID)
    torch.testing.assert_close(found, torch.full_like(found, 1 / 15))


def test_images_and_batches_are_averaged() -> None:
    grid = TokenGrid(3, 5, (4, 8), special_tokens=1)
    queries, keys = torch.randn(2, 6, 2, 16, 8)
    offsets = OffsetMaps(grid)
    offsets.update("layer", queries[:4], keys[:4])
    offsets.update("layer", queries[4:], keys[4:])
    assert offsets.images == 6
    maps = attention_weights(queries, keys)[..., 1:, 1:].double()
    mean = (maps / maps.sum(-1, keepdim=True)).mean(0)
    torch.testing.assert_close(offsets.maps()[0], by_offset(mean, grid), atol=1e-6, rtol=1e-5)
