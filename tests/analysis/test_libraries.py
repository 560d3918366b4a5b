"""Models of other libraries: small random ones of every family against their own maps."""

import argparse
import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
import torch.nn.functional as F
from PIL import Image
from torch import Tensor, nn

from vit_str.analysis import attention_distance
from vit_str.analysis.distance.measure import DistanceAnalysis
from vit_str.analysis.distance.tables import measurements
from vit_str.analysis.geometry import TokenGrid
from vit_str.analysis.libraries.encoder import Block, LibraryEncoder, probe_layers
from vit_str.analysis.libraries.load import encoder_of, load_library_model
from vit_str.analysis.probe import map_of, probe, register_attention
from vit_str.analysis.statistics import AttentionStatistics
from vit_str.cli import main
from vit_str.models.attention import MultiHeadAttention

timm = pytest.importorskip("timm")
torchvision = pytest.importorskip("torchvision")
transformers = pytest.importorskip("transformers")

LAYERS = {"embed_dim": 24, "depth": 2, "num_heads": 3}
SIZES = LAYERS | {"num_classes": 0}
HF = {
    "hidden_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 3,
    "intermediate_size": 48,
    "image_size": (32, 48),
    "patch_size": 8,
}
HF_SQUARE = HF | {"image_size": 32}  # not all of transformers is made for other images
SWIN = {
    "embed_dim": 12,
    "depths": [2, 1],
    "num_heads": [2, 3],
    "window_size": 4,
    "patch_size": 2,
}


def timm_model(module: str, name: str, **options: Any) -> nn.Module:
    models = pytest.importorskip(f"timm.models.{module}")
    return getattr(models, name)(**({"img_size": (32, 48)} | options))


def timm_vit(
    name: str = "VisionTransformer", module: str = "vision_transformer", **options: Any
):
    return partial(timm_model, module, name, **({"patch_size": 8} | SIZES | options))


def timm_swin(module: str, name: str, **options: Any):
    return partial(timm_model, module, name, num_classes=0, **SWIN | options)


def hf(name: str, **options: Any):
    def make() -> nn.Module:
        model_class = getattr(transformers, f"{name}Model")
        return model_class(model_class.config_class(**options))

    return make


def torchvision_swin(version: str = "") -> nn.Module:
    swin = torchvision.models.swin_transformer
    parts = {
        "block": getattr(swin, f"SwinTransformerBlock{version}"),
        "downsample_layer": getattr(swin, f"PatchMerging{version}"),
    }
    return swin.SwinTransformer(
        [2, 2], 12, [2, 1], [2, 3], [4, 4], num_classes=2, **parts
    )


