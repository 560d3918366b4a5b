"""How much of an image a convolution can see at most: theoretical receptive fields.

r = 1 + sum over layers of (k - 1) times the strides before it (Araujo et al. 2019, equation 2), by
axis: (row, column).
"""

from dataclasses import dataclass
from typing import Any

from torch import nn

from vit_str.analysis.libraries.encoder import LibraryEncoder
from vit_str.models import ConvolutionalEncoder, Encoder, PlainConvolutionalEncoder
from vit_str.models.convolutions import WindowLayer

Pair = tuple[int, int]

_WINDOWS = (nn.Conv2d, nn.MaxPool2d, nn.AvgPool2d)


@dataclass(frozen=True, slots=True)
class ReceptiveField:
    """What the units of a layer see of the input, in pixels, each pair (row, column).

    The first field begins at ``start``, before the image if negative; the next ``stride`` further.
    """

    size: Pair = (1, 1)
    stride: Pair = (1, 1)
    start: Pair = (0, 0)

    def through(self, layer: WindowLayer) -> "ReceptiveField":
        """The field after one more layer."""
        (height, width), (down, across), (top, left) = (
            self.size,
            self.stride,
            self.start,
        )
        kernel, stride, padding = layer
        return ReceptiveField(
            (height + (kernel[0] - 1) * down, width + (kernel[1] - 1) * across),
            (down * stride[0], across * stride[1]),
            (top - padding[0] * down, left - padding[1] * across),
        )

    def of_unit(self, row: int, column: int) -> tuple[int, int, int, int]:
        """Top, left, bottom and right of what a unit sees, parts outside of the image included."""
        top = self.start[0] + row * self.stride[0]
        left = self.start[1] + column * self.stride[1]
        return top, left, top + self.size[0], left + self.size[1]


def fields_by_layer(encoder: Encoder) -> list[ReceptiveField]:
    """The field of every layer of an encoder; attention sees the whole image from the first on."""
    if encoder.windows:
        return _fields_of_windows(encoder)  # type: ignore[arg-type]
    if not isinstance(encoder, ConvolutionalEncoder | PlainConvolutionalEncoder):
        return [
            ReceptiveField(encoder.image_size, stride=(0, 0))
            for _ in encoder.layer_modules
        ]
    fields = []
    field = ReceptiveField()
    for layer in encoder.layer_modules:
        for module in layer.modules():
            field = (
                field.through(window_of(module))
                if isinstance(module, _WINDOWS)
                else field
            )
        fields.append(field)
    return fields


def _fields_of_windows(encoder: LibraryEncoder) -> list[ReceptiveField]:
    """What the token in the middle sees through windows of attention, layer by layer."""
    axes = []
    for axis in range(2):
        first = encoder.blocks[0].grid
        count = (first.rows, first.columns)[axis]
        length = round(first.patch_size[axis])
        spans = [(i * length, (i + 1) * length) for i in range(count)]
        middles = []
        for block in encoder.blocks:
            cells = (block.grid.rows, block.grid.columns)[axis]
            merged = len(spans) // cells
            spans = [
                _joined(spans[i * merged : (i + 1) * merged]) for i in range(cells)
            ]
            window = (block.window or (cells, cells))[axis]
            shift = block.shift[axis]
            # Cells before the first window have come round from the other end, behind a mask.
            of_cell = [
                (((i - shift) % cells) // window, i < shift) for i in range(cells)
            ]
            seen = {
                key: _joined(
                    [span for span, of in zip(spans, of_cell, strict=True) if of == key]
                )
                for key in set(of_cell)
            }
            spans = [seen[key] for key in of_cell]
            tokens = encoder.grid[axis]
            middle = (2 * (tokens // 2) + 1) * cells // (2 * tokens)
            middles.append(spans[middle])
        axes.append(middles)
    return [
        ReceptiveField((bottom - top, right - left), (0, 0), (top, left))
        for (top, bottom), (left, right) in zip(*axes, strict=True)
    ]


def _joined(spans: list[tuple[int, int]]) -> tuple[int, int]:
    return min(start for start, _ in spans), max(end for _, end in spans)


def window_of(module: nn.Module) -> WindowLayer:
    """The window of a convolution or a pooling; a dilated one is as wide as what it spans."""
    layer: Any = module
    if isinstance(layer.padding, str):
        raise ValueError(
            f"padding {layer.padding!r} depends on the image; give it in numbers"
        )
    sizes = (
        layer.kernel_size,
        layer.stride,
        layer.padding,
        getattr(layer, "dilation", 1),
    )
    (down, across), stride, padding, dilation = (
        (size, size) if isinstance(size, int) else size for size in sizes
    )
    kernel = dilation[0] * (down - 1) + 1, dilation[1] * (across - 1) + 1
    return WindowLayer(kernel, stride, padding)
