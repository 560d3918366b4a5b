"""Weights of a network that finds: one safetensors file with its description."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from vit_str.files import write_atomically
from vit_str.models.finder import Finder

_FORMAT = "vit-str finder 1"


class FinderFile(NamedTuple):
    """A network, the names of its maps, and where it comes from."""

    finder: Finder
    maps: Sequence[str]
    provenance: Mapping[str, Any]


def save_finder(
    path: Path, finder: Finder, maps: Sequence[str], provenance: Mapping[str, Any]
) -> None:
    """Write weights with what is needed to use them."""
    about = {
        "arguments": finder.arguments,
        "maps": list(maps),
        "provenance": dict(provenance),
    }
    tensors = {
        name: value.detach().cpu().contiguous()
        for name, value in finder.state_dict().items()
    }
    with write_atomically(path) as temporary:
        save_file(tensors, temporary, {"format": _FORMAT, "about": json.dumps(about)})


def is_finder(path: Path) -> bool:
    """Whether a file has weights of a network that finds, by its description alone."""
    try:
        with safe_open(path, "pt") as file:
            return (file.metadata() or {}).get("format") == _FORMAT
    except (OSError, SafetensorError):
        return False


def load_finder(path: Path) -> FinderFile:
    """Read weights.

    Raises:
        ValueError: for another file, or a damaged one; one line that names it.
    """
    try:
        with safe_open(path, "pt") as file:
            metadata = file.metadata() or {}
            if metadata.get("format") != _FORMAT:
                raise ValueError("not weights of a network that finds")
            about = json.loads(metadata["about"])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        with torch.device("meta"):
            finder = Finder(**about["arguments"])
        finder.load_state_dict(tensors, assign=True)
    except (
        OSError,
        SafetensorError,
        KeyError,
        TypeError,
        RuntimeError,
        ValueError,
    ) as error:
        reason = " ".join(str(error).split())[:200]
        raise ValueError(f"{path}: {reason}") from None
    return FinderFile(finder.eval(), about["maps"], about["provenance"])
