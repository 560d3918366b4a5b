"""What a reader asks of what computes, which library that is, and that of onnxruntime.

The graphs of the package hold no weights: an initializer has the name of a tensor of the weights
file, with ``.T`` behind it if it is the transpose, and ``:int8`` or ``:scale`` if it is quantized.
Those of an exported folder hold all they need.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from vit_str.console import reason_of
from vit_str.runtime.charset import Charset
from vit_str.runtime.images import Preprocessing
from vit_str.runtime.machine import has_fast_int8, install_hint, thread_count
from vit_str.runtime.search import (
    Steps,
    teacher_forcing_inputs,
    teacher_forcing_scores,
)
from vit_str.runtime.weights_contents import (
    BUNDLED,
    CHECKSUM,
    Contents,
    load_contents,
    resolve,
    unusable,
)

if TYPE_CHECKING:
    from jaxtyping import Float, Int64
    from onnxruntime import InferenceSession

    from vit_str.torch_runtime.weights_file import WeightsFile

    Arrays = dict[str, Float[np.ndarray, "batch ..."]]
    Tensors = Mapping[str, Float[np.ndarray, "..."]]

BACKENDS = ("auto", "onnx", "onnx-int8", "torch")
LOOPS = ("step", "refine", "scores", "ctc")
TORCH_HINT = f"run: {install_hint('torch')}"

GRAPHS = BUNDLED / "graphs"
DESCRIPTION = "model.json"
FORMAT = "vit-str-onnx"
VERSION = 1  # of the description of an exported model
IDENTITY = "vit_str"  # in the metadata of a graph: which model it is part of
_PAST, _PRESENT = "past_key_values", "present"
_OF_IMAGE = ".encoder."  # in the names of keys and values that stay while a text is written
INT8 = ".int8"  # behind the name of a graph whose matrix products are quantized
QUANTIZED, SCALE = ":int8", ":scale"
_NAMES = {"encoder", "step", "refine", "verify"}


@dataclass(frozen=True, slots=True)
class Interface:
    """How a model is used."""

    decoder: str  # name of its class
    # `step` writes character by character; `refine` too, and can read all characters at once
    # and again; `scores` has scores for every position, `ctc` for every column
    loop: str
    maximum_length: int  # most characters it writes
    grid: tuple[int, int]  # rows and columns of tokens
    special_tokens: int  # number of tokens before them
    image_size: tuple[int, int]  # height and width
    has_cross_attention: bool = False  # whether it says where it looks while it writes
    decoding: str = "autoregressive"  # `autoregressive` or `parallel`, with `refine`
    refinements: int = 0  # how often the text is read again, with `refine`
    # Whether `Scorer.scores` are of drafts, which `Scorer.verify` checks, with `step`
    drafts: bool = False

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Interface:
        """Inverse of ``asdict``."""
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
    """What reading needs to know of a model."""

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
    """Runs a model on numpy arrays; what it makes of images is its own."""

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
    """
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


