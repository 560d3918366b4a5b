"""Graphs of a model as files, and what fills them: a folder of the package, or of ``export``.

The graphs of the package hold no weights: the names of their initializers say what they are given,
see `initializer`. Those of an exported folder hold all they need.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vit_str.console import reason_of
from vit_str.engines.initializers import (
    JOIN,
    QUANTIZED_OUTPUTS,
    STEP,
    TRANSPOSED,
    initializer,
)
from vit_str.engines.ranges import Ranges
from vit_str.engines.weights_contents import BUNDLED, CHECKSUM, load_contents
from vit_str.machine import has_to_share, largest_int8_weight

if TYPE_CHECKING:
    from onnxruntime import InferenceSession, OrtValue, SessionOptions

    from vit_str.engines.initializers import Tensors

    Opener = Callable[[], InferenceSession]

GRAPHS = BUNDLED / "graphs"
"""Folders of the graphs of the package, one for each architecture."""

DESCRIPTION = "model.json"
"""Name of the file that describes the graphs beside it."""

FORMAT = "vit-str-onnx"
VERSION = 1  # of the description of an exported model
IDENTITY = "vit_str"  # in the metadata of a graph: which model it is part of
INT8 = ".int8"
"""Variant of the graphs: behind the name of one whose matrix products are quantized."""

STATIC = ".static"
"""Variant of the graphs that is in 8 bits throughout, for weights that know their ranges."""

_ON_ONE_THREAD = ("step", "verify")  # graphs with too little work to share
# Threads wait for work in a loop, https://onnxruntime.ai/docs/performance/tune-performance/threading.html
_SPINNING = "session.intra_op.allow_spinning"
_NO_SPINNING_BETWEEN_RUNS = "session.force_spinning_stop"
_SILENT = 4  # level of the log of onnxruntime: what is wrong comes as an exception


@dataclass(frozen=True, slots=True)
class GraphFiles:
    """The graphs of one model.

    Attributes:
        folder: where they are.
        values: of their description.
        variant: which of them, ``""`` or ``INT8``.
        weights: the file whose tensors they take; None if they hold their own.
        ranges: of the weights file; graphs are `STATIC` that need no others.
    """

    folder: Path
    values: Mapping[str, Any]
    variant: str = ""
    weights: Path | None = None
    ranges: Ranges = field(default_factory=dict)

    def open(
        self,
        threads: int,
        tensors: Tensors | None = None,
    ) -> dict[str, Opener]:
        """Functions that open the session of each graph, by name.

        Each raises a ValueError if the graph is of another model, or onnxruntime cannot open it.

        Args:
            threads: that compute.
            tensors: of the weights file, if it is loaded already.

        Raises:
            ValueError: a file is missing, or damaged as its checksum tells.
        """
        if tensors is None and self.weights is not None:
            tensors = load_contents(self.weights).tensors
        made = {} if tensors is None else self._initializers(tensors)
        return {
            name: self._opener(name, threads, made) for name in self.values["graphs"]
        }

    def _opener(self, name: str, threads: int, made: Mapping[str, OrtValue]) -> Opener:
        path = self._path(name)
        self._check_file(path)
        needed = self.values["tensors"][path.stem] if made else ()
        given = {each: made[each] for each in needed}
        return partial(self._session, name, path, threads, given)

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}{self.variant_of(name)}.onnx"

    def _initializers(self, tensors: Tensors) -> dict[str, OrtValue]:
        """Initializers of the graphs from a weights file, by name; several may take the same."""
        from onnxruntime import OrtValue

        files = [self._path(name).stem for name in self.values["graphs"]]
        names = {name for file in files for name in self.values["tensors"][file]}
        largest = largest_int8_weight()
        return {
            name: OrtValue.ortvalue_from_numpy(
                initializer(name, tensors, self.ranges, largest)
            )
            for name in names
        }

    def _session(
        self,
        name: str,
        path: Path,
        threads: int,
        initializers: Mapping[str, OrtValue],
    ) -> InferenceSession:
        options = session_options(1 if name in _ON_ONE_THREAD else threads)
        if initializers:
            names = list(initializers)
            options.add_external_initializers(names, list(initializers.values()))
        try:
            session = open_session(path, options)
        except Exception as error:  # of types of its own
            reason = reason_of(error)
            raise ValueError(
                f"{path}: damaged ({reason}); export the model again"
            ) from None
        identity = session.get_modelmeta().custom_metadata_map.get(IDENTITY)
        if identity != self.values["identity"]:
            raise ValueError(
                f"{path}: of another model than {DESCRIPTION}; export the model again"
            )
        return session

    def variant_of(self, name: str) -> str:
        """The variant of a graph: the static one if the ranges of its points are known."""
        points = points_of(self.values, name)
        return STATIC if points and points <= {*self.ranges} else self.variant

    def _check_file(self, path: Path) -> None:
        """Refuse a graph that is missing, or not as it was written."""
        if not path.is_file():
            raise ValueError(f"{path}: no such file; export the model again")
        listed = self.values.get(CHECKSUM, {}).get(path.name)
        if listed and listed != hashlib.sha256(path.read_bytes()).hexdigest():
            raise ValueError(
                f"{path}: damaged, not as it was written; export the model again"
            )


def session_options(threads: int) -> SessionOptions:
    """How onnxruntime computes here with so many threads."""
    from onnxruntime import SessionOptions

    options = SessionOptions()
    options.log_severity_level = _SILENT
    options.intra_op_num_threads = threads
    options.add_session_config_entry(_NO_SPINNING_BETWEEN_RUNS, "1")
    options.add_session_config_entry(_SPINNING, "0" if has_to_share() else "1")
    return options


def open_session(path: Path, options: SessionOptions) -> InferenceSession:
    """A session with the graph of a file; errors are those of onnxruntime.

    It prints nothing, not even of a second try to open a damaged file.
    """
    from onnxruntime import InferenceSession

    providers = ["CPUExecutionProvider"]
    return InferenceSession(path, options, providers, enable_fallback=False)


def find_graphs(description: Mapping[str, Any]) -> Path | None:
    """The folder of graphs for models of this description, if the package has one."""
    folder = GRAPHS / description_digest(description)
    return folder if folder.is_dir() else None


def takes_ranges(description: Mapping[str, Any]) -> bool:
    """Whether the package has a graph of these models that is in 8 bits throughout."""
    folder = find_graphs(description)
    return folder is not None and any(folder.glob(f"*{STATIC}.onnx"))


def description_digest(description: Mapping[str, Any]) -> str:
    """A name for an architecture with its sizes, whatever its weights."""
    content = json.dumps(description, sort_keys=True).encode()
    return hashlib.sha256(content).hexdigest()[:12]


def misfit(values: Mapping[str, Any], tensors: Tensors) -> str | None:
    """The first tensor by name that a weights file and the graphs for it disagree on."""
    named: dict[str, Any] = {}
    for graph in values["graphs"]:
        named.update(values["tensors"][graph])
    expected = {
        name.removesuffix(".T"): shape[::-1] if name.endswith(".T") else shape
        for name, shape in named.items()
    }
    found = {
        name: list(tensor.shape) for name, tensor in tensors.items() if tensor.size
    }
    odd = (
        name for name in {*found, *expected} if found.get(name) != expected.get(name)
    )
    return min(odd, default=None)


def int8_weights(values: Mapping[str, Any]) -> set[str]:
    """The tensors that static graphs take in 8 bits, every output on a scale of its own."""
    names: set[str] = set()
    for graph in values["graphs"]:
        for name in values["tensors"].get(graph + STATIC, {}):
            if name.endswith(QUANTIZED_OUTPUTS):
                layers = name.removesuffix(QUANTIZED_OUTPUTS).removesuffix(TRANSPOSED)
                names.update(layers.split(JOIN))
    return names


def points_of(values: Mapping[str, Any], graph: str) -> set[str]:
    """The points whose ranges the static variant of a graph needs; none if there is no such."""
    names = values["tensors"].get(graph + STATIC, {}) if "tensors" in values else {}
    return {name.removesuffix(STEP) for name in names if name.endswith(STEP)}
