"""The encoder of a model in 8 bits, with ranges that the weights file knows.

A graph of `quantized` measures the range of what comes into every matrix product, and leaves
convolutions in float32. Here all is in 8 bits (Jacob et al. 2018, with a scale for every output of
a layer): no range is measured while it reads, convolutions keep the channels last, and a ReLU is
nothing but the range that begins at 0. What an image becomes does not depend on its batch.

The same steps in float32 show that the graph computes what the model does.
"""

from collections.abc import Sequence
from typing import Any, Protocol

from onnx import ModelProto, NodeProto, TensorProto, helper
from torch import nn

from vit_str.export.graphs import OPSET
from vit_str.models import Recognizer, TransformerDecoder, VisionTransformer
from vit_str.models.attention import MultiHeadAttention
from vit_str.models.blocks import EncoderBlock
from vit_str.models.convolutions import ResidualBlock
from vit_str.runtime.initializers import (
    BIAS,
    JOIN,
    QUANTIZED_OUTPUTS,
    SCALE_OUTPUTS,
    STEP,
    TRANSPOSED,
    ZERO,
)
from vit_str.runtime.ranges import PIXELS, input_of, output_of

_MICROSOFT = "com.microsoft"  # operators that only onnxruntime has
_IR_VERSION = 10
_CHANNELS_LAST = [0, 2, 3, 1]
_CHANNELS_FIRST = [0, 3, 1, 2]


def static_encoder(recognizer: Recognizer, *, int8: bool = True) -> ModelProto | None:
    """The graph ``encoder`` of a model, with names of initializers in place of weights.

    Args:
        recognizer: the model.
        int8: in 8 bits; else the same in float32.

    Returns:
        None if there is none for the parts of this model.
    """
    encoder = recognizer.encoder
    decoder = recognizer.decoder
    if not isinstance(encoder, VisionTransformer) or not isinstance(decoder, TransformerDecoder):
        return None
    if encoder.special_tokens or encoder.positions != "learned":
        return None
    graph = _Graph(recognizer)
    _EncoderGraph(graph, _Int8(graph) if int8 else _Float32(graph)).build()
    return graph.model()


def external_shapes(graph: ModelProto) -> dict[str, list[int]]:
    """The shapes of what a graph has to be given, by name."""
    return {
        tensor.name: list(tensor.dims)
        for tensor in graph.graph.initializer
        if tensor.data_location == TensorProto.EXTERNAL
    }


class _Graph:
    """Nodes in the making, and the names and shapes of what they are going to be given."""

    def __init__(self, recognizer: Recognizer) -> None:
        self.recognizer = recognizer
        self.names = {module: name for name, module in recognizer.named_modules()}
        self.nodes: list[NodeProto] = []
        self.initializers: dict[str, TensorProto] = {}
        self.outputs: list[Any] = []

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
        output = output or f"{operator}_{len(self.nodes)}"
        node = helper.make_node(operator, inputs, [output], output, domain=domain, **attributes)
        self.nodes.append(node)
        return output

    def given(
        self, name: str, shape: Sequence[int], kind: TensorProto.DataType = TensorProto.FLOAT
    ) -> str:
        """What is made of the weights, see `initializers`."""
        tensor = TensorProto(name=name, data_type=kind, dims=shape)
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value="weights")
        return self._hold(tensor)

    def constant(self, values: Sequence[int]) -> str:
        """Whole numbers."""
        name = "x".join(map(str, values))
        return self._hold(helper.make_tensor(name, TensorProto.INT64, [len(values)], values))

    def scalar(self, value: int, kind: TensorProto.DataType = TensorProto.INT64) -> str:
        """One whole number."""
        name = f"{value}_{TensorProto.DataType.Name(kind)}"
        return self._hold(helper.make_tensor(name, kind, [], [value]))

    def _hold(self, tensor: TensorProto) -> str:
        self.initializers[tensor.name] = tensor
        return str(tensor.name)

    def reshape(self, x: str, *shape: int) -> str:
        """The same values in another shape, behind the axis of the batch."""
        return self.add("Reshape", [x, self.constant([-1, *shape])])

    def transpose(self, x: str, order: Sequence[int]) -> str:
        """The same values with the axes in another order."""
        return self.add("Transpose", [x], perm=order)

    def give(self, name: str, shape: Sequence[int | str]) -> None:
        """Declare an output."""
        self.outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))

    def model(self) -> ModelProto:
        """All of it."""
        height, width = self.recognizer.encoder.image_size
        pixels: list[str | int] = ["batch", 3, height, width]
        graph = helper.make_graph(
            self.nodes,
            "encoder",
            [helper.make_tensor_value_info(PIXELS, TensorProto.FLOAT, pixels)],
            self.outputs,
            list(self.initializers.values()),
        )
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(_MICROSOFT, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION)


