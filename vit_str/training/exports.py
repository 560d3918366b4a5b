"""Files of a run for people: weights, a log and pictures of readings."""

import csv
import math
import time
from itertools import chain
from pathlib import Path
from typing import Any

import torch
from lightning.pytorch import Callback, LightningModule, Trainer
from lightning.pytorch.loggers import CSVLogger
from lightning.pytorch.utilities import rank_zero_only
from PIL import Image

from vit_str.engines.graph_files import takes_ranges
from vit_str.engines.ranges import Ranges
from vit_str.files import write_atomically
from vit_str.models import Recognizer, describe
from vit_str.reports.sheets import Captioned, sheet
from vit_str.synthesis.fonts import find_fonts
from vit_str.torch_runtime.ranges import measure_ranges
from vit_str.torch_runtime.weights_file import save_weights
from vit_str.training.callbacks import StepCallback
from vit_str.training.module import RecognizerTraining
from vit_str.training.origin import train_command

_SHEET_COLUMNS = 6  # of a sheet of predictions
_SECONDS_BETWEEN_SAVES = 5.0  # of the log, which is written as a whole


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
        self._seconds = state_dict["seconds"]
        self._start = time.monotonic()

    def _elapsed(self) -> float:
        return self._seconds + time.monotonic() - self._start

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self._start = time.monotonic()

    def on_validation_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        if not trainer.sanity_checking:
            self._save(trainer, pl_module)

    def on_train_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """A run seldom ends at a validation; without this its last steps would be lost.

        Ranges are measured only now: they belong to the weights, which change until then.
        """
        assert isinstance(pl_module, RecognizerTraining)
        ranges = None
        if trainer.is_global_zero and takes_ranges(describe(pl_module.averaged)):
            ranges = _ranges(trainer, pl_module)
        self._save(trainer, pl_module, ranges)

    def _save(
        self, trainer: Trainer, pl_module: LightningModule, ranges: Ranges | None = None
    ) -> None:
        assert isinstance(pl_module, RecognizerTraining)
        _save_weights(
            self.path,
            pl_module.averaged,
            trainer,
            pl_module,
            more={"seconds": round(self._elapsed())},
            ranges=ranges,
        )


def _ranges(trainer: Trainer, module: RecognizerTraining) -> Ranges:
    """Ranges of the averaged model on words like those of training; none if there are no such."""
    datamodule: Any = trainer.datamodule  # type: ignore[attr-defined]
    if not hasattr(datamodule, "words_for_ranges"):
        return {}
    words = datamodule.words_for_ranges(module.device)
    return measure_ranges(module.averaged, module.preprocessing, words)


