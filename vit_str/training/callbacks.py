"""Callbacks for an exact resume: random states, a clean stop, the end of the high rate."""

import random
import signal
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import torch
from lightning.pytorch import Callback, LightningModule, Trainer

from vit_str.files import exclusive, remove_partial
from vit_str.training.checkpoints import LAST, CannotStart, Diverged, are_numbers
from vit_str.training.module import RecognizerTraining
from vit_str.training.schedule import progress

_BATCHES_BETWEEN_LOOKS = 50  # at the loss


class StepCallback(Callback):
    """Is called after each optimizer step, which may be one of several batches."""

    def on_train_batch_end(
        self,
        trainer: Trainer,
        pl_module: LightningModule,
        outputs: Any,
        batch: Any,
        *_: int,
    ) -> None:
        assert isinstance(pl_module, RecognizerTraining)
        if pl_module.count.between_steps:
            self.on_step_end(trainer, pl_module, batch)

    def on_step_end(
        self,
        trainer: Trainer,
        module: RecognizerTraining,
        batch: Any,
    ) -> None:
        """After a step and its average; ``batch`` is the last of the step."""


class StopIfDiverged(Callback):
    """End a run whose loss or weights are no numbers, before anything of it is written.

    Name it first among the callbacks: what others have kept stays as it was.
    """

    def __init__(self) -> None:
        self._sum: torch.Tensor | None = (
            None  # of losses; looked at seldom, as a GPU waits
        )

    def on_train_batch_end(
        self,
        trainer: Trainer,
        pl_module: LightningModule,
        outputs: Any,
        batch: Any,
        batch_idx: int,
    ) -> None:
        loss = outputs["loss"].detach()
        self._sum = loss if self._sum is None else self._sum + loss
        if (batch_idx + 1) % _BATCHES_BETWEEN_LOOKS == 0:
            self._check_loss(trainer)

    def on_validation_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self._check(trainer, pl_module)

    def on_train_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self._check(trainer, pl_module)

    def on_save_checkpoint(
        self,
        trainer: Trainer,
        pl_module: LightningModule,
        checkpoint: dict[str, Any],
    ) -> None:
        self._check(trainer, pl_module)

    def _check(self, trainer: Trainer, pl_module: LightningModule) -> None:
        if not are_numbers(pl_module.state_dict().values()):
            raise _diverged(trainer, "weights")
        if self._sum is not None and not self._sum.isfinite():
            raise _diverged(trainer, "loss")

    def _check_loss(self, trainer: Trainer) -> None:
        """All processes of a run end together, whichever of them has seen it."""
        is_bad = self._sum is not None and not self._sum.isfinite()
        self._sum = None
        if trainer.strategy.reduce_boolean_decision(is_bad, all=False):
            raise _diverged(trainer, "loss")


def _diverged(trainer: Trainer, what: str) -> Diverged:
    verb = "is no number" if what == "loss" else "are no numbers"
    return Diverged(
        f"the {what} {verb} any more at step {trainer.global_step:,}; nothing of that was "
        f"written: resume from {LAST}, with a lower --model.learning_rate"
    )