REGISTERS = [f"register {i}" for i in range(1, 5)]
WIDE, SQUARE = (32, 48), (32, 32)
CASES = {
    "timm ViT": (timm_vit(reg_tokens=4), WIDE, "class", *REGISTERS),
    "timm ViT, normed": (
        timm_vit(qk_norm=True, class_token=False, global_pool="avg"),
        WIDE,
    ),
    "timm DeiT": (
        timm_vit("VisionTransformerDistilled", "deit"),
        WIDE,
        "class",
        "distillation",
    ),
    "timm ViT, relative": (
        timm_vit("VisionTransformerRelPos", "vision_transformer_relpos"),
        WIDE,
    ),
    "timm EVA, rotary": (
        timm_vit("Eva", "eva", use_rot_pos_emb=True, num_reg_tokens=4, qkv_fused=False),
        *(WIDE, "class", *REGISTERS),
    ),
    "timm BEiT": (timm_vit("Beit", "beit", use_rel_pos_bias=True), WIDE, "class"),
    "timm Swin": (timm_swin("swin_transformer", "SwinTransformer"), WIDE),
    "timm Swin v2": (timm_swin("swin_transformer_v2", "SwinTransformerV2"), WIDE),
    "timm Swin v2 CR": (
        timm_swin("swin_transformer_v2_cr", "SwinTransformerV2Cr"),
        WIDE,
    ),
    "timm Qwen3, rotary": (
        partial(timm_model, "qwen3_vit", "Qwen3VitEncoder", patch_size=8, **LAYERS),
        WIDE,
    ),
    "torchvision ViT": (
        lambda: torchvision.models.VisionTransformer(32, 8, 2, 3, 24, 48),
        SQUARE,
        "class",
    ),
    "torchvision Swin": (torchvision_swin, WIDE),
    "torchvision Swin v2": (partial(torchvision_swin, "V2"), WIDE),
    "HF ViT": (hf("ViT", **HF), WIDE, "class"),
    "HF DeiT": (hf("DeiT", **HF), WIDE, "class", "distillation"),
    "HF MAE": (hf("ViTMAE", **HF_SQUARE), SQUARE, "class"),
    "HF DINOv2": (hf("Dinov2WithRegisters", **HF_SQUARE), WIDE, "class", *REGISTERS),
    "HF DINOv3": (
        hf("DINOv3ViT", **HF_SQUARE, num_register_tokens=4),
        *(WIDE, "class", *REGISTERS),
    ),
    "HF BEiT": (
        hf("Beit", **HF_SQUARE, use_relative_position_bias=True),
        SQUARE,
        "class",
    ),
    "HF CLIP": (hf("CLIPVision", **HF_SQUARE), WIDE, "class"),
    "HF SigLIP": (hf("SiglipVision", **HF_SQUARE), SQUARE),
    "HF Swin": (hf("Swin", **SWIN, image_size=WIDE), WIDE),
    "HF Swin v2": (hf("Swinv2", **SWIN, image_size=WIDE), WIDE),
    "HF Donut": (hf("DonutSwin", **SWIN, image_size=WIDE), WIDE),
}
"""Family -> how to make a small model, the size of its images, names of special tokens."""


@contextmanager
def own_maps(
    model: nn.Module, monkeypatch: pytest.MonkeyPatch
) -> Iterator[list[Tensor]]:
    """What a model multiplies its values with, as it goes through dropout after the softmax."""
    maps: list[Tensor] = []
    dropout = F.dropout

    def spy(x: Tensor, *arguments: Any, **named: Any) -> Tensor:
        if x.ndim > 2 and x.shape[-1] > 1 and torch.allclose(x.sum(-1), torch.ones(())):
            maps.append(x.detach())
        return dropout(x, *arguments, **named)

    def ask(module: nn.Module, inputs: Any, named: Any, _: Any) -> None:
        if named.get("need_weights") is False:  # not when asked again, nor of pooling
            again = named | {"need_weights": True, "average_attn_weights": False}
            maps.append(module(*inputs, **again)[1].detach())

    set_fused(model, False)
    handles = [
        module.register_forward_hook(ask, with_kwargs=True)
        for module in model.modules()
        if isinstance(module, nn.MultiheadAttention)
    ]
    with monkeypatch.context() as patch:
        patch.setattr(F, "dropout", spy)
        yield maps
    for handle in handles:
        handle.remove()


def set_fused(model: Any, fused: bool) -> None:
    for module in model.modules():
        if hasattr(module, "fused_attn"):
            module.fused_attn = fused
    if hasattr(model, "set_attn_implementation") and model._supports_sdpa:
        model.set_attn_implementation("sdpa" if fused else "eager")


def probed_maps(encoder: LibraryEncoder, images: Tensor) -> list[Tensor]:
    maps: list[Tensor] = []
    with (
        torch.no_grad(),
        probe_layers(encoder, lambda _, *what: maps.append(map_of(*what))),
    ):
        encoder(images)
    return maps


