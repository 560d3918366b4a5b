"""What a reader asks of the library that computes, and which library computes."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from vit_str.runtime.charset import Charset
from vit_str.runtime.images import Preprocessing
from vit_str.runtime.machine import has_fast_int8

if TYPE_CHECKING:
    import numpy as np
    from jaxtyping import Float, Int64

    from vit_str.runtime.search import Steps
    from vit_str.torch_runtime.weights_file import WeightsFile

BACKENDS = ("auto", "onnx", "onnx-int8", "torch")
LOOPS = ("step", "refine", "scores", "ctc")
TORCH_HINT = 'run: pip install "vit-str[torch]"'


@dataclass(frozen=True, slots=True)
class Interface:
    """How a model is used.

    Attributes:
        decoder: name of its class.
        loop: ``step`` writes character by character; ``refine`` too, and can read all characters
            at once and again; ``scores`` has scores for every position, ``ctc`` for every column.
        maximum_length: most characters it writes.
        grid: rows and columns of tokens.
        special_tokens: number of tokens before them.
        image_size: height and width.
        has_cross_attention: whether it says where it looks while it writes.
        decoding: ``autoregressive`` or ``parallel``, with ``refine``.
        refinements: how often the text is read again, with ``refine``.
        drafts: whether `Scorer.scores` are of drafts, which `Scorer.verify` checks, with ``step``.
    """

    decoder: str
    loop: str
    maximum_length: int
    grid: tuple[int, int]
    special_tokens: int
    image_size: tuple[int, int]
    has_cross_attention: bool = False
    decoding: str = "autoregressive"
    refinements: int = 0
    drafts: bool = False

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Interface:
        """Inverse of ``asdict``.

        Raises:
            ValueError: values are missing, unknown or make no sense.
        """
        try:
            found = cls(**values)
            grid, size = tuple(map(int, found.grid)), tuple(map(int, found.image_size))
            wrong = found.loop not in LOOPS or found.maximum_length < 1 or len(grid) != len(size)
        except TypeError as error:
            raise ValueError(f"the description of the model does not fit: {error}") from None
        if wrong or len(grid) != 2:
            raise ValueError(f"the description of the model does not fit: {values}")
        return cls(**{**values, "grid": grid, "image_size": size})


@dataclass(frozen=True, slots=True)
class Model:
    """What reading needs to know of a model.

    Attributes:
        charset: the characters that it writes.
        preprocessing: what images go through before they come to it.
        temperature: divides scores, so that confidences mean what they say.
        provenance: where the weights come from.
        interface: how it is used.
    """

    charset: Charset
    preprocessing: Preprocessing
    temperature: float
    provenance: dict[str, Any]
    interface: Interface


class Scorer(Protocol):
    """Scores of the next symbols of encoded images, which decoding makes texts of."""

    def begin(self, encoded: Any) -> Steps:
        """Texts of encoded images before anything is written."""

    def scores(self, encoded: Any) -> Float[np.ndarray, "batch position symbol"]:
        """Scores of every position or column, for a model that needs no loop or drafts texts."""

    def refine(
        self, encoded: Any, labels: Int64[np.ndarray, "batch position"]
    ) -> Float[np.ndarray, "batch position_and_end symbol"]:
        """Scores of every position given all others, for a model that can refine."""

    def verify(
        self, encoded: Any, labels: Int64[np.ndarray, "batch position"]
    ) -> Float[np.ndarray, "batch position_and_end symbol"]:
        """Scores of every position given those before it, for a model that drafts texts."""

    def select(self, encoded: Any, rows: Sequence[int]) -> Any:
        """What the encoder made of some of the images."""


class Engine(Scorer, Protocol):
    """Runs a model on numpy arrays; what it makes of images is its own.

    Attributes:
        model: what it runs.
        backend: ``onnx`` or ``torch``.
        device: where it computes.
        number_format: in what.
    """

    model: Model
    backend: str
    device: str
    number_format: str

    def encode(self, images: Float[np.ndarray, "batch channel height width"]) -> Any:
        """What the encoder makes of normalized images."""

    def attention(
        self, encoded: Any, labels: Int64[np.ndarray, "batch position"]
    ) -> Float[np.ndarray, "batch position token"]:
        """Where the decoder looks while it writes ``labels``, for a model that looks."""


def open_engine(name_or_path: str | Path, device: str = "auto", backend: str = "auto") -> Engine:
    """The engine for a model.

    ``auto`` takes a GPU if torch is installed and sees one. On a CPU it takes onnxruntime, which
    reads faster and starts sooner, with matrix products in 8 bits where the processor has
    instructions for that (``onnx-int8``), and torch for models without graphs.

    Args:
        name_or_path: a weights file, a model of the package, or a folder of ``vit-str export``.
        device: ``auto``, ``cpu``, ``cuda``, ``cuda:1`` or ``mps``.
        backend: of ``BACKENDS``.

    Raises:
        ValueError: there is no such model, device or backend, or it cannot be used.
    """
    from vit_str.runtime.onnx_engine import load_exported, load_with_graphs
    from vit_str.runtime.weights_contents import resolve

    if backend not in BACKENDS:
        raise ValueError(f"backend must be one of {', '.join(BACKENDS)}, found {backend!r}")
    path = resolve(name_or_path)
    if backend == "auto":
        backend = _fastest_backend(path, device)
    if backend == "torch":
        if path.is_dir():
            raise ValueError(f"{path}: an exported model is read with --backend onnx")
        if not has_torch():
            raise ValueError(f"reading with torch or on a GPU needs torch, {TORCH_HINT}")
        from vit_str.torch_runtime.weights_file import load_weights

        return torch_engine(load_weights(path), device)
    if device not in ("auto", "cpu"):
        raise ValueError(f"{backend} reads on the CPU, not on {device!r}; use --backend torch")
    if not path.is_dir():
        return load_with_graphs(path, int8=backend == "onnx-int8")
    if backend == "onnx-int8":
        raise ValueError(
            f"{path}: vit-str export --int8 decides how an exported model computes; read it with "
            "--backend onnx"
        )
    return load_exported(path)


def _fastest_backend(path: Path, device: str) -> str:
    """What is fastest of the backends that can read with a model on a device."""
    from vit_str.runtime.onnx_engine import find_graphs
    from vit_str.runtime.weights_contents import load_contents

    if path.is_dir():
        return "onnx"
    wants_torch = device not in ("auto", "cpu") or (device == "auto" and has_gpu())
    if not wants_torch and find_graphs(load_contents(path)):
        return "onnx-int8" if has_fast_int8() else "onnx"
    if not has_torch() and not wants_torch:
        raise ValueError(
            f"weights file {path}: onnxruntime needs graphs of this model: read a folder that "
            f"vit-str export has made of it, or {TORCH_HINT}"
        )
    return "torch"


def torch_engine(weights: WeightsFile, device: Any = "auto", dtype: Any = None) -> Engine:
    """The engine for weights that are loaded, see `vit_str.torch_runtime.engine.TorchEngine`."""
    from vit_str.torch_runtime.engine import TorchEngine

    return TorchEngine(weights, device, dtype)


def has_torch() -> bool:
    """Whether torch is installed."""
    try:
        return find_spec("torch") is not None
    except (ImportError, ValueError):  # something stands in its place
        return False


def has_gpu() -> bool:
    """Whether torch is installed and sees a GPU; torch is imported only if there may be one."""
    drivers = ("/dev/nvidiactl", "/dev/kfd", "/dev/dxg", "/proc/driver/nvidia/version")
    if not has_torch() or (platform.system() == "Linux" and not any(map(os.path.exists, drivers))):
        return False
    from vit_str.torch_runtime.devices import choose_device

    return choose_device("auto").type != "cpu"
