"""Sinks stand out by as much as was put in, and go with their cause."""

import json
from collections import Counter

import pandas as pd
import pytest
import torch
from torch import nn

from vit_str.analysis.libraries.load import encoder_of
from vit_str.analysis.probe import map_of
from vit_str.analysis.sinks.calls import LayerCalls
from vit_str.analysis.sinks.causes import (
    KEY_BIAS,
    KEY_NORM,
    MLP,
    Scores,
    mlp_of,
    with_usual_output,
)
from vit_str.analysis.sinks.figure import sinks_by_depth
from vit_str.analysis.sinks.measure import SinkAnatomy
from vit_str.analysis.subjects import load_subject
from vit_str.cli import main
from vit_str.models import VisionTransformer
from vit_str.models.attention import record_attention

SPECIAL, PATCHES = 1, 24


def others_of(values, place):
    """The mean over patches without one, of (..., key)."""
    kept = [key for key in range(SPECIAL, SPECIAL + PATCHES) if key != place]
    return values[..., kept].mean(-1)


@pytest.mark.parametrize("place", [0, 5, 24])
@pytest.mark.parametrize("masked", [False, True])
def test_each_property_is_set_to_the_mean_of_the_other_patches(place, masked):
    torch.manual_seed(0)
    queries, keys = torch.randn(2, 3, 2, SPECIAL + PATCHES, 8).unbind(0)
    mask = torch.randn(3, 1, *[SPECIAL + PATCHES] * 2) if masked else None
    scores = Scores.of(queries, keys, mask, 1, SPECIAL)
    torch.testing.assert_close(
        scores.received(), map_of(queries, keys, mask)[1, :, 1:].double().mean((0, 1))
    )
    before = scores.whole.mean(1)
    usual = scores.with_usual_bias(place, SPECIAL).whole
    torch.testing.assert_close(usual.mean(1)[:, place], others_of(before, place))
    steps = (usual - scores.whole)[..., place]
    torch.testing.assert_close(steps, steps[:, :1].expand_as(steps))
    norms = keys[1].norm(dim=-1)
    factors = others_of(norms, place) / norms[:, place]
    changed = keys.clone()
    changed[1, :, place] *= factors[:, None]
    usual = scores.with_usual_norm(place, SPECIAL).received()
    expected = Scores.of(queries, changed, mask, 1, SPECIAL).received()
    torch.testing.assert_close(usual, expected)
    output = torch.randn(2, SPECIAL + PATCHES, 6)
    changed = with_usual_output(output, torch.tensor([place, 3]), SPECIAL)
    torch.testing.assert_close(changed[0, place], others_of(output[0].mT, place))
    assert ((changed - output).abs().sum(2) > 0).sum(1).tolist() == [1, 1]


class Drawn(VisionTransformer):
    """Layers whose keys have one more thing: a bias or a large norm at one token."""

    def __init__(self, bias=0.0, factor=1.0):
        torch.manual_seed(0)
        super().__init__(32, 2, 2, (16, 48), (4, 8))
        self.bias, self.factor = bias, factor
        for block in self.blocks:
            block.attention.attend.register_forward_pre_hook(self.draw)

    def draw(self, _module, inputs):
        queries, keys, *rest = inputs
        keys = keys.clone()
        mean = queries.mean(2)
        keys[:, :, 7] *= self.factor
        keys[:, :, 7] += self.bias * mean / mean.square().sum(-1, keepdim=True)
        return (queries, keys, *rest)


def table_of(encoder, images=3):
    anatomy = SinkAnatomy("drawn", encoder.eval())
    anatomy.update(torch.randn(images, 3, 16, 48))
    return anatomy.to_frame()


def test_a_sink_of_a_bias_goes_with_it():
    rows = table_of(Drawn(bias=12.0)).set_index(["layer", "metric"])["mean"]
    for layer in (1, 2):
        assert rows[layer, "ratio"] > 8
        assert rows[layer, "sinks"] == 1
        assert rows[layer, f"ratio without {KEY_BIAS}"] < 2
        assert rows[layer, f"gone without {KEY_BIAS}"] == 1
    # An even layer has none, and nothing that could go
    even = table_of(Drawn()).set_index(["layer", "metric"])["mean"]
    assert even[1, "sinks"] == 0
    assert (1, f"gone without {KEY_BIAS}") not in even


