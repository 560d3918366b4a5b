import pytest
import torch
from torch import nn

from studies.filters import (
    Components,
    bank_means,
    chance_low_frequency,
    first_filters,
    low_frequency_share,
    roughness,
)
from vit_str.models import ConvolutionalEncoder, VisionTransformer


def test_filters_of_patches_have_the_layout_of_the_patches():
    """A filter applied by hand to a patch gives what the embedding gives."""
    torch.manual_seed(0)
    encoder = VisionTransformer(
        dim=8, depth=1, heads=2, image_size=(8, 24), patch_size=(4, 6)
    )
    image = torch.randn(1, 3, 8, 24)
    embedded = (
        encoder.embed_patches(encoder.patches(image))[0] - encoder.embed_patches.bias
    )
    by_hand = (first_filters(encoder) * image[0, :, 4:8, 12:18]).sum((1, 2, 3))
    torch.testing.assert_close(embedded[1 * 4 + 2], by_hand)


def test_filters_of_convolutions_are_those_of_the_first():
    encoder = ConvolutionalEncoder(widths=(8,), depths=(1,), strides=((2, 4),))
    assert first_filters(encoder).shape == (8, 3, 8, 10)
    assert torch.equal(first_filters(encoder), encoder.stages[0][0].weight)
    with pytest.raises(ValueError, match="no patch embedding"):
        first_filters(nn.Linear(2, 2))


def test_components_are_orthonormal_and_explain_the_filters():
    torch.manual_seed(0)
    filters = torch.randn(20, 3, 2, 4)
    components = Components.of_filters(filters)
    flat = components.vectors.flatten(1)
    torch.testing.assert_close(flat @ flat.T, torch.eye(20, dtype=torch.float64))
    torch.testing.assert_close(
        components.captured(filters), components.shares.cumsum(0)
    )
    assert components.shares.sum() == pytest.approx(1)


def test_components_of_patches_are_those_of_their_singular_values():
    images = torch.randn(6, 3, 8, 24)
    patches = torch.stack(
        [images[i, :, y : y + 4, x : x + 6].flatten() for i in range(6)
         for y in (0, 4) for x in (0, 6, 12, 18)]
    ).double()  # fmt: skip
    _, singular, directions = torch.linalg.svd(patches - patches.mean(0))
    components = Components.of_patches(images, (4, 6))
    expected = singular.square() / singular.square().sum()
    torch.testing.assert_close(components.shares[: len(expected)], expected)
    assert abs(float(directions[0] @ components.vectors[0].flatten())) == pytest.approx(
        1
    )


def test_flat_filters_are_smooth_and_checkerboards_are_not():
    flat = torch.ones(1, 3, 8, 16)
    sign = torch.tensor([1.0, -1.0])
    board = (sign.repeat(4)[:, None] * sign.repeat(8)).expand(1, 3, 8, 16)
    assert low_frequency_share(flat).item() == pytest.approx(1)
    assert low_frequency_share(board).item() < 0.05
    assert roughness(flat).item() == 0
    assert roughness(board).item() == pytest.approx(2)


def test_noise_is_at_chance():
    noise = torch.randn(4000, 3, 8, 16, generator=torch.Generator().manual_seed(0))
    found = bank_means(noise)
    assert found["low_frequency_share"] == pytest.approx(
        chance_low_frequency(8, 16), rel=0.02
    )
    assert found["roughness"] == pytest.approx(1, rel=0.02)
    assert chance_low_frequency(8, 16) == 1 / 4


def test_effective_number_counts_equal_components():
    shares = torch.tensor([2.0, 2.0, 2.0, 0.0], dtype=torch.float64)
    components = Components(torch.zeros(4, 1, 1, 1, dtype=torch.float64), shares)
    assert components.effective_number() == pytest.approx(3)
