"""The share of a step in which data is loaded, by a clock that loaders and steps move on."""

import csv
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from lightning.pytorch import Callback, LightningModule, Trainer
from lightning.pytorch.loggers import Logger

from vit_str.training import DataLoadingShare, data_loading

pytestmark = pytest.mark.filterwarnings("default")  # Lightning's own

STEP, REST = 1.0, 100.0


class Clock:
    """Shows the time that has been slept."""

    now = 0.0

    def sleep(self, seconds: float) -> None:
        self.now += seconds


clock = Clock()


@pytest.fixture
def stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock of the callback moves when something sleeps, and not else."""
    monkeypatch.setattr(data_loading, "time", SimpleNamespace(perf_counter=lambda: clock.now))


class Kept(Logger):
    """Keeps what is logged."""

    def __init__(self) -> None:
        super().__init__()
        self.shares: dict[int, float] = {}

    name = version = "kept"  # type: ignore[assignment]

    def log_metrics(self, metrics: Any, step: int | None = None) -> None:
        if "data_loading_share" in metrics:
            assert step is not None
            self.shares[step] = metrics["data_loading_share"]

    def log_hyperparams(self, *_: Any, **__: Any) -> None:
        return


class Sleeper(LightningModule):
    """Steps that take a while, and a validation that takes long."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(()))

    def training_step(self, batch: Any, batch_idx: int) -> torch.Tensor:
        clock.sleep(STEP)
        return self.weight.square()

    def validation_step(self, batch: Any, batch_idx: int) -> None:
        clock.sleep(REST)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.parameters(), lr=0.1)


class Words:
    """An endless loader without a length, as the rendered stream is."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def __iter__(self) -> Iterator[int]:
        while True:
            clock.sleep(self.seconds)
            yield 0


class Saver(Callback):
    """A checkpoint that takes long, after every third step."""

    def on_train_batch_end(self, trainer: Trainer, *_: Any) -> None:
        if trainer.global_step % 3 == 0:
            trainer.save_checkpoint(Path(trainer.default_root_dir) / "a.ckpt")
            clock.sleep(REST)


def shares(folder: Path, loading: float, *later: Callback, **options: Any) -> dict[int, float]:
    """What is logged by step, with ``later`` callbacks after the one in question."""
    kept = Kept()
    trainer = Trainer(
        accelerator="cpu",
        max_steps=13,
        log_every_n_steps=4,
        logger=kept,
        callbacks=[DataLoadingShare(), *later],
        default_root_dir=folder,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        num_sanity_val_steps=0,
        **options,
    )
    trainer.fit(Sleeper(), Words(loading), [0] if options else None)
    return kept.shares


@pytest.mark.usefixtures("stopped")
@pytest.mark.parametrize(("loading", "share"), [(3.0, 0.75), (1.0, 0.5), (0.0, 0.0)])
def test_the_share_is_that_of_the_loader(tmp_path: Path, loading: float, share: float) -> None:
    found = shares(tmp_path, loading)
    assert list(found) == [5, 9, 13], "the first step has none before it, then every fourth"
    assert list(found.values()) == pytest.approx([share] * 3)


@pytest.mark.usefixtures("stopped")
@pytest.mark.parametrize(
    ("later", "options"),
    [([], {"val_check_interval": 3, "check_val_every_n_epoch": None}), ([Saver()], {})],
    ids=["validation", "checkpoint"],
)
def test_validations_and_checkpoints_are_no_loading(
    tmp_path: Path, later: list[Callback], options: dict[str, Any]
) -> None:
    found = shares(tmp_path, 1.0, *later, **options)
    assert list(found) == [6, 12], "the steps after them are left out"
    assert list(found.values()) == pytest.approx([0.5] * 2)


def test_it_is_logged_in_a_run_of_the_command(run: Callable[..., Path]) -> None:
    folder = run("run", "--trainer.callbacks=[{class_path: vit_str.training.DataLoadingShare}]")
    with (folder / "log" / "metrics.csv").open() as file:
        cells = [row["data_loading_share"] for row in csv.DictReader(file)]
    found = [float(cell) for cell in cells if cell]
    assert len(found) == 4, "6 steps but the first and the one after the validation"
    assert all(0 < share < 1 for share in found)
