"""Commands that look into layers, from the command line to the files that they write."""

import csv
import json
from pathlib import Path

import pytest
import torch

from vit_str.characters.charset import Charset
from vit_str.cli import main
from vit_str.images.preprocessing import Preprocessing
from vit_str.models import ConvolutionalEncoder, Recognizer, TransformerDecoder
from vit_str.torch_runtime.weights_file import save_weights

# Files of each, besides report.html and summary.json.
FILES = {
    "receptive-field": {"gradient_distance.csv", "theoretical.csv", "fields.png"},
    "similarity": {"similarity.csv", "similarity.png"},
    "rollout": {
        "rollout.csv",
        "rollout-distance.png",
        "words-1.png",
    },
}


@pytest.fixture
def conv_path(tmp_path) -> Path:
    """Weights of a convolutional model that reads 32 x 128."""
    torch.manual_seed(0)
    encoder = ConvolutionalEncoder((8, 16), (1, 1), ((2, 4), (4, 4)))
    decoder = TransformerDecoder(94, dim=16, depth=1, heads=2, maximum_length=6)
    torch.nn.init.normal_(decoder.classify.weight)
    path = tmp_path / "conv.safetensors"
    save_weights(path, Recognizer(encoder, decoder), Charset(), Preprocessing(), {})
    return path


def analyze(
    command: str, models: list[Path | str], data: Path, out: Path, *more: str
) -> int:
    arguments = [command, *map(str, models), "--out", str(out), *more]
    arguments += ["--data", str(data), "--device", "cpu", "--batch-size", "3"]
    return main(["analyze", *arguments])


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("command", FILES)
def test_every_command_writes_its_files(
    command, weights_path, conv_path, words, tmp_path
):
    out = tmp_path / "out"
    models = [weights_path, *([] if command == "rollout" else [conv_path])]
    assert analyze(command, models, words, out) == 0
    names = {path.name for path in out.iterdir()}
    assert names >= FILES[command] | {"report.html", "summary.json"}
    figures = {path.stem for path in out.glob("*.png")}
    assert names >= {f"{name}.{form}" for name in figures for form in ("svg", "pdf")}
    assert (out / "report.html").stat().st_size < 2_000_000
    assert json.loads((out / "summary.json").read_text())["models"]
    for name in (name for name in FILES[command] if name.endswith(".csv")):
        table = rows(out / name)
        assert table, name
        assert all(None not in row and None not in row.values() for row in table), name
    CHECKS.get(command, lambda _: None)(out)


def check_receptive_fields(out: Path) -> None:
    distances = rows(out / "gradient_distance.csv")
    assert {row["model"] for row in distances} == {"small", "conv"}
    assert all(
        float(row["low"]) <= float(row["mean"]) <= float(row["high"])
        for row in distances
    )
    sizes = {(row["model"], row["layer"]): row for row in rows(out / "theoretical.csv")}
    found = sizes["conv", "1"]
    assert (found["field height"], found["field width"]) == ("8", "10")


def check_similarities(out: Path) -> None:
    pairs = rows(out / "similarity.csv")
    assert len(pairs) == (1 + 4) ** 2
    layers = [
        ((row["model"], row["layer"]), (row["other model"], row["other layer"]))
        for row in pairs
    ]
    same = [
        float(row["cka"]) for row, (a, b) in zip(pairs, layers, strict=True) if a == b
    ]
    assert same == pytest.approx([1] * 5)


CHECKS = {"receptive-field": check_receptive_fields, "similarity": check_similarities}
