"""Folders of graphs: with the weights in them, for anybody, or without, for the package."""

import hashlib
import json
import logging
import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from onnx import ModelProto, TensorProto, numpy_helper

from vit_str.export.graphs import export_graphs
from vit_str.export.readme import readme
from vit_str.files import write_atomically
from vit_str.models import describe
from vit_str.runtime.engine import (
    DESCRIPTION,
    FORMAT,
    GRAPHS,
    IDENTITY,
    INT8,
    QUANTIZED,
    SCALE,
    VERSION,
    Interface,
    description_digest,
)
from vit_str.runtime.weights_contents import CHECKSUM
from vit_str.torch_runtime.engine import interface_of
from vit_str.torch_runtime.weights_file import WeightsFile

_LARGEST_CONSTANT = 64  # numbers; a larger one that is no tensor of the model would be weights


def write_exported(weights: WeightsFile, out: Path, int8: bool = False) -> None:
    """Write the graphs of a model with their weights and a README; the description comes last."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ValueError(f"--out {out}: there already, and not empty; give a new folder")
    graphs = export_graphs(weights.recognizer)
    if int8:
        graphs = {name: _quantized(graph) for name, graph in graphs.items()}
    digest = hashlib.sha256()
    for graph in graphs.values():
        digest.update(graph.SerializeToString(deterministic=True))
    interface = interface_of(weights.recognizer)
    values = {
        **_description(graphs, interface, digest.hexdigest()[:16]),
        "number_format": "int8" if int8 else "float32",
        "temperature": weights.temperature,
        "charset": weights.charset.characters,
        "preprocessing": weights.preprocessing.to_dict(),
        "provenance": weights.provenance,
    }
    _write(out, graphs, values, readme(interface, list(graphs)))


def write_bundled(weights: WeightsFile) -> Path:
    """Write the graphs of a model without weights into the package; returns their folder."""
    description = json.loads(json.dumps(describe(weights.recognizer)))
    digest = description_digest(description)
    state = {name: tensor.numpy() for name, tensor in weights.recognizer.state_dict().items()}
    graphs = export_graphs(weights.recognizer)
    values = _description(graphs, interface_of(weights.recognizer), digest)
    quantized = {f"{name}{INT8}": _quantized(graph) for name, graph in graphs.items()}
    tensors = {
        f"{name}{INT8}": _strip_quantized(quantized[f"{name}{INT8}"], graph, state)
        for name, graph in graphs.items()
    }
    tensors |= {name: _strip(graph, state) for name, graph in graphs.items()}
    _write(
        GRAPHS / digest,
        graphs | quantized,
        values | {"number_format": "float32", "tensors": tensors},
    )
    return GRAPHS / digest


def _description(
    graphs: Mapping[str, ModelProto], interface: Interface, identity: str
) -> dict[str, Any]:
    """What `OnnxEngine` needs besides the graphs, which get the identity too."""
    for graph in graphs.values():
        graph.metadata_props.add(key=IDENTITY, value=identity)
    return {
        "format": FORMAT,
        "version": VERSION,
        "identity": identity,
        "graphs": list(graphs),
        "interface": asdict(interface),
    }


def _write(
    out: Path, graphs: Mapping[str, ModelProto], values: dict[str, Any], page: str | None = None
) -> None:
    files = {f"{name}.onnx": graph.SerializeToString() for name, graph in graphs.items()}
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    values = {**values, CHECKSUM: digests}
    if page:
        files["README.md"] = page.encode()
    files[DESCRIPTION] = (json.dumps(values, indent=1, ensure_ascii=False) + "\n").encode()
    for name, content in files.items():
        with write_atomically(out / name) as temporary:
            temporary.write_bytes(content)


def _strip(graph: ModelProto, state: Mapping[str, np.ndarray]) -> dict[str, list[int]]:
    """Take the weights out; returns the shapes of what has to be given instead, by name."""
    names, shapes = {}, {}
    for tensor in graph.graph.initializer:
        values = numpy_helper.to_array(tensor)
        if values.dtype != np.float32 or values.size == 1:
            continue
        name = _name_of(values, state)
        if name is None and values.size > _LARGEST_CONSTANT:
            raise ValueError(f"{tensor.name} of {values.shape} is no tensor of the model")
        if name is not None:
            names[tensor.name], shapes[name] = name, list(values.shape)
            _make_external(tensor, name)
    _rename_inputs(graph, names)
    return shapes


def _strip_quantized(
    graph: ModelProto, original: ModelProto, state: Mapping[str, np.ndarray]
) -> dict[str, list[int]]:
    """As `_strip`, for the quantized graph of an original that has its weights yet."""
    names, shapes = {}, _strip(graph, state)
    floats = {tensor.name: tensor for tensor in original.graph.initializer}
    for tensor in graph.graph.initializer:
        before, _, part = tensor.name.rpartition("_")
        if part not in ("quantized", "scale") or before not in floats:
            continue
        name = _name_of(numpy_helper.to_array(floats[before]), state)
        if name is None:
            raise ValueError(f"{before} is no tensor of the model")
        names[tensor.name] = name + (QUANTIZED if part == "quantized" else SCALE)
        shapes[names[tensor.name]] = list(tensor.dims)
        _make_external(tensor, names[tensor.name])
    _rename_inputs(graph, names)
    return shapes


def _make_external(tensor: TensorProto, name: str) -> None:
    """Leave nothing of an initializer but its shape, and the name under which it is given."""
    for field in ("raw_data", "float_data", "int32_data"):
        tensor.ClearField(field)
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="weights")
    tensor.name = name


def _rename_inputs(graph: ModelProto, names: Mapping[str, str]) -> None:
    for node in graph.graph.node:
        node.input[:] = [names.get(name, name) for name in node.input]


def _name_of(values: np.ndarray, state: Mapping[str, np.ndarray]) -> str | None:
    for name, tensor in state.items():
        if tensor.shape == values.shape and np.array_equal(tensor, values):
            return name
        if tensor.ndim == 2 and np.array_equal(tensor.T, values):
            return f"{name}.T"
    return None


def _quantized(graph: ModelProto) -> ModelProto:
    """Weights of matrix products in int8; what they are multiplied with is quantized as it comes.

    Convolutions stay: in int8 they are slower.
    """
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic

    copied = ModelProto()  # quantizing changes what it is given
    copied.CopyFrom(graph)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "quantized.onnx")
        root = logging.getLogger()
        root.addFilter(_is_no_advice)
        try:
            quantize_dynamic(
                copied, path, weight_type=QuantType.QInt8, op_types_to_quantize=["MatMul", "Gemm"]
            )
        finally:
            root.removeFilter(_is_no_advice)
        return onnx.load(path)


def _is_no_advice(record: logging.LogRecord) -> bool:
    """Whether a message is not the advice to infer shapes first, which the export has done."""
    return "pre-processing before quantization" not in record.getMessage()
