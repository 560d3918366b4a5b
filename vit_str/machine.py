"""What this machine has."""

import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_PACKAGES = (
    *("onnxruntime", "torch", "numpy", "pillow", "safetensors", "einops"),
    *("lightning", "albumentations"),
)


def software() -> dict[str, str]:
    """Name -> version of Python, the system and the packages that are installed."""
    versions = {"vit-str": _version("vit-str") or "not installed"}
    versions["Python"] = platform.python_version()
    versions["system"] = f"{platform.system()} {platform.machine()}"
    found = {name: _version(name) for name in _PACKAGES}
    return versions | {name: number for name, number in found.items() if number}


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def processor() -> str:
    """The name of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, "") or platform.processor() or platform.machine() or "unknown"
