"""Values: distance weighted by their norms, and what a sink carries."""

import math

import pandas as pd
import pytest
import torch
from torch import nn

from vit_str.analysis.distance.api import attention_distance
from vit_str.analysis.geometry import TokenGrid
from vit_str.analysis.probe import map_of, probe
from vit_str.analysis.values import ValueStatistics
from vit_str.models import VisionTransformer

GRID = TokenGrid(4, 6, (4, 8))
TOKENS = len(GRID)


def by_hand(weights, norms, grid=GRID):
    """Attention times norms, of the grid, scaled to rows of 1, times distances; in float64."""
    carried = weights.double() * norms.double()[:, :, None]
    carried = carried[:, :, grid.special_tokens :, grid.special_tokens :]
    carried = carried / carried.sum(-1, keepdim=True)
    return (carried * grid.distances().double()).sum(-1).mean(-1)


@pytest.mark.parametrize("special", [0, 2])
@pytest.mark.parametrize("masked", [None, "bool", "bias"])
def test_the_distance_is_that_of_attention_times_norms(special, masked):
    grid = TokenGrid(4, 6, (4, 8), special)
    tokens = TOKENS + special
    queries, keys, values = torch.randn(3, 2, 3, tokens, 8).unbind(0)
    mask = None
    if masked:
        allowed = torch.rand(tokens, tokens) < 0.7
        allowed |= torch.eye(tokens, dtype=torch.bool)
        mask = (
            allowed[None, None]
            if masked == "bool"
            else torch.randn(1, 3, tokens, tokens)
        )
    statistics = ValueStatistics(grid)
    statistics.update("first", queries, keys, mask, values)
    expected = by_hand(map_of(queries, keys, mask), values.norm(dim=-1), grid)
    assert statistics.known
    torch.testing.assert_close(
        statistics.weighted.values("distance")[0], expected, atol=1e-4, rtol=1e-5
    )


def test_a_token_without_a_value_does_not_count():
    queries = torch.zeros(1, 1, TOKENS, 2)
    keys = torch.zeros(1, 1, TOKENS, 2)
    keys[..., 0, 0] = 40.0
    queries[..., 0] = 1.0  # all look at the first token
    values = torch.ones(1, 1, TOKENS, 2)
    values[..., 0, :] = 0.0
    statistics = ValueStatistics(GRID)
    statistics.update("first", queries, keys, None, values)
    others = torch.ones(1, 1, TOKENS, TOKENS)
    others[..., 0] = 0.0
    expected = by_hand(others, torch.ones(1, 1, TOKENS))
    torch.testing.assert_close(
        statistics.weighted.values("distance")[0], expected, atol=1e-4, rtol=1e-5
    )
    assert float(statistics.norms["first"][0, 0, 0]) == 0


@pytest.mark.parametrize("special", [0, 2])
@pytest.mark.parametrize("masked", [False, True])
def test_how_much_of_an_output_is_the_own_value(special, masked):
    grid = TokenGrid(4, 6, (4, 8), special)
    tokens = TOKENS + special
    queries, keys, values = torch.randn(3, 2, 3, tokens, 8).unbind(0)
    mask = torch.randn(1, 1, tokens, tokens) if masked else None
    statistics = ValueStatistics(grid)
    for image in range(2):
        one = slice(image, image + 1)
        statistics.update("first", queries[one], keys[one], mask, values[one])
    (found,) = statistics.own_value_cosines()
    mixed = (map_of(queries, keys, mask) @ values)[:, :, special:]
    own = values[:, :, special:]
    products = (mixed * own).sum(-1)
    expected = (products / (mixed.norm(dim=-1) * own.norm(dim=-1))).mean(-1)
    torch.testing.assert_close(found, expected.double(), atol=1e-6, rtol=1e-5)
    chosen = torch.zeros(1, TOKENS, dtype=torch.bool)
    chosen[0, [3, 5]] = True
    statistics.only(chosen)
    statistics.update("first", queries[:1], keys[:1], mask, values[:1])
    of_tokens = products / (mixed.norm(dim=-1) * own.norm(dim=-1))
    last = statistics.own_value_cosines()[0][-1]
    torch.testing.assert_close(
        last, of_tokens[0, :, [3, 5]].mean(-1).double(), atol=1e-6, rtol=1e-5
    )


def test_a_head_that_attends_to_itself_puts_out_its_own_value():
    grid = TokenGrid(2, 2, (4, 4))
    keys = 40 * torch.eye(4).expand(1, 1, 4, 4)
    statistics = ValueStatistics(grid)
    statistics.update("first", keys, keys, None, torch.randn(1, 1, 4, 4))
    assert float(statistics.own_value_cosines()[0]) == pytest.approx(1)


def encoder(**options):
    return VisionTransformer(32, 2, 4, (16, 48), (4, 8), **options).eval()


def test_a_model_has_the_row_with_its_units():
    result = attention_distance(encoder(), torch.randn(4, 3, 16, 48))
    rows = result.to_frame().query("metric == 'value_distance'")
    assert set(rows["unit"]) == {
        "px",
        "patches",
        "share of uniform",
        "share of diagonal",
    }
    assert rows["mean"].notna().all()
    per_image = result.to_frame(per_image=True)
    assert {"value_distance", "own_value_cosine"} < set(per_image["metric"])
    fewer = attention_distance(
        encoder(), torch.randn(2, 3, 16, 48), metrics=["entropy"]
    )
    assert "value_distance" not in set(fewer.to_frame()["metric"])
    assert fewer.sinks().empty


