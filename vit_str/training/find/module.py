"""One training step of a network that finds, and what is measured between steps."""

from collections import defaultdict
from typing import Any, cast

import torch
from jaxtyping import Float
from lightning.pytorch import LightningModule
from torch import Tensor
from torch.optim import AdamW, Optimizer

from vit_str.models.finder import Finder
from vit_str.pages.find.maps import SHARES
from vit_str.training.find.examples import Batch
from vit_str.training.find.losses import Found, counts_of, losses_of
from vit_str.training.module import MovingAverage
from vit_str.training.schedule import WarmupStableDecay, progress

_RARE = (
    -4.0
)  # logit that all shares begin with, as most cells are none (Lin et al. 2017)
_WEIGHTS = {"ink": 2.0, "gap": 2.0}  # of losses; the others have 1


class FinderTraining(LightningModule):
    """Trains a network that finds and keeps a moving average of it, which is validated.

    Args:
        finder: the network, which begins to say that nothing is anywhere.
        learning_rate: highest rate of AdamW.
        weight_decay: on all matrices.
        schedule: of the learning rate.
        averaging: share of the average that stays at each step.
    """

    def __init__(
        self,
        finder: Finder,
        learning_rate: float = 3e-3,
        weight_decay: float = 0.02,
        schedule: WarmupStableDecay | None = None,
        averaging: float = 0.998,
    ) -> None:
        super().__init__()
        bias = finder.to_maps.bias
        assert bias is not None
        with torch.no_grad():
            bias[:SHARES] = _RARE
        self.finder = finder
        self.average = MovingAverage(finder, averaging)
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.schedule = schedule or WarmupStableDecay()
        self.images_seen = 0
        self._counts: dict[str, dict[str, list[float]]] = {}

    @property
    def network(self) -> Finder:
        """What is trained."""
        return self.finder

    @property
    def averaged(self) -> Finder:
        """The moving average: the network that is validated and published."""
        return cast(Finder, self.average.module)

    def configure_optimizers(self) -> Optimizer:
        matrices: list[Tensor] = []
        others: list[Tensor] = []
        for parameter in self.finder.parameters():
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
        losses = losses_of(_found(self.finder, batch), batch)
        weighted = [_WEIGHTS.get(name, 1.0) * loss for name, loss in losses.items()]
        loss = torch.stack(weighted).sum()
        size = len(batch.images)
        self.images_seen += size
        logged = {f"{name}_loss": value.detach() for name, value in losses.items()}
        self.log_dict(logged, batch_size=size)
        self.log("loss", loss.detach(), prog_bar=True, batch_size=size)
        self.log("images", float(self.images_seen), batch_size=size)
        return loss

    def optimizer_step(self, *args: Any, **kwargs: Any) -> None:
        """Step, then move the average."""
        super().optimizer_step(*args, **kwargs)
        self.average.update(self.finder)

    def validation_step(
        self, batch: Batch, batch_idx: int, dataloader_idx: int = 0
    ) -> None:
        """Count what the average finds."""
        counts = counts_of(_found(self.averaged, batch), batch)
        sums = self._counts.setdefault(batch.source, defaultdict(lambda: [0.0, 0.0]))
        for name, (right, of) in counts.items():
            sums[name][0] += right
            sums[name][1] += of

    def on_validation_epoch_end(self) -> None:
        """Log shares of what is right, of every source."""
        for source, sums in self._counts.items():
            for name, (right, of) in sums.items():
                self.log(f"{source}/{name}", right / max(1.0, of))
        self._counts.clear()

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Keep how much was seen."""
        checkpoint["images_seen"] = self.images_seen

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Go on counting."""
        self.images_seen = checkpoint["images_seen"]


def _found(finder: Finder, batch: Batch) -> Found:
    # Sums over many cells are not exact in half precision
    return finder(batch.images.float() / 255).float()
