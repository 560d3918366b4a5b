"""Cut heads put nothing out, and words are counted one by one."""

import json

import numpy as np
import pandas as pd
import pytest
import torch
from PIL import Image
from safetensors.torch import save_file
from scipy import stats

from vit_str.analysis.ablation.calls import AttentionCall, Head, intercepted
from vit_str.analysis.ablation.cut import WAYS, HeadOutputs, without_heads
from vit_str.analysis.ablation.effects import (
    Reading,
    difference_interval,
    effects,
    near_against_far,
    random_sets,
)
from vit_str.analysis.ablation.equal_distance import shuffled_at_equal_distance
from vit_str.analysis.ablation.figure import ablation_figure
from vit_str.analysis.geometry import TokenGrid
from vit_str.analysis.images import load_images
from vit_str.analysis.libraries.load import encoder_of
from vit_str.analysis.statistics import AttentionStatistics
from vit_str.analysis.subjects import load_subject
from vit_str.cli import main
from vit_str.reports.style import ready_to_draw


def test_a_cut_head_puts_nothing_out(small_weights):
    """As if the columns of the output projection that belong to it were zero."""
    encoder = load_subject(str(small_weights())).encoder
    images = torch.randn(2, 3, 16, 64)
    with torch.no_grad():
        before = encoder(images)
        with without_heads(encoder, [Head(2, 1)]):
            cut = encoder(images)
        torch.testing.assert_close(encoder(images), before)
        to_output = encoder.blocks[1].attention.to_output
        to_output.weight[:, :16] = 0
        torch.testing.assert_close(cut, encoder(images))
    assert not torch.allclose(cut, before)


def test_what_a_cut_head_puts_out_instead(small_weights):
    encoder = load_subject(str(small_weights())).encoder
    images = torch.randn(5, 3, 16, 64)
    outputs = HeadOutputs(encoder)
    with torch.no_grad(), outputs.recorded():
        encoder(images[:3])
        encoder(images[3:])
    calls: dict[int, AttentionCall] = {}
    with torch.no_grad(), intercepted(encoder, lambda *call: calls.update([call])):
        encoder(images)
    second = calls[2]
    whole = second.output
    mean = outputs.fill("mean", 0)(2, [1], second)
    torch.testing.assert_close(mean[3, 0], whole[:, 1].mean(0))
    other = outputs.fill("resample", 0)(2, [1], second)[:, 0]
    words = [int((whole[:, 1] - each).abs().amax((1, 2)).argmin()) for each in other]
    assert sorted(words) == list(range(5))
    assert all(word != place for place, word in enumerate(words))
    torch.testing.assert_close(other, whole[words, 1])
    many = whole.repeat(400, 1, 1, 1)
    noise = outputs.fill("noise", 0)(2, [0, 1], second._replace(output=many))
    torch.testing.assert_close(noise.mean(0), whole.mean(0), atol=0.1, rtol=0.1)
    deviation = whole.std(0, correction=0)
    torch.testing.assert_close(noise.std(0), deviation, atol=0.02, rtol=0.1)
    assert not outputs.fill("zero", 0)(2, [1], second).any()
    with pytest.raises(ValueError, match="unknown way 'half'"):
        outputs.fill("half", 0)


@pytest.mark.parametrize("special", [0, 2])
def test_random_attention_of_equal_distance_is_as_far_and_as_sharp(special):
    """Twelve rows and columns, so that there are many tokens in a shell."""
    grid = TokenGrid(12, 12, (4, 4), special)
    tokens = len(grid) + special
    torch.manual_seed(0)
    maps = (3 * torch.randn(2, 3, tokens, tokens)).double().softmax(-1)
    others = shuffled_at_equal_distance(maps, grid, torch.rand(maps.shape))
    torch.testing.assert_close(others.sort(-1).values, maps.sort(-1).values)
    # To special tokens, and to itself: nothing changes
    torch.testing.assert_close(others[..., :special], maps[..., :special])
    torch.testing.assert_close(
        others[..., special:, special:].diagonal(dim1=-2, dim2=-1),
        maps[..., special:, special:].diagonal(dim1=-2, dim2=-1),
    )
    steps = (grid.distances() / 4).round()
    for step in steps.unique():
        of_step = (steps == step).double()
        before, after = (
            (each[..., special:, special:] * of_step).sum(-1) for each in (maps, others)
        )
        torch.testing.assert_close(after, before)
    both = AttentionStatistics(grid, ["distance", "entropy"])
    for name, each in (("before", maps), ("after", others)):
        both.update_maps(name, each)
    before, after = both.values("distance")
    torch.testing.assert_close(after, before, atol=0.1, rtol=0)
    torch.testing.assert_close(*both.values("entropy"))
    assert (others[..., special:] - maps[..., special:]).abs().max() > 0.1
    assert not torch.allclose(others[0, 0, -1], others[1, 0, -1])


