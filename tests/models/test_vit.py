import pytest
import torch

from vit_str.models import VisionTransformer


def test_patches_are_cut_in_reading_order():
    encoder = VisionTransformer(
        dim=16, depth=1, heads=2, image_size=(8, 12), patch_size=(4, 6)
    )
    image = torch.arange(3 * 8 * 12, dtype=torch.float).view(1, 3, 8, 12)
    patch = encoder.patches(image)[0, 1].view(4, 6, 3)
    torch.testing.assert_close(patch, image[0, :, :4, 6:].permute(1, 2, 0))


def test_special_tokens_come_first_and_see_the_image():
    encoder = VisionTransformer(
        dim=16, depth=2, heads=2, patch_size=(8, 16), class_token=True, registers=2
    ).eval()
    assert encoder.special_tokens == 3
    first, second = encoder(torch.randn(2, 3, 32, 128))
    assert first.shape == (3 + 32, 16)
    assert not torch.allclose(first[0], second[0])


def test_a_stem_looks_past_the_borders_of_patches():
    encoder = VisionTransformer(
        dim=16,
        depth=1,
        heads=2,
        patch_size=(16, 4),
        stem_widths=(4, 8),
        stem_depths=(1, 0),
    )
    assert encoder.grid == (2, 32)
    image = torch.randn(1, 3, 32, 128, requires_grad=True)
    patches = encoder.patches(image)
    assert patches.shape == (1, 64, 8 * 4 * 1)
    patches[0, 10].sum().backward()
    assert image.grad is not None
    seen = image.grad.abs().sum((0, 1)) > 0
    columns = seen.any(0).nonzero()[:, 0]
    assert columns.min() < 40 <= 43 < columns.max()  # more than the patch itself
    assert columns.max() - columns.min() < 32  # and far from everything


@pytest.mark.parametrize("positions", ["learned", "sinusoidal"])
def test_patches_know_where_they_are(positions):
    encoder = VisionTransformer(
        dim=16, depth=1, heads=2, patch_size=(8, 16), positions=positions
    )
    features = encoder.eval()(torch.zeros(1, 3, 32, 128))[0]
    assert torch.pdist(features).min() > 1e-3


def test_wrong_sizes_are_refused():
    with pytest.raises(ValueError, match="must divide"):
        VisionTransformer(patch_size=(5, 8))
    with pytest.raises(ValueError, match="resize them first"):
        VisionTransformer(dim=16, depth=1, heads=2)(torch.zeros(1, 3, 128, 32))
    with pytest.raises(ValueError, match="'learned' or 'sinusoidal'"):
        VisionTransformer(positions="rotary")
    with pytest.raises(ValueError, match="as many depths"):
        VisionTransformer(stem_widths=(8,), stem_depths=())
    with pytest.raises(ValueError, match="a patch_size that 8 divides"):
        VisionTransformer(
            patch_size=(16, 4), stem_widths=(8, 8, 8), stem_depths=(0, 0, 0)
        )
