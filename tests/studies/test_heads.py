from matplotlib.figure import Figure

from studies.heads import (
    HEADS,
    findings,
    judge,
    make_network,
    permutation_error,
    steps_to_goal,
)
from studies.study import Table, Verdict


def test_no_number_of_heads_knows_positions():
    for heads in HEADS:
        assert permutation_error(heads, 0, positions=False) < 1e-13
        assert permutation_error(heads, 0, positions=True) > 0.01


def test_parameters_are_equal_at_every_number_of_heads():
    sizes = {sum(p.numel() for p in make_network(2, heads, 0).parameters()) for heads in HEADS}
    assert len(sizes) == 1


def test_verdicts():
    gain, none = [0.3, 0.31, 0.29], [0.1, -0.1, 0.0]
    assert judge(gain, [1e-15]) is Verdict.PARTLY
    assert judge(gain, [0.1]) is Verdict.SUPPORTED
    assert judge(none, [1e-15]) is Verdict.NOT_SUPPORTED
    assert judge(none, [0.1]) is Verdict.PARTLY


def test_steps_to_the_goal():
    assert steps_to_goal([20, 40, 60], [[0.5, 0.96, 0.9]]) == "40 [40, 40]"
    assert steps_to_goal([20, 40], [[0.5, 0.97], [0.5, 0.8]]) == "40 [40, 40] in 1/2"
    assert steps_to_goal([20, 40], [[0.5, 0.6]]) == "never"


def test_findings():
    rows = [
        (pointers, heads, "accuracy", step, value)
        for pointers, heads in [(2, heads) for heads in HEADS] + [(1, 1), (1, 8)]
        for step, value in ((20, 0.5), (40, 0.5 if (pointers, heads) == (2, 1) else 0.97))
    ] + [
        (0, heads, f"permutation error {how} positions", 0, error)
        for heads in HEADS
        for how, error in (("without", 1e-15), ("with", 0.5))
    ]
    columns = ("pointers", "heads", "measure", "step", "value")
    table = Table(
        {"seed": s} | dict(zip(columns, row, strict=True)) for s in range(2) for row in rows
    )
    found = findings(table)
    assert found.verdict is Verdict.PARTLY
    assert found.values == [0.97 - 0.5] * 2
    assert len(found.surprises) == 2
    found.draw(Figure())
