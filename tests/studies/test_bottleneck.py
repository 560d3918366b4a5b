import pytest
import torch

from studies import Settings, Verdict
from studies.bottleneck import (
    ATTENTION,
    ONE,
    WIDE,
    Size,
    avoided,
    findings,
    judge,
    measure,
)
from studies.sequences import SequenceTask
from studies.study import Table

TINY = Size((SequenceTask(3, (2, 3), False),), 8, 4, 1e-2, (2, 3, 4), tested=8)


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
            for way, value in ((ONE, one), (WIDE, one), (ATTENTION, attention))
            for length in (2, 8)
        }
    )


def test_the_task_where_attention_helps_least_counts() -> None:
    table = rows(
        {
            ("copy", ONE, 8): [0.5, 1.0],
            ("copy", ATTENTION, 8): [1.0, 1.0],
            ("reverse", ONE, 8): [0.5, 0.0],
            ("reverse", ATTENTION, 8): [0.6, 0.5],
        }
    )
    assert avoided(table, 8) == pytest.approx([0.2, 0.0])


def test_the_verdict_follows_from_the_numbers() -> None:
    assert findings(made_up(0.5, 0.95), 8).verdict is Verdict.SUPPORTED
    assert findings(made_up(0.5, 0.6), 8).verdict is Verdict.PARTLY
    assert findings(made_up(0.5, 0.5), 8).verdict is Verdict.NOT_SUPPORTED
    assert findings(made_up(0.5, 0.2), 8).verdict is Verdict.NOT_SUPPORTED
    assert judge((0.5, 0.9)) is Verdict.SUPPORTED


def test_the_same_seeds_give_the_same_rows_and_leave_the_generator_alone() -> None:
    before = torch.get_rng_state()
    first = measure(TINY, Settings(seeds=2))
    assert torch.equal(before, torch.get_rng_state())
    assert first == measure(TINY, Settings(seeds=2))
    assert len(first) == 2 * 3 * 3
