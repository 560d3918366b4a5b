"""Attention distance in Python: what a notebook shows, and the notebook of the documentation."""

import ast
import json
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import torch
from PIL import Image
from torch import nn

from vit_str.analysis import AttentionDistance, attention_distance
from vit_str.analysis.distance.tables import measurements
from vit_str.torch_runtime.weights_file import load_weights

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def result(small_weights, labeled_folder) -> AttentionDistance:
    return attention_distance(small_weights(), labeled_folder)


def test_the_notebook_of_the_documentation_runs(monkeypatch):
    monkeypatch.chdir(DOCS)
    names: dict[str, object] = {}
    shown = []
    for cell in json.loads((DOCS / "attention.ipynb").read_text())["cells"]:
        if cell["cell_type"] != "code":
            continue
        assert any("data" in output for output in cell["outputs"]), "not executed"
        *body, last = ast.parse("".join(cell["source"])).body
        exec(compile(ast.Module(body, []), "cell", "exec"), names)  # noqa: S102
        assert isinstance(last, ast.Expr)
        shown.append(eval(compile(ast.Expression(last.value), "cell", "eval"), names))  # noqa: S307
        if isinstance(shown[-1], pd.DataFrame):
            table = "".join(cell["outputs"][0]["data"]["text/html"])
            columns = [f"<th>{column}</th>" for column in shown[-1].columns]
            assert all(column in table for column in columns), "of an older version"
    plt.close("all")
    first, table, axes, own, spread, sinks, special, maps = shown
    assert "<svg" in first._repr_html_()
    assert table.shape == (4, 4)
    assert len(axes.collections) == 2, "a band for each model"
    assert own.analyses[0].grid.columns == 16
    assert spread.shape == (4, 4)
    assert (sinks["times_uniform"] > 1).all()
    assert set(special["query"]) == {"class"}
    assert {shape[0] for shape in maps.values()} == {1}
    (DOCS / "maps.npz").unlink()


def test_it_says_what_the_command_says(small_weights, labeled_folder, measured):
    rows = measurements(measured(str(small_weights())))
    result = attention_distance(small_weights(), labeled_folder, batch_size=2)
    pd.testing.assert_frame_equal(result.to_frame(), rows)
    assert repr(result).startswith("AttentionDistance(small, n = 5, px by layer: ")


def test_pictures_files_tensors_and_modules_agree(small_weights, labeled_folder):
    path = small_weights(class_token=True)
    files = sorted(labeled_folder.glob("*.png"))[:2]
    pictures = [Image.open(file) for file in files]
    weights = load_weights(path)
    pixels = [
        weights.preprocessing.pixels(picture.convert("RGB")) for picture in pictures
    ]
    tensor = weights.preprocessing.normalize(torch.stack(pixels))
    wanted = attention_distance(path, files).rows["mean"].to_numpy()
    for found in (
        attention_distance(path, pictures),
        attention_distance(path, tensor),
        attention_distance(weights.recognizer, tensor, name="small"),
        attention_distance(
            weights.recognizer.encoder, tensor, name="small", batch_size=1
        ),
    ):
        assert found.rows["mean"].to_numpy() == pytest.approx(wanted)


def test_plots_share_an_axis(result):
    _, axes = plt.subplots()
    assert result.plot(axes) is axes
    result.plot(axes, color="red")
    labels = axes.get_legend().get_texts()
    assert [text.get_text() for text in labels].count("uniform: 22.6 px") == 1
    assert axes.get_ylabel() == "attention distance (px)"
    shares = result.plot(unit="share of uniform")
    levels = [
        line.get_ydata()[0] for line in shares.lines if line.get_linestyle() == "--"
    ]
    assert levels[0] == pytest.approx(1.0), "the line of uniform attention"
    plt.close("all")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("tiny", []), "no images"),
        (("tiny", np.zeros((8, 8, 3))), "path"),
        ((nn.Linear(2, 2), "rendered"), "needs a tensor of images"),
        ((nn.Linear(2, 2), torch.zeros(1, 3, 8, 8)), "give grid=TokenGrid"),
    ],
)
def test_wrong_use_is_a_clear_line(arguments, reason):
    with pytest.raises(ValueError, match=reason):
        attention_distance(*arguments)