@pytest.mark.parametrize("name", CASES)
def test_a_family_against_its_own_maps(name, monkeypatch):
    make, size, *special = CASES[name]
    torch.manual_seed(0)
    model = make().eval()
    for parameter in model.parameters():  # far from even, and biases that matter
        parameter.data += 0.3 * torch.randn_like(parameter)
    encoder, images = encoder_of(model, size), torch.randn(2, 3, *size)
    assert encoder.special == tuple(special)
    assert encoder.image_size == size
    assert not encoder.training
    with torch.no_grad(), own_maps(model, monkeypatch) as expected:
        output = encoder(images)
    for fused in (False, True):
        set_fused(model, fused)
        found = probed_maps(encoder, images)
        assert len(found) == len(expected) == len(encoder.blocks)
        for one, other in zip(found, expected, strict=True):
            torch.testing.assert_close(one, other.view_as(one), atol=1e-5, rtol=1e-5)
    with torch.no_grad():
        torch.testing.assert_close(encoder(images), output, atol=1e-4, rtol=1e-4)
    statistics = AttentionStatistics(TokenGrid.of(encoder), windows=encoder.windows)
    with probe_layers(encoder, statistics.update):
        encoder(images)
    for block, maps in zip(encoder.blocks, expected, strict=True):
        allowed = block.windows().allowed
        attended = (
            (maps > 1e-12)
            .any(1)
            .view(len(images), *allowed.shape[:1], *maps.shape[-2:])
        )
        special = maps.shape[-1] - allowed.shape[-1]
        assert attended[..., special:, special:].eq(allowed).all()
    distances = [in_image(*each) for each in zip(encoder.blocks, expected, strict=True)]
    for one, other in zip(statistics.values("distance"), distances, strict=True):
        torch.testing.assert_close(one, other, atol=1e-4, rtol=1e-5)


def in_image(block: Block, maps: Tensor) -> Tensor:
    """Mean distance by image and head, from every two tokens' places in the whole image."""
    rows, columns = block.grid.rows, block.grid.columns
    places = torch.arange(rows * columns)
    if block.window:
        (height, width), (down, across) = block.window, block.shift
        rolled = places.view(rows, columns).roll((-down, -across), (0, 1))
        places = rolled.view(rows // height, height, columns // width, width).transpose(
            1, 2
        )
    tokens = len(block.windows().grid)
    places = places.reshape(-1, tokens)
    maps = maps[..., -tokens:, -tokens:].double()
    maps = (maps / maps.sum(-1, keepdim=True)).unflatten(0, (-1, len(places)))
    distances = block.grid.distances()[places[:, :, None], places[:, None]]
    return (maps * distances[:, None]).sum(-1).mean((1, 3))


def test_tiny_vit_attends_inside_windows(monkeypatch):
    tiny_vit = pytest.importorskip("timm.models.tiny_vit")
    sizes = {"embed_dims": (8, 8, 12), "depths": (1, 2, 1), "num_heads": (1, 2, 3)}
    torch.manual_seed(0)
    model = tiny_vit.TinyVit(num_classes=0, window_sizes=(4, 4, 2), **sizes).eval()
    for parameter in model.parameters():
        parameter.data += 0.3 * torch.randn_like(parameter)
    encoder, images = encoder_of(model, (64, 96)), torch.randn(2, 3, 64, 96)
    set_fused(model, True)
    found = probed_maps(encoder, images)
    expected: list[Tensor] = []
    softmax = Tensor.softmax

    def spy(scores: Tensor, *arguments: Any, **named: Any) -> Tensor:
        expected.append(softmax(scores, *arguments, **named).detach())
        return expected[-1]

    set_fused(model, False)
    with monkeypatch.context() as patch, torch.no_grad():
        patch.setattr(Tensor, "softmax", spy)
        encoder(images)
    assert [block.grid.rows for block in encoder.blocks] == [8, 8, 4]
    assert [maps.shape[-1] for maps in expected] == [16, 16, 4]
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-5)
    statistics = AttentionStatistics(TokenGrid.of(encoder), windows=encoder.windows)
    with probe_layers(encoder, statistics.update):
        encoder(images)
    distances = [in_image(*each) for each in zip(encoder.blocks, expected, strict=True)]
    for one, other in zip(statistics.values("distance"), distances, strict=True):
        torch.testing.assert_close(one, other, atol=1e-4, rtol=1e-5)
    with pytest.raises(ValueError, match="attention to padding"):
        encoder_of(model, (64, 64 + 16))