def test_a_head_that_looks_at_all_of_a_distance_alike_loses_nothing(small_weights):
    """Only what it looked at is taken from it."""
    encoder = load_subject(str(small_weights())).encoder
    images = torch.randn(3, 3, 16, 64)
    for block in encoder.blocks:
        torch.nn.init.zeros_(block.attention.to_queries.weight)
        torch.nn.init.zeros_(block.attention.to_queries.bias)
    outputs = HeadOutputs(encoder)
    heads = [Head(1, 1), Head(2, 2)]
    with torch.no_grad():
        with outputs.recorded():
            before = encoder(images)
        with without_heads(encoder, heads, outputs.fill("equal-distance", 0)):
            even = encoder(images)
        torch.testing.assert_close(even, before)
        for block in encoder.blocks:
            torch.nn.init.normal_(block.attention.to_queries.weight)
        before = encoder(images)
        with without_heads(encoder, heads, outputs.fill("equal-distance", 0)):
            cut = encoder(images)
    assert not torch.allclose(cut, before, atol=1e-3)


def test_resampling_needs_another_word(small_weights):
    encoder = load_subject(str(small_weights())).encoder
    outputs = HeadOutputs(encoder)
    with torch.no_grad(), outputs.recorded():
        encoder(torch.randn(1, 3, 16, 64))
    with pytest.raises(ValueError, match="two or more"):
        outputs.fill("resample", 0)


def test_random_sets_are_a_band():
    rows = [
        ("random order 1", 2, 0.5),
        ("random order 2", 2, 0.7),
        ("random of each layer 1", 2, 0),
    ]
    table = pd.DataFrame(rows, columns=["cut", "heads", "accuracy"])
    (band,) = random_sets(table, "random order").itertuples()
    assert (band.mean, band.min, band.max, band.count) == (
        pytest.approx(0.6),
        0.5,
        0.7,
        2,
    )


def test_words_are_paired():
    whole = Reading("no head", (), ["a"] * 8, [True] * 6 + [False] * 2)
    cut = Reading(
        "layer 1, head 2", (Head(1, 2),), ["b"] * 8, [False] * 6 + [True, False]
    )
    table = effects(whole, [cut])
    row = table.iloc[1]
    assert (row["lost"], row["gained"], row["layer"], row["head"]) == (6, 1, 1, 2)
    assert row["difference"] == pytest.approx(-5 / 8)
    assert row["p"] == row["p_holm"] == pytest.approx(stats.binomtest(6, 7).pvalue)
    assert table["p"].iloc[0] == 1
    assert pd.isna(table["p_holm"].iloc[0])


def test_near_and_far_heads_are_compared_word_by_word():
    near = Reading("near", (Head(1, 1),), [""] * 20, [True] * 4 + [False] * 16)
    far = Reading("far", (Head(1, 2),), [""] * 20, [True] * 14 + [False] * 6)
    random = [
        Reading(f"{n}", (Head(1, 2),), [""] * 20, [True] * n + [False] * (20 - n))
        for n in (3, 10, 12)
    ]
    row = near_against_far(near, far, random)
    assert row["difference"] == pytest.approx(-0.5)
    assert (-row["high"], -row["low"]) == pytest.approx(
        difference_interval(4, 0, 10, 20), abs=1e-9
    )
    assert row["p"] == pytest.approx(stats.binomtest(0, 10).pvalue)
    assert (row["rank_near"], row["rank_far"]) == (0.5, 1.0)
    alike = near_against_far(near, near, random)
    assert (alike["difference"], alike["p"]) == (0, 1)


