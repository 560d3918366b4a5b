"""The engine of onnxruntime: graphs on the CPU."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vit_str.characters.charset import Charset
from vit_str.engines.forks import PerProcess
from vit_str.engines.graph_files import (
    DESCRIPTION,
    FORMAT,
    INT8,
    STATIC,
    VERSION,
    GraphFiles,
    find_graphs,
    misfit,
)
from vit_str.engines.interface import Interface, Model
from vit_str.engines.labels import teacher_forcing_inputs, teacher_forcing_scores
from vit_str.engines.onnx_steps import Graph, GroupedSteps, OnnxSteps, as_past, rows_of
from vit_str.engines.weights_contents import WeightsHeader, load_contents, unusable
from vit_str.images.preprocessing import Preprocessing
from vit_str.machine import has_static_int8, thread_count

if TYPE_CHECKING:
    from jaxtyping import Float, Int64
    from onnxruntime import InferenceSession

    from vit_str.engines.graph_files import Opener
    from vit_str.engines.initializers import Tensors
    from vit_str.engines.onnx_steps import Arrays

_NAMES = {"encoder", "step", "refine", "verify"}
_DAMAGE = (
    LookupError,
    TypeError,
    AttributeError,
    RecursionError,
    UnicodeDecodeError,
    json.JSONDecodeError,
)


class OnnxEngine:
    """Runs graphs; see `Engine`.

    Args:
        graphs: of the model.
        model: what they compute.
        tensors: of the weights file that the graphs take theirs from, if it is loaded already.
        threads: that compute; None for as many as the process may use.

    Raises:
        ValueError: a graph cannot be used, or images are prepared for another model.
    """

    backend = "onnx"
    device = "cpu"

    def __init__(
        self,
        graphs: GraphFiles,
        model: Model,
        tensors: Tensors | None = None,
        threads: int | None = None,
    ) -> None:
        size = (model.preprocessing.height, model.preprocessing.width)
        expected = model.interface.image_size
        if size != expected:
            reason = f"prepares images of {size} for a model of {expected}"
            raise ValueError(
                f"{graphs.weights or graphs.folder}: {reason} (height, width); export "
                "it again"
            )
        self.model = model
        self.threads = threads or thread_count()
        self.number_format = str(graphs.values["number_format"])
        if graphs.variant == INT8:
            self.number_format = "int8"
        self._graphs = graphs
        self._opened = PerProcess(
            _opened(graphs, self.threads, tensors),
            partial(_opened, graphs, self.threads),
        )

    def session(self, name: str) -> InferenceSession:
        """The session of a graph."""
        return self._graph(name).session

    def _graph(self, name: str) -> Graph:
        graphs = self._opened.value
        graph = graphs[name]
        if isinstance(graph, Graph):
            return graph
        opened = Graph(graph())
        graphs[name] = opened  # two threads may both open it: either is right
        return opened

    def encode(self, images: Float[np.ndarray, "batch channel height width"]) -> Arrays:
        """See `Engine`."""
        return self._graph("encoder").run(
            {"pixel_values": np.ascontiguousarray(images)}
        )

    def select(self, encoded: Arrays, rows: Sequence[int]) -> Arrays:
        """See `Engine`."""
        return rows_of(encoded, rows)

    def begin(self, encoded: Arrays) -> OnnxSteps:
        """See `Engine`."""
        takes_groups = self._graphs.variant_of("step") == STATIC
        steps = GroupedSteps if takes_groups else OnnxSteps
        return steps(self._graph("step"), encoded)

    def scores(self, encoded: Arrays) -> Float[np.ndarray, "batch position symbol"]:
        """See `Engine`."""
        return encoded["logits"]

    def refine(
        self, encoded: Arrays, labels: Int64[np.ndarray, "batch position"]
    ) -> Float[np.ndarray, "batch position_and_end symbol"]:
        """See `Engine`."""
        missing = self.model.interface.maximum_length - labels.shape[1]
        labels = np.pad(labels, ((0, 0), (0, missing)), constant_values=-1)
        inputs = {"input_ids": labels, **as_past(encoded)}
        return self._graph("refine").run(inputs)["logits"]

    def verify(
        self, encoded: Arrays, labels: Int64[np.ndarray, "batch position"]
    ) -> Float[np.ndarray, "batch position_and_end symbol"]:
        """See `Engine`."""
        ids = teacher_forcing_inputs(labels, len(self.model.charset))
        inputs = {"input_ids": ids, **as_past(encoded)}
        return self._graph("verify").run(inputs)["logits"]

    def attention(
        self, encoded: Arrays, labels: Int64[np.ndarray, "batch position"]
    ) -> Float[np.ndarray, "batch position token"]:
        """See `Engine`."""
        steps = self.begin(encoded)
        teacher_forcing_scores(steps, labels, len(self.model.charset))
        return np.stack(steps.attention, 1)[:, : labels.shape[1]]


def load_with_graphs(
    path: Path,
    variant: str = "",
    threads: int | None = None,
    header: WeightsHeader | None = None,
) -> OnnxEngine:
    """An engine for a weights file whose graphs come with the package.

    Args:
        path: the weights file.
        variant: of the graphs, see `GraphFiles`.
        threads: see `OnnxEngine`.
        header: of the file, if it is known already.

    Raises:
        ValueError: the file cannot be used, or the package has no graphs of this model.
    """
    contents = load_contents(path, header)
    folder = find_graphs(contents.description)
    if folder is None:
        raise ValueError(
            f"weights file {path}: the package has no graphs of this model; make some "
            "with vit-str export and read their folder, or use --backend torch"
        )
    values = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
    odd = misfit(values, contents.tensors)
    if odd is not None:
        raise unusable(
            path, f"its parts do not fit together (tensor {odd}); export it again"
        )
    model = Model(
        charset=contents.charset,
        preprocessing=contents.preprocessing,
        temperature=contents.temperature,
        provenance=contents.provenance,
        interface=Interface.from_dict(values["interface"]),
    )
    ranges = contents.ranges if variant == INT8 and has_static_int8() else {}
    graphs = GraphFiles(
        folder=folder,
        values=values,
        variant=variant,
        weights=path,
        ranges=ranges,
    )
    return OnnxEngine(graphs, model, contents.tensors, threads)


def load_exported(folder: Path, threads: int | None = None) -> OnnxEngine:
    """An engine for a folder of ``vit-str export``.

    Args:
        folder: with graphs that hold their weights, and their description.
        threads: see `OnnxEngine`.

    Raises:
        ValueError: a file is missing, damaged, or does not fit the others.
    """
    path = folder / DESCRIPTION
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        if values["format"] != FORMAT or values["version"] != VERSION:
            raise ValueError("another format or version")
        model = _exported_model(values)
        if "encoder" not in values["graphs"] or not {*values["graphs"]} <= _NAMES:
            raise ValueError(
                f"{path}: does not fit, graphs {values['graphs']}; export it again"
            )
        engine = OnnxEngine(GraphFiles(folder, values), model, threads=threads)
        writer = "step" if "step" in values["graphs"] else "encoder"
        symbols = _symbols(engine.session(writer))
        if symbols != len(model.charset) + 1:
            raise ValueError(
                f"{path}: {len(model.charset)} characters, but the graphs write "
                f"{symbols - 1}; export the model again"
            )
        return engine
    except FileNotFoundError:
        raise ValueError(
            f"{path}: no such file; give a folder of vit-str export"
        ) from None
    except _DAMAGE as e:
        raise ValueError(f"{path}: damaged ({e}); export the model again") from None


def _exported_model(values: Mapping[str, Any]) -> Model:
    """The model of a description."""
    return Model(
        charset=Charset(values["charset"]),
        preprocessing=Preprocessing.from_dict(values["preprocessing"]),
        temperature=float(values["temperature"]),
        provenance=dict(values["provenance"]),
        interface=Interface.from_dict(values["interface"]),
    )


def _opened(
    graphs: GraphFiles, threads: int, tensors: Tensors | None = None
) -> dict[str, Graph | Opener]:
    """The graphs; where a draft is checked, the one for steps is opened at the first doubt."""
    openers = graphs.open(threads, tensors)
    waits = {"step"} if "verify" in openers else set()
    return {
        name: opener if name in waits else Graph(opener())
        for name, opener in openers.items()
    }


def _symbols(session: InferenceSession) -> int:
    """How many symbols a graph has scores of."""
    logits = next(output for output in session.get_outputs() if output.name == "logits")
    return int(logits.shape[-1])
