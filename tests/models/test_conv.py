import pytest
import torch

from vit_str.models import ConvolutionalEncoder


def make_encoder(**arguments: object) -> ConvolutionalEncoder:
    torch.manual_seed(0)
    given = {"widths": (8, 16), "depths": (1, 1), "strides": ((2, 4), (2, 2))}
    return ConvolutionalEncoder(**{**given, "image_size": (16, 48), **arguments}).eval()


def test_layers_tell_every_window():
    kernels = [layer.kernel for layer in make_encoder().layers]
    assert kernels == [(8, 10), (3, 3), (3, 3), (4, 4), (3, 3), (3, 3)]
    strides = [layer.stride for layer in make_encoder().layers]
    assert strides == [(2, 4), (1, 1), (1, 1), (2, 2), (1, 1), (1, 1)]
    assert make_encoder().layers[0].padding == (3, 3)


def test_a_token_sees_its_window_centered_on_its_cell_and_nothing_else():
    """One strided window of 6 x 8 at (1, 2) of the grid, cells of 4 x 6 pixels, reach 1."""
    encoder = make_encoder(widths=(8,), depths=(0,), strides=((4, 6),), reach=1)
    images = torch.randn(1, 3, 16, 48, requires_grad=True)
    encoder(images)[0, 1 * 8 + 2, 0].backward()
    assert images.grad is not None
    seen = images.grad[0].abs().sum(0) > 0
    expected = torch.zeros(16, 48, dtype=torch.bool)
    expected[3:9, 11:19] = True
    assert torch.equal(seen, expected)


def test_nothing_is_kept_beside_the_parameters():
    """A moving average of the parameters would not see it."""
    assert not list(make_encoder().buffers())


def test_wrong_sizes_are_refused():
    with pytest.raises(ValueError, match="must divide image_size"):
        make_encoder(image_size=(18, 48))
    with pytest.raises(ValueError, match="one value per stage"):
        make_encoder(depths=(1, 1, 1))
    with pytest.raises(ValueError, match="resize them first"):
        make_encoder()(torch.zeros(1, 3, 48, 16))
