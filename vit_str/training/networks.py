"""Shared parts of the trainings of networks that read no words: steps, counts, data, files."""

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar, cast

import torch
from jaxtyping import Float
from lightning.pytorch import Callback, LightningDataModule, LightningModule, Trainer
from torch import Tensor, nn
from torch.optim import AdamW, Optimizer
from torch.utils.data import DataLoader, Dataset

from vit_str.torch_runtime.network_files import NetworkFormat
from vit_str.training.growth import start_from_shallower
from vit_str.training.module import MovingAverage
from vit_str.training.origin import train_command
from vit_str.training.schedule import WarmupStableDecay, progress

_BETAS = (0.9, 0.98)  # of AdamW


class NetworkBatch(Protocol):
    """Examples together."""

    @property
    def size(self) -> int:
        """How many examples."""

    @property
    def source(self) -> str:
        """Name of the set that they are from, for the log."""


N = TypeVar("N", bound=nn.Module)
B = TypeVar("B", bound=NetworkBatch)
T = TypeVar("T")


class NetworkTraining(LightningModule, ABC, Generic[N, B]):
    """Trains a network and keeps a moving average of it, which is validated and published.

    Args:
        network: with the ``arguments`` that it was made with.
        learning_rate: highest rate of AdamW.
        weight_decay: on all matrices.
        schedule: of the learning rate.
        averaging: share of the average that stays at each step.
        init: weights of such a network to start from, or of one with fewer blocks: the new ones
            add nothing at first.

    Attributes:
        format: of the weights file.
        examples: what the examples are called in logs.
        loss_weights: of the losses that have another weight than 1.

    Raises:
        ValueError: the weights are no such file, or of a network of another size.
    """

    format: ClassVar[NetworkFormat[Any]]
    examples: ClassVar[str]
    loss_weights: ClassVar[Mapping[str, float]] = {}

    def __init__(
        self,
        network: N,
        learning_rate: float,
        weight_decay: float,
        schedule: WarmupStableDecay | None,
        averaging: float,
        init: Path | None,
    ) -> None:
        super().__init__()
        if init is not None:
            self._start_from(init, network)
        self.network = network
        self.average = MovingAverage(network, averaging)
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.schedule = schedule or WarmupStableDecay()
        self.examples_seen = 0
        self._counts: dict[str, dict[str, list[float]]] = {}

    @abstractmethod
    def losses(self, network: N, batch: B) -> Mapping[str, Float[Tensor, ""]]:
        """Losses of a network on a batch, by name."""

    @abstractmethod
    def counts(self, network: N, batch: B) -> Mapping[str, tuple[float, float]]:
        """How much of what a network says is right, and of how much, by name."""

    @property
    def averaged(self) -> N:
        """The moving average."""
        return cast(N, self.average.module)

    def _start_from(self, path: Path, network: N) -> None:
        given = self.format.load(path).network
        if not _can_grow_to(_arguments(network), _arguments(given)):
            raise ValueError(f"{path}: weights of a network of another size")
        start_from_shallower(network, given)

    def configure_optimizers(self) -> Optimizer:
        """AdamW, without decay on norms and biases."""
        matrices: list[Tensor] = []
        others: list[Tensor] = []
        for parameter in self.network.parameters():
            (matrices if parameter.ndim > 1 else others).append(parameter)
        groups = [
            {"params": matrices, "weight_decay": self.weight_decay},
            {"params": others, "weight_decay": 0.0},
        ]
        return AdamW(groups, lr=self.learning_rate, betas=_BETAS)

    def on_train_batch_start(self, batch: B, batch_idx: int) -> None:
        """Set the learning rate."""
        factor = self.schedule.factor(self.global_step, progress(self.trainer))
        for group in self.trainer.optimizers[0].param_groups:
            group["lr"] = self.learning_rate * factor

    def training_step(self, batch: B, batch_idx: int) -> Float[Tensor, ""]:
        """The weighted sum of all losses."""
        losses = self.losses(self.network, batch)
        weighted = [
            self.loss_weights.get(name, 1.0) * loss for name, loss in losses.items()
        ]
        loss = torch.stack(weighted).sum()
        self.examples_seen += batch.size
        logged = {f"{name}_loss": value.detach() for name, value in losses.items()}
        self.log_dict(logged, batch_size=batch.size)
        self.log("loss", loss.detach(), prog_bar=True, batch_size=batch.size)
        self.log(self.examples, float(self.examples_seen), batch_size=batch.size)
        return loss

    def optimizer_step(self, *args: Any, **kwargs: Any) -> None:
        """Step, then move the average."""
        super().optimizer_step(*args, **kwargs)
        self.average.update(self.network)

    def validation_step(
        self, batch: B, batch_idx: int, dataloader_idx: int = 0
    ) -> None:
        """Count what the average says right."""
        sums = self._counts.setdefault(batch.source, defaultdict(lambda: [0.0, 0.0]))
        for name, (right, of) in self.counts(self.averaged, batch).items():
            sums[name][0] += right
            sums[name][1] += of

    def on_validation_epoch_end(self) -> None:
        """Log shares of what is right, of every source."""
        for source, sums in self._counts.items():
            for name, (right, of) in sums.items():
                self.log(f"{source}/{name}", right / max(1.0, of))
        self._counts.clear()

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Keep how much was seen: the data goes on from there."""
        checkpoint["images_seen"] = self.examples_seen

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Go on counting."""
        self.examples_seen = checkpoint["images_seen"]