class _Arithmetic(Protocol):
    """How layers compute. A point names the range of what comes in, or goes out."""

    def quantize(self, x: str, point: str) -> str:
        """What layers that come after this point take."""

    def rectify(self, x: str, point: str) -> str:
        """The same of the positive part (ReLU)."""

    def convolve(self, x: str, point: str, layer: nn.Conv2d) -> str:
        """A convolution with channels last; float32."""

    def multiply(self, x: str, point: str, layers: Sequence[nn.Linear]) -> str:
        """The outputs of several layers, one behind the other; float32."""

    def attend(self, x: str, point: str, attention: MultiHeadAttention) -> str:
        """Self-attention up to ``to_output``; float32."""


class _Float32:
    """See `_Arithmetic`."""

    def __init__(self, graph: _Graph) -> None:
        self._graph = graph

    def quantize(self, x: str, point: str) -> str:
        return x

    def rectify(self, x: str, point: str) -> str:
        return self._graph.add("Relu", [x])

    def convolve(self, x: str, point: str, layer: nn.Conv2d) -> str:
        name = self._graph.names[layer]
        x = self._graph.transpose(x, _CHANNELS_FIRST)
        weight = self._graph.given(f"{name}.weight", layer.weight.shape)
        bias = self._graph.given(f"{name}.bias", [layer.out_channels])
        x = self._graph.add("Conv", [x, weight, bias], **_window(layer))
        return self._graph.transpose(x, _CHANNELS_LAST)

    def multiply(self, x: str, point: str, layers: Sequence[nn.Linear]) -> str:
        weight, bias = self._joined(layers)
        x = self._graph.add("MatMul", [x, weight])
        return self._graph.add("Add", [x, bias])

    def attend(self, x: str, point: str, attention: MultiHeadAttention) -> str:
        weight, bias = self._joined([attention.to_queries, attention.to_keys_values])
        inputs = [x, weight, bias]
        return self._graph.add("Attention", inputs, domain=_MICROSOFT, num_heads=attention.heads)

    def _joined(self, layers: Sequence[nn.Linear]) -> tuple[str, str]:
        weight = _joined_name(self._graph, layers, "weight") + TRANSPOSED
        shape = [layers[0].in_features, _width(layers)]
        bias = _joined_name(self._graph, layers, "bias")
        return self._graph.given(weight, shape), self._graph.given(bias, [_width(layers)])


