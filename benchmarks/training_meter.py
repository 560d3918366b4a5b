"""What ``vit-str train`` is measured with: a callback that ends the run; see training_speed.py."""

import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle
from typing import Any

import torch
from lightning.pytorch import Callback, LightningModule, Trainer
from measuring import synchronize
from torch.utils.flop_counter import FlopCounterMode
from training_worker import Measurement, peak_flops

from vit_str.synthesis.renderer import RenderedBatch
from vit_str.training import data
from vit_str.training.ahead import made_ahead
from vit_str.training.module import RecognizerTraining

_WARM_UP = 10  # steps before each measurement; the first of all compiles
_KEPT = 8  # batches that are trained on again and again
_COUNTED = 16  # words whose arithmetic is counted
_SHARE_DRAWN = 2 / 3  # of the time, with words that are drawn meanwhile


@dataclass(frozen=True, slots=True)
class CommandResult:
    """What came of it.

    Attributes:
        words_per_second: with the words drawn meanwhile.
        drawn_before_per_second: with a few batches again and again, while nothing is drawn.
        waiting: share of the time in which the training waited for words.
        first_step: seconds from the start of training to the end of the first step, in which
            the losses are compiled.
        batch_size: words in a step.
        parameters: of the recognizer.
        flops_per_word: additions and multiplications in products, forward and back.
        peak_flops: per second in one large product in the same number format.
        memory: most bytes in use on a GPU.
        loss: of the last step that was logged.
    """

    words_per_second: float
    drawn_before_per_second: float
    waiting: float
    first_step: float
    batch_size: int
    parameters: int
    flops_per_word: float
    peak_flops: float
    memory: int | None
    loss: float


class Measured(Exception):  # noqa: N818 - no error
    """Ends the run; its argument is a `CommandResult`."""


class Words:
    """The batches of a stream; from a moment on, the last few of them again and again."""

    def __init__(self) -> None:
        self.kept: deque[RenderedBatch] = deque(maxlen=_KEPT)
        self.repeats = False
        self.waited = 0.0  # seconds

    def of(self, *stream: Any) -> Iterator[RenderedBatch]:
        """In place of `made_ahead`."""
        made = made_ahead(*stream)
        started = time.perf_counter()
        for batch in made:
            self.waited += time.perf_counter() - started
            self.kept.append(batch)
            yield batch
            if self.repeats:
                break
            started = time.perf_counter()
        close = getattr(made, "close", None)
        if close is not None:
            close()
        yield from cycle(list(self.kept))


class Meter(Callback):
    """Takes the time of some steps with words that are drawn, then of some without drawing.

    Args:
        seconds: of both together, after everything has warmed up.
    """

    def __init__(self, seconds: float = 60.0) -> None:
        self.seconds = seconds
        self._words = Words()
        self._first_step = 0.0
        self._steps = 0  # of this part
        self._count = 0  # of words, of this part
        self._started = 0.0
        self._drawn = 0.0  # words per second
        self._waiting = 0.0

    def setup(self, trainer: Trainer, pl_module: LightningModule, stage: str) -> None:
        """Stand between the stream and the training."""
        setattr(data, "made_ahead", self._words.of)  # noqa: B010 - for mypy

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self._started = time.perf_counter()

    def on_train_batch_end(
        self,
        trainer: Trainer,
        pl_module: LightningModule,
        outputs: Any,
        batch: RenderedBatch,
        *_: int,
    ) -> None:
        """Waits for the device only where a part begins or ends."""
        device = pl_module.device
        self._steps += 1
        self._count += len(batch)
        if not self._first_step:
            synchronize(device)
            self._first_step = time.perf_counter() - self._started
        if self._steps == _WARM_UP:
            self._begin(device)
        share = 1 - _SHARE_DRAWN if self._words.repeats else _SHARE_DRAWN
        passed = time.perf_counter() - self._started
        if self._steps <= _WARM_UP or passed < share * self.seconds:
            return
        synchronize(device)
        passed = time.perf_counter() - self._started
        rate = self._count / passed
        if not self._words.repeats:
            self._drawn = rate
            self._waiting = self._words.waited / passed
            self._words.repeats = True
            self._steps = 0
            return
        assert isinstance(pl_module, RecognizerTraining)
        raise Measured(self._result(rate, trainer, pl_module, batch))

    def _begin(self, device: torch.device) -> None:
        if device.type == "cuda" and not self._words.repeats:
            torch.cuda.reset_peak_memory_stats(device)
        synchronize(device)
        self._started = time.perf_counter()
        self._count = 0
        self._words.waited = 0.0

    def _result(
        self,
        rate: float,
        trainer: Trainer,
        module: RecognizerTraining,
        batch: RenderedBatch,
    ) -> CommandResult:
        device = module.device
        on_gpu = device.type == "cuda"
        memory = torch.cuda.max_memory_allocated(device) if on_gpu else None
        is_half = "bf16" in str(trainer.precision)
        wanted = Measurement(config="", device=device.type, bfloat16=is_half)
        parameters = module.recognizer.parameters()
        loss = trainer.callback_metrics.get("loss", torch.tensor(float("nan")))
        return CommandResult(
            words_per_second=self._drawn,
            drawn_before_per_second=rate,
            waiting=self._waiting,
            first_step=self._first_step,
            batch_size=len(batch),
            parameters=sum(parameter.numel() for parameter in parameters),
            flops_per_word=_flops_per_word(module, batch, is_half),
            peak_flops=peak_flops(wanted),
            memory=memory,
            loss=float(loss),
        )


def _flops_per_word(
    module: RecognizerTraining, batch: RenderedBatch, is_half: bool
) -> float:
    """Of the losses that are not compiled, through which the counter sees."""
    few = batch.split(_COUNTED)[0]
    with (
        torch.enable_grad(),
        FlopCounterMode(display=False) as counter,
        torch.autocast(module.device.type, torch.bfloat16, enabled=is_half),
    ):
        losses = module.losses(few.images, few.labels, few.token_characters)
        sum(losses).backward()  # type: ignore[union-attr]
    return counter.get_total_flops() / len(few)
