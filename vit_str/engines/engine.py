"""Which library computes: onnxruntime or torch."""

from __future__ import annotations

import os
import platform
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vit_str.engines.graph_files import INT8, find_graphs
from vit_str.engines.onnx_engine import load_exported, load_with_graphs
from vit_str.engines.weights_contents import WeightsHeader, load_header, resolve
from vit_str.machine import check_threads, has_fast_int8, install_hint

if TYPE_CHECKING:
    from vit_str.engines.interface import Engine
    from vit_str.torch_runtime.weights_file import WeightsFile

BACKENDS = ("auto", "onnx", "onnx-int8", "torch")


def open_engine(
    name_or_path: str | Path,
    device: str = "auto",
    backend: str = "auto",
    threads: int | None = None,
) -> Engine:
    """The engine for a model.

    ``auto`` takes a GPU if torch is installed and sees one. On a CPU it takes onnxruntime, which
    reads faster and starts sooner, with matrix products in 8 bits where the processor has
    instructions for that (``onnx-int8``), and torch for models without graphs.

    Args:
        name_or_path: see `resolve`.
        device: see ``vit_str.load``.
        backend: one of ``BACKENDS``.
        threads: see ``vit_str.load``.

    Raises:
        ValueError: see ``vit_str.load``.
    """
    if backend not in BACKENDS:
        raise ValueError(
            f"backend must be one of {', '.join(BACKENDS)}, found {backend!r}"
        )
    if threads is not None:
        check_threads(threads)
    path = resolve(name_or_path)
    if path.is_dir():
        return _open_folder(path, device, backend, threads)
    header = None
    if backend == "auto" and _wants_torch(device):
        backend = "torch"
    elif backend == "auto":
        header = load_header(path)
        backend = _fastest_on_cpu(path, header)
    if backend == "torch":
        _require_torch()
        from vit_str.torch_runtime.weights_file import load_weights

        return torch_engine(load_weights(path, header), device, threads=threads)
    _require_cpu(backend, device)
    variant = INT8 if backend == "onnx-int8" else ""
    return load_with_graphs(path, variant, threads, header)


def _open_folder(path: Path, device: str, backend: str, threads: int | None) -> Engine:
    """The engine for an exported model."""
    if backend == "torch":
        raise ValueError(f"{path}: an exported model is read with --backend onnx")
    _require_cpu("onnx" if backend == "auto" else backend, device)
    if backend == "onnx-int8":
        raise ValueError(
            f"{path}: vit-str export --int8 decides how an exported model computes; "
            "read it with --backend onnx"
        )
    return load_exported(path, threads)


def _wants_torch(device: str) -> bool:
    """Whether only torch computes on a device."""
    return has_gpu() if device == "auto" else device != "cpu"


def _fastest_on_cpu(path: Path, header: WeightsHeader) -> str:
    """The fastest backend that can read with a weights file on a CPU."""
    if find_graphs(header.description):
        return "onnx-int8" if has_fast_int8() else "onnx"
    if not has_torch():
        raise ValueError(
            f"weights file {path}: onnxruntime needs graphs of this model: read a "
            "folder that vit-str export has made of it, or run: "
            f"{install_hint('torch')}"
        )
    return "torch"


def _require_torch() -> None:
    if not has_torch():
        hint = install_hint("torch")
        raise ValueError(f"reading with torch or on a GPU needs torch, run: {hint}")


def _require_cpu(backend: str, device: str) -> None:
    if device not in ("auto", "cpu"):
        raise ValueError(
            f"{backend} reads on the CPU, not on {device!r}; use --backend torch"
        )


def torch_engine(
    weights: WeightsFile,
    device: Any = "auto",
    dtype: Any = None,
    threads: int | None = None,
) -> Engine:
    """The engine for weights that are loaded, see `vit_str.torch_runtime.engine.TorchEngine`."""
    from vit_str.torch_runtime.engine import TorchEngine

    return TorchEngine(weights, device, dtype, threads)


def has_torch() -> bool:
    """Whether torch is installed."""
    try:
        return find_spec("torch") is not None
    except (ImportError, ValueError):  # something stands in its place
        return False


def has_gpu() -> bool:
    """Whether torch is installed and sees a GPU; torch is imported only if there may be one."""
    drivers = ("/dev/nvidiactl", "/dev/kfd", "/dev/dxg", "/proc/driver/nvidia/version")
    if not has_torch():
        return False
    if platform.system() == "Linux" and not any(map(os.path.exists, drivers)):
        return False
    from vit_str.torch_runtime.devices import choose_device

    return choose_device("auto").type != "cpu"
