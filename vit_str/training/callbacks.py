"""What happens beside training: random states kept, weights exported, pictures of readings."""

import random
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from lightning.pytorch import Callback, LightningModule, Trainer
from lightning.pytorch.loggers import TensorBoardLogger
from PIL import Image

from vit_str.sheets import Cell, caption_font, sheet
from vit_str.synthesis.fonts import find_fonts
from vit_str.training.data import LabeledPixels
from vit_str.training.module import RecognizerTraining
from vit_str.weights import save_weights

_SHEET_COLUMNS = 6


class RandomStates(Callback):
    """Keep the random states in checkpoints, so that a resumed run draws what it would have.

    Validation leaves them as they were: a run that is cut between a step and the validation after
    it would draw other numbers than one that is not. Name it last among the callbacks.
    """

    def __init__(self) -> None:
        self._restored: dict[str, Any] | None = None
        self._before_validation: dict[str, Any] | None = None

    def state_dict(self) -> dict[str, Any]:
        return _random_states()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self._restored = state_dict

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Restored here: what happens before the first step draws numbers too."""
        if self._restored is not None:
            _set_random_states(self._restored)
            self._restored = None

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
    """On Ctrl-C or a request to terminate: finish the step, save, stop.

    A checkpoint in the middle of a step would not be one to go on from exactly. A second Ctrl-C
    stops at once.

    Args:
        path: the checkpoint.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.asked = False
        self._previous: dict[int, Any] = {}

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._previous[number] = signal.signal(number, self._ask)

    def _ask(self, number: int, frame: object) -> None:
        self.asked = True
        self._restore()

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
        # All processes of a run stop after the same step, whichever of them was asked.
        self.asked = trainer.strategy.reduce_boolean_decision(self.asked, all=False)
        if self.asked:
            trainer.save_checkpoint(self.path)
            trainer.should_stop = True

    def on_train_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self._restore()


class WeightsExport(Callback):
    """After every validation and at the end, write the averaged model as a file for reading.

    Args:
        path: the safetensors file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._seconds = 0.0
        self._start = time.monotonic()

    def state_dict(self) -> dict[str, Any]:
        return {"seconds": self._elapsed()}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self._seconds, self._start = state_dict["seconds"], time.monotonic()

    def _elapsed(self) -> float:
        return self._seconds + time.monotonic() - self._start

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self._start = time.monotonic()

    def on_validation_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        if not trainer.sanity_checking:
            self._save(trainer, pl_module)

    def on_train_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """A run seldom ends at a validation; without this its last steps would be lost."""
        self._save(trainer, pl_module)

    def _save(self, trainer: Trainer, pl_module: LightningModule) -> None:
        if not trainer.is_global_zero:
            return
        assert isinstance(pl_module, RecognizerTraining)
        save_weights(
            self.path,
            pl_module.averaged,
            pl_module.charset,
            pl_module.preprocessing,
            provenance(trainer, pl_module) | {"seconds": round(self._elapsed())},
        )


class WeightsHistory(Callback):
    """Weights files along a run: at step 0 and whenever the number of steps has doubled.

    The model as it is being trained: the average that is judged and published stands, in the
    first thousand steps, for a model that has hardly left its random start.

    Args:
        folder: where ``step-0000000.safetensors`` and so on go, in float16.
        first: number of the first step after 0.

    Raises:
        ValueError: ``first`` is below 1.
    """

    def __init__(self, folder: Path, first: int = 64) -> None:
        if first < 1:
            raise ValueError(f"first must be a step from 1 on, found {first}")
        self.folder, self.first = folder, first

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        if trainer.global_step == 0:
            self._save(trainer, pl_module)

    def on_train_batch_end(
        self,
        trainer: Trainer,
        pl_module: LightningModule,
        outputs: Any,
        batch: Any,
        batch_idx: int,
    ) -> None:
        doublings, rest = divmod(trainer.global_step, self.first)
        if not rest and doublings.bit_count() == 1:
            self._save(trainer, pl_module)

    def _save(self, trainer: Trainer, pl_module: LightningModule) -> None:
        if not trainer.is_global_zero:
            return
        assert isinstance(pl_module, RecognizerTraining)
        save_weights(
            self.folder / f"step-{trainer.global_step:07d}.safetensors",
            pl_module.recognizer,
            pl_module.charset,
            pl_module.preprocessing,
            provenance(trainer, pl_module),
            torch.float16,
        )


def provenance(trainer: Trainer, module: RecognizerTraining) -> dict[str, Any]:
    """Where weights come from that are saved now."""
    return {
        "command": " ".join(["vit-str", "train", *sys.argv[2:]]),
        "data": "text rendered by vit-str",
        "step": trainer.global_step,
        "images": module.images_seen,
        "device": str(module.device),
        "torch": torch.__version__,
        "scores": {name: round(float(v), 4) for name, v in trainer.callback_metrics.items()},
    }


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
            cells.append(Cell(image, text, "green"))
        else:
            cells.append(Cell(image, f"{text} ({label})", "red"))
    captions = "".join(cell.caption for cell in cells)
    return sheet(cells, _SHEET_COLUMNS, caption_font(captions, find_fonts))
