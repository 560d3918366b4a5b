import json
import random
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from vit_str import console
from vit_str.torch_runtime.weights_file import load_weights
from vit_str.words.reader import Reader

COUNT = 160
TRUE_TEMPERATURE = 0.5


@pytest.fixture
def sets(weights_path, weights, word_image, tmp_path) -> list[Path]:
    """Words that are right as often as the model would say at another temperature."""
    generator = random.Random(7)
    reader = Reader(
        replace(weights, temperature=TRUE_TEMPERATURE), "cpu", torch.float32
    )
    folders = []
    for name in ("first", "second"):
        folder = tmp_path / name
        folder.mkdir()
        letters = [generator.choices("abcdefgXYZ", k=3) for _ in range(COUNT)]
        images = [word_image("".join(word), size=(64, 16)) for word in letters]
        lines = []
        for number, reading in enumerate(reader.read(images)):
            images[number].save(folder / f"{number}.png")
            is_right = generator.random() < reading.confidence
            lines.append(f"{number}.png\t{reading.text if is_right else 'wrong'}\n")
        (folder / "labels.tsv").write_text("".join(lines), encoding="utf-8")
        folders.append(folder)
    return folders


def test_a_temperature_is_fitted_and_written(weights_path, sets, tmp_path, run):
    out = tmp_path / "new" / "calibrated.safetensors"
    code, text, _ = run("calibrate", weights_path, *sets, "--out", out, "--json")
    values = json.loads(text)
    low, high = values["interval"]
    assert low <= TRUE_TEMPERATURE <= high
    assert (code, values["words"]) == (0, COUNT)
    overall = values["sets"]["all"]
    assert overall["n"] == COUNT
    assert overall["after"]["loss"] < overall["before"]["loss"]
    assert overall["after"]["error"] < overall["before"]["error"]
    old = load_weights(weights_path)
    new = load_weights(out)
    assert new.temperature == values["temperature"]
    assert new.provenance["calibration"]["words"] == COUNT
    assert new.provenance["note"] == old.provenance["note"]
    before = load_file(weights_path)
    after = load_file(out)
    assert before.keys() == after.keys()
    for name, tensor in before.items():
        assert torch.equal(tensor, after[name])


@pytest.mark.parametrize("command", ["calibrate", "evaluate"])
def test_progress_shows_where_results_go_to_a_terminal_too(
    command, weights_path, sets, tmp_path, run, monkeypatch
):
    asked = []

    class Watched(console.Progress):
        def __init__(self, total: int, alone: bool = False) -> None:
            asked.append((total > 0, alone))
            super().__init__(total, alone)

    monkeypatch.setattr(console, "Progress", Watched)
    out = {"calibrate": ["--out", tmp_path / "new.safetensors"], "evaluate": []}[
        command
    ]
    model = [weights_path] if command == "calibrate" else ["--model", weights_path]
    run(command, *model, sets[0], *out)
    assert asked == [(True, True)]


def test_what_cannot_be_read_is_said_and_left_out(weights_path, sets, tmp_path, run):
    first, second = sets
    (first / "0.png").write_text("no image")
    (second / "1.png").unlink()
    out = tmp_path / "a.safetensors"
    code, text, err = run("calibrate", weights_path, first, second, "--out", out)
    assert code == 1  # for the image that cannot be read; the file is written
    assert "0.png" in err
    assert "1.png: image missing" in err
    assert f"wrote {out}" in err
    assert f"fitted to {COUNT - 2} words" in text
    assert text.count("second, other half") == 2
    assert load_weights(out).temperature < 0.8


def test_wrong_use(weights_path, labeled_set, tmp_path, run):
    folder = labeled_set(tmp_path / "few", {"a.png": "a"})
    out = tmp_path / "a.safetensors"
    weights = weights_path
    for arguments, trouble in [
        (["huge", folder, "--out", out], "no model 'huge'"),
        ([weights, tmp_path / "missing", "--out", out], "no such file"),
        ([weights, folder, "--out", weights], "is the weights file itself"),
        ([weights, folder, "--out", "a.pt"], "ending in .safetensors"),
        ([weights, folder, "--out", out], "needs 50 words or more"),
        ([weights, folder, "--out", out, "--device", "tpu"], "unknown device"),
    ]:
        code, _, err = run("calibrate", *arguments)
        assert (code, err.count("\n")) == (2, 1)
        assert trouble in err
    assert not out.exists()
    assert (
        run("calibrate", weights, folder, "--out", f"{weights}/a.safetensors")[0] == 1
    )
