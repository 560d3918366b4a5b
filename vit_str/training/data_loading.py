"""How long training waits for its data to be loaded."""

import time
from typing import Any, TypeAlias

import torch
from lightning.pytorch import Callback, LightningModule, Trainer

Mark: TypeAlias = "float | torch.cuda.Event"


class DataLoadingShare(Callback):
    """Log ``data_loading_share``: the share of the time of training steps in which data is loaded.

    From the end of one step to the start of the next the trainer fetches a batch, and the renderer
    draws it there. On a CPU this is time on the clock. On a GPU both the step and the rendering are
    only queued when the program says so, so it is time between marks in the queue of the device:
    what drawing takes there, and what the device stands idle while the program prepares it. Marks
    are read when they are logged, and nothing else ever waits for them.

    Validations and checkpoints are left out, each with the step after it. Work that other callbacks
    do at the end of a step counts as loading if they are listed after this one: name it late.

    Logged every ``log_every_n_steps`` steps of the trainer, over these steps.
    """

    def __init__(self) -> None:
        self._ended: Mark | None = None
        self._started: Mark | None = None
        self._steps: list[tuple[Mark, Mark, Mark]] = []

    def on_validation_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self._ended = None

    def on_save_checkpoint(
        self, trainer: Trainer, pl_module: LightningModule, checkpoint: dict[str, Any]
    ) -> None:
        self._ended = None

    def on_train_batch_start(
        self, trainer: Trainer, pl_module: LightningModule, batch: Any, batch_idx: int
    ) -> None:
        self._started = _mark(pl_module.device)

    def on_train_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, *_: Any, **__: Any
    ) -> None:
        before, self._ended = self._ended, _mark(pl_module.device)
        every: int = trainer.log_every_n_steps  # type: ignore[attr-defined]
        if before is None or self._started is None or not every:
            return
        self._steps.append((before, self._started, self._ended))
        if len(self._steps) >= every:
            share = _loading_share(self._steps)
            self._steps.clear()
            for logger in trainer.loggers:  # `log` would repeat the value in every later row
                logger.log_metrics({"data_loading_share": share}, trainer.global_step)


def _mark(device: torch.device) -> Mark:
    """Now, on the clock or in the queue of a GPU."""
    if device.type != "cuda":
        return time.perf_counter()
    event: torch.cuda.Event = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
    event.record(torch.cuda.current_stream(device))
    return event


def _loading_share(steps: list[tuple[Mark, Mark, Mark]]) -> float:
    """Of the times between the marks: end of the step before, start and end of the step."""
    waited = sum(_between(before, started) for before, started, _ in steps)
    whole = sum(_between(before, ended) for before, _, ended in steps)
    return waited / max(whole, 1e-9)


def _between(first: Mark, second: Mark) -> float:
    """Seconds, or what other unit both are in."""
    if isinstance(first, torch.cuda.Event) and isinstance(second, torch.cuda.Event):
        second.synchronize()
        return first.elapsed_time(second)
    assert isinstance(first, float) and isinstance(second, float)
    return second - first