class OnnxEngine:
    """Runs graphs on the CPU."""

    backend, device = "onnx", "cpu"

    def __init__(
        self,
        folder: Path,
        values: Mapping[str, Any],
        model: Model,
        tensors: Tensors | None = None,
        weights: Path | None = None,
        int8: bool = False,
    ) -> None:
        size = (model.preprocessing.height, model.preprocessing.width)
        expected = model.interface
        if size != expected.image_size:
            reason = f"prepares images of {size} for a model of {expected.image_size}"
            raise ValueError(f"{weights or folder}: {reason} (height, width); export it again")
        self.model = model
        self.number_format = "int8" if int8 else str(values["number_format"])
        self._suffix = INT8 if int8 else ""
        self._folder = folder
        self._values = values
        self._weights = weights
        self._sessions = self._open(tensors)
        self._process = os.getpid()

    def _open(self, tensors: Tensors | None) -> dict[str, InferenceSession]:
        return {
            name: _session(self._folder / f"{name}{self._suffix}.onnx", self._values, tensors)
            for name in self._values["graphs"]
        }

    def session(self, name: str) -> InferenceSession:
        """A graph; opened anew in a forked process, where the threads of a session are missing."""
        if self._process != os.getpid():
            tensors = load_contents(self._weights).tensors if self._weights else None
            self._sessions = self._open(tensors)
            self._process = os.getpid()
        return self._sessions[name]

    def encode(self, images: Float[np.ndarray, "batch channel height width"]) -> Arrays:
        """See `Engine`."""
        return _run(self.session("encoder"), {"pixel_values": np.ascontiguousarray(images)})

    def select(self, encoded: Arrays, rows: Sequence[int]) -> Arrays:
        """See `Engine`."""
        return _rows(encoded, rows)

    def begin(self, encoded: Arrays) -> _OnnxSteps:
        """See `Engine`."""
        return _OnnxSteps(self.session("step"), encoded)

    def scores(self, encoded: Arrays) -> Float[np.ndarray, "batch position symbol"]:
        """See `Engine`."""
        return encoded["logits"]

    def refine(
        self, encoded: Arrays, labels: Int64[np.ndarray, "batch position"]
    ) -> Float[np.ndarray, "batch position_and_end symbol"]:
        """See `Engine`."""
        missing = self.model.interface.maximum_length - labels.shape[1]
        labels = np.pad(labels, ((0, 0), (0, missing)), constant_values=-1)
        return _run(self.session("refine"), {"input_ids": labels, **_as_past(encoded)})["logits"]

    def verify(
        self, encoded: Arrays, labels: Int64[np.ndarray, "batch position"]
    ) -> Float[np.ndarray, "batch position_and_end symbol"]:
        """See `Engine`."""
        inputs = teacher_forcing_inputs(labels, len(self.model.charset))
        return _run(self.session("verify"), {"input_ids": inputs, **_as_past(encoded)})["logits"]

    def attention(
        self, encoded: Arrays, labels: Int64[np.ndarray, "batch position"]
    ) -> Float[np.ndarray, "batch position token"]:
        """See `Engine`."""
        steps = self.begin(encoded)
        teacher_forcing_scores(steps, labels, len(self.model.charset))
        return np.stack(steps.attention, 1)[:, : labels.shape[1]]


class _OnnxSteps(Steps):
    """Texts that the step graph writes; see `Steps`.

    The graph broadcasts the keys and values of a single image over its beams. Those of several
    are copied for every row, but only when rows get other images.
    """

    def __init__(self, session: InferenceSession, encoded: Arrays) -> None:
        self._session = session
        state = _as_past(encoded)
        self._image = {name: values for name, values in state.items() if _OF_IMAGE in name}
        self._written = {name: values for name, values in state.items() if name not in self._image}
        batch = len(next(iter(encoded.values())))
        self._images = np.arange(batch)
        self._of_rows = self._image
        for value in session.get_inputs():
            if value.name.startswith(_PAST) and value.name not in state:
                _, heads, _, head_dim = value.shape
                self._written[value.name] = np.zeros((batch, heads, 0, head_dim), np.float32)
        self.attention: list[Float[np.ndarray, "row token"]] = []

    def step(
        self, symbols: Int64[np.ndarray, " row"], position: int
    ) -> Float[np.ndarray, "row symbol"]:
        inputs = {"input_ids": symbols[:, None], **self._of_rows, **self._written}
        found = _run(self._session, inputs)
        self._written |= _as_past(found)
        if "cross_attentions" in found:
            self.attention.append(found["cross_attentions"])
        return found["logits"][:, -1]

    def keep(self, rows: Int64[np.ndarray, " row"]) -> None:
        images = self._images[rows]
        if not np.array_equal(images, self._images):
            is_shared = (images == images[0]).all()
            self._of_rows = _rows(self._image, images[:1] if is_shared else images)
        self._images = images
        self._written = _rows(self._written, rows)


def load_with_graphs(path: Path, int8: bool = False) -> OnnxEngine:
    """An engine for a weights file whose graphs come with the package."""
    contents = load_contents(path)
    folder = find_graphs(contents)
    if folder is None:
        raise ValueError(
            f"weights file {path}: the package has no graphs of this model; make some with "
            "vit-str export and read their folder, or use --backend torch"
        )
    values = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
    named = {
        name: shape
        for graph in values["graphs"]
        for name, shape in values["tensors"][graph].items()
    }
    expected = {n.removesuffix(".T"): s[::-1] if n.endswith(".T") else s for n, s in named.items()}
    found = {name: list(t.shape) for name, t in contents.tensors.items() if t.size}
    odd = sorted(n for n in {*found, *expected} if found.get(n) != expected.get(n))
    if odd:
        reason = f"its parts do not fit together (tensor {odd[0]}); export it again"
        raise unusable(path, reason)
    model = Model(
        contents.charset,
        contents.preprocessing,
        contents.temperature,
        contents.provenance,
        Interface.from_dict(values["interface"]),
    )
    return OnnxEngine(folder, values, model, contents.tensors, path, int8)


