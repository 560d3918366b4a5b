"""A run that is cut and goes on equals one that was never cut, in everything that matters."""

import csv
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from PIL import Image

import vit_str
from vit_str.charset import Charset
from vit_str.synthesis.glyphs import GlyphAtlas
from vit_str.synthesis.lexicon import Lexicon
from vit_str.synthesis.renderer import Renderer
from vit_str.training.module import RecognizerTraining
from vit_str.weights import load_weights

# What Lightning and jsonargparse warn about in each other is theirs to mend.
pytestmark = pytest.mark.filterwarnings("default")
Run = Callable[..., Path]


def checkpoint(folder: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = torch.load(folder / "last.ckpt", weights_only=False)
    return loaded


def assert_same(first: Any, second: Any, path: str = "") -> None:
    assert type(first) is type(second), path
    if isinstance(first, torch.Tensor):
        assert torch.equal(first, second), path
    elif isinstance(first, dict):
        assert first.keys() == second.keys(), path
        for key in first:
            assert_same(first[key], second[key], f"{path}/{key}")
    elif isinstance(first, list | tuple):
        assert len(first) == len(second), path
        for index, (a, b) in enumerate(zip(first, second, strict=True)):
            assert_same(a, b, f"{path}/{index}")
    else:
        assert first == second, path


def losses(folder: Path) -> dict[str, str]:
    """Loss by step, from the logs of all legs."""
    rows = [
        row
        for leg in sorted((folder / "log").glob("*/metrics.csv"))
        for row in csv.DictReader(leg.read_text().splitlines())
    ]
    return {row["step"]: row["loss"] for row in rows if row.get("loss")}


def test_cut_and_resumed_equals_uncut(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    uncut = run("uncut")

    class Killed(BaseException):
        """What no handler of Lightning's catches as its own."""

    step = RecognizerTraining.training_step

    def killed_in_step(self: RecognizerTraining, batch: Any, batch_idx: int) -> Any:
        if self.global_step == 4:
            raise Killed
        return step(self, batch, batch_idx)

    with monkeypatch.context() as patch:
        patch.setattr(RecognizerTraining, "training_step", killed_in_step)
        with pytest.raises(Killed):
            run("cut")
    before = checkpoint(uncut.parent / "cut")
    assert before["global_step"] == 4, "it must have been cut in the middle"
    cut = run("cut")

    assert_same_run(uncut, cut)


def assert_same_run(uncut: Path, cut: Path) -> None:
    first, second = checkpoint(uncut), checkpoint(cut)
    assert first["global_step"] == second["global_step"] == 6
    assert_same(first["state_dict"], second["state_dict"])
    assert any(key.startswith("average.") for key in first["state_dict"])
    assert_same(first["optimizer_states"], second["optimizer_states"])
    assert_same(first["callbacks"]["RandomStates"], second["callbacks"]["RandomStates"])
    assert losses(cut) == losses(uncut)
    assert len(losses(cut)) == 6


def test_ctrl_c_finishes_the_step_and_the_run_goes_on(
    run: Run, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    uncut = run("uncut")
    step = RecognizerTraining.training_step

    def interrupted_step(self: RecognizerTraining, batch: Any, batch_idx: int) -> Any:
        if self.global_step == 2:
            signal.raise_signal(signal.SIGINT)
        return step(self, batch, batch_idx)

    with monkeypatch.context() as patch:
        patch.setattr(RecognizerTraining, "training_step", interrupted_step)
        stopped = run("cut", code=130)
    assert "stopped at step 3; the same command goes on" in capsys.readouterr().err
    assert checkpoint(stopped)["global_step"] == 3
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert_same_run(uncut, run("cut"))


def test_the_exported_weights_are_the_average_and_read(run: Run) -> None:
    folder = run("run", "--trainer.max_steps", "3")
    reader = vit_str.load(folder / "weights.safetensors", device="cpu")
    assert reader.provenance["images"] == 12
    average = {
        key.removeprefix("average.module."): value
        for key, value in checkpoint(folder)["state_dict"].items()
        if key.startswith("average.module.")
    }
    assert average
    stored = load_weights(folder / "weights.safetensors").recognizer.state_dict()
    assert_same(dict(stored), average)
    assert list((folder / "readings").glob("*.png"))


def test_preprocessing_in_training_is_that_of_reading(
    run: Run, fonts: Path, tmp_path: Path
) -> None:
    """An image of a training batch, written to a file and read, has the same logits."""
    folder = run("run", "--trainer.max_steps", "3")
    weights = load_weights(folder / "weights.safetensors")
    charset = Charset()
    atlas = GlyphAtlas.load_or_build(charset, [fonts])
    batch = Renderer(atlas, Lexicon(charset)).batch(4, 1, 0)
    reader = vit_str.load(folder / "weights.safetensors", device="cpu")
    for row, image in enumerate(batch.images):
        file = tmp_path / f"{row}.png"
        Image.fromarray(image.permute(1, 2, 0).numpy()).save(file)
        pixels = reader.pixels(file)
        assert torch.equal(pixels, image)
        with torch.no_grad():
            in_training = weights.recognizer.encode(weights.preprocessing.normalize(image[None]))
            in_reading = weights.recognizer.encode(weights.preprocessing.normalize(pixels[None]))
            logits = [
                weights.recognizer.decoder.logits(
                    features, batch.labels[row : row + 1].clamp(min=0)
                )
                for features in (in_training, in_reading)
            ]
        assert torch.equal(*logits)
