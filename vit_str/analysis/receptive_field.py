"""How much of an image a convolution can see at most: theoretical receptive fields.

r = 1 + sum over layers of (k - 1) times the strides before it (Araujo et al. 2019, equation 2), by
axis: (row, column). Where ways through a network part and meet again, the largest counts.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from torch import fx, nn

from vit_str.analysis.layers import layers_of
from vit_str.models import ConvolutionalEncoder, Encoder, PlainConvolutionalEncoder
from vit_str.models.convolutions import WindowLayer

Pair = tuple[int, int]

_WINDOWS = (nn.Conv2d, nn.MaxPool2d, nn.AvgPool2d)
_ENDS = (nn.AdaptiveAvgPool2d, nn.AdaptiveMaxPool2d, nn.Flatten, nn.Linear)


@dataclass(frozen=True, slots=True)
class ReceptiveField:
    """What the units of a layer see of the input, in pixels, each pair (row, column).

    Attributes:
        size: of the field of one unit.
        stride: from the field of one unit to that of the next.
        start: where the field of the first unit begins; before the image if negative.
    """

    size: Pair = (1, 1)
    stride: Pair = (1, 1)
    start: Pair = (0, 0)

    def through(self, layer: WindowLayer) -> "ReceptiveField":
        """The field after one more layer."""
        axes = zip(self.size, self.stride, self.start, *layer, strict=True)
        sizes, strides, starts = zip(
            *(
                (size + (kernel - 1) * jump, jump * step, start - padding * jump)
                for size, jump, start, kernel, step, padding in axes
            ),
            strict=True,
        )
        return ReceptiveField(sizes, strides, starts)

    def joined(self, other: "ReceptiveField") -> "ReceptiveField":
        """The field of a sum of two ways through a network.

        Raises:
            ValueError: they have other strides, so that their units do not lie on each other.
        """
        if self.stride != other.stride:
            raise ValueError(f"ways of strides {self.stride} and {other.stride} cannot be joined")
        starts = _pair(min(a, b) for a, b in zip(self.start, other.start, strict=True))
        ends = (max(a, b) for a, b in zip(self._ends(), other._ends(), strict=True))
        sizes = _pair(end - start for end, start in zip(ends, starts, strict=True))
        return ReceptiveField(sizes, self.stride, starts)

    def of_unit(self, row: int, column: int) -> tuple[int, int, int, int]:
        """Top, left, bottom and right of what a unit sees, parts outside of the image included."""
        top, left = self.start[0] + row * self.stride[0], self.start[1] + column * self.stride[1]
        return top, left, top + self.size[0], left + self.size[1]

    def _ends(self) -> Pair:
        return self.start[0] + self.size[0], self.start[1] + self.size[1]


def receptive_field(layers: Iterable[WindowLayer]) -> ReceptiveField:
    """The field of a chain of layers, such as ``ConvolutionalEncoder.layers``."""
    field = ReceptiveField()
    for layer in layers:
        field = field.through(layer)
    return field


def fields_by_layer(encoder: Encoder) -> list[ReceptiveField]:
    """The field of every layer of an encoder; attention sees the whole image from the first on."""
    if not isinstance(encoder, ConvolutionalEncoder | PlainConvolutionalEncoder):
        return [ReceptiveField(encoder.image_size, stride=(0, 0)) for _ in layers_of(encoder)]
    fields, field = [], ReceptiveField()
    for layer in layers_of(encoder):
        for module in layer.modules():
            field = field.through(window_of(module)) if isinstance(module, _WINDOWS) else field
        fields.append(field)
    return fields


def traced_field(model: nn.Module) -> ReceptiveField:
    """The field of any network of convolutions and pooling that ``torch.fx`` can trace.

    Counted up to where the whole image is pooled, flattened or projected.

    Raises:
        ValueError: it cannot be traced, or holds no window.
    """
    try:
        graph = fx.symbolic_trace(model).graph
    except Exception as error:  # tracing runs the model's own code, which may fail in any way
        trouble = str(error).partition("\n")[0]
        raise ValueError(f"cannot follow {type(model).__name__}: {trouble}") from error
    modules = dict(model.named_modules())
    fields: dict[fx.Node, ReceptiveField] = {}
    seen, last = False, ReceptiveField()
    for node in graph.nodes:
        module = modules.get(str(node.target)) if node.op == "call_module" else None
        if isinstance(module, _ENDS):
            break
        field = _input_field(node, fields)
        if isinstance(module, _WINDOWS):
            field, seen = field.through(window_of(module)), True
        fields[node] = last = field
    if not seen:
        raise ValueError(f"{type(model).__name__} holds no convolution or pooling")
    return last


def window_of(module: nn.Module) -> WindowLayer:
    """The window of a convolution or a pooling; a dilated one is as wide as what it spans."""
    layer: Any = module
    if isinstance(layer.padding, str):
        raise ValueError(f"padding {layer.padding!r} depends on the image; give it in numbers")
    dilation = _both(getattr(layer, "dilation", 1))
    kernel = _pair(
        step * (side - 1) + 1 for side, step in zip(_both(layer.kernel_size), dilation, strict=True)
    )
    return WindowLayer(kernel, _both(layer.stride), _both(layer.padding))


def _input_field(node: fx.Node, fields: dict[fx.Node, ReceptiveField]) -> ReceptiveField:
    """What a step of the network sees before it looks itself: all of its inputs together."""
    inputs = [fields[each] for each in node.all_input_nodes if each in fields]
    field = inputs[0] if inputs else ReceptiveField()
    for other in inputs[1:]:
        field = field.joined(other)
    return field


def _both(value: int | Pair) -> Pair:
    return (value, value) if isinstance(value, int) else value


def _pair(values: Iterable[int]) -> Pair:
    rows, columns = values
    return rows, columns
