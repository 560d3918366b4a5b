import pytest
import torch
from torch.nn import functional as F

from vit_str.synthesis.fields import dilate, erode, shifted, smooth, spread


@pytest.mark.parametrize(("rows", "columns"), [(1, 2), (2, 2), (0, 3)])
def test_dilate_is_max_pooling(rows, columns):
    values = torch.rand(3, 1, 12, 20)
    pooled = F.max_pool2d(values, (2 * rows + 1, 2 * columns + 1), 1, (rows, columns))
    torch.testing.assert_close(dilate(values, rows, columns), pooled)
    inside = erode(values, rows, columns)[..., rows : 12 - rows, columns : 20 - columns]
    torch.testing.assert_close(
        inside, -F.max_pool2d(-values, (2 * rows + 1, 2 * columns + 1), 1)
    )


@pytest.mark.parametrize(("rows", "columns"), [(3, 6), (1, 1), (12, 48)])
def test_spread_is_bilinear_interpolation(rows, columns):
    values = torch.randn(2, 3, rows, columns)
    expected = F.interpolate(values, (33, 128), mode="bilinear", align_corners=False)
    torch.testing.assert_close(
        spread(values, (33, 128)), expected, atol=1e-5, rtol=1e-5
    )


def test_each_mask_is_shifted_by_its_own_amount():
    mask = torch.rand(2, 1, 9, 17)
    moved = shifted(mask, torch.tensor([2, -1]), torch.tensor([0, 3]))
    torch.testing.assert_close(moved[0, :, 2:], mask[0, :, :-2])
    torch.testing.assert_close(moved[1, :, :-1, 3:], mask[1, :, 1:, :-3])


@pytest.mark.parametrize("size", [(32, 128), (31, 101)])
def test_smooth_keeps_what_is_large(size):
    ramp = torch.linspace(0, 1, size[1]).expand(1, 1, *size).contiguous()
    assert (smooth(ramp, 4, 4) - ramp).abs().max() < 0.05
    stripes = (torch.arange(size[1]) % 2).float().expand(1, 1, *size).contiguous()
    assert smooth(stripes, 4, 4)[..., 8:-8].std() < 0.01
