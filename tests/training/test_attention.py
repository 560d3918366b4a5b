"""Attention reach in the logs of a run, which the measuring must not change."""

import csv
from collections.abc import Callable
from pathlib import Path

import pytest
from safetensors.torch import load_file

from vit_str.weights import load_weights

pytestmark = pytest.mark.filterwarnings("default")  # Lightning's own

REACH = ["--trainer.callbacks+=vit_str.training.AttentionReach", "--trainer.callbacks.every=2"]


def columns(folder: Path) -> dict[str, list[float]]:
    with (folder / "log" / "metrics.csv").open() as file:
        rows = list(csv.DictReader(file))
    return {name: [float(row[name]) for row in rows if row[name]] for name in rows[0]}


def test_distances_are_logged_and_the_run_is_the_same(run: Callable[..., Path]) -> None:
    plain, measured = run("plain"), run("measured", *REACH)
    found = columns(measured)
    assert len(found["attention/distance_1"]) == 3
    # A model that has hardly learned looks everywhere alike: 45.4 px on 4 x 16 tokens of 8 x 8.
    assert found["attention/distance_1"][0] == pytest.approx(45.4, abs=3)
    assert found["attention/entropy_1"][0] == pytest.approx(4.1, abs=0.2)
    assert found["attention/nearest_1"][0] <= found["attention/distance_1"][0]
    assert 0 < found["attention/share"][-1] < 1
    first, second = (load_file(folder / "weights.safetensors") for folder in (plain, measured))
    assert all(first[name].equal(second[name]) for name in first)


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


def test_wrong_numbers_are_one_line(
    run: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        run("wrong", REACH[0], "--trainer.callbacks.every=0")
    assert stopped.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1
