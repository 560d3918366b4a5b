import pytest

from studies import Verdict, bottleneck
from studies.study import Table


def rows(accuracies: dict[tuple[str, str, int], list[float]]) -> Table:
    return Table(
        {
            "task": task,
            "system": system,
            "seed": seed,
            "length": length,
            "right_symbols": value,
            "right_sequences": value,
        }
        for (task, system, length), values in accuracies.items()
        for seed, value in enumerate(values)
    )


def made_up(one: float, attention: float) -> Table:
    """Three seeds of one task, near these accuracies at length 8."""
    shifts = (-0.01, 0.0, 0.01)
    return rows(
        {
            ("copy", way, length): [value + shift for shift in shifts]
            for way, value in (
                (bottleneck.ONE, one),
                (bottleneck.WIDE, one),
                (bottleneck.ATTENTION, attention),
            )
            for length in (2, 8)
        }
    )


def test_the_task_where_attention_helps_least_counts() -> None:
    table = rows(
        {
            ("copy", bottleneck.ONE, 8): [0.5, 1.0],
            ("copy", bottleneck.ATTENTION, 8): [1.0, 1.0],
            ("reverse", bottleneck.ONE, 8): [0.5, 0.0],
            ("reverse", bottleneck.ATTENTION, 8): [0.6, 0.5],
        }
    )
    assert bottleneck.avoided(table, 8) == pytest.approx([0.2, 0.0])


def test_the_verdict_follows_from_the_numbers() -> None:
    assert bottleneck.findings(made_up(0.5, 0.95), 8).verdict is Verdict.SUPPORTED
    assert bottleneck.findings(made_up(0.5, 0.6), 8).verdict is Verdict.PARTLY
    assert bottleneck.findings(made_up(0.5, 0.5), 8).verdict is Verdict.NOT_SUPPORTED
    assert bottleneck.findings(made_up(0.5, 0.2), 8).verdict is Verdict.NOT_SUPPORTED
    assert bottleneck.judge((0.5, 0.9)) is Verdict.SUPPORTED
