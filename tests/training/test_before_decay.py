"""A model is finished today and trained further tomorrow."""

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.filterwarnings("default")
Run = Callable[..., Path]
KEEP = "vit_str.training.BeforeDecay"


def rates(log: Path) -> dict[int, float]:
    with (log / "metrics.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row.get("learning_rate")]
    return {int(row["step"]): float(row["learning_rate"]) for row in rows}


def test_training_goes_on_from_before_the_decay(run: Run, tmp_path: Path) -> None:
    stable = tmp_path / "stable.ckpt"
    keep = ("--trainer.callbacks+", KEEP, f"--trainer.callbacks.path={stable}")
    finished = run("finished", *keep, "--trainer.max_steps", "8")
    first = rates(finished / "log" / "version_0")
    assert first[7] < first[4] == max(first.values())
    assert stable.is_file()
    written = stable.stat().st_mtime_ns
    further = run("further", *keep, "--ckpt_path", str(stable), "--trainer.max_steps", "16")
    second = rates(further / "log" / "version_0")
    start = min(second)
    assert start in (4, 5)
    assert second[start] == second[7] == first[4]  # the full rate at once, where it had fallen
    assert second[15] < second[7]
    assert stable.stat().st_mtime_ns > written  # and kept again before the new decay


def test_a_decay_starts_from_any_checkpoint(run: Run) -> None:
    folder = run("run", "--trainer.max_steps", "6", "--model.schedule.decay_share", "0.01")
    share = "--model.schedule.decay_share=0.5"
    run("run", "--ckpt_path", str(folder / "last.ckpt"), "--trainer.max_steps", "12", share)
    falling = rates(folder / "log" / "version_1")
    values = [falling[step] for step in sorted(falling)]
    assert values == sorted(values, reverse=True)
    assert values[-1] < 0.3 * values[0]
