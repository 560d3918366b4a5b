"""Weights of a user's own file, by name of the tensor; nothing but tensors is unpickled."""

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from vit_str.console import reason_of

_WRAPPERS = ("state_dict", "model", "module", "teacher")
_HEADS = (
    "head",
    "classifier",
    "heads",
    "pooler",
    "cls_classifier",
    "distillation_classifier",
)


def read_weights(path: Path) -> dict[str, Tensor]:
    """Tensors of a ``.safetensors`` file or of one of torch.

    Raises:
        ValueError: for a file that is not there, damaged, or holds anything but tensors.
    """
    try:
        if path.suffix == ".safetensors":
            from safetensors.torch import load_file

            return dict(load_file(path))
        # Published checkpoints often hold the options of their training, which are plain values.
        with torch.serialization.safe_globals([argparse.Namespace]):
            state = torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError:
        raise ValueError(f"{path}: no such file") from None
    except Exception:  # whatever a damaged file, or one with other objects, ends in
        raise ValueError(
            f"{path}: not a file of weights; give .safetensors, or a state dict of "
            "torch.save"
        ) from None
    state = _unwrapped(state)
    if not isinstance(state, dict) or not all(
        isinstance(v, Tensor) for v in state.values()
    ):
        raise ValueError(
            f"{path}: expected tensors by name, found {type(state).__name__}"
        )
    return {name.removeprefix("module."): value for name, value in state.items()}


def _unwrapped(state: Any) -> Any:
    """The weights in what a training script saved, such as ``{"model": weights}``."""
    while isinstance(state, dict):
        wrapper = next((name for name in _WRAPPERS if name in state), None)
        if wrapper is None:
            break
        state = state[wrapper]
    return state


def fill(model: nn.Module, weights: dict[str, Tensor], path: Path) -> None:
    """Put weights into a model; those of heads that it does not have are left out.

    Raises:
        ValueError: for tensors of another shape, missing or unknown ones.
    """
    try:
        missing, unknown = model.load_state_dict(weights, strict=False)
    except RuntimeError as error:
        raise ValueError(f"{path}: {reason_of(error)}") from None
    check(path, missing, unknown)


def check(path: Path, missing: Iterable[str], unknown: Iterable[str]) -> None:
    """Refuse weights that are not all of a model, or of more than it has but for heads."""
    wrong = [
        name for name in (*missing, *unknown) if not set(name.split(".")) & set(_HEADS)
    ]
    if wrong:
        raise ValueError(
            f"{path}: not weights of this model: {len(wrong)} tensors are missing or "
            f"unknown, such as {', '.join(sorted(wrong)[:3])}"
        )