class _Int8:
    """See `_Arithmetic`."""

    def __init__(self, graph: _Graph) -> None:
        self._graph = graph

    def quantize(self, x: str, point: str) -> str:
        return self._graph.add("QuantizeLinear", [x, *self._range(point)])

    def rectify(self, x: str, point: str) -> str:
        return self.quantize(x, point)  # its range begins at 0

    def convolve(self, x: str, point: str, layer: nn.Conv2d) -> str:
        name = self._graph.names[layer]
        shape = layer.weight.shape
        outputs = [layer.out_channels]
        weight = f"{name}.weight"
        range_after = self._range(output_of(name))
        inputs = [
            x,
            *self._range(point),
            self._graph.given(weight + QUANTIZED_OUTPUTS, shape, TensorProto.INT8),
            self._graph.given(weight + SCALE_OUTPUTS, outputs),
            self._graph.scalar(0, TensorProto.INT8),
            *range_after,
            self._graph.given(f"{name}.bias{BIAS}{point}", outputs, TensorProto.INT32),
        ]
        window = _window(layer)
        x = self._graph.add("QLinearConv", inputs, domain=_MICROSOFT, channels_last=1, **window)
        return self._graph.add("DequantizeLinear", [x, *range_after])

    def multiply(self, x: str, point: str, layers: Sequence[nn.Linear]) -> str:
        weight, scale, bias = self._joined(layers)
        step, zero = self._range(point)
        inputs = [x, weight, step, scale, zero, "", bias]
        return self._graph.add("MatMulIntegerToFloat", inputs, domain=_MICROSOFT)

    def attend(self, x: str, point: str, attention: MultiHeadAttention) -> str:
        weight, scale, bias = self._joined([attention.to_queries, attention.to_keys_values])
        step, zero = self._range(point)
        inputs = [x, weight, bias, step, scale, "", zero]
        return self._graph.add("QAttention", inputs, domain=_MICROSOFT, num_heads=attention.heads)

    def _range(self, point: str) -> tuple[str, str]:
        step = self._graph.given(point + STEP, [])
        return step, self._graph.given(point + ZERO, [], TensorProto.UINT8)

    def _joined(self, layers: Sequence[nn.Linear]) -> tuple[str, str, str]:
        name = _joined_name(self._graph, layers, "weight")
        shape = [layers[0].in_features, _width(layers)]
        outputs = [_width(layers)]
        weight = name + TRANSPOSED + QUANTIZED_OUTPUTS
        return (
            self._graph.given(weight, shape, TensorProto.INT8),
            self._graph.given(name + SCALE_OUTPUTS, outputs),
            self._graph.given(_joined_name(self._graph, layers, "bias"), outputs),
        )