def test_intervals_of_paired_differences():
    # Newcombe 1998, table III: 36 both, 12 and 2 in one only, none in neither
    low, high = difference_interval(36, 12, 2, 50)
    assert (-high, -low) == (
        pytest.approx(0.0569, abs=1e-4),
        pytest.approx(0.3404, abs=1e-4),
    )
    low, high = difference_interval(66, 0, 0, 70)  # a head that loses nothing
    assert low < 0 < high
    low, high = difference_interval(0, 70, 0, 70)  # all that there is
    assert low == -1
    assert -1 < high < -0.9


def test_the_figure_has_no_letters_on_its_dots():
    """Heads that lose as much as there is, at both ends of the distances."""
    random = np.random.default_rng(0)
    heads = [Head(layer, head) for layer in range(1, 5) for head in range(1, 5)]
    whole = Reading("no head", (), ["a"] * 70, [True] * 70)
    cuts = {f"layer {head.layer}, head {head.head}": (head,) for head in heads}
    cuts |= {f"{name} first": tuple(heads[:8]) for name in ("farthest", "nearest")}
    cuts |= {f"random order {number}": tuple(heads[:8]) for number in (1, 2)}
    cuts |= {
        f"{name} of each layer": tuple(heads[:8]) for name in ("farthest", "nearest")
    }
    cuts["every head"] = tuple(heads)
    readings = [
        Reading(name, cut, ["a"] * 70, (random.random(70) < 0.8).tolist())
        for name, cut in cuts.items()
    ]
    table = effects(whole, readings)
    table["distance"] = np.linspace(10, 60, len(table))
    single = table[table["cut"].str.startswith("layer ")]
    sheet = ablation_figure(table, single)
    with ready_to_draw(sheet):
        sheet.draw_without_rendering()
    labels = sheet.axes[1].get_legend_handles_labels()[1]
    assert labels[:2] == ["random order, lowest to highest", "random order, mean"]
    looks = {(line.get_marker(), line.get_linestyle()) for line in sheet.axes[1].lines}
    assert len(looks) == len(sheet.axes[1].lines), "told apart without colors"
    for axes in sheet.axes[:2]:
        box = axes.get_legend().get_window_extent()
        assert not axes.get_window_extent().padded(-1).overlaps(box)


@pytest.mark.parametrize("by", WAYS)
def test_the_command(by, small_weights, labeled_folder, tmp_path, request):
    is_drawn = by == next(iter(WAYS))
    if not is_drawn:
        request.getfixturevalue("undrawn")
    arguments = [
        "ablation",
        str(small_weights()),
        "--data",
        str(labeled_folder),
        "--orders",
        "2",
    ]
    arguments += ["--by", by]
    assert main(["analyze", *arguments, "--out", str(tmp_path)]) == 0
    table = pd.read_csv(tmp_path / "ablation.csv")
    single = table[table["heads"] == 1].dropna(subset=["distance"])
    assert set(zip(single["layer"], single["head"], strict=True)) == {
        (1, 1),
        (1, 2),
        (2, 1),
        (2, 2),
    }
    assert table["heads"].max() == 4
    matched = table[table["cut"].str.contains("of each layer")]
    assert matched["heads"].tolist() == [2, 2, 2, 2]
    assert json.loads((tmp_path / "summary.json").read_text())["by"] == by
    pairs = pd.read_csv(tmp_path / "near-far.csv")
    assert pairs["sets"].tolist() == ["half of the heads", "of each layer"]
    assert pairs["random_sets"].tolist() == [2, 2]
    for row in pairs.itertuples():
        at = table[table["heads"] == row.heads].set_index("cut")["accuracy"]
        kind = "of each layer" if row.sets == "of each layer" else "first"
        assert row.near == pytest.approx(at[f"nearest {kind}"])
        assert row.far == pytest.approx(at[f"farthest {kind}"])
    words = pd.read_csv(tmp_path / "words.csv", keep_default_na=False)
    assert len(words) == json.loads((tmp_path / "summary.json").read_text())["n"] == 5
    assert list(words)[:3] == ["label", "no head", "layer 1, head 1"]
    assert (tmp_path / "ablation.pdf").exists() == is_drawn


