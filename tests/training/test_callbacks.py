"""A model is finished today and trained further tomorrow."""

import csv
from pathlib import Path

import pytest

pytestmark = pytest.mark.filterwarnings("default")
KEEP = "vit_str.training.BeforeDecay"


def rates(folder: Path) -> dict[int, float]:
    with (folder / "log" / "metrics.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row.get("learning_rate")]
    return {int(row["step"]): float(row["learning_rate"]) for row in rows}


def test_training_resumes_before_the_decay_and_decays_from_any_checkpoint(
    run, tmp_path
):
    stable = tmp_path / "stable.ckpt"
    keep = ("--trainer.callbacks+", KEEP, f"--trainer.callbacks.path={stable}")
    first = rates(run("finished", *keep, "--trainer.max_steps", "8"))
    assert first[7] < first[4] == max(first.values())
    written = stable.stat().st_mtime_ns
    second = rates(
        run("more", *keep, "--ckpt_path", str(stable), "--trainer.max_steps", "16")
    )
    start = min(second)
    assert start in (4, 5)
    # The full rate at once, where it had fallen
    assert second[start] == second[7] == first[4]
    assert second[15] < second[7]
    assert stable.stat().st_mtime_ns > written  # and kept again before the new decay

    share = "--model.schedule.decay_share=0.9"
    run("other", "--ckpt_path", str(stable), "--trainer.max_steps", "14", share)
    values = list(rates(tmp_path / "other").values())
    assert values == sorted(values, reverse=True)
    assert values[-1] < 0.5 * values[0]
