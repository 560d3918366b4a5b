"""Lines of any width, read by one model."""

import pytest
import torch

from vit_str.models import LineTransformer


def encoder() -> LineTransformer:
    torch.manual_seed(0)
    part = LineTransformer(
        dim=24,
        depth=2,
        heads=2,
        image_size=(32, 640),
        stem_widths=(8, 12),
        stem_depths=(1, 1),
    )
    for parameter in part.parameters():  # as after training: nothing is zero
        parameter.data.add_(torch.randn_like(parameter) * 0.05)
    return part.eval()


@pytest.mark.parametrize("width", [32, 160, 640])
def test_every_half_column_has_a_feature(width):
    assert encoder()(torch.randn(2, 3, 32, width)).shape == (2, width // 2, 24)


def test_where_a_letter_stands_does_not_matter():
    """A line of repeated patches has the same features in its middle, wherever that is."""
    part = encoder()
    line = torch.randn(1, 3, 32, 4).repeat(1, 1, 1, 160)
    with torch.no_grad():
        features = part(line)
    assert torch.allclose(features[:, 100], features[:, 202], atol=1e-4)
    assert not torch.allclose(features[:, 100], features[:, 101], atol=1e-2)


@pytest.mark.parametrize("size", [(32, 672), (32, 100), (16, 64)])
def test_other_sizes_are_refused(size):
    with pytest.raises(
        ValueError, match="height 32 and of a width up to 640 that 32 divides"
    ):
        encoder()(torch.randn(1, 3, *size))