@pytest.mark.parametrize("size", [(32, 48), (64, 96), (64, 48)])
def test_an_untrained_swin_attends_evenly_to_what_it_may(size):
    torch.manual_seed(0)
    encoder = encoder_of(torchvision_swin().eval(), size)
    analysis = DistanceAnalysis("swin", encoder)
    analysis.update(torch.randn(2, 3, *size))
    rows = measurements(analysis)
    for metric in ("distance", "entropy"):
        shares = rows[(rows["metric"] == metric) & (rows["unit"] == "share of uniform")]
        assert shares["mean"].to_numpy() == pytest.approx(1, abs=0.01)
    chance = analysis.statistics.chance()
    assert [
        float(v.mean()) for v in analysis.statistics.values("nmi")
    ] == pytest.approx(chance["uniform"]["nmi"], abs=0.01)
    # By hand: 4 x 4 tokens of 2 x 2 pixels, then the same shifted by two, then of 4 x 4 pixels.
    window = TokenGrid(4, 4, (2, 2)).uniform_distance()
    shifted = chance["uniform"]["distance"][1]
    assert chance["uniform"]["distance"][0::2] == pytest.approx([window, 2 * window])
    assert shifted < window
    in_patches = rows.query("unit == 'patches' and head.isna()")["mean"].tolist()
    assert in_patches[0] == pytest.approx(window / 2, rel=0.01)
    assert in_patches[2] == pytest.approx(in_patches[0], rel=0.02)


@pytest.mark.parametrize("reader", ["TrOCR", "Donut"])
def test_cross_attention_of_readers(reader, monkeypatch):
    from vit_str.analysis.libraries.hugging_face import cross_attention

    torch.manual_seed(0)
    common = {
        "vocab_size": 20,
        "d_model": 24,
        "decoder_layers": 2,
        "decoder_attention_heads": 3,
    }
    common |= {"decoder_ffn_dim": 32, "max_position_embeddings": 16}
    if reader == "TrOCR":
        vision = transformers.ViTConfig(**HF)
        text = transformers.TrOCRConfig(**common, cross_attention_hidden_size=24)
        special = 1
    else:
        vision = transformers.DonutSwinConfig(**SWIN, image_size=(32, 48))
        text = transformers.MBartConfig(
            **common, is_decoder=True, add_cross_attention=True
        )
        special = 0
    join = transformers.VisionEncoderDecoderConfig.from_encoder_decoder_configs
    model = transformers.VisionEncoderDecoderModel(join(vision, text)).eval()
    images, labels = torch.randn(2, 3, 32, 48), torch.tensor([[1, 5, 6], [1, 7, 8]])
    with own_maps(model.decoder, monkeypatch) as own, torch.no_grad():
        model(pixel_values=images, decoder_input_ids=labels)
    rows, columns = encoder_of(model, (32, 48)).grid
    expected = [
        m for m in own if m.shape[-1] == rows * columns + special and m.shape[-2] == 3
    ]
    found = cross_attention(model, images, labels)
    assert len(found) == len(expected) == 2
    for one, other in zip(found.values(), expected, strict=True):
        own_map = other[..., special:].reshape_as(one)
        torch.testing.assert_close(one, own_map, atol=1e-5, rtol=1e-5)


class ByHand(nn.Module):
    """Attention that nobody knows: it does its softmax itself."""

    def __init__(self) -> None:
        super().__init__()
        self.to_queries, self.to_keys = nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, tokens: Tensor) -> Tensor:
        queries, keys = self.to_queries(tokens), self.to_keys(tokens)
        return (queries @ keys.transpose(1, 2) / 8**0.5).softmax(-1) @ tokens


