import json
import math

import numpy as np
import pytest
import torch
from scipy import stats

from vit_str.analysis.statistics import mean_over
from vit_str.evaluation.statistics import (
    bootstrap_interval,
    mcnemar,
    paired_difference,
    plain_values,
    wilson_interval,
)


def test_wilson_interval_against_published_values():
    # Newcombe 1998, Table I, method 3 (score): 81 of 263, 15 of 148, 0 of 20, 1 of 29.
    for (successes, n), expected in {
        (81, 263): (0.2553, 0.3662),
        (15, 148): (0.0624, 0.1605),
        (0, 20): (0.0, 0.1611),
        (1, 29): (0.0061, 0.1718),
    }.items():
        assert wilson_interval(successes, n) == pytest.approx(expected, abs=5e-5)
    assert wilson_interval(0, 0) == (0, 1)
    assert wilson_interval(20, 20)[1] == 1


@pytest.mark.parametrize("n", [1, 12, 257, 6725])
def test_wilson_interval_against_scipy(n):
    for successes in {0, 1, n // 3, n - 1, n}:
        expected = stats.binomtest(successes, n).proportion_ci(method="wilson")
        assert wilson_interval(successes, n) == pytest.approx((*expected,), abs=1e-7)


def test_bootstrap_against_scipy():
    numbers = np.random.default_rng(0)
    errors = numbers.integers(0, 4, 300).astype(float)
    lengths = numbers.integers(4, 9, 300)

    def ratio(errors, lengths):
        return errors.sum() / lengths.sum()

    expected = stats.bootstrap(
        (errors, lengths),
        ratio,
        paired=True,
        vectorized=False,
        n_resamples=2000,
        method="percentile",
        rng=1,
    ).confidence_interval
    found = bootstrap_interval(errors, lengths.astype(float))
    assert found == pytest.approx((expected.low, expected.high), abs=0.004)


def test_mcnemar_against_scipy():
    for split in [
        (1, 0),
        (6, 6),
        (5, 21),
        (300, 240),
        (1200, 1100),
        (0, 40),
        (3000, 2000),
    ]:
        expected = stats.binomtest(split[0], sum(split)).pvalue
        assert mcnemar(*split) == pytest.approx(expected, rel=1e-6)
        assert mcnemar(*reversed(split)) == mcnemar(*split)
    assert mcnemar(0, 0) == 1


def test_difference_of_pairs():
    first = np.array([True, True, False, False] * 100)
    second = np.array([True, False, True, True] * 100)
    found = paired_difference(first, second)
    assert (found.n, found.only_first, found.only_second) == (400, 100, 200)
    assert found.difference == 0.25
    # The variance of a difference of pairs: (b + c - (c - b)^2 / n) / n^2.
    half = 1.96 * math.sqrt(300 - 100**2 / 400) / 400
    assert found.interval == pytest.approx((0.25 - half, 0.25 + half), abs=0.015)
    assert found.p_value == mcnemar(100, 200)
    back = paired_difference(second, first)
    assert (back.difference, back.p_value) == (-0.25, found.p_value)


def test_nothing_to_compare_and_other_words():
    found = paired_difference([], [])
    assert math.isnan(found.difference)
    assert found.p_value == 1
    assert (
        json.loads(json.dumps(plain_values(found), allow_nan=False))["difference"]
        is None
    )
    with pytest.raises(ValueError, match="same words, found 1 and 2"):
        paired_difference([True], [True, False])


def test_the_interval_of_a_mean():
    values = torch.randn(400, 3, 2, dtype=torch.float64) * torch.tensor([1.0, 4.0])
    mean = mean_over(values)
    assert mean.n == 400
    torch.testing.assert_close(mean.mean, values.mean(0))
    expected = stats.ttest_1samp(values.numpy(), 0).confidence_interval()
    torch.testing.assert_close(mean.high, torch.from_numpy(expected.high))
    torch.testing.assert_close(mean.low, torch.from_numpy(expected.low))


def test_images_without_a_value_do_not_count():
    values = torch.tensor([[1.0, 5.0], [3.0, float("nan")]], dtype=torch.float64)
    assert mean_over(values).mean.tolist() == [2.0, 5.0]
    assert mean_over(values).high.tolist()[1] == 5.0
    with pytest.raises(ValueError, match="no images"):
        mean_over(torch.empty(0, 2, dtype=torch.float64))
