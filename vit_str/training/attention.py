"""How far attention reaches while a model learns."""

import time
from typing import Any

import torch
from lightning.pytorch import LightningModule, Trainer

from vit_str.analysis.geometry import TokenGrid
from vit_str.analysis.probe import attention_inputs, probe
from vit_str.analysis.statistics import AttentionStatistics
from vit_str.synthesis.renderer import RenderedBatch
from vit_str.training.callbacks import StepCallback
from vit_str.training.module import RecognizerTraining


class AttentionReach(StepCallback):
    """Log attention distance and entropy of every layer of the encoder at intervals.

    As ``attention/distance_1`` (layer 1, mean over heads, in pixels of the input),
    ``attention/nearest_1`` (of the head that looks least far) and ``attention/entropy_1`` (nats),
    in eval mode, on images of the batch that was just trained on. What a run draws does not
    change. ``attention/share`` is the share of the time since the start of the run that this took.

    Args:
        every: number of steps between two measurements.
        images: most images of a batch that are looked at.

    Raises:
        ValueError: ``every`` or ``images`` below 1, or an encoder without attention.
    """

    def __init__(self, every: int = 200, images: int = 64) -> None:
        if every < 1 or images < 1:
            raise ValueError(f"every and images must be 1 or more, found {every} and {images}")
        self.every, self.images = every, images
        self._start = self._spent = 0.0

    def on_fit_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        assert isinstance(pl_module, RecognizerTraining)
        attention_inputs(pl_module.recognizer.encoder)  # fails now if there is none, not later

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self._start, self._spent = time.monotonic(), 0.0

    def on_step_end(self, trainer: Trainer, module: RecognizerTraining, batch: Any) -> None:
        """Measure and log after every so many steps."""
        if trainer.global_step % self.every:
            return
        start = time.monotonic()
        statistics = self._measure(module, batch)
        now = time.monotonic()
        self._spent += now - start
        values = {"attention/share": self._spent / max(now - self._start, 1e-9)}
        for name in ("distance", "entropy"):
            for layer, heads in enumerate(statistics.values(name), 1):
                values[f"attention/{name}_{layer}"] = float(heads.mean())
        for layer, heads in enumerate(statistics.values("distance"), 1):
            values[f"attention/nearest_{layer}"] = float(heads.mean(0).min())
        for logger in trainer.loggers:  # `log_dict` would repeat the values in every later row
            logger.log_metrics(values, trainer.global_step)

    @torch.no_grad()
    def _measure(self, module: RecognizerTraining, batch: RenderedBatch) -> AttentionStatistics:
        encoder = module.recognizer.encoder
        statistics = AttentionStatistics(TokenGrid.of(encoder), ("distance", "entropy"))
        images = module.preprocessing.normalize(batch.images[: self.images])
        training = encoder.training
        encoder.eval()
        with probe(encoder, statistics.update):
            encoder(images)
        encoder.train(training)
        return statistics
