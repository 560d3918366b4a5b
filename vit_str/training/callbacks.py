"""What happens beside training: random states kept, a clean stop, pictures of readings."""

import random
import signal
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import torch
from lightning.pytorch import Callback, LightningModule, Trainer
from lightning.pytorch.loggers import TensorBoardLogger
from PIL import Image

from vit_str.files import exclusive
from vit_str.sheets import Captioned, caption_font, sheet
from vit_str.synthesis.fonts import find_fonts
from vit_str.training.data import LabeledPixels
from vit_str.training.module import RecognizerTraining
from vit_str.training.resuming import CannotStart

_SHEET_COLUMNS = 6


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
        if self._before_step is None or self._module is None or self._module.between_steps:
            return _random_states()
        return self._before_step

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
        if trainer.accumulate_grad_batches > 1 and pl_module.between_steps:
            self._before_step = _random_states()

    def on_validation_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self._before_validation = _random_states()

    def on_validation_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        if self._before_validation is not None:
            _set_random_states(self._before_validation)


def _random_states() -> dict[str, Any]:
    states: dict[str, Any] = {"torch": torch.get_rng_state(), "python": random.getstate()}
    name, keys, *rest = np.random.get_state()  # noqa: NPY002 - others draw from the global state
    states["numpy"] = [name, torch.from_numpy(np.asarray(keys).astype(np.int64)), *rest]
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


class StopCleanly(Callback):
    """On Ctrl-C or SIGTERM: finish the step, save, stop. A second signal stops at once.

    A checkpoint in the middle of a step would not be one to resume from exactly. The end of a run
    is saved too. Only one run at a time may write to the folder of the checkpoint.

    Args:
        path: the checkpoint.

    Attributes:
        signal: number of the signal that asked to stop; 0 if none did.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.signal = 0
        self._previous: dict[int, Any] = {}
        self._lock = ExitStack()

    def setup(self, trainer: Trainer, pl_module: LightningModule, stage: str) -> None:
        """Lock the folder, and remove what a killed run left half written.

        Raises:
            CannotStart: another run writes there.
        """
        if not trainer.is_global_zero:
            return
        folder = self.path.parent
        folder.mkdir(parents=True, exist_ok=True)
        try:
            self._lock.enter_context(exclusive(folder / ".lock"))
        except ValueError as error:
            raise CannotStart(f"{error}, or give another --folder") from None
        for partial in folder.glob(".*.partial*"):
            partial.unlink()

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._previous[number] = signal.signal(number, self._ask)

    def _ask(self, number: int, frame: object) -> None:
        if self.signal:
            raise SystemExit(128 + number)
        self.signal = number

    def _restore(self) -> None:
        while self._previous:
            signal.signal(*self._previous.popitem())

    def on_train_batch_end(
        self,
        trainer: Trainer,
        pl_module: LightningModule,
        outputs: Any,
        batch: Any,
        batch_idx: int,
    ) -> None:
        assert isinstance(pl_module, RecognizerTraining)
        if not pl_module.between_steps:
            return
        # All processes of a run stop after the same step, whichever of them was asked.
        if trainer.strategy.reduce_boolean_decision(bool(self.signal), all=False):
            self.signal = self.signal or signal.SIGTERM
            trainer.save_checkpoint(self.path)
            trainer.should_stop = True

    def on_train_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        assert isinstance(pl_module, RecognizerTraining)
        if not self.signal and pl_module.between_steps:
            trainer.save_checkpoint(self.path)

    def teardown(self, trainer: Trainer, pl_module: LightningModule, stage: str) -> None:
        self._restore()
        self._lock.close()

    def on_exception(
        self, trainer: Trainer, pl_module: LightningModule, exception: BaseException
    ) -> None:
        self.teardown(trainer, pl_module, "fit")


class PredictionSheet(Callback):
    """At every validation, a picture of words with what was read, wrong readings marked.

    Args:
        folder: where the pictures go, one per validation.
        words: number of words of each set.
    """

    def __init__(self, folder: Path, words: int = 24) -> None:
        self.folder, self.words = folder, words
        self._shown: dict[str, list[tuple[torch.Tensor, str, str]]] = {}

    def on_validation_batch_end(
        self,
        trainer: Trainer,
        pl_module: LightningModule,
        outputs: Any,
        batch: LabeledPixels,
        batch_idx: int,
        dataloader_idx: int = 0,
    ) -> None:
        shown = self._shown.setdefault(batch.source, [])
        room = self.words - len(shown)
        words = zip(batch.images.cpu()[:room], outputs[:room], batch.labels[:room], strict=True)
        shown.extend(words)

    def on_validation_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        shown = [word for words in self._shown.values() for word in words]
        self._shown.clear()
        if trainer.sanity_checking or not trainer.is_global_zero or not shown:
            return
        picture = prediction_sheet(shown)
        self.folder.mkdir(parents=True, exist_ok=True)
        picture.save(self.folder / f"step-{trainer.global_step:07d}.png")
        for logger in trainer.loggers:
            if isinstance(logger, TensorBoardLogger):
                logger.experiment.add_image(
                    "readings", np.asarray(picture), trainer.global_step, dataformats="HWC"
                )


def prediction_sheet(words: list[tuple[torch.Tensor, str, str]]) -> Image.Image:
    """Images in a grid, what was read below each: green if right, red with the label if wrong."""
    cells = []
    for pixels, text, label in words:
        image = Image.fromarray(pixels.permute(1, 2, 0).numpy())
        if text == label:
            cells.append(Captioned(image, text, "green"))
        else:
            cells.append(Captioned(image, f"{text} ({label})", "red"))
    captions = "".join(cell.caption for cell in cells)
    return sheet(cells, _SHEET_COLUMNS, caption_font(captions, find_fonts))
