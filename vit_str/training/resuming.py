"""How checkpoints are written, what must agree with them, and at which batch a run goes on."""

from pathlib import Path
from typing import Any

import torch
from lightning.fabric.plugins import TorchCheckpointIO
from lightning.pytorch import Trainer

from vit_str.charset import Charset
from vit_str.files import write_atomically

_OPTIMIZERS = "AdamW", "Muon"
_COUNTS = ("ready", "started", "processed", "completed")


class CannotStart(ValueError):  # noqa: N818 - it says what the run cannot do
    """A run cannot start or go on as it is asked to; says why and what to do, in one line."""


class AtomicFiles(TorchCheckpointIO):
    """Writes checkpoints atomically.

    Lightning's own writes to the folder for temporary files and copies from there, where that is on
    another disk: who is killed while copying has lost the checkpoint before, too.
    """

    def save_checkpoint(
        self, checkpoint: dict[str, Any], path: str | Path, storage_options: Any = None
    ) -> None:
        if "://" in str(path):  # not a file
            super().save_checkpoint(checkpoint, path, storage_options)
            return
        with write_atomically(path) as temporary:
            torch.save(checkpoint, temporary)


def check_charset(charset: Charset, checkpoint: dict[str, Any]) -> None:
    """Refuse a checkpoint whose rows stand for other characters.

    Raises:
        CannotStart: its charset is another one, or in another order.
    """
    characters = checkpoint.get("charset", charset.characters)
    if characters != charset.characters:
        order = "" if len(characters) != len(charset) else " or another order of them"
        raise CannotStart(
            f"expected the charset of the checkpoint, {len(characters):,} characters, found "
            f"{len(charset):,}{order}; to change it, start from the weights file of that run "
            "(--init FILE) in another folder (--folder)"
        )


def check_optimizer(muon: bool, checkpoint: dict[str, Any]) -> None:
    """Refuse a checkpoint whose optimizer is not the configured one.

    Args:
        muon: whether the run trains matrices with Muon.
        checkpoint: of Lightning.

    Raises:
        CannotStart: only one of them does.
    """
    states = checkpoint.get("optimizer_states") or [{"param_groups": []}]
    groups = states[0]["param_groups"]
    found = any("momentum" in group for group in groups)
    if groups and found != muon:
        raise CannotStart(
            f"expected a checkpoint of {_OPTIMIZERS[muon]}, found one of {_OPTIMIZERS[found]}: add "
            f"--model.muon_learning_rate {0.002 if found else 'null'}, or start from the weights "
            "file of that run (--init FILE) in another folder (--folder)"
        )


def check_together(trainer: Trainer, images: int) -> None:
    """Refuse to train if processes go on from different places.

    Raises:
        CannotStart: only some have found the checkpoint, or another one.
    """
    first = trainer.strategy.broadcast(images)
    if not trainer.strategy.reduce_boolean_decision(images == first, all=True):
        raise CannotStart(
            "expected all processes to go on from the same checkpoint, found some elsewhere than "
            f"the first, which is after {first:,} images, this one after {images:,}; keep the "
            "folder of the run where all machines see it, or copy last.ckpt to each of them"
        )


def align_batches(checkpoint: dict[str, Any], accumulate: int) -> None:
    """Let a run that goes on begin with the first batch of an optimizer step.

    Lightning steps after every ``accumulate`` batches since the start of the epoch. A checkpoint
    from the middle of a step, whose gradients are lost, or one of a run with another number, would
    make the first step one of fewer batches.

    Args:
        checkpoint: of Lightning; its counters of batches are set back in place.
        accumulate: batches in a step from now on.
    """
    if "loops" not in checkpoint:
        return
    counters = checkpoint["loops"]["fit_loop"]["epoch_loop.batch_progress"]
    current, total = counters["current"], counters["total"]
    unfinished = checkpoint.get("unfinished_batches", 0)
    back = unfinished + (current["ready"] - unfinished) % accumulate
    for count in (current, total):
        if unfinished:  # not within a batch either, as if saved after the step before
            count.update(dict.fromkeys(_COUNTS, count["ready"] - back))
        else:
            count.update({name: count[name] - back for name in _COUNTS})
