"""What a run keeps: weights of the moving average, and a checkpoint when it is stopped."""

import json
import sys
from pathlib import Path

import torch
from lightning.pytorch import Callback, LightningModule, Trainer

from vit_str.datasets.page_records import ABOUT
from vit_str.torch_runtime.arranger_file import save_arranger
from vit_str.training.pages.data import DrawnPages
from vit_str.training.pages.module import ArrangerTraining

NOTHING = "nothing"
"""The role of what is no text of the page."""


class SaveWhenStopped(Callback):
    """Write a checkpoint on Ctrl-C, from which the same command goes on.

    Args:
        path: of the checkpoint.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def on_exception(
        self, trainer: Trainer, pl_module: LightningModule, exception: BaseException
    ) -> None:
        if isinstance(exception, KeyboardInterrupt):
            trainer.save_checkpoint(self.path)


class ArrangerExport(Callback):
    """Write the average as a weights file.

    Args:
        path: of the file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def on_validation_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        if not trainer.sanity_checking:
            self._save(trainer, pl_module)

    def on_train_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self._save(trainer, pl_module)

    def _save(self, trainer: Trainer, module: LightningModule) -> None:
        if not trainer.is_global_zero:
            return
        assert isinstance(module, ArrangerTraining)
        data = trainer.datamodule  # type: ignore[attr-defined]
        assert isinstance(data, DrawnPages)
        about = json.loads((data.folders[0] / ABOUT).read_text("utf-8"))
        scores = trainer.callback_metrics.items()
        provenance = {
            "command": " ".join(["vit-str", "train", *sys.argv[2:]]),
            "data": data.provenance,
            "step": trainer.global_step,
            "pages": module.pages_seen,
            "device": str(module.device),
            "torch": torch.__version__,
            "scores": {name: round(float(value), 4) for name, value in scores},
        }
        roles = [*about["roles"], NOTHING]
        save_arranger(self.path, module.averaged, roles, provenance)
