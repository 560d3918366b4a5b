"""Make the graphs for the weights of the package anew: python data/make_graphs.py."""

import copy
import json
import shutil
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from onnx import ModelProto, TensorProto, numpy_helper

from vit_str import console
from vit_str.engines.graph_files import GRAPHS, INT8, STATIC, description_digest
from vit_str.engines.initializers import QUANTIZED, SCALE
from vit_str.engines.weights_contents import bundled_names, resolve
from vit_str.export.folder import describe_graphs, identify, quantized, write_files
from vit_str.export.graphs import export_graphs
from vit_str.export.static import external_shapes, static_graphs
from vit_str.models import Recognizer, describe
from vit_str.torch_runtime.engine import interface_of
from vit_str.torch_runtime.weights_file import WeightsFile, load_weights

# numbers; a larger one that is no tensor of the model would be weights
_LARGEST_CONSTANT = 64


def main() -> None:
    """Make the graphs of all weights of the package, and drop those of others."""
    made = {write_bundled(load_weights(resolve(name))) for name in bundled_names()}
    for folder in GRAPHS.iterdir():
        if folder not in made:
            shutil.rmtree(folder)
    for folder in sorted(made):
        console.write(str(folder))


def write_bundled(weights: WeightsFile) -> Path:
    """Write the graphs of a model without weights into the package; returns their folder."""
    recognizer = _with_other_numbers(weights.recognizer)
    description = json.loads(json.dumps(describe(recognizer)))
    digest = description_digest(description)
    state = {name: tensor.numpy() for name, tensor in recognizer.state_dict().items()}
    graphs = export_graphs(recognizer)
    values = describe_graphs(graphs, interface_of(recognizer), digest)
    in_int8 = {f"{name}{INT8}": quantized(graph) for name, graph in graphs.items()}
    tensors = {
        f"{name}{INT8}": _strip_quantized(in_int8[f"{name}{INT8}"], graph, state)
        for name, graph in graphs.items()
    }
    tensors |= {name: _strip(graph, state) for name, graph in graphs.items()}
    others = dict(in_int8)
    for name, graph in static_graphs(recognizer).items():
        identify(graph, digest)
        others[f"{name}{STATIC}"] = graph
        tensors[f"{name}{STATIC}"] = external_shapes(graph)
    write_files(
        GRAPHS / digest,
        graphs | others,
        values | {"number_format": "float32", "tensors": tensors},
    )
    return GRAPHS / digest


@torch.no_grad()
def _with_other_numbers(recognizer: Recognizer) -> Recognizer:
    """A copy with random weights, no two alike: by their numbers they are found in graphs."""
    copied = copy.deepcopy(recognizer)
    generator = torch.Generator().manual_seed(0)
    for parameter in copied.parameters():
        parameter.normal_(generator=generator)
    return copied


def _strip(graph: ModelProto, state: Mapping[str, np.ndarray]) -> dict[str, list[int]]:
    """Take the weights out; returns the shapes of what has to be given instead, by name."""
    names, shapes = {}, {}
    for tensor in graph.graph.initializer:
        values = numpy_helper.to_array(tensor)
        if values.dtype != np.float32 or values.size == 1:
            continue
        name = _name_of(values, state)
        if name is None and values.size > _LARGEST_CONSTANT:
            raise ValueError(
                f"{tensor.name} of {values.shape} is no tensor of the model"
            )
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


if __name__ == "__main__":
    main()
