"""Cut heads put nothing out, and words are counted one by one."""

import json

import pandas as pd
import pytest
import torch
from scipy import stats

from vit_str.analysis.ablation import (
    Head,
    Reading,
    difference_interval,
    effects,
    without_heads,
)
from vit_str.analysis.subjects import load_subject
from vit_str.cli import main


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


def test_words_are_paired():
    whole = Reading("no head", (), ["a"] * 8, [True] * 6 + [False] * 2)
    cut = Reading("layer 1, head 2", (Head(1, 2),), ["b"] * 8, [False] * 6 + [True, False])
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
    assert (-high, -low) == (pytest.approx(0.0569, abs=1e-4), pytest.approx(0.3404, abs=1e-4))
    low, high = difference_interval(66, 0, 0, 70)  # a head that loses nothing
    assert low < 0 < high
    low, high = difference_interval(0, 70, 0, 70)  # all that there is
    assert low == -1
    assert -1 < high < -0.9


def test_the_command(small_weights, labeled_folder, tmp_path):
    arguments = ["ablation", str(small_weights()), "--data", str(labeled_folder), "--orders", "1"]
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
    words = pd.read_csv(tmp_path / "words.csv", keep_default_na=False)
    assert len(words) == json.loads((tmp_path / "summary.json").read_text())["n"] == 5
    assert list(words)[:3] == ["label", "no head", "layer 1, head 1"]
    assert (tmp_path / "ablation.pdf").exists()


def test_words_without_labels(small_weights, labeled_folder, tmp_path, capsys):
    (labeled_folder / "labels.tsv").unlink()
    arguments = ["ablation", str(small_weights()), "--data", str(labeled_folder)]
    assert main(["analyze", *arguments, "--out", str(tmp_path / "out")]) == 2
    assert "words need labels" in capsys.readouterr().err
