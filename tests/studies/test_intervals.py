import pytest

from studies.intervals import mean_interval, with_interval


def test_known_interval() -> None:
    # Student's t for 4 degrees of freedom is 2.776; the standard error of 1 .. 5 is sqrt(1 / 2).
    mean, (low, high) = mean_interval([1, 2, 3, 4, 5])
    assert mean == 3
    assert (high - low) / 2 == pytest.approx(2.776 * 0.5**0.5)


def test_many_values_have_the_normal_interval() -> None:
    values = [0.0, 1.0] * 50
    mean, (_, high) = mean_interval(values)
    assert high - mean == pytest.approx(1.96 * (0.25 * 100 / 99 / 100) ** 0.5)


def test_one_value_has_no_interval_and_none_is_refused() -> None:
    assert mean_interval([2.5]) == (2.5, (2.5, 2.5))
    with pytest.raises(ValueError, match="found none"):
        mean_interval([])


def test_as_text() -> None:
    assert with_interval([1.0, 1.0]) == "1.000 [1.000, 1.000]"
    assert with_interval([0.12345], 2) == "0.12 [0.12, 0.12]"
