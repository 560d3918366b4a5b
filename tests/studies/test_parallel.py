import pytest
import torch
from matplotlib.figure import Figure

from studies import Verdict, parallel


def test_the_longest_way_counts() -> None:
    x = torch.ones((), requires_grad=True)
    assert parallel.longest_chain(x.exp()) == 2  # the operation, and the leaf
    assert parallel.longest_chain(x.exp() + x.sin().cos().tan()) == 5
    # Twice the same value is no longer than once.
    y = x.exp()
    assert parallel.longest_chain(y * y) == 3


def test_only_the_chain_of_the_gru_grows() -> None:
    gru = [parallel.chain(parallel.RECURRENT, length, 4) for length in (5, 10, 20)]
    assert gru[2] - gru[1] == 2 * (gru[1] - gru[0]) > 0
    assert parallel.chain(parallel.ATTENTION, 5, 4) == parallel.chain(parallel.ATTENTION, 50, 4)


@pytest.mark.parametrize(("length", "dim"), [(3, 8), (8, 8), (40, 8)])
def test_operations_are_those_of_the_closed_forms(length: int, dim: int) -> None:
    assert parallel.operations(parallel.RECURRENT, length, dim) == 12 * length * dim**2
    assert (
        parallel.operations(parallel.ATTENTION, length, dim)
        == 8 * length * dim**2 + 4 * length**2 * dim
    )


def test_the_fastest_counts_and_the_first_does_not() -> None:
    clock = iter([0.0, 1.0, 10.0, 15.0, 20.0, 23.0])
    assert parallel.fastest(lambda: None, 2, "cpu", lambda: next(clock)) == 3.0


def test_the_verdict_follows_from_the_numbers() -> None:
    chains = {parallel.RECURRENT: [20, 200], parallel.ATTENTION: [9, 9]}
    assert parallel.judge(chains, [(1.5, 2.0), (1.1, 1.3)]) is Verdict.SUPPORTED
    assert parallel.judge(chains, [(1.5, 2.0), (0.5, 0.6)]) is Verdict.PARTLY
    assert parallel.judge(chains, [(0.5, 0.6)]) is Verdict.PARTLY
    grows = {parallel.RECURRENT: [20, 200], parallel.ATTENTION: [9, 90]}
    assert parallel.judge(grows, [(1.5, 2.0)]) is Verdict.NOT_SUPPORTED


def test_a_small_run(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = torch.get_num_threads()
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    size = parallel.Size((2, 4), dim=8, batch=2, repetitions=1)
    rows = parallel.measure(size, seeds=2)
    assert len(rows) == 8
    assert all(
        float(row["milliseconds"]) > 0 and row["processor"] == parallel.ONE_THREAD for row in rows
    )
    found = parallel.findings(rows)
    assert found.verdict is not Verdict.NOT_SUPPORTED
    found.draw(Figure())
    assert torch.get_num_threads() == threads
