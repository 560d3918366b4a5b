from collections.abc import Iterable
from functools import reduce

import pytest
import torch
from torch import nn

from vit_str.analysis.receptive_field.windows import ReceptiveField, window_of
from vit_str.models import ConvolutionalEncoder
from vit_str.models.convolutions import WindowLayer


def receptive_field(layers: Iterable[WindowLayer]) -> ReceptiveField:
    return reduce(ReceptiveField.through, layers, ReceptiveField())


def square(kernel: int, stride: int = 1, padding: int = 0) -> WindowLayer:
    return WindowLayer((kernel, kernel), (stride, stride), (padding, padding))


ALEXNET = [square(11, 4, 2), square(3, 2), square(5, 1, 2), square(3, 2)]
ALEXNET += [*[square(3, 1, 1)] * 3, square(3, 2)]
VGG16 = [layer for count in (2, 2, 3, 3, 3) for layer in (*[square(3, 1, 1)] * count, square(2, 2))]


def resnet50(stride_in_first: bool) -> list[WindowLayer]:
    layers = [square(7, 2, 3), square(3, 2, 1)]
    for stage, depth in enumerate((3, 4, 6, 3)):
        for block in range(depth):
            stride = 2 if stage and not block else 1
            first, second = (stride, 1) if stride_in_first else (1, stride)
            layers += [square(1, first), square(3, second, 1), square(1)]
    return layers


@pytest.mark.parametrize(
    ("layers", "size"),
    [(ALEXNET, 195), (VGG16, 212), (resnet50(True), 483), (resnet50(False), 427)],
    ids=["alexnet", "vgg16", "resnet50", "resnet50, stride in 3 x 3"],
)
def test_published_sizes(layers: list[WindowLayer], size: int) -> None:
    assert receptive_field(layers).size == (size, size)


def test_the_axes_have_sizes_of_their_own() -> None:
    field = receptive_field(
        [WindowLayer((3, 5), (2, 4), (1, 2)), WindowLayer((3, 1), (1, 2), (1, 0))]
    )
    assert field == ReceptiveField(size=(7, 5), stride=(2, 8), start=(-3, -2))
    assert field.of_unit(2, 3) == (1, 22, 8, 27)


def test_dilation_widens_a_window() -> None:
    assert window_of(nn.Conv2d(3, 3, (3, 2), dilation=(2, 5))).kernel == (5, 6)


def test_the_field_of_our_encoder_is_where_its_gradients_are() -> None:
    torch.manual_seed(0)
    encoder = ConvolutionalEncoder(
        widths=(8, 8), depths=(0, 1), strides=((2, 2), (2, 4)), image_size=(64, 128), reach=1
    )
    field = receptive_field(encoder.layers)
    image = torch.randn(1, 3, 64, 128, requires_grad=True)
    row, column = 7, 5
    projection = torch.randn(encoder.dim)
    (encoder(image)[0, row * encoder.grid[1] + column] @ projection).backward()
    assert image.grad is not None
    seen = image.grad[0].abs().sum(0).nonzero()
    found = (*seen.amin(0).tolist(), *(seen.amax(0) + 1).tolist())
    assert found == field.of_unit(row, column)


def test_padding_that_depends_on_the_image_is_refused() -> None:
    with pytest.raises(ValueError, match="depends on the image"):
        window_of(nn.Conv2d(3, 3, 3, padding="same"))