def test_the_ratio_is_the_most_over_the_median_of_the_columns():
    encoder = VisionTransformer(32, 2, 2, (16, 48), (4, 8), class_token=True).eval()
    for block in encoder.blocks:
        nn.init.normal_(block.attention.to_queries.weight, std=0.5)
    images = torch.randn(4, 3, 16, 48)
    with torch.no_grad(), record_attention(encoder) as maps:
        encoder(images)
    anatomy = SinkAnatomy("model", encoder)
    anatomy.update(images[:3])
    anatomy.update(images[3:])
    rows = anatomy.to_frame().set_index(["layer", "token", "metric"])["mean"]
    for layer, (of_layer,) in enumerate(maps.values(), 1):
        columns = of_layer[:, :, 1:].double().sum((1, 2))
        patches = columns[:, 1:]
        median = patches.quantile(0.5, 1)
        for kind, most in (("patch", patches.amax(1)), ("special", columns[:, 0])):
            expected = float((most / median).log().mean().exp())
            assert rows[layer, kind, "ratio"] == pytest.approx(expected, rel=1e-5)
            share = float((most / columns.sum(1)).mean())
            assert rows[layer, kind, "share"] == pytest.approx(share, rel=1e-5)


def test_without_the_mlp_is_the_pass_with_another_output():
    encoder = VisionTransformer(32, 3, 2, (16, 48), (4, 8)).eval()
    for block in encoder.blocks:
        nn.init.normal_(block.attention.to_queries.weight, std=0.5)
    image = torch.randn(1, 3, 16, 48)
    with torch.no_grad(), record_attention(encoder) as maps:
        encoder(image)
    third = list(maps.values())[2][0]
    place = int(third.sum((1, 2)).argmax())
    kept = [token for token in range(24) if token != place]

    def changed(_module, _inputs, output):
        output = output.clone()
        output[:, place] = output[:, kept].mean(1)
        return output

    hook = encoder.blocks[1].feed_forward.register_forward_hook(changed)
    with torch.no_grad(), record_attention(encoder) as maps:
        encoder(image)
    hook.remove()
    columns = list(maps.values())[2][0].sum((1, 2))[0]
    expected = float(columns[place] / columns.quantile(0.5))
    anatomy = SinkAnatomy("model", encoder)
    anatomy.update(image)
    rows = anatomy.to_frame().set_index(["layer", "metric"])["mean"]
    assert rows[3, f"ratio without {MLP}"] == pytest.approx(expected, rel=1e-4)
    assert (1, f"ratio without {MLP}") not in rows, "there is no layer before"


def test_layers_before_are_not_run_again_for_an_mlp():
    encoder = VisionTransformer(32, 4, 2, (16, 48), (4, 8)).eval()
    runs = Counter()
    for number, block in enumerate(encoder.blocks, 1):
        block.register_forward_hook(lambda *_, number=number: runs.update([number]))
    SinkAnatomy("model", encoder).update(torch.randn(2, 3, 16, 48))
    assert runs[1] == 2, "once, and once for the second layer"
    assert runs[2] == 2, "the one for the second layer ends with its attention"


def sharp(encoder):
    """The same encoder with attention that is far from uniform."""
    torch.manual_seed(0)
    for block in encoder.blocks:
        nn.init.normal_(block.attention.to_queries.weight, std=0.5)
    return encoder.eval()


class Scaling(VisionTransformer):
    """Layers are given twice what the one before puts out."""

    def forward(self, images):
        x = self.embed_positions(self.embed_patches(self.patches(images)))
        for block in self.blocks:
            x = block(2 * x)
        return self.norm(x)


def hooked(encoder):
    """As `Scaling`, but layers double what they are given themselves."""
    for block in encoder.blocks:
        block.register_forward_pre_hook(lambda _, given: (2 * given[0],))
    return encoder


