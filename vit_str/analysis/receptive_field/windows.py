"""How much of an image a convolution can see at most: theoretical receptive fields.

r = 1 + sum over layers of (k - 1) times the strides before it (Araujo et al. 2019, equation 2), by
axis: (row, column).
"""

from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from vit_str.analysis.libraries.encoder import LibraryEncoder
from vit_str.analysis.probe import in_evaluation
from vit_str.analysis.receptive_field.gradients import GradientFields
from vit_str.models import ConvolutionalEncoder, Encoder, PlainConvolutionalEncoder
from vit_str.models.convolutions import WindowLayer

Pair = tuple[int, int]

_NOISE = 0.02  # as large as weights are at the start of training
# Of the largest gradient. Masks that add -100 to scores let 1e-44 through, layers far less little
_NOTHING = 1e-32
_WINDOWS = (nn.Conv2d, nn.MaxPool2d, nn.AvgPool2d)


@dataclass(frozen=True, slots=True)
class ReceptiveField:
    """The part of the input that units of a layer see, in pixels, each pair (row, column).

    The first field begins at ``start``, before the image if negative; the next ``stride`` further.
    """

    size: Pair = (1, 1)
    stride: Pair = (1, 1)
    start: Pair = (0, 0)

    def through(self, layer: WindowLayer) -> "ReceptiveField":
        """The field after one more layer."""
        height, width = self.size
        down, across = self.stride
        top, left = self.start
        kernel, stride, padding = layer
        more_down = (kernel[0] - 1) * down
        more_across = (kernel[1] - 1) * across
        return ReceptiveField(
            size=(height + more_down, width + more_across),
            stride=(down * stride[0], across * stride[1]),
            start=(top - padding[0] * down, left - padding[1] * across),
        )

    def of_unit(self, row: int, column: int) -> tuple[int, int, int, int]:
        """Top, left, bottom and right of what a unit sees, parts outside of the image included."""
        top = self.start[0] + row * self.stride[0]
        left = self.start[1] + column * self.stride[1]
        return top, left, top + self.size[0], left + self.size[1]


def fields_by_layer(encoder: Encoder) -> list[ReceptiveField]:
    """The field of every layer of an encoder; attention sees the whole image from the first on.

    Of attention inside windows, or to other places, it is what the token in the middle depends on.
    """
    if encoder.windows:
        return _reached_by_gradients(encoder)  # type: ignore[arg-type]
    if not isinstance(encoder, ConvolutionalEncoder | PlainConvolutionalEncoder):
        whole = ReceptiveField(encoder.image_size, stride=(0, 0))
        return [whole] * len(encoder.layer_modules)
    fields = []
    field = ReceptiveField()
    for layer in encoder.layer_modules:
        for module in layer.modules():
            if isinstance(module, _WINDOWS):
                field = field.through(window_of(module))
        fields.append(field)
    return fields


def _reached_by_gradients(encoder: LibraryEncoder) -> list[ReceptiveField]:
    """The fields that the token in the middle depends on by layer, whatever lies between windows.

    Convolutions before, between and inside of the layers widen what windows let through, and
    squeeze-and-excitation shows all of the image at once. So gradients tell, in a copy in float64
    whose weights all got some noise: no weight of zero, and no unit that rests, hides a way.
    """
    copy = deepcopy(encoder).double()
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for weights in copy.parameters():
            noise = torch.randn(weights.shape, generator=generator, dtype=weights.dtype)
            weights.add_(noise, alpha=_NOISE)
    shape = (1, 3, *encoder.image_size)
    image = torch.randn(shape, generator=generator, dtype=torch.float64)
    with in_evaluation(copy):
        fields = GradientFields(copy).of_middle(image)
    reached = []
    for (field,) in fields:
        seen = field > _NOTHING * field.max()
        rows = seen.any(1).nonzero()
        columns = seen.any(0).nonzero()
        top, left = int(rows.min()), int(columns.min())
        size = (int(rows.max()) + 1 - top, int(columns.max()) + 1 - left)
        reached.append(ReceptiveField(size, (0, 0), (top, left)))
    return reached


def window_of(module: nn.Module) -> WindowLayer:
    """The window of a convolution or a pooling; a dilated one is as wide as what it spans.

    Raises:
        ValueError: for padding that depends on the image.
    """
    layer: Any = module
    if isinstance(layer.padding, str):
        raise ValueError(
            f"padding {layer.padding!r} depends on the image; give it in numbers"
        )
    down, across = _pair(layer.kernel_size)
    by_rows, by_columns = _pair(getattr(layer, "dilation", 1))
    kernel = (by_rows * (down - 1) + 1, by_columns * (across - 1) + 1)
    return WindowLayer(kernel, _pair(layer.stride), _pair(layer.padding))


def _pair(size: int | Pair) -> Pair:
    return (size, size) if isinstance(size, int) else size
