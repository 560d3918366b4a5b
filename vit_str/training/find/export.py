"""What a run keeps: weights of the moving average."""

import sys
from pathlib import Path

import torch
from lightning.pytorch import Callback, LightningModule, Trainer

from vit_str.pages.find.maps import MAPS
from vit_str.torch_runtime.finder_file import save_finder
from vit_str.training.find.data import DrawnPictures
from vit_str.training.find.module import FinderTraining


class FinderExport(Callback):
    """Write the average as a weights file, after each validation and at the end.

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
        assert isinstance(module, FinderTraining)
        data = trainer.datamodule  # type: ignore[attr-defined]
        assert isinstance(data, DrawnPictures)
        scores = trainer.callback_metrics.items()
        provenance = {
            "command": " ".join(["vit-str", "train", *sys.argv[2:]]),
            "data": data.provenance,
            "step": trainer.global_step,
            "images": module.images_seen,
            "device": str(module.device),
            "torch": torch.__version__,
            "scores": {name: round(float(value), 4) for name, value in scores},
        }
        save_finder(self.path, module.averaged, MAPS, provenance)
