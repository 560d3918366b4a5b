"""What a machine has that matters for reading: versions, processor, devices."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import torch

_PACKAGES = ("torch", "numpy", "pillow", "safetensors", "einops", "lightning", "albumentations")


def software() -> dict[str, str]:
    """Name -> version of Python, the system and the packages that are installed."""
    versions = {"vit-str": _version("vit-str") or "not installed"}
    versions["Python"] = platform.python_version()
    versions["system"] = f"{platform.system()} {platform.machine()}"
    found = {name: _version(name) for name in _PACKAGES}
    return versions | {name: number for name, number in found.items() if number}


def device_name(device: torch.device) -> str:
    """What a device is, in words."""
    if device.type == "cuda":
        properties = torch.cuda.get_device_properties(device)
        gibibytes = properties.total_memory / (1 << 30)
        return f"{properties.name}, {gibibytes:.0f} GiB, CUDA {torch.version.cuda}"
    if device.type == "mps":
        return "Apple graphics"
    parts = [_processor(), f"{_usable_cpus()} CPUs, {torch.get_num_threads()} threads"]
    return ", ".join([*parts, *_instructions()])


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, "") or platform.processor() or platform.machine() or "unknown"


def _usable_cpus() -> int:
    affinity = getattr(os, "sched_getaffinity", None)  # what a container may use, on Linux
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def _instructions() -> list[str]:
    """Instructions that decide how fast it is, and whether it computes in bfloat16."""
    names = {
        "_is_avx512_bf16_supported": "bfloat16 (AVX-512)",
        "_is_amx_tile_supported": "bfloat16 (AMX)",
    }
    native = [text for name, text in names.items() if getattr(torch.cpu, name, bool)()]
    return [torch.backends.cpu.get_cpu_capability(), *(native or ["no bfloat16"])]