class _EncoderGraph:
    """The parts of a Vision Transformer, and what its decoder keeps of an image."""

    def __init__(self, graph: _Graph, arithmetic: _Arithmetic) -> None:
        self._graph = graph
        self._arithmetic = arithmetic
        self._encoder: Any = graph.recognizer.encoder
        self._decoder: Any = graph.recognizer.decoder

    def build(self) -> None:
        x = self._patches(*self._stem())
        for block in self._encoder.blocks:
            x = self._block(x, block)
        layers = [block.cross_attention.to_keys_values for block in self._decoder.blocks]
        point = input_of(self._graph.names[layers[0]])
        features = self._arithmetic.quantize(self._norm(x, self._encoder.norm), point)
        self._keys_values(self._arithmetic.multiply(features, point, layers))
        if self._decoder.draft:
            self._draft(features, point)

    def _stem(self) -> tuple[str, str]:
        """What the stem makes of an image, channels last, quantized; and its point."""
        point = PIXELS
        x = self._arithmetic.quantize(PIXELS, point)
        x = self._graph.transpose(x, _CHANNELS_LAST)
        stages = list(self._encoder.stem)
        first_layers = [*(stage[0] for stage in stages), self._encoder.embed_patches]
        for (shrink, *blocks), after in zip(stages, first_layers[1:], strict=True):
            x = self._arithmetic.convolve(x, point, shrink)
            for block in blocks:
                x = self._residual(x, block)
            point = input_of(self._graph.names[after])
            x = self._arithmetic.quantize(x, point)
        return x, point

    def _residual(self, x: str, block: ResidualBlock) -> str:
        inside = x
        for norm, layer in ((block.first_norm, block.first), (block.second_norm, block.second)):
            point = input_of(self._graph.names[layer])
            inside = self._arithmetic.rectify(self._norm(inside, norm), point)
            inside = self._arithmetic.convolve(inside, point, layer)
        return self._graph.add("Add", [x, inside])

    def _patches(self, x: str, point: str) -> str:
        """Tokens, as ``VisionTransformer.patches`` cuts them, embedded with their positions."""
        (height, width) = self._encoder._cut
        (rows, columns) = self._encoder.grid
        layer = self._encoder.embed_patches
        channels = layer.in_features // (height * width)
        x = self._graph.reshape(x, rows, height, columns, width, channels)
        x = self._graph.transpose(x, [0, 1, 3, 2, 4, 5])
        x = self._graph.reshape(x, rows * columns, layer.in_features)
        x = self._arithmetic.multiply(x, point, [layer])
        positions = self._encoder.embed_positions
        name = f"{self._graph.names[positions]}.weight"
        return self._graph.add("Add", [x, self._graph.given(name, positions.weight.shape)])

    def _block(self, x: str, block: EncoderBlock) -> str:
        attention = block.attention
        inside = self._norm(x, block.attention_norm)
        point = input_of(self._graph.names[attention.to_queries])
        inside = self._arithmetic.quantize(inside, point)
        inside = self._arithmetic.attend(inside, point, attention)
        x = self._graph.add("Add", [x, self._linear(inside, attention.to_output)])
        before, after = self._feed_forward(block)
        inside = self._linear(self._norm(x, block.feed_forward_norm), before)
        inside = self._graph.add("Gelu", [inside])
        return self._graph.add("Add", [x, self._linear(inside, after)])

    @staticmethod
    def _feed_forward(block: EncoderBlock) -> list[nn.Linear]:
        """The layers before and after the GELU."""
        return [layer for layer in block.feed_forward if isinstance(layer, nn.Linear)]

    def _linear(self, x: str, layer: nn.Linear) -> str:
        point = input_of(self._graph.names[layer])
        return self._arithmetic.multiply(self._arithmetic.quantize(x, point), point, [layer])

    def _norm(self, x: str, norm: nn.LayerNorm) -> str:
        name = self._graph.names[norm]
        names = [f"{name}.weight", f"{name}.bias"]
        inputs = [x, *(self._graph.given(each, norm.normalized_shape) for each in names)]
        return self._graph.add("LayerNormalization", inputs, axis=-1, epsilon=norm.eps)

    def _keys_values(self, x: str) -> None:
        """Keys and values of the image for every block of the decoder."""
        tokens = self._tokens
        heads = self._decoder.heads
        depth = self._decoder.depth
        head_dim = self._decoder.dim // heads
        x = self._graph.reshape(x, tokens, 2 * depth, heads, head_dim)
        x = self._graph.transpose(x, [2, 0, 3, 1, 4])
        names = [f"present.{block}.encoder.{kind}" for block in range(depth) for kind in _KINDS]
        for place, name in enumerate(names):
            self._graph.add("Gather", [x, self._graph.scalar(place)], output=name, axis=0)
            self._graph.give(name, ["batch", heads, tokens, head_dim])

    def _draft(self, x: str, point: str) -> None:
        """Scores of the characters along the columns of the grid."""
        rows, columns = self._decoder.draft.grid
        layer = self._decoder.draft.classify
        x = self._graph.reshape(x, rows, columns, self._encoder.dim)
        x = self._graph.transpose(x, [0, 2, 1, 3])
        x = self._graph.reshape(x, columns, layer.in_features)
        x = self._arithmetic.multiply(x, point, [layer])
        self._graph.add("Identity", [x], output="logits")
        self._graph.give("logits", ["batch", columns, layer.out_features])

    @property
    def _tokens(self) -> int:
        rows, columns = self._encoder.grid
        return int(rows * columns)


_KINDS = ("key", "value")


def _window(layer: nn.Conv2d) -> dict[str, Any]:
    """The attributes of a convolution."""
    assert isinstance(layer.padding, tuple)
    return {
        "kernel_shape": list(layer.kernel_size),
        "strides": list(layer.stride),
        "pads": [*layer.padding, *layer.padding],
    }


def _joined_name(graph: _Graph, layers: Sequence[nn.Linear], kind: str) -> str:
    return JOIN.join(f"{graph.names[layer]}.{kind}" for layer in layers)


def _width(layers: Sequence[nn.Linear]) -> int:
    return sum(layer.out_features for layer in layers)
