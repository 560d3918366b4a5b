"""Checkpoint files: written atomically, and checked before anything in them is used."""

import pickle
import zipfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch
from lightning.fabric.plugins import TorchCheckpointIO

from vit_str.console import one_line
from vit_str.files import write_atomically

LAST = "last.ckpt"
PREVIOUS = "previous.ckpt"
_ADVICE = (
    f"resume from another one ({PREVIOUS} is the one before), as in --ckpt_path "
    "FILE, or move it away to start anew"
)


# Of a weight; the squares of larger ones, which norms sum, are no float32
_LARGEST = 1e18


class CannotStart(ValueError):  # noqa: N818 - it says what the run cannot do
    """A run cannot start or resume as it is asked to; says why and what to do, in one line."""


class Diverged(ArithmeticError):  # noqa: N818 - it says what the run has done
    """A run whose loss or weights are no numbers any more; says what to do, in one line."""


def are_numbers(tensors: Iterable[torch.Tensor]) -> bool:
    """Whether all values of some weights are finite, and of a size that one can compute with."""
    of_numbers = [tensor for tensor in tensors if tensor.is_floating_point()]
    filled = [tensor.detach() for tensor in of_numbers if tensor.numel()]
    if not filled:
        return True
    largest = torch.stack([tensor.abs().max().float() for tensor in filled]).max()
    return bool(largest <= _LARGEST)  # not so if it is NaN


class CheckpointFiles(TorchCheckpointIO):
    """Writes checkpoints atomically, and reads nothing but tensors and plain values.

    Lightning's own writes to the folder for temporary files and copies from there, where that is on
    another disk: who is killed while copying has lost the checkpoint before, too. When `LAST` is
    replaced, the one before stays as `PREVIOUS`.
    """

    def __init__(self) -> None:
        self.loaded: Path | None = None

    def save_checkpoint(
        self, checkpoint: dict[str, Any], path: str | Path, storage_options: Any = None
    ) -> None:
        if "://" in str(path):  # not a file
            super().save_checkpoint(checkpoint, path, storage_options)
            return
        path = Path(path)
        with write_atomically(path) as temporary:
            try:
                with temporary.open("wb") as file:
                    torch.save(checkpoint, file)
            # torch's own, for a file that is cut short
            except (OSError, RuntimeError) as error:
                reason = error if isinstance(error, OSError) else error.__context__
                if isinstance(reason, OSError):
                    raise OSError(reason.errno, reason.strerror, str(path)) from None
                raise
            if path.name == LAST and path.exists():
                _link(path, path.with_name(PREVIOUS))

    def load_checkpoint(
        self,
        path: str | Path,
        map_location: Any = None,
        weights_only: bool | None = None,
    ) -> dict[str, Any]:
        """Read a checkpoint; ``weights_only`` or not, no code in it is run.

        Raises:
            CannotStart: for a file that is damaged, cut short or no checkpoint of this project.
        """
        self.loaded = Path(path)
        try:
            if "://" in str(path):
                checkpoint = super().load_checkpoint(path, weights_only=True)
            else:
                _check_file(self.loaded)
                checkpoint = torch.load(path, map_location="cpu", weights_only=True)
            if not isinstance(checkpoint, dict) or "images_seen" not in checkpoint:
                raise ValueError("not a checkpoint of vit-str train")
            if not are_numbers(checkpoint.get("state_dict", {}).values()):
                raise ValueError("its weights are no numbers, or far too large")
        except Exception as error:
            raise CannotStart(unusable(self.loaded, error)) from error
        return checkpoint


def _check_file(path: Path) -> None:
    """Refuse a file whose parts are not as they were written: torch looks at no checksum."""
    if path.stat() and not zipfile.is_zipfile(path):
        raise ValueError("not a checkpoint, or cut short")
    with zipfile.ZipFile(path) as parts:
        damaged = parts.testzip()
    if damaged is not None:
        raise ValueError(f"damaged, {damaged} in it is not as it was written")


def _link(path: Path, second: Path) -> None:
    """Give a file another name; where the disk has no links, it keeps the one it has.

    Of a symbolic link, to the file that it leads to, which is about to be replaced.
    """
    with suppress(OSError):
        second.unlink(missing_ok=True)
        second.hardlink_to(path.resolve())


def unusable(path: Path, error: Exception) -> str:
    """Why a checkpoint cannot be resumed from, and what to do, in one line."""
    if isinstance(error, OSError):
        reason = error.strerror or str(error)
    elif isinstance(error, pickle.UnpicklingError):
        reason = "it holds more than tensors and plain values, which is not loaded"
    elif isinstance(error, KeyError):
        reason = f"{error} is missing in it"
    else:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        reason = " ".join(lines[:2]) or type(error).__name__
    return (
        f"cannot resume from {one_line(str(path))}: {one_line(reason)[:300]}; {_ADVICE}"
    )
