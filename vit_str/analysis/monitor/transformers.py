"""Attention during training with the Trainer of transformers."""

from collections.abc import Sequence
from typing import Any

from transformers import (
    Trainer,
    TrainerCallback,
    TrainerControl,
    TrainerState,
    TrainingArguments,
)

from vit_str.analysis.geometry import TokenGrid
from vit_str.analysis.monitor.summary import MONITORED, Images, attention_summary


class AttentionMonitorCallback(TrainerCallback):
    """Logs distance, entropy and sinks of every layer before training and after each epoch.

        >>> trainer = Trainer(model=model, ...)  # doctest: +SKIP
        >>> trainer.add_callback(AttentionMonitorCallback(trainer, images))  # doctest: +SKIP
        >>> trainer.train()  # doctest: +SKIP

    It logs through the trainer, so values reach the history of the run and whatever the trainer
    reports to. The first process measures.

    Args:
        trainer: whose model is measured.
        images: a tensor of pixel values, or batches of it; a few dozen are enough.
        metrics: of `vit_str.analysis.distance.measure.METRICS_OF_DISTANCE`.
        grid: see `attention_summary`.
        batch_size: see `attention_summary`.
    """

    def __init__(
        self,
        trainer: Trainer,
        images: Images,
        metrics: Sequence[str] = MONITORED,
        grid: TokenGrid | None = None,
        batch_size: int = 32,
    ) -> None:
        self.trainer = trainer
        self.images = images
        self.metrics = tuple(metrics)
        self.grid = grid
        self.batch_size = batch_size

    def on_train_begin(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        **kwargs: Any,
    ) -> None:
        """Log what the model is like before the first step."""
        if state.global_step == 0:
            self._log(state)

    def on_epoch_end(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        **kwargs: Any,
    ) -> None:
        """Log what it is like now."""
        self._log(state)

    def _log(self, state: TrainerState) -> None:
        if not state.is_world_process_zero:
            return
        model = self.trainer.model
        self.trainer.log(
            attention_summary(
                model, self.images, self.metrics, self.grid, self.batch_size
            )
        )