class Sink(nn.Module):
    """Attention of two heads to the third token, whose value is nothing in the first head."""

    grid = (4, 6)
    special_tokens = 0
    image_size = (16, 48)
    special_names = ()

    def forward(self, images):
        batch = len(images)
        queries = torch.ones(batch, 2, TOKENS, 1)
        keys = torch.zeros(batch, 2, TOKENS, 1)
        keys[:, :, 2] = 10.0
        values = torch.ones(batch, 2, TOKENS, 1)
        values[:, 0, 2] = 0.01
        return nn.functional.scaled_dot_product_attention(queries, keys, values)


def test_kinds_of_sinks():
    sinks = attention_distance(
        nn.Sequential(Sink()), torch.rand(2, 3, 16, 48), grid=GRID
    ).sinks()
    assert sinks["kind"].tolist() == ["no operation", "broadcast"]
    assert sinks[["row", "column"]].values.tolist() == [[1, 3], [1, 3]]
    assert sinks["value_norm"].iloc[0] == pytest.approx(0.01 / (23.01 / 24), rel=1e-4)
    assert sinks["value_norm"].iloc[1] == pytest.approx(1)


class Wandering(nn.Module):
    """A sink whose value is nothing, at another token in each image."""

    def __init__(self, special=0):
        super().__init__()
        self.special = special

    def forward(self, images):
        batch = len(images)
        tokens = TOKENS + self.special
        queries = torch.ones(batch, 1, tokens, 1)
        keys = torch.zeros(batch, 1, tokens, 1)
        values = torch.ones(batch, 1, tokens, 1)
        # The first pixel says which
        places = (images[:, 0, 0, 0]).long() + self.special
        keys[torch.arange(batch), 0, places] = 40.0
        values[torch.arange(batch), 0, places] = 0.001
        return nn.functional.scaled_dot_product_attention(queries, keys, values)


@pytest.mark.parametrize("images", [1, 4, 16, 32])
def test_a_sink_is_one_wherever_it_is_in_each_image(images):
    pictures = torch.zeros(images, 3, 16, 48)
    pictures[:, 0, 0, 0] = torch.arange(images) % TOKENS
    result = attention_distance(
        nn.Sequential(Wandering()), pictures, grid=GRID, batch_size=5
    )
    (sink,) = result.sinks().to_dict("records")
    assert sink["kind"] == "no operation"
    assert sink["no_operation"] == sink["kind_share"] == 1
    assert sink["share"] == pytest.approx(1)
    assert sink["n"] == images
    assert sink["place_share"] == pytest.approx(math.ceil(images / TOKENS) / images)


def test_what_goes_to_the_class_token_goes_to_a_sink():
    grid = TokenGrid(4, 6, (4, 8), special_tokens=1)
    pictures = torch.zeros(3, 3, 16, 48)
    pictures[:, 0, 0, 0] = -1
    (sink,) = (
        attention_distance(nn.Sequential(Wandering(1)), pictures, grid=grid)
        .sinks()
        .to_dict("records")
    )
    assert (sink["token"], sink["kind"]) == ("special 1", "no operation")
    assert sink["place_share"] == 1
    assert sink["times_uniform"] == pytest.approx(TOKENS + 1)
    assert pd.isna(sink["row"])


def test_the_share_of_images_of_every_kind_is_said():
    pictures = torch.zeros(4, 3, 16, 48)
    pictures[:, 0, 0, 0] = torch.tensor([0.0, 1.0, 2.0, 2.0])
    model = nn.Sequential(Mixed())
    (sink,) = attention_distance(model, pictures, grid=GRID).sinks().to_dict("records")
    assert sink["kind"] == "no sink"
    assert sink["kind_share"] == sink["no_sink"] == 0.5
    assert sink["no_operation"] == sink["broadcast"] == 0.25


class Mixed(nn.Module):
    """No operation in images of 0, broadcast in images of 1, even attention in others."""

    def forward(self, images):
        kinds = images[:, 0, 0, 0]
        queries = torch.ones(len(images), 1, TOKENS, 1)
        keys = torch.zeros_like(queries)
        values = torch.ones_like(queries)
        keys[kinds < 2, 0, 7] = 40.0
        values[kinds == 0, 0, 7] = 0.001
        return nn.functional.scaled_dot_product_attention(queries, keys, values)


class ByHand(Sink):
    """The same by a softmax of its own, which `register_attention` makes known without values."""


def test_without_values_there_is_no_kind():
    from vit_str.analysis.probe import register_attention

    @register_attention(ByHand)
    def _(_module, images):
        keys = torch.zeros(len(images), 1, TOKENS, 1)
        keys[:, :, 2] = 10.0
        return torch.ones_like(keys), keys

    result = attention_distance(ByHand(), torch.rand(2, 3, 16, 48), grid=GRID)
    assert "value_distance" not in set(result.to_frame()["metric"])
    sinks = result.sinks()
    assert sinks["value_norm"].isna().all()
    assert sinks["kind"].isna().all()


def test_even_attention_has_no_sink():
    model = encoder()
    for module in model.modules():
        if isinstance(module, nn.Linear):
            nn.init.zeros_(module.weight)
    sinks = attention_distance(model, torch.rand(2, 3, 16, 48)).sinks()
    assert set(sinks["kind"]) == {"no sink"}


def test_multi_head_attention_of_torch_shows_its_values():
    module = nn.MultiheadAttention(8, 2, batch_first=True).eval()
    tokens = torch.randn(3, 5, 8)
    found = []
    with torch.no_grad(), probe(module, with_values=[lambda *of: found.append(of)]):
        output = module(tokens, tokens, tokens, need_weights=False)[0]
    _, queries, keys, mask, values = found[0]
    mixed = (map_of(queries, keys, mask) @ values).transpose(1, 2).flatten(2)
    torch.testing.assert_close(module.out_proj(mixed), output, atol=1e-5, rtol=1e-5)
    assert math.isfinite(float(values.norm()))
