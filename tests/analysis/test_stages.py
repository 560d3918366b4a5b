"""Models with attention in stages, of tokens in any order, against their own maps and true places.

Between convolutions, in windows and among far tokens, block by block, and in mask units.
"""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from vit_str.analysis.ablation.calls import Head
from vit_str.analysis.ablation.cut import HeadOutputs, without_heads
from vit_str.analysis.distance.measure import DistanceAnalysis
from vit_str.analysis.distance.tables import measurements
from vit_str.analysis.geometry import TokenGrid
from vit_str.analysis.libraries.encoder import LibraryEncoder, probe_layers
from vit_str.analysis.libraries.load import encoder_of
from vit_str.analysis.probe import layer_outputs, map_of
from vit_str.analysis.receptive_field.windows import fields_by_layer
from vit_str.analysis.rollout import encoder_rollout
from vit_str.analysis.sinks.measure import SinkAnatomy
from vit_str.analysis.statistics import AttentionStatistics
from vit_str.models import VisionTransformer

timm = pytest.importorskip("timm")
torchvision = pytest.importorskip("torchvision")

SIZE = (64, 96)


@pytest.fixture
def finer_at_first():
    """A model of this project whose first block has twice as many rows of tokens; and images."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        encoder = VisionTransformer(
            dim=16,
            depth=2,
            heads=2,
            image_size=(32, 64),
            patch_size=(16, 8),
            fine_depth=1,
        )
        for name, weights in encoder.named_parameters():
            if "to_queries" in name or "to_keys" in name:
                nn.init.normal_(weights)
        return encoder.eval(), torch.randn(3, 3, 32, 64)


def test_every_layer_is_measured_on_its_own_rows(finer_at_first):
    encoder, images = finer_at_first
    analysis = DistanceAnalysis("fine", encoder, keep_maps=3)
    analysis.update(images)
    coarse = TokenGrid(2, 8, (16, 8))
    grids = [TokenGrid(4, 8, (8, 8)), coarse, coarse]
    assert [analysis.statistics.tokens.grid_of(name) for name in analysis.maps] == grids
    uniform = analysis.statistics.chance()["uniform"]["distance"]
    assert uniform == pytest.approx([grid.uniform_distance() for grid in grids])
    values = analysis.values("distance")
    for grid, maps, found in zip(grids, analysis.maps.values(), values, strict=True):
        of_rows = (torch.cat(maps).double() * grid.distances()).sum(-1)
        torch.testing.assert_close(found, of_rows.mean(-1), rtol=1e-4, atol=1e-4)


def test_sinks_and_cut_heads_of_layers_with_more_rows(finer_at_first):
    encoder, images = finer_at_first
    anatomy = SinkAnatomy("fine", encoder)
    anatomy.update(images)
    assert anatomy.to_frame()["layer"].max() == 3
    outputs = HeadOutputs(encoder)
    with torch.no_grad():
        with outputs.recorded():
            whole = encoder(images)
        with without_heads(encoder, [Head(1, 1)], outputs.fill("equal-distance", 0)):
            cut = encoder(images)
    assert (cut - whole).abs().max() > 1e-3
    with pytest.raises(ValueError, match="the same tokens everywhere"):
        encoder_rollout(encoder, images)


def maxxvit(*kinds: str, **options: Any) -> nn.Module:
    from timm.models.maxxvit import MaxxVit, MaxxVitCfg, MaxxVitTransformerCfg

    attention = MaxxVitTransformerCfg(dim_head=8, window_size=(4, 6), **options)
    config = MaxxVitCfg(
        embed_dim=(16, 24),
        depths=(1, 1),
        block_type=kinds,
        stem_width=8,
        transformer_cfg=attention,
    )
    return MaxxVit(config, img_size=SIZE, num_classes=0)


def metaformer() -> nn.Module:
    from timm.models import metaformer as parts

    return parts.MetaFormer(
        depths=(1, 2),
        dims=(32, 64),
        token_mixers=(parts.Pooling, parts.Attention),
        norm_layers=(parts.LayerNorm2dNoBias, parts.LayerNormNoBias),
        num_classes=0,
    )


def fastvit() -> nn.Module:
    from timm.models.fastvit import FastVit

    return FastVit(
        layers=(1, 2),
        token_mixers=("repmixer", "attention"),
        embed_dims=(32, 64),
        mlp_ratios=(2, 2),
        downsamples=(False, True),
        pos_embs=(None, None),
        num_classes=0,
    )


def visformer() -> nn.Module:
    from timm.models.visformer import Visformer

    return Visformer(
        img_size=SIZE,
        init_channels=8,
        embed_dim=32,
        depth=(1, 2, 1),
        num_heads=2,
        attn_stage="011",
        group=4,
        num_classes=0,
    )


def efficientformer() -> nn.Module:
    from timm.models.efficientformer import EfficientFormer

    return EfficientFormer(
        depths=(1, 1, 1, 3), embed_dims=(8, 8, 8, 16), num_vit=2, num_classes=0
    )


def torchvision_maxvit() -> nn.Module:
    from torchvision.models.maxvit import MaxVit

    return MaxVit(
        input_size=(64, 64),
        stem_channels=8,
        partition_size=4,
        block_channels=[16, 24],
        block_layers=[1, 1],
        head_dim=8,
        stochastic_depth_prob=0,
    )


def nest() -> nn.Module:
    from timm.models.nest import Nest

    return Nest(
        img_size=64,
        num_levels=2,
        embed_dims=(8, 16),
        num_heads=(2, 4),
        depths=(1, 1),
        num_classes=0,
    )


def hiera(*in_units: bool) -> Any:
    from timm.models.hiera import Hiera

    return Hiera(
        img_size=SIZE,
        embed_dim=8,
        num_heads=2,
        stages=(1, 2, 1),
        q_pool=2,
        mask_unit_size=(4, 4),
        mask_unit_attn=in_units,
        num_classes=0,
    )


PLAIN, WINDOWS, SPREAD = "plain", "windows", "spread"
# What makes the model, its images, and rows, columns and kind of every layer with attention
CASES: dict[str, tuple[Callable[[], nn.Module], tuple[int, int], list[Any]]] = {
    "MaxViT": (
        lambda: maxxvit("M", "M"),
        SIZE,
        [(16, 24, WINDOWS), (16, 24, SPREAD), (8, 12, WINDOWS), (8, 12, SPREAD)],
    ),
    "MaxViT, channels first": (
        lambda: maxxvit("C", "M", use_nchw_attn=True),
        SIZE,
        [(8, 12, WINDOWS), (8, 12, SPREAD)],
    ),
    "CoAtNet": (lambda: maxxvit("C", "T"), SIZE, [(8, 12, PLAIN)]),
    "MetaFormer": (metaformer, SIZE, [(8, 12, PLAIN)] * 2),
    "FastViT": (fastvit, SIZE, [(8, 12, PLAIN)] * 2),
    "Visformer": (visformer, SIZE, [(4, 6, PLAIN)] * 2 + [(2, 3, PLAIN)]),
    "EfficientFormer": (efficientformer, (224, 224), [(7, 7, PLAIN)] * 2),
    "NesT": (nest, (64, 64), [(16, 16, WINDOWS), (8, 8, WINDOWS)]),
    "MaxViT of torchvision": (
        torchvision_maxvit,
        (64, 64),
        [(16, 16, WINDOWS), (16, 16, SPREAD), (8, 8, WINDOWS), (8, 8, SPREAD)],
    ),
}


def made(name: str) -> tuple[LibraryEncoder, Tensor]:
    make, size, _ = CASES[name]
    torch.manual_seed(0)
    model = make().eval()
    encoder = encoder_of(model, size)
    assert encoder.image_size == size
    return encoder, torch.randn(2, 3, *size)


def own_maps(
    encoder: Any, images: Tensor, monkeypatch: pytest.MonkeyPatch
) -> list[Tensor]:
    """All that the softmaxes of a model put out, without the fused kernel."""
    maps: list[Tensor] = []
    softmax = torch.softmax

    def spy(scores: Tensor, dim: int, *_: Any, **__: Any) -> Tensor:
        maps.append(softmax(scores, dim).detach())
        return maps[-1]

    for module in encoder.modules():
        if hasattr(module, "fused_attn"):
            module.fused_attn = False
    with monkeypatch.context() as patch, torch.no_grad():
        patch.setattr(Tensor, "softmax", spy)
        patch.setattr(torch.nn.functional, "softmax", spy)
        encoder(images)
    return maps


def places_of_windows(
    rows: int, columns: int, kind: str, window: tuple[int, int], size: tuple[int, int]
) -> Tensor:
    """(x, y) of the tokens of every window, put into windows by timm itself."""
    from timm.models.maxxvit import grid_partition, window_partition

    y = (torch.arange(rows).double() + 0.5) * size[0] / rows
    x = (torch.arange(columns).double() + 0.5) * size[1] / columns
    places = torch.stack(torch.meshgrid(x, y, indexing="xy"), -1)[None]
    if kind == PLAIN:
        return places.reshape(1, -1, 2)
    cut = grid_partition if kind == SPREAD else window_partition
    return cut(places, list(window)).reshape(-1, window[0] * window[1], 2)


@pytest.mark.parametrize("name", CASES)
def test_against_own_maps_and_true_places(name, monkeypatch):
    _, size, layers = CASES[name]
    encoder, images = made(name)
    for parameter in encoder.parameters():
        parameter.data += 0.3 * torch.randn_like(parameter)
    encoder = encoder.double()  # so that large scores differ by nothing
    images = images.double()
    expected = own_maps(encoder, images, monkeypatch)
    grids = [(block.grid.rows, block.grid.columns) for block in encoder.blocks]
    assert grids == [(rows, columns) for rows, columns, _ in layers]
    for fused in (False, True):
        for module in encoder.modules():
            if hasattr(module, "fused_attn"):
                module.fused_attn = fused
        found: list[Tensor] = []
        statistics = AttentionStatistics(TokenGrid.of(encoder), windows=encoder.windows)
        with (
            torch.no_grad(),
            probe_layers(
                encoder,
                lambda _, *what, found=found: found.append(map_of(*what)),
                statistics.update,
            ),
        ):
            encoder(images)
        assert len(found) == len(expected) == len(layers)
        for one, other in zip(found, expected, strict=True):
            other = other.transpose(1, 2) if name == "NesT" else other
            torch.testing.assert_close(one, other.reshape_as(one), atol=1e-5, rtol=1e-5)
    of_layers = zip(
        found, layers, encoder.blocks, statistics.values("distance"), strict=True
    )
    for maps, (rows, columns, kind), block, distance in of_layers:
        places = places_of_windows(rows, columns, kind, block.window or (0, 0), size)
        away = torch.cdist(places, places)[:, None]
        by_image = maps.double().unflatten(0, (len(images), len(places)))
        by_hand = (by_image * away).sum(-1).mean((1, 3))
        torch.testing.assert_close(distance, by_hand, atol=1e-4, rtol=1e-6)


@pytest.mark.parametrize("name", CASES)
def test_uniform_attention_has_a_share_of_one(name):
    encoder, images = made(name)
    for parameter in encoder.parameters():  # queries, keys and biases of zero
        parameter.data.zero_()
    analysis = DistanceAnalysis(name, encoder)
    analysis.update(images)
    rows = measurements(analysis)
    for metric in ("distance", "entropy"):
        shares = rows[(rows["metric"] == metric) & (rows["unit"] == "share of uniform")]
        assert shares["mean"].to_numpy() == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("name", CASES)
def test_layers_are_maps_of_their_own_grids(name):
    encoder, images = made(name)
    with torch.no_grad():
        outputs = layer_outputs(encoder, images)
    assert [tuple(output.shape[2:]) for output in outputs] == [
        (rows, columns) for rows, columns, _ in CASES[name][2]
    ]


UNITS = [(True, True, False), (True, False, False)]


@pytest.mark.parametrize("in_units", UNITS)
def test_mask_units_against_own_maps_and_true_places(in_units, monkeypatch):
    torch.manual_seed(0)
    model = hiera(*in_units).eval()
    for parameter in model.parameters():
        parameter.data += 0.3 * torch.randn_like(parameter)
    encoder = encoder_of(model, SIZE)
    assert encoder.image_size == SIZE
    images = torch.randn(2, 3, *SIZE)
    expected = own_maps(encoder, images, monkeypatch)
    # Places go the way of tokens: unrolled, and pooled with their neighbors
    rows = places_of_windows(16, 24, PLAIN, (0, 0), SIZE)
    places = model.unroll(rows)
    by_hand = []
    for block, maps in zip(model.blocks, expected, strict=True):
        stride = block.attn.q_stride
        pooled = places.unflatten(1, (stride, -1)).mean(1)
        windows = maps.shape[2] if maps.ndim == 5 else 1
        queries, keys = (
            x.reshape(-1, windows, 2).transpose(0, 1) for x in (pooled, places)
        )
        away = torch.cdist(queries, keys)
        of_windows = maps.reshape(*maps.shape[:2], *away.shape).double()
        by_hand.append((of_windows * away).sum(-1).mean((2, 3)))
        places = pooled
    for fused in (False, True):
        for block in model.blocks:
            block.attn.fused_attn = fused
        statistics = AttentionStatistics(TokenGrid.of(encoder), windows=encoder.windows)
        with torch.no_grad(), probe_layers(encoder, statistics.update):
            encoder(images)
        for found, other in zip(statistics.values("distance"), by_hand, strict=True):
            torch.testing.assert_close(found, other, atol=1e-4, rtol=1e-6)


@pytest.mark.parametrize("in_units", UNITS)
def test_uniform_attention_in_mask_units_has_a_share_of_one(in_units):
    model = hiera(*in_units).eval()
    for parameter in model.parameters():
        parameter.data.zero_()
    analysis = DistanceAnalysis("Hiera", encoder_of(model, SIZE))
    analysis.update(torch.randn(2, 3, *SIZE))
    rows = measurements(analysis)
    for metric in ("distance", "value_distance", "entropy"):
        shares = rows[(rows["metric"] == metric) & (rows["unit"] == "share of uniform")]
        assert shares["mean"].to_numpy() == pytest.approx(1, abs=1e-6)


def test_features_of_models_with_other_orders_are_row_by_row():
    torch.manual_seed(0)
    model = hiera(True, True, False).eval()
    images = torch.randn(2, 3, *SIZE)
    with torch.no_grad():
        outputs = layer_outputs(encoder_of(model, SIZE), images)
        _, stages = model.forward_features(images, return_intermediates=True)
    for end, stage in zip(model.stage_ends, stages, strict=True):
        torch.testing.assert_close(outputs[end], stage.permute(0, 3, 1, 2))
    model = nest().eval()
    images = torch.randn(2, 3, 64, 64)
    with torch.no_grad():
        outputs = layer_outputs(encoder_of(model, (64, 64)), images)
        features = model.patch_embed(images)
        for output, level in zip(outputs, model.levels, strict=True):
            features = level(features)
            torch.testing.assert_close(output, features)


def changed(encoder, layer, pixels):
    """Whether the middle token of a layer changes with pixels (row, column) of a random image."""
    image = torch.randn(1, 3, *encoder.image_size, dtype=torch.float64)
    other = image.clone()
    rows, columns = pixels
    other[..., rows, columns] += 3
    with torch.no_grad():
        both = [layer_outputs(encoder, each)[layer][0] for each in (image, other)]
    cell = [
        (2 * (tokens // 2) + 1) * cells // (2 * tokens)
        for tokens, cells in zip(encoder.grid, both[0].shape[1:], strict=True)
    ]
    one, two = (output[:, cell[0], cell[1]] for output in both)
    return not torch.allclose(one, two, rtol=1e-13, atol=0)


@pytest.mark.parametrize(
    "name", ["MaxViT", "NesT", "MaxViT of torchvision", "TinyViT", "Hiera"]
)
def test_what_tokens_see_is_what_changes_them(name):
    """Convolutions between windows widen what these let through."""
    torch.manual_seed(0)
    if name == "TinyViT":
        encoder = encoder_of(tiny_vit().eval(), (64, 64))
    elif name == "Hiera":
        encoder = encoder_of(hiera(True, True, False).eval(), SIZE)
    else:
        encoder, _ = made(name)
    encoder = encoder.double()
    for parameter in encoder.parameters():  # of which some begin with zero
        parameter.data += 0.05 * torch.randn_like(parameter)
    height, width = encoder.image_size
    for layer, field in enumerate(fields_by_layer(encoder)):
        top, left, bottom, right = field.of_unit(0, 0)
        assert 0 <= top < bottom <= height
        assert 0 <= left < right <= width
        everywhere = slice(0, None)
        for edge in (top, bottom - 1):
            assert changed(encoder, layer, (edge, everywhere)), (layer, edge)
        for edge in (left, right - 1):
            assert changed(encoder, layer, (everywhere, edge)), (layer, edge)
        outside = torch.ones(height, width, dtype=torch.bool)
        outside[top:bottom, left:right] = False
        if outside.any():
            assert not changed(encoder, layer, outside.nonzero().T.unbind()), layer


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "size"), [("nest_tiny", 168), ("maxvit_rmlp_pico_rw_256", 256)]
)
def test_what_the_first_windows_of_public_models_see(name, size):
    """Two more convolutions in NesT; squeeze-and-excitation in MaxViT."""
    from vit_str.analysis.subjects import load_subject

    encoder = load_subject(f"untrained:timm:{name}").encoder
    assert size in {field.size[0] for field in fields_by_layer(encoder)}


def tiny_vit() -> nn.Module:
    from timm.models.tiny_vit import TinyVit

    return TinyVit(
        embed_dims=(8, 8, 16, 16),
        depths=(1, 1, 1, 1),
        num_heads=(1, 1, 2, 2),
        window_sizes=(2, 2, 2, 2),
        num_classes=0,
    )


def test_what_does_not_fit_is_one_line():
    with pytest.raises(ValueError, match="49 tokens only"):
        encoder_of(efficientformer(), (256, 256))
    with pytest.raises(ValueError, match="do not divide"):
        encoder_of(metaformer(), (64, 100))
