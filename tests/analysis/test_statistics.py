import math

import numpy as np
import pytest
import torch
from torch import Tensor

from vit_str.analysis.geometry import (
    TokenGrid,
    Windows,
    neighborhood,
    uniform_attention,
)
from vit_str.analysis.statistics import METRICS, AttentionStatistics
from vit_str.models.attention import attention_weights

GRID = TokenGrid(8, 16, (4, 8))
TOKENS = len(GRID)


def of_maps(
    maps: Tensor, grid: TokenGrid = GRID, **options: object
) -> dict[str, Tensor]:
    """Metrics of maps given as (query key), (head query key) or (batch head query key)."""
    statistics = AttentionStatistics(grid, **options)
    statistics.update_maps(
        "layer",
        maps.reshape(-1, *maps.shape[-3:]) if maps.ndim > 2 else maps[None, None],
    )
    return {metric: statistics.values(metric)[0] for metric in statistics.metrics}


def random_maps(
    batch: int = 3, heads: int = 2, tokens: int = TOKENS, seed: int = 0
) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    scores = torch.randn(
        batch, heads, tokens, tokens, generator=generator, dtype=torch.float64
    )
    return (3 * scores).softmax(-1)


def sink(row: int, column: int) -> Tensor:
    maps = torch.zeros(TOKENS, TOKENS, dtype=torch.float64)
    maps[:, row * 16 + column] = 1
    return maps


ROW, COLUMN = torch.arange(TOKENS) // 16, torch.arange(TOKENS) % 16
RIGHT_NEIGHBOR = torch.eye(TOKENS).double()[torch.arange(TOKENS) + (COLUMN < 15)]
UNIFORM = torch.full((TOKENS, TOKENS), 1 / TOKENS, dtype=torch.float64)
ORACLES = {
    "identity": (torch.eye(TOKENS, dtype=torch.float64), 0, 0, 0, 0, 1),
    "uniform": (UNIFORM, 45.553421, 42.5, 10.5, 4.852030, 0),
    "same row": ((ROW[:, None] == ROW).double() / 16, 42.5, 42.5, 0, 2.7726, 0.429),
    "same column": (
        (COLUMN[:, None] == COLUMN).double() / 8,
        10.5,
        0,
        10.5,
        2.0794,
        0.571,
    ),
    "corner sink": (sink(0, 0), 63.7040, 60, 14, 0, 0),
    "center sink": (sink(4, 8), 34.0582, 32, 8, 0, 0),
    "right neighbor": (RIGHT_NEIGHBOR, 7.5, 7.5, 0, 0, 0.991),
    "window 3x3": (
        uniform_attention(neighborhood(GRID)),
        6.433234,
        None,
        None,
        None,
        None,
    ),
}


