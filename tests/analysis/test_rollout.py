import json

import pandas as pd
import pytest
import torch

from vit_str.analysis.characters.measure import gradient_times_input
from vit_str.analysis.geometry import TokenGrid
from vit_str.analysis.rollout import (
    character_maps,
    encoder_rollout,
    rollout,
    uniform_rollout,
)
from vit_str.analysis.rollout_figure import rollout_by_depth
from vit_str.analysis.statistics import AttentionStatistics
from vit_str.cli import main
from vit_str.models import (
    ConvolutionalEncoder,
    Recognizer,
    TransformerDecoder,
    VisionTransformer,
)
from vit_str.models.attention import record_attention
from vit_str.models.cross_attention import cross_attention

LABELS = torch.tensor([[1, 2, 3], [4, 5, -1]])


def make_recognizer(conv: bool = False, **arguments: object) -> Recognizer:
    torch.manual_seed(0)
    sizes = {
        "dim": 16,
        "depth": 2,
        "heads": 2,
        "image_size": (12, 40),
        "patch_size": (4, 8),
    }
    encoder = (
        ConvolutionalEncoder((16,), (1,), ((4, 8),), (12, 40))
        if conv
        else VisionTransformer(**{**sizes, **arguments})
    )
    decoder = TransformerDecoder(9, 16, 2, 2, maximum_length=4)
    torch.nn.init.normal_(decoder.classify.weight)
    return Recognizer(encoder, decoder).eval()


def test_gradient_times_input_sees_only_what_the_score_depends_on():
    recognizer, images = make_recognizer(conv=True), torch.randn(1, 3, 12, 40)
    # Token (1, 2): whatever the gradient, nothing to multiply
    images[:, :, 4:8, 16:24] = 0
    maps = gradient_times_input(recognizer, images, LABELS[:1])
    assert maps.dtype == torch.float64
    torch.testing.assert_close(maps.sum((2, 3)), torch.ones(1, 3).double())
    assert (maps[0, :, 1, 2] == 0).all()
    assert (maps[0, :, 0] > 0).all()
    assert gradient_times_input(recognizer, images, LABELS[:1, :0]).shape == (
        1,
        0,
        3,
        5,
    )


def layer_maps(layers: int = 3, tokens: int = 15) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(
        layers, 2, 4, tokens, tokens, generator=generator, dtype=torch.float64
    )
    return list(scores.softmax(-1))


def test_the_product_is_last_layer_times_the_ones_before():
    maps = layer_maps()
    steps = [
        0.3 * torch.eye(15, dtype=torch.float64) + 0.7 * each.mean(1) for each in maps
    ]
    found = rollout(maps, residual=0.3)
    torch.testing.assert_close(found[2], steps[2] @ steps[1] @ steps[0])
    torch.testing.assert_close(found[2].sum(-1), torch.ones(2, 15, dtype=torch.float64))


@pytest.mark.parametrize("options", [{}, {"class_token": True, "registers": 1}])
def test_rollout_of_a_model_is_that_of_its_maps(options):
    recognizer, images = make_recognizer(**options), torch.randn(2, 3, 12, 40)
    encoder = recognizer.encoder
    with record_attention(encoder) as maps:
        features = encoder(images)
    expected = rollout([calls[0] for calls in maps.values()])
    for mixed, other in zip(encoder_rollout(encoder, images), expected, strict=True):
        torch.testing.assert_close(mixed, other)
    found = character_maps(recognizer, images, LABELS)["through the encoder by rollout"]
    assert found.shape == (2, 3, 3, 5)
    torch.testing.assert_close(found.sum((2, 3)), torch.ones(2, 3, dtype=torch.float64))
    attention = (
        cross_attention(recognizer.decoder, features, LABELS)[:, -1].mean(1).double()
    )
    reached = (attention @ expected[-1])[1, 1]
    patches = reached[encoder.special_tokens :]
    torch.testing.assert_close(found[1, 1].flatten(), patches / patches.sum())


def test_chance_is_uniform_attention_rolled_out():
    """With its skip connections it is less than uniform attention, and grows with depth."""
    of_tiny = uniform_rollout(TokenGrid(2, 32, (16, 4)), depth=4)["distance"]
    assert of_tiny == pytest.approx([22.5, 33.7, 39.4, 42.2], abs=0.05)
    grid = TokenGrid(3, 5, (4, 8), special_tokens=2)
    maps = [torch.full((1, 2, 17, 17), 1 / 17, dtype=torch.float64)] * 3
    statistics = AttentionStatistics(grid, ["distance", "entropy"])
    for layer, mixed in enumerate(rollout(maps, residual=0.3)):
        statistics.update_maps(f"{layer}", mixed[:, None])
    found = uniform_rollout(grid, depth=3, residual=0.3)
    for metric in ("distance", "entropy"):
        expected = [float(values) for values in statistics.values(metric)]
        assert found[metric] == pytest.approx(expected)


@pytest.mark.usefixtures("undrawn")
def test_every_model_has_a_chance_line_of_its_own(
    small_weights, labeled_folder, tmp_path
):
    deep = small_weights("deep", depth=3)
    other = small_weights("other", patch_size=(8, 16))
    names = [str(deep), f"untrained:{deep}", str(other)]
    options = ["--data", str(labeled_folder), "--out", str(tmp_path), "--show", "0"]
    assert main(["analyze", "rollout", *names, *options]) == 0
    summary = json.loads((tmp_path / "summary.json").read_text())
    lines = {model: line["distance"] for model, line in summary["chance"].items()}
    assert [len(line) for line in lines.values()] == [3, 3, 2]
    assert lines["deep"] == lines["untrained:deep"] != lines["other"]
    drawn = rollout_by_depth(pd.read_csv(tmp_path / "rollout.csv"), lines)
    titles = [axes.get_title(loc="left") for axes in drawn.axes]
    assert titles == ["deep", "other"], "a model without training is beside itself"
    for axes, model in zip(drawn.axes, titles, strict=True):
        (uniform,) = (
            list(line.get_ydata())
            for line in axes.get_lines()
            if "uniform" in line.get_label()
        )
        assert uniform == lines[model]


def test_what_cannot_be_rolled_out_is_refused():
    with pytest.raises(ValueError, match="from 0 to 1, found 2"):
        rollout(layer_maps(), residual=2)
    with pytest.raises(ValueError, match="holds no attention"):
        encoder_rollout(
            ConvolutionalEncoder((8,), (0,), ((8, 8),)), torch.zeros(1, 3, 32, 128)
        )
