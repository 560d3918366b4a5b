"""Where torch can compute, and in which number format."""

import os
from functools import cache

import torch

from vit_str.machine import CPU_DTYPE

# Without these instructions of x86 processors bfloat16 is emulated, slower than float32.
_BFLOAT16 = {
    "_is_avx512_bf16_supported": "bfloat16 (AVX-512)",
    "_is_amx_tile_supported": "bfloat16 (AMX)",
}

_CPU_DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}


@cache
def _survive_forks() -> None:
    """Threads of OpenMP do not live on in a child, which would wait for them for ever."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lambda: torch.set_num_threads(1))


def choose_device(device: str | torch.device = "auto") -> torch.device:
    """The device of this name.

    Args:
        device: ``auto``, ``cpu``, ``cuda``, ``cuda:1`` or ``mps``.

    Raises:
        ValueError: for another name, or a device that this machine does not have.
    """
    _survive_forks()
    if device == "auto":
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    try:
        chosen = torch.device(device)
    except RuntimeError:
        chosen = torch.device("meta")
    known = {
        "cpu": 1,
        "cuda": torch.cuda.device_count(),
        "mps": torch.backends.mps.is_available(),
    }
    if chosen.type not in known:
        raise ValueError(
            f"unknown device {str(device)!r}: use auto, cpu, cuda, cuda:1 or mps"
        )
    if (chosen.index or 0) >= known[chosen.type]:
        raise ValueError(
            f"device {str(device)!r} is not there: torch {torch.__version__} sees "
            f"{int(known[chosen.type])} of type {chosen.type}; use auto or cpu"
        )
    return chosen


def fastest_dtype(device: torch.device) -> torch.dtype:
    """The number format to read in: half as wide where the device computes in it, else float32.

    ``VIT_STR_CPU_DTYPE`` in the environment, ``float32`` or ``bfloat16``, decides for the CPU;
    ``int8`` is for onnxruntime.

    Raises:
        ValueError: if the variable holds another name.
    """
    if device.type == "cuda":
        major, _ = torch.cuda.get_device_capability(device)
        if major >= 8:
            return torch.bfloat16
        return torch.float16 if major == 7 else torch.float32
    if device.type != "cpu":
        return torch.float32
    name = os.environ.get(CPU_DTYPE)
    if name in (None, "", "int8"):
        name = "bfloat16" if _bfloat16() else "float32"
    if name not in _CPU_DTYPES:
        known = ", ".join([*_CPU_DTYPES, "int8"])
        raise ValueError(f"{CPU_DTYPE} must be one of {known}, found {name!r}")
    return _CPU_DTYPES[name]


def _bfloat16() -> list[str]:
    """Instructions of the CPU that compute in bfloat16."""
    return [
        text for name, text in _BFLOAT16.items() if getattr(torch.cpu, name, bool)()
    ]