class RandomStates(Callback):
    """Keep the random states in checkpoints, so that a resumed run draws what it would have.

    Validation leaves them as they were: a run that is cut between a step and the validation after
    it would draw other numbers than one that is not. In the middle of a step of several batches,
    which a resumed run starts anew, they are those of its start. Name it last among the callbacks.
    """

    def __init__(self) -> None:
        self._restored: dict[str, Any] | None = None
        self._before_validation: dict[str, Any] | None = None
        self._before_step: dict[str, Any] | None = None
        self._module: RecognizerTraining | None = None

    def state_dict(self) -> dict[str, Any]:
        if self._before_step is None or self._module is None:
            return _random_states()
        is_within_step = not self._module.count.between_steps
        return self._before_step if is_within_step else _random_states()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self._restored = state_dict

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Restored here: what happens before the first step draws numbers too."""
        assert isinstance(pl_module, RecognizerTraining)
        self._module = pl_module
        if self._restored is not None:
            _set_random_states(self._restored)
            self._restored = None

    def on_train_batch_start(
        self, trainer: Trainer, pl_module: LightningModule, batch: Any, batch_idx: int
    ) -> None:
        assert isinstance(pl_module, RecognizerTraining)
        if trainer.accumulate_grad_batches > 1 and pl_module.count.between_steps:
            self._before_step = _random_states()

    def on_validation_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self._before_validation = _random_states()

    def on_validation_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        if self._before_validation is not None:
            _set_random_states(self._before_validation)


def _random_states() -> dict[str, Any]:
    # Of numpy the global state, from which others draw.
    name, keys, *rest = np.random.get_state()  # noqa: NPY002
    numbers = torch.from_numpy(np.asarray(keys).astype(np.int64))
    states: dict[str, Any] = {
        "torch": torch.get_rng_state(),
        "python": random.getstate(),
        "numpy": [name, numbers, *rest],
    }
    if torch.cuda.is_available():
        states["cuda"] = torch.cuda.get_rng_state_all()
    return states


def _set_random_states(states: dict[str, Any]) -> None:
    torch.set_rng_state(states["torch"].cpu())
    version, numbers, gauss = states["python"]
    random.setstate((version, tuple(numbers), gauss))
    name, keys, *rest = states["numpy"]
    np.random.set_state((name, keys.numpy().astype(np.uint32), *rest))  # noqa: NPY002
    if "cuda" in states and torch.cuda.is_available():
        torch.cuda.set_rng_state_all([state.cpu() for state in states["cuda"]])


class StopCleanly(StepCallback):
    """On Ctrl-C or SIGTERM: finish the step, save, stop. A second signal stops at once.

    A checkpoint in the middle of a step would not be one to resume from exactly. The end of a run
    is saved too. Only one run at a time may write to the folder of the checkpoint.

    Args:
        path: the checkpoint.

    Attributes:
        hears: whether signals are heard: from the first step on.
        stopped: whether a signal has stopped the run before its end.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.hears = False
        self.stopped = False
        self.signal = 0  # number of the one that asked to stop; 0 if none did
        self._is_saved = False
        self._previous: dict[int, Any] = {}
        self._lock = ExitStack()
        self._claimed = False

    def claim_folder(self, trainer: Trainer) -> None:
        """Make and lock the folder, and remove what a killed run left half written.

        Raises:
            CannotStart: for a folder that another run writes to, or that cannot be written.
        """
        if self._claimed or not trainer.is_global_zero:
            return
        folder = self.path.parent
        folder.mkdir(parents=True, exist_ok=True)
        try:
            self._lock.enter_context(exclusive(folder / ".lock"))
        except ValueError as error:
            raise CannotStart(f"{error}, or give another --folder") from None
        remove_partial(folder)
        self._claimed = True

    def setup(self, trainer: Trainer, pl_module: LightningModule, stage: str) -> None:
        self.claim_folder(trainer)

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._previous[number] = signal.signal(number, self._ask)
        self.hears = True

    def _ask(self, number: int, frame: object) -> None:
        if self.signal:
            raise SystemExit(128 + number)
        self.signal = number

    def on_step_end(
        self,
        trainer: Trainer,
        module: RecognizerTraining,
        batch: Any,
    ) -> None:
        """All processes of a run stop after the same step, whichever of them was asked."""
        if trainer.strategy.reduce_boolean_decision(bool(self.signal), all=False):
            self.signal = self.signal or signal.SIGTERM
            trainer.save_checkpoint(self.path)
            trainer.should_stop = True
            self._is_saved = True
            # The time may have run out meanwhile; then nothing is left to resume.
            self.stopped = trainer.strategy.broadcast(progress(trainer) < 1)

    def on_train_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        assert isinstance(pl_module, RecognizerTraining)
        finished = trainer.global_step > pl_module.resumed_at
        if finished and not self._is_saved and pl_module.count.between_steps:
            trainer.save_checkpoint(self.path)

    def teardown(
        self, trainer: Trainer, pl_module: LightningModule, stage: str
    ) -> None:
        while self._previous:
            signal.signal(*self._previous.popitem())
        self._lock.close()
        self._claimed = False

    def on_exception(
        self, trainer: Trainer, pl_module: LightningModule, exception: BaseException
    ) -> None:
        self.teardown(trainer, pl_module, "fit")


class BeforeDecay(StepCallback):
    """Save a checkpoint when the learning rate begins to fall.

    The model of the end of a run has given up the high learning rate with which it could learn
    more. Resuming from this checkpoint instead (``--ckpt_path``, and more ``max_time`` or
    ``max_steps``) costs the decay and nothing else.

    Args:
        path: the checkpoint.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._falling = False

    def state_dict(self) -> dict[str, Any]:
        return {"falling": self._falling}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self._falling = state_dict["falling"]

    def on_step_end(
        self,
        trainer: Trainer,
        module: RecognizerTraining,
        batch: Any,
    ) -> None:
        """Save if the rate falls from here on."""
        falling = progress(trainer) > 1 - module.schedule.decay_share
        if falling and not self._falling:
            trainer.save_checkpoint(self.path)
        self._falling = falling