@pytest.mark.parametrize("name", ORACLES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_oracles(name, dtype):
    maps, *expected = ORACLES[name]
    found = of_maps(maps.to(dtype))
    metrics = ("distance", "distance_x", "distance_y", "entropy", "nmi")
    for metric, value in zip(metrics, expected, strict=True):
        if value is not None:
            assert float(found[metric]) == pytest.approx(
                value, abs=6e-4 if metric == "nmi" else 1e-4
            )


@pytest.mark.parametrize("special", [0, 2])
@pytest.mark.parametrize("chunk", [None, 100_000])
def test_sums_of_float32_blocks_are_those_of_float64(special, chunk, monkeypatch):
    """What GPUs compute, on the CPU, for rows and columns of a thousand tokens."""
    grid = TokenGrid(30, 35, (4, 8), special)
    maps = random_maps(1, 2, len(grid) + special).float()
    exact = of_maps(maps.double(), grid)
    used = []

    def in_blocks(values: Tensor) -> bool:
        used.append(values.dtype)
        return values.dtype == torch.float32

    monkeypatch.setattr("vit_str.analysis.row_sums.in_blocks", in_blocks)
    found = of_maps(maps, grid, chunk=chunk)
    assert torch.float32 in used
    for metric, values in exact.items():
        assert found[metric].dtype == torch.float64
        torch.testing.assert_close(
            found[metric], values, rtol=1e-6, atol=2e-7, msg=metric
        )


def test_rms_masses_and_divergence():
    uniform = of_maps(UNIFORM)
    assert float(uniform["rms"]) == pytest.approx(53.740115, abs=1e-5)
    assert float(uniform["self_mass"]) == pytest.approx(1 / TOKENS)
    assert float(uniform["sink_mass"]) == pytest.approx(1 / TOKENS)
    assert float(of_maps(sink(4, 8))["sink_mass"]) == pytest.approx(1)
    assert float(of_maps(torch.eye(TOKENS))["self_mass"]) == pytest.approx(1)
    alike = of_maps(torch.stack([UNIFORM, UNIFORM])[None])
    apart = of_maps(torch.stack([sink(0, 0), sink(7, 15)])[None])
    assert float(alike["head_divergence"]) == pytest.approx(0, abs=1e-12)
    assert float(apart["head_divergence"]) == pytest.approx(math.log(2))
    assert alike["head_divergence"].shape == (1, 1)


def test_where_the_sink_is():
    statistics = AttentionStatistics(GRID)
    statistics.update_maps("first", torch.stack([sink(2, 5), UNIFORM])[None])
    first, even = statistics.received("first")[0]
    assert int(first.argmax()) == 2 * GRID.columns + 5
    assert float(first.max()) == pytest.approx(1)
    torch.testing.assert_close(even, torch.full_like(even, 1 / TOKENS))


def test_a_transposed_image_swaps_the_directions():
    maps = random_maps()
    grid = TokenGrid(16, 8, (8, 4))
    turn = torch.arange(TOKENS).reshape(8, 16).T.flatten()
    turned = maps[..., turn, :][..., turn]
    found, other = of_maps(maps), of_maps(turned, grid)
    torch.testing.assert_close(found["distance_x"], other["distance_y"])
    torch.testing.assert_close(found["distance_y"], other["distance_x"])
    for metric in ("distance", "rms", "entropy", "nmi", "head_divergence", "self_mass"):
        torch.testing.assert_close(found[metric], other[metric])


@pytest.mark.parametrize("special", [0, 2])
@pytest.mark.parametrize("chunk", [1, 1000, 40_000, 1 << 30])
@pytest.mark.parametrize("norm", ["renormalized", "raw"])
def test_chunks_do_not_matter(chunk, special, norm):
    grid = TokenGrid(4, 6, (4, 8), special)
    maps = random_maps(batch=5, tokens=24 + special)
    found = of_maps(maps, grid, norm=norm, chunk=chunk)
    whole = of_maps(maps, grid, norm=norm)
    for metric in METRICS:
        torch.testing.assert_close(found[metric], whole[metric])


def test_chance_is_even_over_what_a_mask_allows():
    grid = TokenGrid(1, 6, (4, 8), special_tokens=1)
    queries, keys = torch.zeros(2, 3, 2, 7, 8)
    causal = torch.ones(7, 7, dtype=torch.bool).tril()
    for mask in (
        causal,
        torch.zeros(7, 7).masked_fill(~causal, -torch.inf)[None, None],
    ):
        statistics = AttentionStatistics(grid)
        statistics.update("first", queries, keys, mask)
        statistics.update("second", queries, keys)
        chance = statistics.chance()["uniform"]
        entropies = [math.log(token + 1) for token in range(6)]
        assert chance["entropy"] == pytest.approx([np.mean(entropies), math.log(6)])
        assert chance["distance"] == pytest.approx([8 * 2.5 / 2, 8 * 35 / 18])
        # Even attention is what chance says
        for metric in ("distance", "entropy", "nmi"):
            found = [float(layer.mean()) for layer in statistics.values(metric)]
            assert found == pytest.approx(chance[metric], abs=1e-6)
        assert chance["nmi"][0] > 0.1
        assert chance["nmi"][1] == pytest.approx(0, abs=1e-9)


def test_only_some_queries_count():
    grid = TokenGrid(3, 5, (4, 8), 1)
    maps = random_maps(batch=2, tokens=16)
    chosen = torch.zeros(2, 15, dtype=torch.bool)
    chosen[0, [1, 7]] = True
    chosen[1] = True
    for norm in ("raw", "renormalized"):
        statistics = AttentionStatistics(grid, norm=norm, chunk=100)
        statistics.only(chosen)
        statistics.update_maps("layer", maps)
        whole = of_maps(maps, grid, norm=norm)
        rows = maps[0, :, [2, 8], 1:]
        given = rows.sum(-1, keepdim=True)
        rows = rows if norm == "raw" else rows / given
        expected = (rows * grid.distances()[[1, 7]]).sum(-1).mean(-1)
        torch.testing.assert_close(statistics.values("distance")[0][0], expected)
        special = statistics.values("special_mass")[0][0]
        torch.testing.assert_close(special, (1 - given[..., 0]).mean(-1))
        for metric in METRICS:
            torch.testing.assert_close(
                statistics.values(metric)[0][1], whole[metric][1]
            )
    with pytest.raises(ValueError, match="15 tokens of the grid, found 14"):
        statistics.only(chosen[:, 1:])
    windows = {"layer": Windows.of_pooled(grid, grid.pooled(3, 5))}
    with pytest.raises(ValueError, match="windows, pooled keys"):
        AttentionStatistics(grid, windows=windows).only(chosen)


def test_what_special_tokens_attend_to():
    maps = torch.zeros(1, 1, 6, 6, dtype=torch.float64)
    maps[0, 0, 0] = torch.tensor([0.1, 0.3, 0.6, 0, 0, 0])
    maps[0, 0, 1] = torch.tensor([0, 0.2, 0.2, 0.2, 0.2, 0.2])
    maps[0, 0, 2:] = 1 / 6
    statistics = AttentionStatistics(TokenGrid(2, 2, (4, 4), 2))
    statistics.update_maps("layer", maps)
    found = {
        name: layers[0][0, 0].tolist()
        for name, layers in statistics.special_queries().items()
    }
    assert found["special_mass"] == pytest.approx([0.4, 0.2])
    assert found["sink_mass"] == pytest.approx([1, 0.25])
    assert found["entropy"] == pytest.approx([0, math.log(4)])


def test_raw_on_a_square_grid_is_the_published_function():
    """Derived again with loops from the definition: class token cut off, rows not renormalized."""
    side, patch = 4, 16
    maps = random_maps(batch=2, heads=2, tokens=side * side + 1)
    places = [
        (row * patch, column * patch) for row in range(side) for column in range(side)
    ]
    distances = np.array([[math.dist(a, b) for b in places] for a in places])
    expected = (maps[..., 1:, 1:].numpy() * distances).sum(-1).mean(-1)
    found = of_maps(maps, TokenGrid(side, side, (patch, patch), 1), norm="raw")[
        "distance"
    ]
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-4)


