"""Weights of a network that arranges pages: one safetensors file with its description."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from vit_str.files import write_atomically
from vit_str.models.arranger import RELATIONS, PageArranger

_FORMAT = "vit-str arranger 1"


class ArrangerFile(NamedTuple):
    """A network, the names of its roles, and where it comes from."""

    arranger: PageArranger
    roles: Sequence[str]
    provenance: Mapping[str, Any]


def save_arranger(
    path: Path,
    arranger: PageArranger,
    roles: Sequence[str],
    provenance: Mapping[str, Any],
) -> None:
    """Write weights with what is needed to use them."""
    about = {
        "arguments": arranger.arguments,
        "roles": list(roles),
        "relations": list(RELATIONS),
        "provenance": dict(provenance),
    }
    tensors = {
        name: value.detach().cpu().contiguous()
        for name, value in arranger.state_dict().items()
    }
    with write_atomically(path) as temporary:
        save_file(tensors, temporary, {"format": _FORMAT, "about": json.dumps(about)})


def is_arranger(path: Path) -> bool:
    """Whether a file says that it holds a network that arranges pages."""
    try:
        with safe_open(path, "pt") as file:
            return (file.metadata() or {}).get("format") == _FORMAT
    except (OSError, SafetensorError):
        return False


def load_arranger(path: Path) -> ArrangerFile:
    """Read weights.

    Raises:
        ValueError: for another file, or a damaged one; one line that names it.
    """
    try:
        with safe_open(path, "pt") as file:
            metadata = file.metadata() or {}
            if metadata.get("format") != _FORMAT:
                raise ValueError("not weights of a network that arranges pages")
            about = json.loads(metadata["about"])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        if about["relations"] != list(RELATIONS):
            raise ValueError(f"other relations than {', '.join(RELATIONS)}")
        with torch.device("meta"):
            arranger = PageArranger(**about["arguments"])
        arranger.load_state_dict(tensors, assign=True)
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
    return ArrangerFile(arranger.eval(), about["roles"], about["provenance"])
