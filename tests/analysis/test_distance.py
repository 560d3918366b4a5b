"""Measured models and their tables, from weights files and images to CSV, through the commands."""

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
import torch

from vit_str.analysis.compare.measure import differences
from vit_str.analysis.distance.measure import DistanceAnalysis, chance, measurements
from vit_str.analysis.geometry import TokenGrid
from vit_str.analysis.images import load_images
from vit_str.analysis.subjects import load_subject
from vit_str.cli import main
from vit_str.models.attention import record_attention

Weights = Callable[..., Path]
Measured = Callable[[str], DistanceAnalysis]


def test_rows_are_means_of_what_the_maps_say(
    small_weights: Weights, labeled_folder: Path, measured: Measured
) -> None:
    subject = load_subject(str(small_weights()))
    table = {
        (row.layer, row.head, row.metric, row.unit): row
        for row in measurements(measured(str(small_weights())))
    }
    grid = TokenGrid.of(subject.recognizer.encoder)
    (batch,) = load_images(subject, str(labeled_folder), 10).batches()
    images = subject.preprocessing.normalize(batch.pixels)
    with torch.no_grad(), record_attention(subject.recognizer.encoder) as maps:
        subject.recognizer.encode(images)
    for layer, (weights,) in enumerate(maps.values(), 1):
        distances = (weights.double() * grid.distances()).sum(-1).mean(-1)
        for head in (1, 2):
            row = table[layer, head, "distance", "px"]
            assert row.mean == pytest.approx(float(distances[:, head - 1].mean()), rel=1e-5)
            assert row.low <= row.mean <= row.high
            assert row.n == 5
            in_patches = table[layer, head, "distance", "patches"].mean
            assert in_patches == pytest.approx(row.mean / 32**0.5)
            share = table[layer, head, "distance", "share of uniform"].mean
            assert share == pytest.approx(row.mean / grid.uniform_distance())
            of_diagonal = table[layer, head, "distance", "share of diagonal"].mean
            assert of_diagonal == pytest.approx(row.mean / (16**2 + 64**2) ** 0.5)
        mean = table[layer, None, "distance", "px"].mean
        assert mean == pytest.approx(float(distances.mean()), rel=1e-5)
        assert (layer, None, "head_divergence", "nats") in table
        assert (layer, 1, "head_divergence", "nats") not in table


def test_an_untrained_model_looks_everywhere_alike(
    small_weights: Weights, measured: Measured
) -> None:
    analysis = measured(f"untrained:{small_weights()}")
    uniform = chance(analysis.grid)["uniform"]["distance"]
    for layer in analysis.statistics.values("distance"):
        torch.testing.assert_close(layer, torch.full_like(layer, uniform), rtol=0.1, atol=0)


def test_differences_are_paired_and_heads_are_matched(
    small_weights: Weights, measured: Measured
) -> None:
    first, second = (
        measured(str(small_weights(name, seed=seed))) for seed, name in enumerate("ab")
    )
    found = differences(first, second)
    by_rank = [row for row in found if row.matching == "rank" and row.metric == "distance"]
    assert [(row.layer, row.head) for row in by_rank] == [(1, 1), (1, 2), (2, 1), (2, 2)]
    assert by_rank[0].first <= by_rank[1].first
    assert by_rank[0].second <= by_rank[1].second
    for row in found:
        assert row.difference == pytest.approx(row.second - row.first, abs=1e-9)
        assert row.low - 1e-9 <= row.difference <= row.high + 1e-9
    mirrored = differences(second, first)
    assert [row.difference for row in mirrored] == pytest.approx([-row.difference for row in found])
    same = differences(first, first)
    assert all(row.difference == row.low == row.high == 0 for row in same)


def test_the_command_writes_tables_pictures_and_a_page(
    small_weights: Weights, labeled_folder: Path, tmp_path: Path
) -> None:
    path, out = str(small_weights(class_token=True)), tmp_path / "out"
    arguments = ["distance", path, f"untrained:{path}", "--data", str(labeled_folder)]
    assert main(["analyze", *arguments, "--out", str(out)]) == 0
    table = pd.read_csv(out / "distance.csv")
    assert list(table.columns) == [
        *("model", "layer", "head", "metric", "unit", "norm", "mean", "low", "high", "n")
    ]
    assert set(table["model"]) == {"small", "untrained:small"}
    assert table["metric"].eq("gradient_distance").sum() == 4
    keys = ["model", "layer", "head", "metric", "unit", "norm"]
    assert not table.duplicated(keys).any()
    assert (table["low"] <= table["mean"] + 1e-6).all()
    assert table["n"].eq(5).all()  # one of six is damaged
    summary = json.loads((out / "summary.json").read_text())
    assert summary["chance"]["small"]["uniform"]["distance"] > 0
    assert summary["models"]["small"]["special_tokens"] == 1
    assert len(summary["skipped"]) == 1
    assert (out / "report.html").stat().st_size < 2_000_000
    assert {file.suffix for file in out.iterdir()} == {
        *(".csv", ".json", ".png", ".html", ".svg", ".pdf")
    }


def test_a_place_that_cannot_be_written(
    small_weights: Weights, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    out = str(tmp_path / "file" / "out")
    assert main(["analyze", "positions", str(small_weights()), "--out", out]) == 2
    assert "vit-str analyze positions: " in capsys.readouterr().err
