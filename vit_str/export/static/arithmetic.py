"""How the layers of a graph compute: in 8 bits with known ranges, or in float32.

In 8 bits, a point names the range of what comes into a layer or goes out of it (Jacob et al. 2018,
with a scale for every output of a layer). Convolutions keep the channels last, and a ReLU is
nothing but the range that begins at 0.
"""

from collections.abc import Sequence
from typing import Any, Protocol

from onnx import TensorProto
from torch import nn

from vit_str.engines.initializers import (
    BIAS,
    QUANTIZED_OUTPUTS,
    SCALE_OUTPUTS,
    STEP,
    TRANSPOSED,
    ZERO,
)
from vit_str.engines.ranges import input_of, output_of
from vit_str.export.static.graph import MICROSOFT, Graph
from vit_str.models.attention import MultiHeadAttention

Convolution = nn.Conv1d | nn.Conv2d


class Arithmetic(Protocol):
    """How layers compute. A point names the range of what comes in, or goes out."""

    def quantize(self, x: str, point: str) -> str:
        """The input of layers that come after this point."""

    def rectify(self, x: str, point: str) -> str:
        """The same of the positive part (ReLU)."""

    def convolve(self, x: str, point: str, layer: Convolution) -> str:
        """A convolution with channels last; float32."""

    def multiply(self, x: str, point: str, layers: Sequence[nn.Linear]) -> str:
        """The outputs of several layers, one behind the other; float32."""

    def attend(
        self, x: str, point: str, attention: MultiHeadAttention, *, causal: bool = False
    ) -> str:
        """Self-attention up to ``to_output``, to no later token if causal; float32."""


class Float32(Arithmetic):
    """See `Arithmetic`."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def quantize(self, x: str, point: str) -> str:
        return x

    def rectify(self, x: str, point: str) -> str:
        return self._graph.add("Relu", [x])

    def convolve(self, x: str, point: str, layer: Convolution) -> str:
        name = self._graph.names[layer]
        last = layer.weight.ndim - 1
        between = range(1, last)
        x = self._graph.transpose(x, [0, last, *between])
        weight = self._graph.given(f"{name}.weight", layer.weight.shape)
        bias = self._graph.given(f"{name}.bias", [layer.out_channels])
        x = self._graph.add("Conv", [x, weight, bias], **_window(layer))
        return self._graph.transpose(x, [0, *(axis + 1 for axis in between), 1])

    def multiply(self, x: str, point: str, layers: Sequence[nn.Linear]) -> str:
        weight, bias = self._joined(layers)
        x = self._graph.add("MatMul", [x, weight])
        return self._graph.add("Add", [x, bias])

    def attend(
        self, x: str, point: str, attention: MultiHeadAttention, *, causal: bool = False
    ) -> str:
        weight, bias = self._joined([attention.to_queries, attention.to_keys_values])
        return self._graph.add(
            "Attention",
            [x, weight, bias],
            domain=MICROSOFT,
            num_heads=attention.heads,
            unidirectional=int(causal),
        )

    def _joined(self, layers: Sequence[nn.Linear]) -> tuple[str, str]:
        weight = self._graph.joined_name(layers, "weight") + TRANSPOSED
        shape = [layers[0].in_features, _width(layers)]
        bias = self._graph.joined_name(layers, "bias")
        given_weight = self._graph.given(weight, shape)
        given_bias = self._graph.given(bias, [_width(layers)])
        return given_weight, given_bias


class Int8(Arithmetic):
    """See `Arithmetic`."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def quantize(self, x: str, point: str) -> str:
        return self._graph.add("QuantizeLinear", [x, *self._range(point)])

    def rectify(self, x: str, point: str) -> str:
        return self.quantize(x, point)  # its range begins at 0

    def convolve(self, x: str, point: str, layer: Convolution) -> str:
        name = self._graph.names[layer]
        outputs = [layer.out_channels]
        weight = f"{name}.weight"
        range_after = self._range(output_of(name))
        inputs = [
            x,
            *self._range(point),
            self._graph.given(
                weight + QUANTIZED_OUTPUTS, layer.weight.shape, TensorProto.INT8
            ),
            self._graph.given(weight + SCALE_OUTPUTS, outputs),
            self._graph.scalar(0, TensorProto.INT8),
            *range_after,
            self._graph.given(f"{name}.bias{BIAS}{point}", outputs, TensorProto.INT32),
        ]
        window = _window(layer)
        x = self._graph.add(
            "QLinearConv",
            inputs,
            domain=MICROSOFT,
            channels_last=1,
            **window,
        )
        return self._graph.add("DequantizeLinear", [x, *range_after])

    def multiply(self, x: str, point: str, layers: Sequence[nn.Linear]) -> str:
        weight, scale, bias = self._joined(layers)
        step, zero = self._range(point)
        inputs = [x, weight, step, scale, zero, "", bias]
        return self._graph.add("MatMulIntegerToFloat", inputs, domain=MICROSOFT)

    def attend(
        self, x: str, point: str, attention: MultiHeadAttention, *, causal: bool = False
    ) -> str:
        layers = [attention.to_queries, attention.to_keys_values]
        weight, scale, bias = self._joined(layers)
        step, zero = self._range(point)
        return self._graph.add(
            "QAttention",
            [x, weight, bias, step, scale, "", zero],
            domain=MICROSOFT,
            num_heads=attention.heads,
            unidirectional=int(causal),
        )

    def _range(self, point: str) -> tuple[str, str]:
        step = self._graph.given(point + STEP, [])
        return step, self._graph.given(point + ZERO, [], TensorProto.UINT8)

    def _joined(self, layers: Sequence[nn.Linear]) -> tuple[str, str, str]:
        name = self._graph.joined_name(layers, "weight")
        shape = [layers[0].in_features, _width(layers)]
        outputs = [_width(layers)]
        weight = name + TRANSPOSED + QUANTIZED_OUTPUTS
        return (
            self._graph.given(weight, shape, TensorProto.INT8),
            self._graph.given(name + SCALE_OUTPUTS, outputs),
            self._graph.given(self._graph.joined_name(layers, "bias"), outputs),
        )


def arithmetic_of(graph: Graph, *, int8: bool) -> Arithmetic:
    """How a layer computes: in 8 bits or in float32."""
    return Int8(graph) if int8 else Float32(graph)


def linear(graph: Graph, arithmetic: Arithmetic, x: str, layer: nn.Linear) -> str:
    """One layer, of float32 to float32."""
    point = input_of(graph.names[layer])
    return arithmetic.multiply(arithmetic.quantize(x, point), point, [layer])


def feed_forward(
    graph: Graph,
    arithmetic: Arithmetic,
    x: str,
    layers: nn.Sequential,
) -> str:
    """Two layers with a GELU between, of float32 to float32."""
    before, _, after = layers
    assert isinstance(before, nn.Linear)
    assert isinstance(after, nn.Linear)
    inside = graph.add("Gelu", [linear(graph, arithmetic, x, before)])
    return linear(graph, arithmetic, inside, after)


def _window(layer: Convolution) -> dict[str, Any]:
    """The attributes of a convolution."""
    assert isinstance(layer.padding, tuple)
    return {
        "group": layer.groups,
        "kernel_shape": list(layer.kernel_size),
        "strides": list(layer.stride),
        "pads": [*layer.padding, *layer.padding],
    }


def _width(layers: Sequence[nn.Linear]) -> int:
    return sum(layer.out_features for layer in layers)