class WeightsHistory(StepCallback):
    """Weights files along a run: at step 0, whenever the number of steps has doubled, at the end.

    The model as it is being trained: the average that is validated and published stands, in the
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
        self.folder = folder
        self.first = first

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        if trainer.global_step == 0:
            self._save(trainer, pl_module)

    def on_step_end(
        self,
        trainer: Trainer,
        module: RecognizerTraining,
        batch: Any,
    ) -> None:
        """Save if the number of steps has doubled."""
        doublings, rest = divmod(trainer.global_step, self.first)
        if not rest and doublings.bit_count() == 1:
            self._save(trainer, module)

    def on_train_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self._save(trainer, pl_module)

    def _save(self, trainer: Trainer, pl_module: LightningModule) -> None:
        assert isinstance(pl_module, RecognizerTraining)
        path = self.folder / f"step-{trainer.global_step:07d}.safetensors"
        _save_weights(
            path,
            pl_module.recognizer,
            trainer,
            pl_module,
            more={},
            dtype=torch.float16,
        )


def _save_weights(
    path: Path,
    recognizer: Recognizer,
    trainer: Trainer,
    module: RecognizerTraining,
    more: dict[str, Any],
    dtype: torch.dtype | None = None,
    ranges: Ranges | None = None,
) -> None:
    if trainer.is_global_zero:
        source = provenance(trainer, module) | more
        save_weights(
            path,
            recognizer,
            module.charset,
            module.preprocessing,
            source,
            dtype,
            ranges=ranges,
        )


def provenance(trainer: Trainer, module: RecognizerTraining) -> dict[str, Any]:
    """Where weights come from that are saved now."""
    datamodule: Any = trainer.datamodule  # type: ignore[attr-defined]
    started_from = module.started_from or {}
    scores = trainer.callback_metrics.items()
    said: dict[str, Any] = {}
    if started_from:
        said["started_from"] = started_from
    return said | {
        "command": train_command(),
        "data": getattr(datamodule, "provenance", "not said"),
        "language": getattr(datamodule, "language", started_from.get("language")),
        "step": trainer.global_step,
        "images": module.count.images_seen,
        "device": str(module.device),
        "torch": torch.__version__,
        "scores": {name: round(float(value), 4) for name, value in scores},
    }


class PredictionSheet(Callback):
    """At every validation, a picture of words with what was read, wrong readings marked.

    Args:
        folder: where the pictures go, one per validation.
        words: number of words of each set.
    """

    def __init__(self, folder: Path, words: int = 24) -> None:
        self.folder = folder
        self.words = words
        self._shown: dict[str, list[tuple[torch.Tensor, str, str]]] = {}

    def on_validation_batch_end(
        self,
        trainer: Trainer,
        pl_module: LightningModule,
        outputs: Any,
        batch: Any,
        *_: int,
    ) -> None:
        shown = self._shown.setdefault(batch.source, [])
        room = self.words - len(shown)
        images = batch.images.cpu()[:room]
        shown.extend(zip(images, outputs[:room], batch.labels[:room], strict=True))

    def on_validation_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        shown = list(chain.from_iterable(self._shown.values()))
        self._shown.clear()
        if trainer.sanity_checking or not trainer.is_global_zero or not shown:
            return
        picture = prediction_sheet(shown)
        name = f"step-{trainer.global_step:07d}.png"
        with write_atomically(self.folder / name) as path:
            picture.save(path)


def prediction_sheet(words: list[tuple[torch.Tensor, str, str]]) -> Image.Image:
    """Images in a grid, what was read below each: green if right, red with the label if wrong."""
    cells = []
    for pixels, text, label in words:
        image = Image.fromarray(pixels.permute(1, 2, 0).numpy())
        if text == label:
            cells.append(Captioned(image, text, "green"))
        else:
            cells.append(Captioned(image, f"{text} ({label})", "red"))
    return sheet(cells, _SHEET_COLUMNS, find_fonts)


class RunLog(CSVLogger):
    """Writes ``metrics.csv``; a run that resumes appends to it.

    Rows of steps that a run takes again, because its last checkpoint is older, are replaced.

    Args:
        save_dir: folder of the run.
        name: folder of the log in it.
    """

    def __init__(self, save_dir: Path, name: str = "log") -> None:
        super().__init__(save_dir, name, version="")
        self.path = Path(self.log_dir) / "metrics.csv"
        self._rows: list[dict[str, Any]] | None = None
        self._saved = -math.inf  # seconds of the clock

    @property
    def experiment(self) -> None:
        """Lightning's own writer deletes what an earlier session has written."""

    @rank_zero_only
    def log_metrics(  # type: ignore[override]
        self, metrics: dict[str, float], step: int | None = None
    ) -> None:
        step = step or 0
        if self._rows is None:
            self._rows = [
                row for row in self._earlier_rows() if int(row["step"]) < step
            ]
        self._rows.append({**metrics, "step": step})

    def _earlier_rows(self) -> list[dict[str, Any]]:
        if not self.path.exists():
            return []
        with self.path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        # The last row of a killed run may be cut short.
        return [row for row in rows if (row.get("step") or "").isdigit()]

    @rank_zero_only
    def log_hyperparams(self, *_: Any, **__: Any) -> None:
        """The whole configuration is kept in ``config.yaml``."""

    @rank_zero_only
    def save(self) -> None:
        """Seldom: Lightning asks for it after every row."""
        if time.monotonic() - self._saved >= _SECONDS_BETWEEN_SAVES:
            self._write()

    def _write(self) -> None:
        if not self._rows:
            return
        names = sorted(set(chain.from_iterable(self._rows)))
        with (
            write_atomically(self.path) as temporary,
            temporary.open("w", newline="", encoding="utf-8") as file,
        ):
            writer = csv.DictWriter(file, names)
            writer.writeheader()
            writer.writerows(self._rows)
        self._saved = time.monotonic()

    @rank_zero_only
    def finalize(self, status: str) -> None:
        self._write()
