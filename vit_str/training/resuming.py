"""Conditions on a checkpoint, and from which batch and image on a run resumes."""

from typing import Any

import torch
from lightning.pytorch import Trainer
from torch import Tensor

from vit_str.characters.charset import Charset
from vit_str.training.checkpoints import CannotStart

_OPTIMIZERS = "AdamW", "Muon"
_COUNTS = ("ready", "started", "processed", "completed")


class StepCount:
    """Counts the images of finished optimizer steps, and keeps the losses of the unfinished one."""

    def __init__(self) -> None:
        # In all finished steps, on all devices, in all sessions of the run. A step that is not
        # finished does not count: a run that resumes starts it anew.
        self.images_seen = 0
        self._unfinished: list[tuple[int, dict[str, Tensor]]] = []

    @property
    def unfinished_batches(self) -> int:
        """Batches whose gradients add up to the next step."""
        return len(self._unfinished)

    @property
    def between_steps(self) -> bool:
        """Whether the last step is finished and no batch of the next one has been seen."""
        return not self._unfinished

    def add(self, images: int, losses: dict[str, Tensor]) -> dict[str, Tensor]:
        """Count a batch of the unfinished step; returns the mean losses over its batches."""
        self._unfinished.append((images, losses))
        if len(self._unfinished) == 1:
            return losses
        means = {}
        for name in losses:
            batches = [batch[name] for _, batch in self._unfinished]
            means[name] = torch.stack(batches).mean()
        return means

    def finish_step(self, processes: int) -> None:
        """The step is finished, on that many processes with as many images each."""
        images = sum(images for images, _ in self._unfinished)
        self.images_seen += processes * images
        self._unfinished.clear()

    def drop_step(self) -> None:
        """Forget the batches of a step that is not finished."""
        self._unfinished.clear()


def check_charset(charset: Charset, checkpoint: dict[str, Any]) -> None:
    """Refuse a checkpoint whose rows stand for other characters."""
    characters = checkpoint["charset"]
    if characters != charset.characters:
        order = "" if len(characters) != len(charset) else " or another order of them"
        raise CannotStart(
            f"expected the charset of the checkpoint, {len(characters):,} "
            f"characters, found {len(charset):,}{order}; to change it, start from "
            "the weights file of that run (--init FILE) in another folder (--folder)"
        )


def check_optimizer(muon: bool, checkpoint: dict[str, Any]) -> None:
    """Refuse a checkpoint whose optimizer is not the configured one."""
    groups = checkpoint["optimizer_states"][0]["param_groups"]
    if not groups:
        raise ValueError("its optimizer has no parameters")
    has_muon = any("momentum" in group for group in groups)
    if has_muon != muon:
        raise CannotStart(
            f"expected a checkpoint of {_OPTIMIZERS[muon]}, found one of "
            f"{_OPTIMIZERS[has_muon]}: add --model.muon_learning_rate "
            f"{0.002 if has_muon else 'null'}, or start from the weights file of "
            "that run (--init FILE) in another folder (--folder)"
        )


def check_together(trainer: Trainer, images: int) -> None:
    """Refuse to train if processes resume from different places."""
    first = trainer.strategy.broadcast(images)
    if not trainer.strategy.reduce_boolean_decision(images == first, all=True):
        raise CannotStart(
            "expected all processes to resume from the same checkpoint, found some "
            f"elsewhere than the first, which is after {first:,} images, this one "
            f"after {images:,}; keep the folder of the run where all machines see "
            "it, or copy last.ckpt to each of them"
        )


def align_batches(checkpoint: dict[str, Any], accumulate: int) -> None:
    """Let a run that resumes begin with the first batch of an optimizer step.

    Lightning steps after every ``accumulate`` batches since the start of the epoch. A checkpoint
    from the middle of a step, whose gradients are lost, or one of a run with another number, would
    make the first step one of fewer batches. So its counters are set back, in place.
    """
    counters = checkpoint["loops"]["fit_loop"]["epoch_loop.batch_progress"]
    current = counters["current"]
    total = counters["total"]
    unfinished = checkpoint["unfinished_batches"]
    back = unfinished + (current["ready"] - unfinished) % accumulate
    for count in (current, total):
        if unfinished:  # not within a batch either, as if saved after the step before
            count.update(dict.fromkeys(_COUNTS, count["ready"] - back))
        else:
            count.update({name: count[name] - back for name in _COUNTS})
