"""Attention to pooled keys: where they truly lie, and what chance is for them."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from vit_str.analysis.distance.measure import DistanceAnalysis
from vit_str.analysis.distance.tables import measurements, sink_tokens
from vit_str.analysis.geometry import TokenGrid, Windows, neighborhood
from vit_str.analysis.libraries.encoder import LibraryEncoder, probe_layers
from vit_str.analysis.libraries.load import encoder_of
from vit_str.analysis.probe import layer_outputs, map_of
from vit_str.analysis.receptive_field.windows import fields_by_layer
from vit_str.analysis.statistics import AttentionStatistics

timm = pytest.importorskip("timm")

SIZE = (64, 96)
STAGES = {
    "embed_dims": (8, 12),
    "num_heads": (2, 3),
    "depths": (2, 1),
    "num_classes": 0,
}


def pyramid() -> nn.Module:
    from timm.models.pvt_v2 import PyramidVisionTransformerV2

    return PyramidVisionTransformerV2(**STAGES, mlp_ratios=(2, 2), sr_ratios=(4, 1))


def twins(**options: Any) -> nn.Module:
    from timm.models.twins import Twins

    return Twins(SIZE, **STAGES, mlp_ratios=(2, 2), sr_ratios=(4, 1), **options)


def multi_scale(size: tuple[int, int] = SIZE, **options: Any) -> nn.Module:
    from timm.models.mvitv2 import MultiScaleVit, MultiScaleVitCfg

    config = MultiScaleVitCfg(
        depths=(1, 2),
        embed_dim=(8, 16),
        num_heads=(2, 4),
        stride_kv_adaptive=(4, 4),
        **options,
    )
    config.stride_q = config.stride_q[:2]
    config.stride_kv = config.stride_kv[:2]
    return MultiScaleVit(config, img_size=size, num_classes=0)


CASES: dict[str, Callable[[], nn.Module]] = {
    "PVT v2": pyramid,
    "Twins": lambda: twins(wss=(4, 4)),
    "Twins without windows": twins,
    "MViT v2": lambda: multi_scale(rel_pos_type=""),
    "MViT v2, relative": lambda: multi_scale((64, 64)),
}


def size_of(name: str) -> tuple[int, int]:
    return (64, 64) if "relative" in name else SIZE


def own_maps(
    model: Any, images: Tensor, monkeypatch: pytest.MonkeyPatch
) -> list[Tensor]:
    """What a model multiplies its values with: all that its softmaxes put out."""
    maps: list[Tensor] = []
    softmax = Tensor.softmax

    def spy(scores: Tensor, *arguments: Any, **named: Any) -> Tensor:
        maps.append(softmax(scores, *arguments, **named).detach())
        return maps[-1]

    for module in model.modules():
        if hasattr(module, "fused_attn"):
            module.fused_attn = False
    with monkeypatch.context() as patch, torch.no_grad():
        patch.setattr(Tensor, "softmax", spy)
        model.forward_features(images)
    return maps


def probed_maps(encoder: LibraryEncoder, images: Tensor) -> list[Tensor]:
    maps: list[Tensor] = []
    with (
        torch.no_grad(),
        probe_layers(encoder, lambda _, *what: maps.append(map_of(*what))),
    ):
        encoder(images)
    return maps


def places(rows: int, columns: int, stride: float) -> Tensor:
    """(x, y) of tokens as two channels of a map."""
    y, x = torch.meshgrid(torch.arange(rows), torch.arange(columns), indexing="ij")
    return (torch.stack([x, y])[None] + 0.5).double() * stride


def true_places(name: str, size: tuple[int, int]) -> list[tuple[Tensor, Tensor]]:
    """Queries and keys of every layer, from what the convolutions do to places."""
    first = places(size[0] // 4, size[1] // 4, 4)
    if name.startswith("MViT"):
        second = first[..., ::2, ::2]  # windows of 3 x 3 tokens around every second one
        # The layer that pools queries pools its keys from the same tokens.
        return [
            (first, first[..., ::4, ::4]),
            (second, second),
            (second, second[..., ::2, ::2]),
        ]
    pooled = F.avg_pool2d(first, 4)
    second = F.avg_pool2d(first, 2)
    windows = name == "Twins"
    return [
        (first, first if windows else pooled),
        (first, pooled),
        (second, second),
    ]


@pytest.mark.parametrize("name", CASES)
def test_a_family_against_its_own_maps_and_the_places_of_its_keys(name, monkeypatch):
    size = size_of(name)
    torch.manual_seed(0)
    model = CASES[name]().eval()
    for parameter in model.parameters():
        parameter.data += 0.3 * torch.randn_like(parameter)
    images = torch.randn(2, 3, *size)
    expected = own_maps(model, images, monkeypatch)
    encoder = encoder_of(model, size)
    assert encoder.image_size == size
    statistics = AttentionStatistics(TokenGrid.of(encoder), windows=encoder.windows)
    for fused in (False, True):
        for module in model.modules():
            if hasattr(module, "fused_attn"):
                module.fused_attn = fused
        found = probed_maps(encoder, images)
        assert len(found) == len(expected) == len(encoder.blocks)
        for one, other in zip(found, expected, strict=True):
            torch.testing.assert_close(one, other.view_as(one), atol=1e-5, rtol=1e-5)
    with torch.no_grad(), probe_layers(encoder, statistics.update):
        encoder(images)
    measured = statistics.values("distance"), statistics.values("self_mass")
    layers = zip(expected, true_places(name, size), *measured, strict=True)
    for maps, (queries, keys), distance, own in layers:
        if maps.ndim == 5:  # of windows, which tests of Swin compare
            continue
        away = torch.cdist(queries.flatten(2).mT, keys.flatten(2).mT)[0]
        by_hand = (maps.double() * away).sum(-1).mean(-1)
        torch.testing.assert_close(distance, by_hand, atol=1e-4, rtol=1e-6)
        nearest = maps.double().gather(
            -1, away.argmin(1)[:, None].expand(*maps.shape[:3], 1)
        )
        torch.testing.assert_close(own, nearest[..., 0].mean(-1), atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize("kind", ["PvtV2", "Segformer", "GLPN"])
def test_pooled_keys_of_transformers(kind):
    transformers = pytest.importorskip("transformers")
    sizes = {"hidden_sizes": [8, 12], "depths": [2, 1], "num_attention_heads": [2, 3]}
    sizes |= {"mlp_ratios": [2, 2], "sr_ratios": [4, 1], "num_encoder_blocks": 2}
    sizes |= {"patch_sizes": [7, 3], "strides": [4, 2]}
    torch.manual_seed(0)
    model_class = getattr(transformers, f"{kind}Model")
    model = model_class(model_class.config_class(**sizes)).eval()
    for parameter in model.parameters():
        parameter.data += 0.3 * torch.randn_like(parameter)
    images = torch.randn(2, 3, *SIZE)
    encoder = encoder_of(model, SIZE)
    statistics = AttentionStatistics(TokenGrid.of(encoder), windows=encoder.windows)
    with torch.no_grad(), probe_layers(encoder, statistics.update):
        features = encoder(images)
    if model._supports_sdpa:
        model.set_attn_implementation("eager")
    with torch.no_grad():
        output = model(images, output_attentions=True)
    torch.testing.assert_close(features, output.last_hidden_state, atol=1e-4, rtol=1e-4)
    # PVT v2 hands out its maps stage by stage.
    maps = [
        of_block
        for stage in output.attentions
        for of_block in ([stage] if isinstance(stage, Tensor) else stage)
    ]
    layers = zip(
        maps, true_places("PVT v2", SIZE), statistics.values("distance"), strict=True
    )
    for of_block, (queries, keys), distance in layers:
        away = torch.cdist(queries.flatten(2).mT, keys.flatten(2).mT)[0]
        by_hand = (of_block.double() * away).sum(-1).mean(-1)
        torch.testing.assert_close(distance, by_hand, atol=1e-4, rtol=1e-6)


HEADS = {
    "PvtV2": "ForImageClassification",
    "Segformer": "ForSemanticSegmentation",
    "GLPN": "ForDepthEstimation",
}


@pytest.mark.parametrize("kind", HEADS)
def test_pooled_keys_of_models_with_a_head(kind):
    transformers = pytest.importorskip("transformers")
    sizes = {"hidden_sizes": [8, 12], "depths": [1, 1], "num_attention_heads": [2, 3]}
    sizes |= {"sr_ratios": [4, 1], "num_encoder_blocks": 2, "decoder_hidden_size": 8}
    model_class = getattr(transformers, f"{kind}{HEADS[kind]}")
    model = model_class(model_class.config_class(**sizes)).eval()
    assert encoder_of(model, SIZE).model is model.base_model
    if kind != "PvtV2":  # which has 224 by default
        with pytest.raises(ValueError, match="any size: say which"):
            encoder_of(model)


def attend_evenly(model: nn.Module) -> None:
    """Take the queries away."""
    for module in model.modules():
        for name in ("q", "qkv"):
            layer = getattr(module, name, None)
            if isinstance(layer, nn.Linear):
                count = len(layer.weight) // (3 if name == "qkv" else 1)
                layer.weight.data[:count] = 0
                layer.bias.data[:count] = 0


@pytest.mark.parametrize("name", CASES)
def test_uniform_attention_has_a_share_of_one(name):
    size = size_of(name)
    torch.manual_seed(0)
    model = CASES[name]().eval()
    attend_evenly(model)
    encoder = encoder_of(model, size)
    analysis = DistanceAnalysis(name, encoder)
    analysis.update(torch.randn(2, 3, *size))
    rows = measurements(analysis)
    for metric in ("distance", "entropy"):
        shares = rows[(rows["metric"] == metric) & (rows["unit"] == "share of uniform")]
        assert shares["mean"].to_numpy() == pytest.approx(1, abs=1e-6)
    chance = analysis.statistics.chance()["uniform"]
    for layer, (queries, keys) in enumerate(true_places(name, size)):
        if name == "Twins" and layer != 1:
            continue
        away = torch.cdist(queries.flatten(2).mT, keys.flatten(2).mT)[0]
        assert chance["distance"][layer] == pytest.approx(float(away.mean()), rel=1e-9)
    assert analysis.statistics.values("nmi")[1].abs().max() < 1e-3
    sinks = sink_tokens(analysis)
    assert sinks["times_uniform"].to_numpy() == pytest.approx(1, abs=1e-4)
    assert set(sinks["kind"]) == {"no sink"}


def test_layers_are_maps_of_their_own_grids():
    for name in ("PVT v2", "Twins", "MViT v2"):
        encoder = encoder_of(CASES[name]().eval(), SIZE)
        outputs = layer_outputs(encoder, torch.randn(1, 3, *SIZE))
        grids = [(block.grid.rows, block.grid.columns) for block in encoder.blocks]
        assert [tuple(output.shape[2:]) for output in outputs] == grids
        assert fields_by_layer(encoder)[-1].size == SIZE


def test_the_keys_around_a_token():
    grid = TokenGrid(4, 6, (4, 4))
    near = neighborhood(grid, grid.pooled(2, 2))
    assert near.shape == (24, 6)
    assert near.sum(1).view(4, 6).tolist() == [[4, 4, 6, 6, 4, 4]] * 4
    strided = grid.strided(2, 2)
    assert strided.centers[:2].tolist() == [[2, 2], [10, 2]]
    assert grid.pooled(2, 2).centers[:2].tolist() == [[4, 4], [12, 4]]
    assert strided.strided(2, 1).offset == (-6, -2)


def test_statistics_of_other_keys_than_the_grid_has_are_refused():
    grid = TokenGrid(4, 4, (4, 4))
    windows = {"layer": Windows.of_pooled(grid, grid.pooled(2, 2))}
    statistics = AttentionStatistics(grid, windows=windows)
    statistics.update_maps("layer", torch.full((1, 1, 16, 4), 0.25))
    with pytest.raises(ValueError, match=r"16 and 16 tokens.* and 2 x 2 keys"):
        statistics.update_maps("layer", torch.full((1, 1, 16, 16), 1 / 16))


REFUSED = {
    "class token": (lambda: multi_scale(use_cls_token=True, rel_pos_type=""), SIZE),
    "do not divide into tokens of 4 x 4": (pyramid, (62, 96)),
    "cannot be merged": (pyramid, (60, 96)),
    "attention to padding": (lambda: twins(wss=(5, 5)), SIZE),
    "say which": (pyramid, None),
}


@pytest.mark.parametrize("why", REFUSED)
def test_what_is_not_cut_evenly_is_refused(why):
    make, size = REFUSED[why]
    with pytest.raises(ValueError, match=why) as caught:
        encoder_of(make().eval(), size)
    assert "\n" not in str(caught.value)


def test_models_of_timm_by_name():
    from vit_str.analysis.libraries.load import load_library_model

    encoder, ours = load_library_model("untrained:timm:pvt_v2_b0", image_size=SIZE)
    assert (encoder.grid, (ours.height, ours.width)) == ((2, 3), SIZE)
    encoder, _ = load_library_model("untrained:timm:pvt_v2_b2_li")
    assert encoder.image_size == (224, 224)
    assert [(b.keys.rows, b.keys.columns) for b in encoder.blocks if b.keys] == [
        (7, 7)
    ] * 16
    with pytest.raises(ValueError, match="keys of uneven size"):
        load_library_model("untrained:timm:pvt_v2_b2_li", image_size=SIZE)


def test_a_layer_of_its_own_kind_is_measured_once(monkeypatch):
    """All layers that are alike share one object, so that chance is worked out once for them."""
    encoder: LibraryEncoder = encoder_of(twins().eval(), SIZE)
    first, second, third = encoder.windows.values()
    assert first is second
    assert third.keys == third.grid
