"""Attention during training with Lightning."""

from collections.abc import Sequence
from operator import attrgetter

from lightning.pytorch import Callback, LightningModule, Trainer
from torch import nn

from vit_str.analysis.geometry import TokenGrid
from vit_str.analysis.monitor.summary import MONITORED, Images, attention_summary


class AttentionMonitor(Callback):
    """Logs distance, entropy and sinks of every layer before training and after each epoch.

        >>> monitor = AttentionMonitor("model", images)  # doctest: +SKIP
        >>> Trainer(callbacks=[monitor]).fit(module)  # doctest: +SKIP

    The first process measures, so that the values are the same for any number of devices. Before
    training values go to the loggers only; a model that is not supported is refused there.

    Args:
        module: name of the attribute of the LightningModule that holds the Vision Transformer,
            with dots where it lies deeper, such as ``model`` or ``recognizer.encoder``.
        images: a tensor, or batches of it, as that module takes them; a few dozen are enough.
        metrics: of `vit_str.analysis.distance.measure.METRICS_OF_DISTANCE`.
        every_n_epochs: measure after every so many epochs.
        grid: see `attention_summary`.
        batch_size: see `attention_summary`.
    """

    def __init__(
        self,
        module: str,
        images: Images,
        metrics: Sequence[str] = MONITORED,
        every_n_epochs: int = 1,
        grid: TokenGrid | None = None,
        batch_size: int = 32,
    ) -> None:
        if every_n_epochs < 1:
            raise ValueError(
                f"every_n_epochs must be 1 or more, found {every_n_epochs}"
            )
        self.module = module
        self.images = images
        self.metrics = tuple(metrics)
        self.every_n_epochs = every_n_epochs
        self.grid = grid
        self.batch_size = batch_size

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Log what the model is like before the first step."""
        if trainer.is_global_zero and trainer.global_step == 0:
            values = self._measured(pl_module)
            for logger in trainer.loggers:
                logger.log_metrics(values, step=0)

    def on_train_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Log what it is like now."""
        due = (trainer.current_epoch + 1) % self.every_n_epochs == 0
        if trainer.is_global_zero and due:
            pl_module.log_dict(self._measured(pl_module), rank_zero_only=True)

    def _measured(self, pl_module: LightningModule) -> dict[str, float]:
        try:
            model = attrgetter(self.module)(pl_module)
        except AttributeError:
            model = None
        if not isinstance(model, nn.Module):
            raise ValueError(
                f"{type(pl_module).__name__} has no module {self.module!r}: say which "
                "of its attributes holds the Vision Transformer"
            )
        return attention_summary(
            model, self.images, self.metrics, self.grid, self.batch_size
        )