def table_by_whole_passes(encoder, images):
    """What `SinkAnatomy` finds where it always runs the whole model."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LayerCalls, "follow", lambda *_: False)
        anatomy = SinkAnatomy("model", encoder)
        anatomy.update(images)
    return anatomy.to_frame()


def test_two_layers_give_what_the_whole_model_gives():
    sizes = (32, 3, 2, (16, 48), (4, 8))
    images = torch.randn(2, 3, 16, 48)
    tables = []
    for encoder in (sharp(Scaling(*sizes)), hooked(sharp(VisionTransformer(*sizes)))):
        anatomy = SinkAnatomy("model", encoder)
        anatomy.update(images)
        tables.append(anatomy.to_frame())
        expected = table_by_whole_passes(encoder, images)
        pd.testing.assert_frame_equal(tables[-1], expected)
    plain = SinkAnatomy("model", sharp(VisionTransformer(*sizes)))
    plain.update(images)
    assert not tables[0]["mean"].equals(plain.to_frame()["mean"])


def test_masks_and_biases_count():
    queries, keys = torch.randn(2, 2, 3, 7, 4).unbind(0)
    bias = torch.zeros(1, 3, 7, 7)
    bias[..., 4] = 50
    for case in range(2):
        found = Scores.of(queries, keys, bias, case, special=1).received()
        assert float(found[4]) == pytest.approx(1)
    allowed = torch.ones(1, 1, 1, 7, dtype=torch.bool)
    allowed[..., 2] = False
    scores = Scores.of(queries, keys, allowed, 1, special=1)
    assert float(scores.received()[2]) == 0
    usual = scores.with_usual_bias(3, special=1).received()
    assert usual.isfinite().all()
    assert float(usual[2]) == 0


FAMILIES = {
    "ViT": ("vision_transformer", "VisionTransformer", {}),
    "DINOv2 with registers": (
        *("vision_transformer", "VisionTransformer"),
        {"reg_tokens": 2, "init_values": 1e-5},
    ),
    "BEiT": ("beit", "Beit", {"use_rel_pos_bias": True}),
    "EVA-02": ("eva", "Eva", {"use_rot_pos_emb": True}),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_families_of_timm(family):
    timm = pytest.importorskip("timm")
    module, name, options = FAMILIES[family]
    sizes = {"img_size": (32, 48), "patch_size": 8, "embed_dim": 32, "depth": 2}
    model = getattr(getattr(timm.models, module), name)(
        **sizes, num_heads=2, num_classes=0, **options
    )
    encoder = encoder_of(model.eval(), (32, 48))
    assert all(mlp_of(layer) for layer in encoder.layer_modules)
    anatomy = SinkAnatomy("model", encoder)
    images = torch.randn(2, 3, 32, 48)
    anatomy.update(images)
    rows = anatomy.to_frame()
    pd.testing.assert_frame_equal(rows, table_by_whole_passes(encoder, images))
    assert set(rows["token"]) == {"patch", "special"}
    metrics = set(rows["metric"])
    assert {f"ratio without {cause}" for cause in (KEY_BIAS, KEY_NORM, MLP)} < metrics
    untouched = rows[rows["metric"] == "ratio"]["mean"]
    assert untouched.between(0.2, 3).all()


def test_windows_have_tokens_of_their_own():
    timm = pytest.importorskip("timm")
    model = timm.models.swin_transformer.SwinTransformer(
        img_size=(32, 48),
        patch_size=4,
        embed_dim=16,
        depths=(2,),
        num_heads=(2,),
        window_size=4,
        num_classes=0,
    )
    anatomy = SinkAnatomy("Swin", encoder_of(model.eval(), (32, 48)))
    anatomy.update(torch.randn(2, 3, 32, 48))
    rows = anatomy.to_frame()
    assert set(rows.loc[rows["metric"] == "ratio", "n"]) == {2}
    assert rows["metric"].eq(f"ratio without {KEY_BIAS}").any()
    assert not rows["metric"].str.contains(MLP).any()


def test_the_command(small_weights, labeled_folder, tmp_path):
    weights = small_weights(class_token=True)
    names = [str(weights), f"untrained:{weights}", str(small_weights("other"))]
    arguments = ["sinks", *names, "--data", str(labeled_folder), "--batch-size", "2"]
    assert main(["analyze", *arguments, "--out", str(tmp_path / "out")]) == 0
    rows = pd.read_csv(tmp_path / "out" / "sinks.csv")
    assert rows["model"].unique().tolist() == ["small", "untrained:small", "other"]
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["n"] == 5
    assert (tmp_path / "out" / "sinks.pdf").exists()
    sheet = sinks_by_depth(rows)
    titles = [(axes.get_title(loc="left"), axes.get_xlabel()) for axes in sheet.axes]
    assert titles == [
        ("small", "layer (patch)"),
        ("small", "layer (special token)"),
        ("other", "layer (patch)"),
    ], "a model without training is beside itself"
    text = (tmp_path / "out" / "report.html").read_text()
    assert "the token that stands out most is a" in text


def test_what_has_no_attention_is_one_line(small_weights, labeled_folder, tmp_path):
    subject = load_subject(str(small_weights()))
    subject.encoder.blocks = nn.ModuleList()
    with pytest.raises(ValueError, match="attention"):
        SinkAnatomy("none", subject.encoder).update(torch.randn(1, 3, 16, 64))