@pytest.fixture
def classified(tmp_path):
    """Bright and dark images with the numbers of their classes."""
    folder = tmp_path / "classified"
    (folder / "images").mkdir(parents=True)
    rows = []
    for number in range(12):
        label = number % 2
        noise = np.random.default_rng(number).integers(0, 60, (32, 48, 3))
        pixels = (noise + 150 * label).astype(np.uint8)
        Image.fromarray(pixels).save(folder / "images" / f"{number}.png")
        rows.append(f"{number}.png\t{label}\n")
    (folder / "labels.tsv").write_text("".join(rows))
    return folder


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("by", WAYS)
def test_a_classifier_of_timm(by, classified, tmp_path):
    """Class 1 is named where the image is bright; every head cut alone is counted."""
    timm = pytest.importorskip("timm")
    torch.manual_seed(0)
    model = timm.create_model("test_vit", num_classes=2, img_size=(32, 48))
    weights = tmp_path / "weights.safetensors"
    save_file(model.state_dict(), weights)
    arguments = ["ablation", "timm:test_vit", "--checkpoint", str(weights)]
    arguments += ["--image-size", "32", "48", "--orders", "1", "--by", by]
    arguments += ["--data", str(classified), "--out", str(tmp_path / "out")]
    assert main(["analyze", *arguments]) == 0
    words = pd.read_csv(tmp_path / "out" / "words.csv", dtype=str)
    subject = load_subject("timm:test_vit", 1, weights, (32, 48), classes=True)
    (batch,) = load_images(subject, str(classified), 12).batches()
    pixels = subject.preprocessing.normalize(batch.pixels)
    with torch.no_grad():
        named = model.eval()(pixels).argmax(-1)
    assert words["no head"].tolist() == [f"{number}" for number in named.tolist()]
    assert words["label"].tolist() == ["0", "1"] * 6
    single = [name for name in words if name.startswith("layer")]
    assert len(single) == sum(block.attn.num_heads for block in model.blocks)


def test_heads_cut_at_the_kernel_are_those_of_the_projection(classified):
    timm = pytest.importorskip("timm")
    torch.manual_seed(0)
    model = timm.create_model("test_vit", num_classes=2, img_size=(32, 48)).eval()
    encoder = encoder_of(model, (32, 48))
    images = torch.randn(2, 3, 32, 48)
    with torch.no_grad():
        with without_heads(encoder, [Head(2, 1)]):
            cut = encoder(images)
        projection = model.blocks[1].attn.proj
        head_dim = model.blocks[1].attn.head_dim
        projection.weight[:, :head_dim] = 0
        torch.testing.assert_close(cut, encoder(images))


def test_labels_of_classifiers_are_numbers(classified, tmp_path, capsys):
    pytest.importorskip("timm")
    (classified / "labels.tsv").write_text("0.png\tcat\n1.png\t1\n")
    arguments = ["ablation", "untrained:timm:test_vit", "--image-size", "32", "48"]
    arguments += ["--data", str(classified), "--out", str(tmp_path / "out")]
    assert main(["analyze", *arguments]) == 2
    assert "numbers of classes" in capsys.readouterr().err
    swin = ["ablation", "untrained:torchvision:swin_t", *arguments[2:]]
    assert main(["analyze", *swin]) == 2
    assert "are those of timm:NAME" in capsys.readouterr().err


def test_words_without_labels(small_weights, labeled_folder, tmp_path, capsys):
    (labeled_folder / "labels.tsv").unlink()
    arguments = ["ablation", str(small_weights()), "--data", str(labeled_folder)]
    assert main(["analyze", *arguments, "--out", str(tmp_path / "out")]) == 2
    assert "words need labels" in capsys.readouterr().err
