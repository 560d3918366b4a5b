"""A model is finished today and trained further tomorrow; pictures of what it reads."""

import csv
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from vit_str.training.exports import prediction_sheet
from vit_str.weights import load_weights

pytestmark = pytest.mark.filterwarnings("default")
Run = Callable[..., Path]
KEEP = "vit_str.training.BeforeDecay"


def rates(folder: Path) -> dict[int, float]:
    with (folder / "log" / "metrics.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row.get("learning_rate")]
    return {int(row["step"]): float(row["learning_rate"]) for row in rows}


def test_training_resumes_before_the_decay_and_decays_from_any_checkpoint(
    run: Run, tmp_path: Path
) -> None:
    stable = tmp_path / "stable.ckpt"
    keep = ("--trainer.callbacks+", KEEP, f"--trainer.callbacks.path={stable}")
    first = rates(run("finished", *keep, "--trainer.max_steps", "8"))
    assert first[7] < first[4] == max(first.values())
    written = stable.stat().st_mtime_ns
    second = rates(run("more", *keep, "--ckpt_path", str(stable), "--trainer.max_steps", "16"))
    start = min(second)
    assert start in (4, 5)
    assert second[start] == second[7] == first[4]  # the full rate at once, where it had fallen
    assert second[15] < second[7]
    assert stable.stat().st_mtime_ns > written  # and kept again before the new decay

    share = "--model.schedule.decay_share=0.9"
    run("other", "--ckpt_path", str(stable), "--trainer.max_steps", "14", share)
    values = list(rates(tmp_path / "other").values())
    assert values == sorted(values, reverse=True)
    assert values[-1] < 0.5 * values[0]


def test_right_readings_are_green_and_wrong_ones_red_in_their_own_cell() -> None:
    pixels = torch.full((3, 32, 128), 255, dtype=torch.uint8)
    right, wrong = (pixels, "word", "word"), (pixels, "W" * 30, "w" * 30)
    colors = []
    for first, second in ((right, right), (wrong, right)):
        sheet = prediction_sheet([first, second])
        assert sheet.size == (6 * 134, 50)
        cells = (sheet.crop((x, 34, x + 134, 50)) for x in (0, 134))
        colors.append([{color for _, color in cell.getcolors(999)} for cell in cells])
    assert (0, 128, 0) in colors[0][0]
    assert (255, 0, 0) in colors[1][0]
    assert colors[0][1] == colors[1][1], "a long caption must not run into the next cell"


def test_weights_along_the_run_and_of_its_last_steps(run: Run, tmp_path: Path) -> None:
    history = tmp_path / "history"
    folder = run(
        "run",
        "--trainer.callbacks+=vit_str.training.WeightsHistory",
        f"--trainer.callbacks.folder={history}",
        "--trainer.callbacks.first=1",
        "--trainer.max_steps=5",  # the last validation is at step 3
    )
    files = sorted(history.iterdir())
    assert [file.stem for file in files] == [f"step-{step:07d}" for step in (0, 1, 2, 4, 5)]
    last = folder / "weights.safetensors"
    assert files[0].stat().st_size < 0.6 * last.stat().st_size
    start, later, end = (load_weights(file).provenance for file in (files[0], files[3], last))
    assert (start["images"], later["images"], end["step"]) == (0, 16, 5)
