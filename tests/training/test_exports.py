"""Weights files that a run writes along the way and at its end."""

from collections.abc import Callable
from pathlib import Path

import pytest

from vit_str.weights import load_weights

pytestmark = pytest.mark.filterwarnings("default")  # Lightning's own


def test_weights_along_the_run(run: Callable[..., Path], tmp_path: Path) -> None:
    history = tmp_path / "history"
    folder = run(
        "run",
        "--trainer.callbacks+=vit_str.training.WeightsHistory",
        f"--trainer.callbacks.folder={history}",
        "--trainer.callbacks.first=1",
    )
    files = sorted(history.iterdir())
    assert [file.stem for file in files] == [f"step-{step:07d}" for step in (0, 1, 2, 4, 6)]
    assert files[0].stat().st_size < 0.6 * (folder / "weights.safetensors").stat().st_size
    start, later = (load_weights(file).provenance for file in (files[0], files[3]))
    assert (start["images"], later["images"]) == (0, 16)


def test_the_last_steps_are_in_the_weights(run: Callable[..., Path]) -> None:
    folder = run("end", "--trainer.max_steps=5")  # the last validation is at step 3
    assert load_weights(folder / "weights.safetensors").provenance["step"] == 5
