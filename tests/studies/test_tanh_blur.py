import pytest
import torch

from studies import Settings, Verdict
from studies.tanh_blur import ALONE, NETWORKS, judge, recognized, run


def networks(last: float) -> dict[str, float]:
    return dict.fromkeys(NETWORKS[:-1], 0.05) | {NETWORKS[-1]: last}


def test_far_states_are_recognized_and_equal_ones_are_not() -> None:
    generator = torch.Generator().manual_seed(0)
    apart = torch.arange(101, dtype=torch.float64)[:, None]
    assert recognized(apart, 3, generator) == 1.0
    assert recognized(torch.zeros(101, 1, dtype=torch.float64), 3, generator) == pytest.approx(
        1 / 101
    )


def test_width_alone_is_no_advantage() -> None:
    numbers = torch.linspace(-1, 1, 101, dtype=torch.float64)[:, None]
    shares = [
        recognized(numbers.repeat(1, width), 40, torch.Generator().manual_seed(1))
        for width in (1, 64)
    ]
    assert shares[0] == pytest.approx(shares[1], abs=0.03)


def test_verdicts() -> None:
    assert judge(0.05, networks(1.0)) is Verdict.PARTLY
    assert judge(0.05, networks(0.3)) is Verdict.SUPPORTED
    assert judge(0.6, networks(1.0)) is Verdict.NOT_SUPPORTED


def test_study() -> None:
    one = run(Settings(quick=True, seeds=1))
    assert "tanh(2.5) is 0.9866 and its slope there 0.0266" in one.because
    start = [row for row in one.table if row["steps"] == 0]
    assert [row["recognized"] for row in start] == pytest.approx([1.0] * len(start), abs=1e-12)
    assert {row["network"] for row in start} == {ALONE, *NETWORKS}
    assert one.values[0] < 0.1
