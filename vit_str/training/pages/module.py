"""One training step of a network that arranges pages, and what is measured between steps."""

from collections import defaultdict
from pathlib import Path
from typing import Any, cast

import torch
from jaxtyping import Float
from lightning.pytorch import LightningModule
from torch import Tensor
from torch.optim import AdamW, Optimizer

from vit_str.models.arranger import Arrangement, PageArranger
from vit_str.torch_runtime.arranger_file import load_arranger
from vit_str.training.module import MovingAverage
from vit_str.training.pages.examples import Batch
from vit_str.training.pages.losses import counts_of, losses_of
from vit_str.training.schedule import WarmupStableDecay, progress


class ArrangerTraining(LightningModule):
    """Trains a network that arranges pages and keeps a moving average of it, which is validated.

    Args:
        arranger: the network.
        learning_rate: highest rate of AdamW.
        weight_decay: on all matrices.
        schedule: of the learning rate.
        averaging: share of the average that stays at each step.
        init: weights of such a network to start from.

    Raises:
        ValueError: the weights are no such file, or of another network.
    """

    def __init__(
        self,
        arranger: PageArranger,
        learning_rate: float = 1.5e-3,
        weight_decay: float = 0.02,
        schedule: WarmupStableDecay | None = None,
        averaging: float = 0.999,
        init: Path | None = None,
    ) -> None:
        super().__init__()
        if init is not None:
            _start_from(init, arranger)
        self.arranger = arranger
        self.average = MovingAverage(arranger, averaging)
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.schedule = schedule or WarmupStableDecay()
        self.pages_seen = 0
        self._counts: dict[str, dict[str, list[float]]] = {}

    @property
    def network(self) -> PageArranger:
        """What is trained."""
        return self.arranger

    @property
    def averaged(self) -> PageArranger:
        """The moving average: the network that is validated and published."""
        return cast(PageArranger, self.average.module)

    def configure_optimizers(self) -> Optimizer:
        matrices: list[Tensor] = []
        others: list[Tensor] = []
        for parameter in self.arranger.parameters():
            (matrices if parameter.ndim > 1 else others).append(parameter)
        groups = [
            {"params": matrices, "weight_decay": self.weight_decay},
            {"params": others, "weight_decay": 0.0},
        ]
        return AdamW(groups, lr=self.learning_rate, betas=(0.9, 0.98))

    def on_train_batch_start(self, batch: Batch, batch_idx: int) -> None:
        """Set the learning rate."""
        factor = self.schedule.factor(self.global_step, progress(self.trainer))
        for group in self.trainer.optimizers[0].param_groups:
            group["lr"] = self.learning_rate * factor

    def training_step(self, batch: Batch, batch_idx: int) -> Float[Tensor, ""]:
        """The sum of all losses."""
        losses = losses_of(_arranged(self.arranger, batch), batch)
        loss = torch.stack(list(losses.values())).sum()
        self.pages_seen += len(batch.mask)
        logged = {f"{name}_loss": value.detach() for name, value in losses.items()}
        self.log_dict(logged, batch_size=len(batch.mask))
        self.log("loss", loss.detach(), prog_bar=True, batch_size=len(batch.mask))
        self.log("pages", float(self.pages_seen), batch_size=len(batch.mask))
        return loss

    def optimizer_step(self, *args: Any, **kwargs: Any) -> None:
        """Step, then move the average."""
        super().optimizer_step(*args, **kwargs)
        self.average.update(self.arranger)

    def validation_step(
        self, batch: Batch, batch_idx: int, dataloader_idx: int = 0
    ) -> None:
        """Count what the average says right."""
        counts = counts_of(_arranged(self.averaged, batch), batch)
        sums = self._counts.setdefault(batch.source, defaultdict(lambda: [0.0, 0.0]))
        for name, (right, of) in counts.items():
            sums[name][0] += right
            sums[name][1] += of

    def on_validation_epoch_end(self) -> None:
        """Log shares of what is right, of every folder."""
        for source, sums in self._counts.items():
            for name, (right, of) in sums.items():
                self.log(f"{source}/{name}", right / max(1.0, of))
        self._counts.clear()

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Keep how much was seen."""
        checkpoint["images_seen"] = self.pages_seen

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Go on counting."""
        self.pages_seen = checkpoint["images_seen"]


def _start_from(path: Path, arranger: PageArranger) -> None:
    """Give a network the weights of a file."""
    weights = load_arranger(path).arranger
    if weights.arguments != arranger.arguments:
        raise ValueError(f"{path}: weights of a network of another size")
    arranger.load_state_dict(weights.state_dict())


def _arranged(arranger: PageArranger, batch: Batch) -> Arrangement:
    found = arranger(batch.features, batch.places, batch.ngrams, batch.mask)
    # Sums over thousands of pairs are not exact in half precision
    return Arrangement(*(part.float() for part in found))