def test_half_precision_is_worked_out_in_single():
    grid = TokenGrid(3, 5, (4, 8))
    queries, keys = torch.randn(2, 2, 2, 15, 8).bfloat16()
    statistics = AttentionStatistics(grid)
    statistics.update("layer", queries, keys)
    expected = of_maps(attention_weights(queries.double(), keys.double()), grid)
    torch.testing.assert_close(
        statistics.values("distance")[0], expected["distance"], atol=1e-4, rtol=1e-5
    )


def test_wrong_use_is_one_line():
    with pytest.raises(ValueError, match="known are"):
        AttentionStatistics(GRID, metrics=("distanse",))
    with pytest.raises(ValueError, match="norm"):
        AttentionStatistics(GRID, norm="half")
    with pytest.raises(ValueError, match="8 x 16"):
        AttentionStatistics(GRID).update_maps("layer", torch.ones(1, 1, 10, 10))


SQUARE = TokenGrid(14, 14, (16, 16))
MIDDLE = torch.zeros(14, 14, dtype=torch.bool)
MIDDLE[5:9, 5:9] = True
BORDER = torch.ones(14, 14, dtype=torch.bool)
BORDER[1:-1, 1:-1] = False
TEXT = torch.rand(3, 196, generator=torch.Generator().manual_seed(0)) < 0.2
TEXT[1] = False  # an image without text
MASKS = {
    "middle": MIDDLE.reshape(1, 196).expand(3, -1),
    "border": BORDER.reshape(1, 196).expand(3, -1),
    "text": TEXT,
    "all": torch.ones(3, 196, dtype=torch.bool),
}


@pytest.mark.parametrize("name", MASKS)
@pytest.mark.parametrize("norm", ["renormalized", "raw"])
def test_even_attention_is_chance_under_any_mask_of_queries(name, norm):
    statistics = AttentionStatistics(SQUARE, norm=norm)
    statistics.only(MASKS[name])
    queries, keys = torch.zeros(2, 3, 2, 196, 8)
    statistics.update("layer", queries, keys)
    chance = statistics.chance()["uniform"]
    for metric in METRICS:
        found = float(statistics.values(metric)[0].nanmean())
        assert found == pytest.approx(chance[metric][0], abs=1e-5), metric
    share = float(statistics.values("distance")[0].nanmean()) / chance["distance"][0]
    assert share == pytest.approx(1, abs=1e-6)
    of_all = SQUARE.uniform_distance()
    expected = {"middle": 0.756, "border": 1.188, "all": 1.0}.get(name)
    if expected:
        assert chance["distance"][0] / of_all == pytest.approx(expected, abs=1e-3)
    assert statistics.share_of_queries == pytest.approx(
        float(MASKS[name].double().mean())
    )


def test_chance_follows_batches_and_masks_of_attention():
    grid = TokenGrid(1, 6, (4, 8))
    causal = torch.ones(6, 6, dtype=torch.bool).tril()
    queries, keys = torch.zeros(2, 1, 2, 6, 8)
    statistics = AttentionStatistics(grid)
    for token in (2, 4):
        statistics.only(torch.arange(6)[None] == token)
        statistics.update("layer", queries, keys, causal)
    # Token 2 looks 0, 1 and 2 tokens back, token 4 up to 4.
    assert statistics.chance()["uniform"]["distance"] == pytest.approx(
        [8 * (1 + 2) / 2]
    )
    statistics.only(None)
    statistics.update("layer", queries, keys, causal)
    assert statistics.chance()["uniform"]["distance"] == pytest.approx(
        [8 * (1 + 2 + 1.25) / 3]
    )


def test_no_query_at_all_is_one_line():
    statistics = AttentionStatistics(SQUARE)
    statistics.only(torch.zeros(1, 196, dtype=torch.bool))
    statistics.update("layer", *torch.zeros(2, 1, 2, 196, 8))
    with pytest.raises(ValueError, match="no token of any image"):
        statistics.chance()
