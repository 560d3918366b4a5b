"""Messages of a run: one line at a time from one process, and a bar with the time left."""

import sys
import time
from typing import Any

from lightning.pytorch import LightningModule, Trainer
from lightning.pytorch.callbacks import ProgressBar
from lightning.pytorch.utilities import rank_zero_only
from tqdm import tqdm

from vit_str import console
from vit_str.characters.charset import PRINTABLE_ASCII, Charset
from vit_str.training.schedule import progress

_REFRESH_SECONDS = 0.5  # between two looks of the bar
_SHOWN = ("loss", "word_accuracy_36")
_SHOWN_OF_MORE = ("loss", "word_accuracy_full")  # than printable ASCII


@rank_zero_only
def report(line: str) -> None:
    """Print a line to standard error, once for all processes of a run."""
    with tqdm.external_write_mode(file=sys.stderr, nolock=True):
        console.warn(line, "train")


class RunProgress(ProgressBar):
    """How much of the run is done and how long the rest takes; a line after each validation."""

    def __init__(self) -> None:
        super().__init__()
        self._bar: Any = None
        self._enabled = True
        self._start = 0.0  # seconds of the clock
        self._share = 0.0  # of the run that was done then
        self._refreshed = 0.0  # seconds of the clock

    def disable(self) -> None:
        self._enabled = False

    def enable(self) -> None:
        self._enabled = True

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self._start = time.monotonic()
        self._share = progress(trainer)
        if self._enabled and sys.stderr.isatty():
            # Not the postfix, which tqdm puts behind a comma
            form = "{desc}|{bar}| {unit}"
            self._bar = tqdm(total=1.0, file=sys.stderr, bar_format=form, unit="")

    def on_train_batch_end(self, trainer: Trainer, *_: Any, **__: Any) -> None:
        """Seldom: losses are on the device, which would be waited for."""
        if self._bar is None or time.monotonic() - self._refreshed < _REFRESH_SECONDS:
            return
        self._refreshed = time.monotonic()
        self._bar.n = progress(trainer)
        self._bar.set_description_str(f"step {trainer.global_step:,} ", refresh=False)
        loss = trainer.callback_metrics.get("loss")
        shown = f", loss {loss:.3f}" if loss is not None else ""
        self._bar.unit = self.left(trainer) + shown
        self._bar.refresh()

    def left(self, trainer: Trainer) -> str:
        """The time that the rest of the run takes, at the speed of this session."""
        done = progress(trainer)
        gained = done - self._share
        if gained <= 0:
            return "time left unknown"
        seconds = (time.monotonic() - self._start) * (1 - done) / gained
        return f"{tqdm.format_interval(seconds)} left"

    def on_validation_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        if trainer.sanity_checking or not self._enabled:
            return
        # A model that arranges pages reads nothing
        charset: Charset | None = getattr(pl_module, "charset", None)
        characters = charset.characters if charset else ""
        is_more = bool(set(characters) - {*PRINTABLE_ASCII, " "})
        shown = _SHOWN_OF_MORE if is_more else _SHOWN
        values = [
            f"{name} {value:.3f}"
            for name, value in trainer.callback_metrics.items()
            if name.rpartition("/")[2] in shown
        ]
        step = f"step {trainer.global_step:,}"
        done = f"{progress(trainer):.0%} done"
        report(f"{step}, {done}, {self.left(trainer)}: {', '.join(values)}")

    def on_train_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self._close()

    def on_exception(self, *_: Any) -> None:
        self._close()

    def _close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None
