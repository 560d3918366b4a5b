"""The share of a step in which data is loaded, by a clock that the tests move on."""

import csv
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from vit_str.training import DataLoadingShare, data_loading

pytestmark = pytest.mark.filterwarnings("default")  # Lightning's own


class Steps:
    """Calls the callback as a trainer does; a step takes a second, and loading before it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.shares = 0.0, {}
        clock = SimpleNamespace(perf_counter=lambda: self.now)
        monkeypatch.setattr(data_loading, "time", clock)
        self.trainer: Any = SimpleNamespace(log_every_n_steps=4, loggers=[self], global_step=0)
        self.module: Any = SimpleNamespace(device=torch.device("cpu"))
        self.callback = DataLoadingShare()

    def log_metrics(self, metrics: dict[str, float], step: int) -> None:
        self.shares[step] = metrics["data_loading_share"]

    def take(self, loading: float) -> None:
        self.now += loading
        self.callback.on_train_batch_start(self.trainer, self.module, None, 0)
        self.now += 1
        self.trainer.global_step += 1
        self.callback.on_train_batch_end(self.trainer, self.module)


@pytest.mark.parametrize(("loading", "share"), [(3.0, 0.75), (1.0, 0.5), (0.0, 0.0)])
def test_the_share_is_that_of_the_loader(
    loading: float, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = Steps(monkeypatch)
    for _ in range(13):
        steps.take(loading)
    # The first step has none before it, then every fourth is logged.
    assert steps.shares == pytest.approx({5: share, 9: share, 13: share})


def test_validations_and_checkpoints_are_no_loading(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = Steps(monkeypatch)
    for number in range(1, 14):
        steps.take(1.0)
        if number % 6 == 3:
            steps.callback.on_validation_start(steps.trainer, steps.module)
        elif number % 6 == 0:
            steps.callback.on_save_checkpoint(steps.trainer, steps.module, {})
        steps.now += 100 * (number % 3 == 0)
    # The steps after them are left out.
    assert steps.shares == pytest.approx({6: 0.5, 12: 0.5})


def test_it_is_logged_in_a_run_of_the_command(run: Callable[..., Path]) -> None:
    folder = run("run", "--trainer.callbacks=[{class_path: vit_str.training.DataLoadingShare}]")
    with (folder / "log" / "metrics.csv").open() as file:
        cells = [row["data_loading_share"] for row in csv.DictReader(file)]
    found = [float(cell) for cell in cells if cell]
    assert len(found) == 4, "6 steps but the first and the one after the validation"
    assert all(0 < share < 1 for share in found)
