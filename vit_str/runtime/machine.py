"""What this machine has."""

import json
import os
import platform
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

CPU_DTYPE = "VIT_STR_CPU_DTYPE"
"""In the environment, the number format to compute in on a CPU: float32, bfloat16 or int8."""

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


def install_hint(extra: str) -> str:
    """The command that installs an extra of this package from where the package came from."""
    try:  # PEP 610; packages from an index have no such file
        origin = json.loads(distribution("vit-str").read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        origin = {}
    url, package = origin.get("url"), f"vit-str[{extra}]"
    if url and origin.get("dir_info", {}).get("editable"):
        return f'pip install -e "{url2pathname(urlsplit(url).path)}[{extra}]"'
    if url and "vcs_info" in origin:
        url = f"{origin['vcs_info']['vcs']}+{url}"
    return f'pip install "{package} @ {url}"' if url else f'pip install "{package}"'


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def processor() -> str:
    """The name of the processor."""
    return _cpu_info("model name") or platform.processor() or platform.machine() or "unknown"


def has_fast_int8() -> bool:
    """Whether products of 8-bit integers are much faster than of floats.

    ``VIT_STR_CPU_DTYPE`` in the environment decides, if it is set. Otherwise instructions for sums
    of four products, where it is known that the processor has them: VNNI of x86 on Linux, and the
    dot products that all ARM processors of Apple have.
    """
    if name := os.environ.get(CPU_DTYPE):
        return name == "int8"
    if platform.system() == "Darwin":
        return platform.machine() == "arm64"
    flags = (_cpu_info("flags") or _cpu_info("Features")).split()
    return not {"avx512_vnni", "avx_vnni", "asimddp"}.isdisjoint(flags)


def _cpu_info(key: str) -> str:
    """A line about the first processor, as Linux has it; nothing elsewhere."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    values = (line.partition(":")[2].strip() for line in lines if line.startswith(key))
    return next(values, "")


def cpu_count() -> int:
    """Processors that this process may use: in a container fewer than the machine has."""
    affinity = getattr(os, "sched_getaffinity", None)  # Linux
    return len(affinity(0)) if affinity else os.cpu_count() or 1