def _arguments(network: nn.Module) -> Mapping[str, Any]:
    """What a network was made with; see `NetworkFormat`."""
    return cast(Mapping[str, Any], network.arguments)


def _can_grow_to(wanted: Mapping[str, Any], given: Mapping[str, Any]) -> bool:
    """Whether a network is like another one that has as many blocks or fewer."""
    depth = wanted.get("depth", 0)
    return given.get("depth", 0) <= depth and {**given, "depth": depth} == {
        **wanted,
        "depth": depth,
    }


class NetworkData(LightningDataModule, ABC):
    """Examples to train on, and others to look how well that goes.

    Args:
        folders: of the first.
        validation: of the others, such as of families that are held out.
        seed: of all that is random.
        workers: processes that prepare batches.
    """

    def __init__(
        self,
        folders: Sequence[Path],
        validation: Sequence[Path] | None,
        seed: int,
        workers: int,
    ) -> None:
        super().__init__()
        self.folders = folders
        self.validation = validation or []
        self.seed = seed
        self.workers = workers

    @property
    @abstractmethod
    def names(self) -> Sequence[str]:
        """Names of the outputs of a network that is trained on them."""

    @property
    def provenance(self) -> str:
        """The training data, for the weights file."""
        return ", ".join(folder.name for folder in self.folders)

    @property
    def examples_seen(self) -> int:
        """How many examples this device has trained on, in all sessions of the run."""
        assert self.trainer is not None
        training = self.trainer.lightning_module
        assert isinstance(training, NetworkTraining)
        return training.examples_seen

    def endless(self, batches: Dataset[T]) -> DataLoader[T]:
        """Loads batches for as long as a run takes."""
        return DataLoader(
            batches,
            batch_size=None,
            num_workers=self.workers,
            persistent_workers=self.workers > 0,
        )


class FixedBatches(Dataset[T]):
    """Batches that are always the same.

    Args:
        make: makes the batch of a number.
        count: of batches.
    """

    def __init__(self, make: Callable[[int], T], count: int) -> None:
        self._make = make
        self._count = count

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, place: int) -> T:
        if place >= self._count:
            raise IndexError(place)
        return self._make(place)


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


class NetworkExport(Callback):
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

    def _save(self, trainer: Trainer, training: LightningModule) -> None:
        if not trainer.is_global_zero:
            return
        assert isinstance(training, NetworkTraining)
        data = trainer.datamodule  # type: ignore[attr-defined]
        assert isinstance(data, NetworkData)
        scores = trainer.callback_metrics.items()
        provenance = {
            "command": train_command(),
            "data": data.provenance,
            "step": trainer.global_step,
            training.examples: training.examples_seen,
            "device": str(training.device),
            "torch": torch.__version__,
            "scores": {name: round(float(value), 4) for name, value in scores},
        }
        training.format.save(self.path, training.averaged, data.names, provenance)