class Taught(ByHand):
    pass


class Difference(nn.Module):
    """The difference of two maps is no map."""

    def forward(self, tokens: Tensor) -> Tensor:
        one = F.scaled_dot_product_attention(tokens, tokens, tokens)
        return one - F.scaled_dot_product_attention(2 * tokens, tokens, tokens)


def test_a_module_of_ones_own_is_registered():
    tokens = torch.randn(2, 5, 8)
    unknown = ByHand()
    with (
        pytest.raises(ValueError, match="register_attention"),
        probe(unknown, lambda *_: None),
    ):
        unknown(tokens)

    @register_attention(Taught)
    def _(module, tokens):
        return module.to_queries(tokens)[:, None], module.to_keys(tokens)[:, None]

    model, maps = Taught(), []
    with probe(nn.Sequential(model), lambda name, *what: maps.append(map_of(*what))):
        output = model(tokens)
    torch.testing.assert_close(maps[0][:, 0] @ tokens, output)

    names = []
    beside_ours = nn.Sequential(Taught(), MultiHeadAttention(8, 2))
    with probe(beside_ours, lambda name, *_: names.append(name)):
        beside_ours(tokens)
    assert names == ["0", "1.attend"]


@pytest.mark.parametrize(
    "options", [{"is_causal": True}, {"scale": 0.7}, {"enable_gqa": True}]
)
def test_options_of_the_fused_kernel(options):
    class Fused(nn.Module):
        def forward(self, *inputs):
            return F.scaled_dot_product_attention(*inputs, **options)

    keys = torch.randn(2, 2 if "enable_gqa" in options else 4, 5, 8)
    queries, values = torch.randn(2, 4, 5, 8), torch.randn_like(keys)
    maps: list[Tensor] = []
    model = Fused()
    with probe(model, lambda _, *what: maps.append(map_of(*what))):
        output = model(queries, keys, values)
    torch.testing.assert_close(
        maps[0] @ values.repeat_interleave(4 // keys.shape[1], 1), output
    )


@pytest.mark.parametrize("mask", [None, "bool", "float", "padding", "heads"])
@pytest.mark.parametrize("batch_first", [True, False])
def test_masks_of_multi_head_attention(batch_first, mask):
    model = nn.MultiheadAttention(12, 3, batch_first=batch_first, kdim=6, vdim=6).eval()
    queries, keys = torch.randn(2, 4, 12), torch.randn(2, 5, 6)
    hidden = torch.rand(4, 5) > 0.7
    hidden[:, 0] = False
    named = {
        "bool": {"attn_mask": hidden},
        "float": {"attn_mask": torch.randn(4, 5)},
        "heads": {"attn_mask": torch.randn(6, 4, 5)},
        "padding": {"key_padding_mask": hidden[:2]},
    }.get(str(mask), {})
    inputs = [x if batch_first else x.transpose(0, 1) for x in (queries, keys, keys)]
    maps: list[Tensor] = []
    with probe(model, lambda _, *what: maps.append(map_of(*what))):
        _, expected = model(*inputs, average_attn_weights=False, **named)
    torch.testing.assert_close(maps[0], expected)


def test_models_with_a_head_or_a_text_part():
    labeled = transformers.ViTForImageClassification(
        transformers.ViTConfig(**HF)
    ).eval()
    assert encoder_of(labeled).model is labeled.vit
    texts = {"text_config": {"num_hidden_layers": 1}, "vision_config": HF_SQUARE}
    both = transformers.CLIPModel(transformers.CLIPConfig(**texts)).eval()
    assert encoder_of(both).model is both.vision_model


def test_a_backbone_is_measured_as_its_model():
    """As detectors and depth estimators have it, which put out maps of features."""
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = transformers.Dinov2Config(**sizes, image_size=32, patch_size=8)
    model = transformers.Dinov2Model(config)
    backbone = transformers.Dinov2Backbone(config)
    backbone.load_state_dict(model.state_dict())
    images = torch.randn(2, 3, 32, 32)
    expected, found = (attention_distance(each, images) for each in (model, backbone))
    pd.testing.assert_frame_equal(found.rows.iloc[:, 1:], expected.rows.iloc[:, 1:])
    with pytest.raises(ValueError, match="return_tensors='pt', found ndarray"):
        attention_distance(model, {"pixel_values": images.numpy()})


def test_unsupported_models_are_refused():
    model = Difference()
    with (
        pytest.raises(ValueError, match="more than one softmax"),
        probe(model, lambda *_: None),
    ):
        model(torch.randn(1, 1, 4, 8))
    different = timm_vit(attn_layer="diff")().eval()
    with pytest.raises(ValueError, match="subtracts one softmax from another"):
        encoder_of(different)
    cait = timm_model("cait", "Cait", patch_size=8, **SIZES | {"num_heads": 2})
    with pytest.raises(ValueError, match="Cait is not supported: its heads are mixed"):
        encoder_of(cait)
    with pytest.raises(ValueError, match="bert of transformers"):
        load_library_model("untrained:hf:bert")
    with pytest.raises(ValueError, match="not of timm"):
        encoder_of(ByHand())
    with pytest.raises(ValueError, match="windows of 4 x 4"):
        Block(nn.Identity(), TokenGrid(6, 8, (2, 2)), (4, 4))


@pytest.fixture
def photo() -> Image.Image:
    pixels = np.random.default_rng(0).integers(0, 255, (20, 30, 3), dtype=np.uint8)
    return Image.fromarray(pixels).resize((200, 150))


def test_preprocessing_is_that_of_the_library(photo, folder):
    from timm.data import create_transform, resolve_model_data_config

    encoder, ours = load_library_model("untrained:timm:test_vit")
    config = resolve_model_data_config(encoder.model)
    check_pixels(ours, photo, create_transform(**config, is_training=False)(photo))
    _, ours = load_library_model("untrained:torchvision:swin_t")
    weights = torchvision.models.get_model_weights("swin_t").DEFAULT
    check_pixels(ours, photo, weights.transforms()(photo))
    _, ours = load_library_model(f"hf:{folder}")
    processor = transformers.AutoImageProcessor.from_pretrained(folder)
    check_pixels(
        ours, photo, processor(images=photo, return_tensors="pt")["pixel_values"][0]
    )


def check_pixels(ours: Any, photo: Image.Image, expected: Tensor) -> None:
    found = ours.normalize(ours.pixels(photo))
    assert found.shape == expected.shape == (3, ours.height, ours.width)
    torch.testing.assert_close(found, expected, atol=2e-3, rtol=0)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A small ViT of transformers with its processor of images of 32 x 48."""
    folder = tmp_path_factory.mktemp("models") / "small"
    hf("ViT", **HF)().save_pretrained(folder)
    size = {"height": 32, "width": 48}
    transformers.ViTImageProcessor(
        size=size, image_std=[0.2, 0.3, 0.4]
    ).save_pretrained(folder)
    return folder


def test_weights_of_a_file(tmp_path, folder):
    model = timm.create_model("test_vit")
    path, other = tmp_path / "weights.safetensors", tmp_path / "weights.pt"
    __import__("safetensors.torch").torch.save_file(model.state_dict(), path)
    torch.save({"model": model.state_dict(), "args": argparse.Namespace(lr=0.1)}, other)
    for file in (path, other):
        encoder, _ = load_library_model("timm:test_vit", checkpoint=file)
        found = encoder.model.state_dict()
        assert all(torch.equal(found[name], model.state_dict()[name]) for name in found)
    weights = folder / "model.safetensors"
    encoder, _ = load_library_model(f"hf:{folder}", checkpoint=weights)
    again, _ = load_library_model(f"hf:{folder}")
    for one, other in zip(encoder.parameters(), again.parameters(), strict=True):
        assert torch.equal(one, other)
    for wrong, name in ((weights, "timm:test_vit"), (path, f"hf:{folder}")):
        with pytest.raises(
            ValueError, match=r"not weights of this model|size mismatch"
        ):
            load_library_model(name, checkpoint=wrong)


def test_another_image_size(folder):
    encoder, ours = load_library_model("untrained:timm:test_vit", image_size=(64, 96))
    patch = encoder.model.patch_embed.patch_size
    assert encoder.grid == (64 // patch[0], 96 // patch[1])
    assert (ours.height, ours.width) == (64, 96)
    assert ours.pixels(Image.new("RGB", (50, 40))).shape == (3, 64, 96)
    encoder, _ = load_library_model(f"hf:{folder}", image_size=(64, 48))
    assert encoder.grid == (8, 6)
    any_size = timm_vit(dynamic_img_size=True)().eval()
    assert encoder_of(any_size, (64, 96)).image_size == (64, 96)
    with pytest.raises(ValueError, match="224 x 224 only"):
        load_library_model("untrained:torchvision:vit_b_16", image_size=(64, 96))


@pytest.mark.parametrize("size", [(32, 50), (100, 100)])
def test_images_that_do_not_divide_into_patches(size):
    name = "untrained:timm:test_vit"  # which takes images of any other size
    with pytest.raises(ValueError, match=f"{size[0]} x {size[1]} do not divide into"):
        load_library_model(name, image_size=size)


def test_weights_of_a_file_need_no_network(tmp_path, folder):
    """The configuration beside the file is taken; where there is none, nothing is fetched."""
    encoder, _ = load_library_model(
        "hf:some/model", checkpoint=folder / "model.safetensors"
    )
    assert encoder.image_size == (32, 48)
    alone = tmp_path / "model.safetensors"
    alone.write_bytes((folder / "model.safetensors").read_bytes())
    with pytest.raises(ValueError, match=r"config\.json beside the checkpoint"):
        load_library_model("hf:some/model", checkpoint=alone)


ANALYSES = ("distance", "compare", "receptive-field", "similarity", "rollout")


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("analysis", ANALYSES)
def test_every_analysis(analysis, folder, labeled_folder, tmp_path):
    arguments = [
        analysis,
        f"hf:{folder}",
        f"untrained:hf:{folder}",
        "--out",
        str(tmp_path),
    ]
    arguments += ["--data", str(labeled_folder), "--count", "2", "--device", "cpu"]
    arguments += ["--gradients", "1"] if analysis == "distance" else []
    assert main(["analyze", *arguments]) == 0
    models = json.loads((tmp_path / "summary.json").read_text())["models"]
    assert [of["special_tokens"] for of in models.values()] == [["class"], ["class"]]


def test_what_tokens_see_through_windows_is_what_gradients_reach():
    from vit_str.analysis.probe import layer_outputs
    from vit_str.analysis.receptive_field.windows import fields_by_layer

    torch.manual_seed(0)
    model = timm_swin("swin_transformer", "SwinTransformer", depths=[3, 1])()
    encoder = encoder_of(model.eval())
    images = torch.randn(1, 3, 32, 48, requires_grad=True)
    outputs = layer_outputs(encoder, images)
    for output, field in zip(outputs, fields_by_layer(encoder), strict=True):
        cell = [
            (2 * (n // 2) + 1) * c // (2 * n)
            for n, c in zip(encoder.grid, output.shape[2:], strict=True)
        ]
        (gradients,) = torch.autograd.grad(
            output[0, :, cell[0], cell[1]].square().sum(), images, retain_graph=True
        )
        rows, columns = (gradients.abs().sum((0, 1)) > 1e-12).nonzero().T
        assert (int(rows.min()), int(columns.min())) == field.start
        seen = int(rows.max() - rows.min()) + 1, int(columns.max() - columns.min()) + 1
        assert seen == field.size