def load_exported(folder: Path) -> OnnxEngine:
    """An engine for a folder of ``vit-str export``."""
    path = folder / DESCRIPTION
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        if values["format"] != FORMAT or values["version"] != VERSION:
            raise ValueError("another format or version")
        model = Model(
            Charset(values["charset"]),
            Preprocessing.from_dict(values["preprocessing"]),
            float(values["temperature"]),
            dict(values["provenance"]),
            Interface.from_dict(values["interface"]),
        )
        if "encoder" not in values["graphs"] or not {*values["graphs"]} <= _NAMES:
            raise ValueError(f"{path}: does not fit, graphs {values['graphs']}; export it again")
        engine = OnnxEngine(folder, values, model)
        outputs = engine.session("step" if "step" in values["graphs"] else "encoder").get_outputs()
        symbols = next(int(output.shape[-1]) for output in outputs if output.name == "logits")
        if symbols != len(model.charset) + 1:
            raise ValueError(
                f"{path}: {len(model.charset)} characters, but the graphs write {symbols - 1}; "
                "export the model again"
            )
        return engine
    except FileNotFoundError:
        raise ValueError(f"{path}: no such file; give a folder of vit-str export") from None
    except (LookupError, TypeError, AttributeError, UnicodeDecodeError, json.JSONDecodeError) as e:
        raise ValueError(f"{path}: damaged ({e}); export the model again") from None


def find_graphs(contents: Contents) -> Path | None:
    """The folder of graphs for models of this description, if the package has one."""
    folder = GRAPHS / description_digest(contents.description)
    return folder if folder.is_dir() else None


def description_digest(description: Mapping[str, Any]) -> str:
    """A name for an architecture with its sizes, whatever its weights."""
    return hashlib.sha256(json.dumps(description, sort_keys=True).encode()).hexdigest()[:12]


def _session(path: Path, values: Mapping[str, Any], tensors: Tensors | None) -> InferenceSession:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = thread_count()
    options.log_severity_level = 4  # what is wrong comes as an exception
    if path.name.startswith(("step", "verify")):  # too little work to share
        options.intra_op_num_threads = 1
    if tensors is not None:
        names = list(values["tensors"][path.stem])
        given = [_initializer(name, tensors) for name in names]
        options.add_external_initializers(
            names, [onnxruntime.OrtValue.ortvalue_from_numpy(tensor) for tensor in given]
        )
    if not path.is_file():
        raise ValueError(f"{path}: no such file; export the model again")
    listed = values.get(CHECKSUM, {}).get(path.name)
    if listed and listed != hashlib.sha256(path.read_bytes()).hexdigest():
        raise ValueError(f"{path}: damaged, not as it was written; export the model again")
    try:
        session = onnxruntime.InferenceSession(path, options, ["CPUExecutionProvider"])
    except Exception as error:  # of types of its own
        reason = reason_of(error)
        raise ValueError(f"{path}: damaged ({reason}); export the model again") from None
    identity = session.get_modelmeta().custom_metadata_map.get(IDENTITY)
    if identity != values["identity"]:
        raise ValueError(f"{path}: of another model than {DESCRIPTION}; export the model again")
    return session


def _initializer(name: str, tensors: Tensors) -> np.ndarray:
    """What a graph of the package calls by a name, made of the tensors of a weights file."""
    base = name.removesuffix(QUANTIZED).removesuffix(SCALE)
    tensor = tensors[base.removesuffix(".T")]
    tensor = np.ascontiguousarray(tensor.T) if base.endswith(".T") else tensor
    if base == name:
        return tensor
    scale = np.float32(np.abs(tensor).max() / 127)
    if name.endswith(SCALE):
        return np.array(scale)
    return np.rint(tensor / scale).astype(np.int8)


def _run(session: InferenceSession, inputs: Mapping[str, np.ndarray]) -> Arrays:
    names = [value.name for value in session.get_outputs()]
    return dict(zip(names, session.run(None, inputs), strict=True))


def _rows(arrays: Arrays, rows: Sequence[int] | np.ndarray) -> Arrays:
    return {name: values[rows] for name, values in arrays.items()}


def _as_past(arrays: Arrays) -> Arrays:
    """What one call gives for the next, under the names that it takes."""
    return {
        _PAST + name.removeprefix(_PRESENT): values
        for name, values in arrays.items()
        if name.startswith(_PRESENT)
    }
