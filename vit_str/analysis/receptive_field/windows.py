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
    """The field of every layer of an encoder; attention sees the whole image from the first on."""
    if encoder.windows:
        return _fields_of_windows(encoder)  # type: ignore[arg-type]
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
            starts = range(0, cells * merged, merged)
            spans = [_joined(spans[start : start + merged]) for start in starts]
            window = (block.window or (cells, cells))[axis]
            if block.spread:
                window = cells
            shift = block.shift[axis]
            # Cells before the first window have come round from the other end, behind a mask.
            windows: dict[tuple[int, bool], list[int]] = {}
            for cell in range(cells):
                key = ((cell - shift) % cells // window, cell < shift)
                windows.setdefault(key, []).append(cell)
            seen = list(spans)
            for of_window in windows.values():
                joined = _joined([spans[cell] for cell in of_window])
                for cell in of_window:
                    seen[cell] = joined
            spans = seen
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
