"""Cut heads put nothing out, and words are counted one by one."""

import json

import numpy as np
import pandas as pd
import pytest
import torch
from scipy import stats

from vit_str.analysis.ablation.cut import WAYS, Head, HeadOutputs, without_heads
from vit_str.analysis.ablation.effects import (
    Reading,
    difference_interval,
    effects,
    random_sets,
)
from vit_str.analysis.ablation.page import ablation_figure
from vit_str.analysis.subjects import load_subject
from vit_str.cli import main
from vit_str.models.attention import attention_modules
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
    module = list(attention_modules(encoder).values())[1]
    kept: list[torch.Tensor] = []
    with (
        torch.no_grad(),
        module.register_forward_hook(lambda *call: kept.append(call[2])),
    ):
        encoder(images)
    (whole,) = kept
    mean = outputs.fill("mean", 0)(2, [1], whole)
    torch.testing.assert_close(mean[3, 0], whole[:, 1].mean(0))
    other = outputs.fill("resample", 0)(2, [1], whole)[:, 0]
    words = [int((whole[:, 1] - each).abs().amax((1, 2)).argmin()) for each in other]
    assert sorted(words) == list(range(5))
    assert all(word != place for place, word in enumerate(words))
    torch.testing.assert_close(other, whole[words, 1])
    many = whole.repeat(400, 1, 1, 1)
    noise = outputs.fill("noise", 0)(2, [0, 1], many)
    torch.testing.assert_close(noise.mean(0), whole.mean(0), atol=0.1, rtol=0.1)
    deviation = whole.std(0, correction=0)
    torch.testing.assert_close(noise.std(0), deviation, atol=0.02, rtol=0.1)
    assert not outputs.fill("zero", 0)(2, [1], whole).any()
    with pytest.raises(ValueError, match="unknown way 'half'"):
        outputs.fill("half", 0)


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
def test_the_command(by, small_weights, labeled_folder, tmp_path):
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
    words = pd.read_csv(tmp_path / "words.csv", keep_default_na=False)
    assert len(words) == json.loads((tmp_path / "summary.json").read_text())["n"] == 5
    assert list(words)[:3] == ["label", "no head", "layer 1, head 1"]
    assert (tmp_path / "ablation.pdf").exists()


def test_words_without_labels(small_weights, labeled_folder, tmp_path, capsys):
    (labeled_folder / "labels.tsv").unlink()
    arguments = ["ablation", str(small_weights()), "--data", str(labeled_folder)]
    assert main(["analyze", *arguments, "--out", str(tmp_path / "out")]) == 2
    assert "words need labels" in capsys.readouterr().err
