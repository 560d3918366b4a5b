"""What this machine has."""

import json
import os
import platform
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

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
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, "") or platform.processor() or platform.machine() or "unknown"


def cpu_count() -> int:
    """Processors that this process may use: in a container fewer than the machine has."""
    affinity = getattr(os, "sched_getaffinity", None)  # Linux
    return len(affinity(0)) if affinity else os.cpu_count() or 1
