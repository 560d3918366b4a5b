import math
from collections.abc import Callable, Iterable
from functools import reduce

import pytest
import torch
from torch import nn

from vit_str.analysis.probe import layer_outputs
from vit_str.analysis.receptive_field.gradients import (
    UNITS,
    GradientFields,
    field_statistics,
    uniform_gradient_distance,
)
from vit_str.analysis.receptive_field.windows import (
    ReceptiveField,
    fields_by_layer,
    window_of,
)
from vit_str.models import ConvolutionalEncoder, Encoder, VisionTransformer
from vit_str.models.convolutions import WindowLayer


def make_vit(**arguments: object) -> VisionTransformer:
    torch.manual_seed(0)
    sizes = {
        "dim": 16,
        "depth": 3,
        "heads": 2,
        "image_size": (16, 48),
        "patch_size": (4, 8),
    }
    return VisionTransformer(**{**sizes, **arguments}).eval()


def make_conv() -> ConvolutionalEncoder:
    torch.manual_seed(0)
    return ConvolutionalEncoder(
        widths=(8, 16),
        depths=(1, 1),
        strides=((2, 2), (2, 4)),
        image_size=(16, 48),
        reach=1,
    ).eval()


ENCODERS: dict[str, Callable[[], Encoder]] = {
    "vit": make_vit,
    "vit with tokens": lambda: make_vit(class_token=True, registers=2),
    "conv": make_conv,
}


@pytest.fixture(params=ENCODERS)
def encoder(request) -> Encoder:
    return ENCODERS[request.param]()


def test_layers_put_out_maps_over_the_image(encoder):
    images = torch.randn(2, 3, 16, 48)
    outputs, features = layer_outputs(encoder, images), encoder(images)
    assert len(outputs) == len(encoder.layer_modules)
    assert outputs[-1].shape == (2, encoder.dim, *encoder.grid)
    last = outputs[-1].flatten(2).transpose(1, 2)
    if isinstance(encoder, VisionTransformer):
        expected = encoder.norm(last)
    else:
        expected = encoder.norm(last) + encoder.embed_positions.weight
    torch.testing.assert_close(features[:, encoder.special_tokens :], expected)
    assert len(outputs) == len(encoder.layer_modules), "the listener must be gone"


def test_statistics_of_fields_worked_by_hand():
    field = torch.zeros(2, 4, 6, dtype=torch.float64)
    field[0, 0, 0], field[0, 3, 5] = 0.75, 0.25
    field[1] = 1 / 24
    middles = torch.tensor([[2.0, 3.0], [0.5, 0.5]], dtype=torch.float64)
    found = field_statistics(field, middles)
    assert found["gradient_distance"][0] == pytest.approx(math.hypot(1.5, 2.5))
    assert found["gradient_distance_x"].tolist() == pytest.approx([2.5, 2.5])
    assert found["gradient_distance_y"].tolist() == pytest.approx([1.5, 1.5])
    assert found["gradient_area"].tolist() == pytest.approx([2 / 24, 22 / 24])


def test_one_layer_of_windows_sees_its_windows_only():
    """One convolution with windows of 6 x 10 pixels over cells of 4 x 8."""
    encoder = ConvolutionalEncoder((8,), (0,), ((4, 8),), (16, 48), reach=1)
    with torch.no_grad():
        encoder.stages[0][0].weight.copy_(
            2.0 ** torch.arange(8).view(8, 1, 1, 1).expand(-1, 3, 6, 10)
        )
    fields = GradientFields(encoder, queries=4)
    fields.update(torch.randn(6, 3, 16, 48))
    y, x = torch.meshgrid(torch.arange(-2.5, 3), torch.arange(-4.5, 5), indexing="ij")
    inside = [
        (y * y + x * x).sqrt()[top : 6 - bottom, left : 10 - right].mean()
        for top, bottom in ((1, 0), (0, 0), (0, 0), (0, 1))
        for left, right in ((1, 0), (0, 0), (0, 0), (0, 0), (0, 0), (0, 1))
    ]
    distance = fields.values("gradient_distance").mean()
    assert distance == pytest.approx(float(torch.stack(inside).mean()))


def test_nothing_is_seen_outside_of_the_theoretical_field():
    encoder = make_conv()
    fields = GradientFields(encoder)
    fields.update(torch.randn(3, 3, 16, 48))
    for layer, field in enumerate(fields_by_layer(encoder)):
        unit, cell = fields.middle_cells()[layer]
        assert 8 <= cell[0] < cell[2] <= 12, "inside of token (2, 3)"
        assert 24 <= cell[1] < cell[3] <= 32
        top, left, bottom, right = field.of_unit(*unit)
        seen = fields.centered[layer] > 0
        expected = torch.zeros(16, 48, dtype=torch.bool)
        expected[max(top, 0) : max(bottom, 0), max(left, 0) : max(right, 0)] = True
        assert not (seen & ~expected).any()
        assert (seen & expected).sum() > 0.9 * expected.sum()


