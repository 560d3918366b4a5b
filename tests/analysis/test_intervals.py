import pytest
import torch

from vit_str.statistics import mean_over_images, paired_difference


def test_the_interval_of_a_mean() -> None:
    values = torch.randn(400, 3, 2, dtype=torch.float64) * torch.tensor([1.0, 4.0])
    mean = mean_over_images(values)
    assert mean.n == 400
    torch.testing.assert_close(mean.mean, values.mean(0))
    # For means of many images the bootstrap comes near to the normal interval.
    expected = 1.96 * values.std(0) / 20
    torch.testing.assert_close(mean.high - mean.mean, expected, rtol=0.15, atol=0)
    torch.testing.assert_close(mean.mean - mean.low, expected, rtol=0.15, atol=0)


def test_the_interval_covers_the_truth_as_often_as_it_says() -> None:
    generator = torch.Generator().manual_seed(0)
    values = torch.empty(60, 500, dtype=torch.float64).exponential_(generator=generator)
    mean = mean_over_images(values)
    covered = ((mean.low < 1) & (mean.high > 1)).double().mean()
    assert 0.90 < float(covered) < 0.97


def test_constant_values_leave_no_doubt() -> None:
    mean = mean_over_images(torch.full((10, 2), 3.0, dtype=torch.float64))
    for part in mean[:3]:
        torch.testing.assert_close(part, torch.full((2,), 3.0, dtype=torch.float64))


def test_images_without_a_value_do_not_count() -> None:
    values = torch.tensor([[1.0, 5.0], [3.0, float("nan")]], dtype=torch.float64)
    assert mean_over_images(values).mean.tolist() == [2.0, 5.0]
    assert mean_over_images(values).high.tolist()[1] == 5.0


def test_pairing_takes_out_what_images_have_in_common() -> None:
    common = 100 * torch.randn(50, 1, dtype=torch.float64)
    first, second = common.expand(-1, 2), common + torch.tensor([1.0, -2.0])
    difference = paired_difference(first, second)
    torch.testing.assert_close(difference.low, torch.tensor([1.0, -2.0], dtype=torch.float64))
    torch.testing.assert_close(difference.high, torch.tensor([1.0, -2.0], dtype=torch.float64))


def test_nothing_to_average() -> None:
    with pytest.raises(ValueError, match="no images"):
        mean_over_images(torch.empty(0, 2, dtype=torch.float64))
    with pytest.raises(ValueError, match="same images"):
        paired_difference(torch.zeros(2, 1).double(), torch.zeros(3, 1).double())
