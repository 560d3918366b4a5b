"""Graphs node by node, with names in place of the weights that fill them."""

from collections.abc import Sequence
from typing import Any

from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, helper
from torch import nn

from vit_str.engines.initializers import JOIN
from vit_str.export.graphs import OPSET
from vit_str.models import Recognizer

MICROSOFT = "com.microsoft"
"""The domain of operators that only onnxruntime has."""

_IR_VERSION = 10

Shape = Sequence[int | str]
"""Sizes of axes, or the names of those that may have any size."""


class Graph:
    """Nodes in the making, and the names and shapes of what they are going to be given.

    Args:
        name: of the graph.
        recognizer: the model whose layers it computes.
    """

    def __init__(self, name: str, recognizer: Recognizer) -> None:
        self.name = name
        self.recognizer = recognizer
        self.names = {module: name for name, module in recognizer.named_modules()}
        self._nodes: list[NodeProto] = []
        self._initializers: dict[str, TensorProto] = {}
        self._inputs: list[ValueInfoProto] = []
        self._outputs: list[ValueInfoProto] = []

    def take(
        self,
        name: str,
        shape: Shape,
        kind: TensorProto.DataType = TensorProto.FLOAT,
    ) -> str:
        """Declare an input; returns its name."""
        self._inputs.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def give(self, name: str, shape: Shape) -> None:
        """Declare an output."""
        output = helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        self._outputs.append(output)

    def add(
        self,
        operator: str,
        inputs: Sequence[str],
        *,
        output: str = "",
        domain: str = "",
        **attributes: Any,
    ) -> str:
        """A node with one output; returns its name."""
        output = output or f"{operator}_{len(self._nodes)}"
        node = helper.make_node(
            operator,
            inputs,
            [output],
            output,
            domain=domain,
            **attributes,
        )
        self._nodes.append(node)
        return output

    def given(
        self,
        name: str,
        shape: Sequence[int],
        kind: TensorProto.DataType = TensorProto.FLOAT,
    ) -> str:
        """An initializer that the weights file gives when it is opened, see `initializers`."""
        tensor = TensorProto(name=name, data_type=kind, dims=shape)
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value="weights")
        return self._hold(tensor)

    def constant(self, values: Sequence[int]) -> str:
        """Whole numbers."""
        name = "x".join(map(str, values))
        tensor = helper.make_tensor(name, TensorProto.INT64, [len(values)], values)
        return self._hold(tensor)

    def scalar(self, value: int, kind: TensorProto.DataType = TensorProto.INT64) -> str:
        """One whole number."""
        name = f"{value}_{TensorProto.DataType.Name(kind)}"
        return self._hold(helper.make_tensor(name, kind, [], [value]))

    def _hold(self, tensor: TensorProto) -> str:
        self._initializers[tensor.name] = tensor
        return str(tensor.name)

    def reshape(self, x: str, *shape: int) -> str:
        """The same values in another shape, behind the axis of the batch."""
        return self.add("Reshape", [x, self.constant([-1, *shape])])

    def transpose(self, x: str, order: Sequence[int]) -> str:
        """The same values with the axes in another order."""
        return self.add("Transpose", [x], perm=order)

    def size(self, x: str, axis: int) -> str:
        """The size of one axis, as one number in a row."""
        return self.add("Shape", [x], start=axis, end=axis + 1)

    def pick(self, x: str, place: int, *, axis: int, output: str = "") -> str:
        """One place of an axis, without that axis."""
        return self.add("Gather", [x, self.scalar(place)], output=output, axis=axis)

    def normalize(self, x: str, norm: nn.LayerNorm) -> str:
        """Layer normalization."""
        name = self.names[norm]
        weight = self.given(f"{name}.weight", norm.normalized_shape)
        bias = self.given(f"{name}.bias", norm.normalized_shape)
        return self.add(
            "LayerNormalization", [x, weight, bias], axis=-1, epsilon=norm.eps
        )

    def joined_name(self, layers: Sequence[nn.Linear], kind: str) -> str:
        """Name of the weights or biases of several layers, joined along their outputs."""
        return JOIN.join(f"{self.names[layer]}.{kind}" for layer in layers)

    def model(self) -> ModelProto:
        """All of it."""
        graph = helper.make_graph(
            self._nodes,
            self.name,
            self._inputs,
            self._outputs,
            list(self._initializers.values()),
        )
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(MICROSOFT, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION)


def external_shapes(graph: ModelProto) -> dict[str, list[int]]:
    """The shapes of what a graph has to be given, by name."""
    return {
        tensor.name: list(tensor.dims)
        for tensor in graph.graph.initializer
        if tensor.data_location == TensorProto.EXTERNAL
    }