def test_random_signs_stand_for_the_norm_of_the_jacobian():
    encoder, image = make_vit(), torch.randn(1, 3, 16, 48)
    fields = GradientFields(encoder, queries=4)
    # The token in the middle, again and again
    fields._order = torch.tensor([2 * 6 + 3])
    fields.update(image.expand(50, -1, -1, -1))

    def output(pixels):
        return torch.stack(
            [layer[0, :, 2, 3] for layer in layer_outputs(encoder, pixels)]
        )

    jacobian = torch.autograd.functional.jacobian(output, image)[:, :, 0]
    norms = jacobian.double().square().sum((1, 2)).sqrt()
    exact = field_statistics(
        norms / norms.sum((1, 2), keepdim=True),
        torch.tensor([[10.0, 28.0]] * 3).double(),
    )
    found = fields.values("gradient_distance").mean(1)
    torch.testing.assert_close(found, exact["gradient_distance"], rtol=0.04, atol=0)


def test_streaming_equals_one_batch_and_every_token_is_asked(encoder):
    images = torch.randn(6, 3, 16, 48)
    fields = GradientFields(encoder, queries=4)
    fields.update(images)
    tokens = encoder.grid[0] * encoder.grid[1]
    assert tokens == 24
    asked = fields._order[torch.arange(24)].sort().values
    assert asked.tolist() == list(range(24))
    for metric in UNITS:
        assert fields.values(metric).shape == (fields.layers, 6)
        assert (fields.values(metric) > 0).all()
    parts = GradientFields(encoder, queries=4)
    for start in (0, 4):
        parts.update(images[start : start + 4])
    assert parts.seen == 6
    both = (
        fields.values("gradient_distance").mean(1),
        parts.values("gradient_distance").mean(1),
    )
    # Other signs for the same tokens
    torch.testing.assert_close(*both, rtol=0.15, atol=0)
    torch.testing.assert_close(
        parts.centered.sum((1, 2)), torch.ones(fields.layers, dtype=torch.float64)
    )


def test_uniform_distance_is_the_mean_over_pixels():
    encoder = make_vit(image_size=(8, 24), patch_size=(8, 12))
    y, x = torch.meshgrid(torch.arange(-3.5, 4), torch.arange(-5.5, 18), indexing="ij")
    assert uniform_gradient_distance(encoder) == pytest.approx(
        float((y * y + x * x).sqrt().mean())
    )


def test_unknown_encoders_are_refused():
    class Other(Encoder):
        def forward(self, images):
            return images

    with pytest.raises(ValueError, match="no layers that are supported"):
        _ = Other().layer_modules


def receptive_field(layers: Iterable[WindowLayer]) -> ReceptiveField:
    return reduce(ReceptiveField.through, layers, ReceptiveField())


def square(kernel: int, stride: int = 1, padding: int = 0) -> WindowLayer:
    return WindowLayer((kernel, kernel), (stride, stride), (padding, padding))


ALEXNET = [square(11, 4, 2), square(3, 2), square(5, 1, 2), square(3, 2)]
ALEXNET += [*[square(3, 1, 1)] * 3, square(3, 2)]
VGG16 = [
    layer
    for count in (2, 2, 3, 3, 3)
    for layer in (*[square(3, 1, 1)] * count, square(2, 2))
]


@pytest.mark.parametrize(("layers", "size"), [(ALEXNET, 195), (VGG16, 212)])
def test_published_sizes(layers, size):
    assert receptive_field(layers).size == (size, size)


def test_the_axes_have_sizes_of_their_own():
    field = receptive_field(
        [WindowLayer((3, 5), (2, 4), (1, 2)), WindowLayer((3, 1), (1, 2), (1, 0))]
    )
    assert field == ReceptiveField(size=(7, 5), stride=(2, 8), start=(-3, -2))
    assert field.of_unit(2, 3) == (1, 22, 8, 27)


def test_dilation_widens_a_window():
    assert window_of(nn.Conv2d(3, 3, (3, 2), dilation=(2, 5))).kernel == (5, 6)


def test_padding_that_depends_on_the_image_is_refused():
    with pytest.raises(ValueError, match="depends on the image"):
        window_of(nn.Conv2d(3, 3, 3, padding="same"))


def test_only_chosen_tokens_are_measured():
    encoder, images = make_conv(), torch.randn(3, 3, 16, 48)
    corner = torch.zeros(3, 24, dtype=torch.bool)
    corner[:2, 0] = True  # the last image has none
    fields = GradientFields(encoder, queries=2)
    fields.update(images, corner)
    found = fields.values("gradient_distance")
    assert found[:, :2].isfinite().all()
    assert found[:, 2].isnan().all()
    rows, columns = fields._queries(corner)[:, :2].unbind(-1)
    assert not rows.any()
    assert not columns.any()
    assert fields.token_weights.tolist() == [1.0] + [0.0] * 23
    y, x = torch.meshgrid(
        torch.arange(16.0) - 1.5, torch.arange(48.0) - 3.5, indexing="ij"
    )
    expected = float((y * y + x * x).sqrt().mean())
    assert uniform_gradient_distance(encoder, fields.token_weights) == pytest.approx(
        expected
    )
