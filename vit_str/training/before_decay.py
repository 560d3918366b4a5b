"""The last checkpoint before the learning rate falls: where a finished model is trained further."""

from pathlib import Path
from typing import Any

from lightning.pytorch import Callback, LightningModule, Trainer

from vit_str.training.module import RecognizerTraining
from vit_str.training.schedule import progress


class BeforeDecay(Callback):
    """Save a checkpoint when the learning rate begins to fall.

    The model of the end of a run has given up the high learning rate with which it could learn
    more. Going on from this checkpoint instead (``--ckpt_path``, and more ``max_time`` or
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
        falling = progress(trainer) > 1 - pl_module.schedule.decay_share
        if falling and not self._falling:
            trainer.save_checkpoint(self.path)
        self._falling = falling
