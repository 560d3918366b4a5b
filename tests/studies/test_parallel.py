import pytest
import torch
from matplotlib.figure import Figure

from studies import Verdict
from studies.parallel import (
    ATTENTION,
    ONE_THREAD,
    RECURRENT,
    Size,
    chain,
    fastest,
    findings,
    judge,
    longest_chain,
    measure,
    operations,
)


def test_the_longest_way_counts() -> None:
    x = torch.ones((), requires_grad=True)
    assert longest_chain(x.exp()) == 2  # the operation, and the leaf
    assert longest_chain(x.exp() + x.sin().cos().tan()) == 5
    # Twice the same value is no longer than once.
    y = x.exp()
    assert longest_chain(y * y) == 3


def test_only_the_chain_of_the_gru_grows() -> None:
    gru = [chain(RECURRENT, length, 4) for length in (5, 10, 20)]
    assert gru[2] - gru[1] == 2 * (gru[1] - gru[0]) > 0
    assert chain(ATTENTION, 5, 4) == chain(ATTENTION, 50, 4)


@pytest.mark.parametrize(("length", "dim"), [(3, 8), (8, 8), (40, 8)])
def test_operations_are_those_of_the_closed_forms(length: int, dim: int) -> None:
    assert operations(RECURRENT, length, dim) == 12 * length * dim**2
    assert operations(ATTENTION, length, dim) == 8 * length * dim**2 + 4 * length**2 * dim


def test_the_fastest_counts_and_the_first_does_not() -> None:
    clock = iter([0.0, 1.0, 10.0, 15.0, 20.0, 23.0])
    assert fastest(lambda: None, 2, "cpu", lambda: next(clock)) == 3.0


def test_the_verdict_follows_from_the_numbers() -> None:
    chains = {RECURRENT: [20, 200], ATTENTION: [9, 9]}
    assert judge(chains, [(1.5, 2.0), (1.1, 1.3)]) is Verdict.SUPPORTED
    assert judge(chains, [(1.5, 2.0), (0.5, 0.6)]) is Verdict.PARTLY
    assert judge(chains, [(0.5, 0.6)]) is Verdict.PARTLY
    grows = {RECURRENT: [20, 200], ATTENTION: [9, 90]}
    assert judge(grows, [(1.5, 2.0)]) is Verdict.NOT_SUPPORTED


def test_a_small_run(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = torch.get_num_threads()
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    size = Size((2, 4), dim=8, batch=2, repetitions=1)
    rows = measure(size, seeds=2)
    assert len(rows) == 8
    assert all(float(row["milliseconds"]) > 0 and row["processor"] == ONE_THREAD for row in rows)
    found = findings(rows)
    assert found.verdict is not Verdict.NOT_SUPPORTED
    found.draw(Figure())
    assert torch.get_num_threads() == threads
