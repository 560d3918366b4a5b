import pytest

from studies import rnn_gradient
from studies.study import Table, Verdict


@pytest.fixture(scope="module")
def rows():
    return Table(
        row
        for seed in range(2)
        for row in rnn_gradient.measure_starts(seed) + rnn_gradient.measure_trained(seed, 1)
    )


def gradient(rows, name, distance, seed=0):
    return rows.mean("log10_gradient", network=name, distance=distance, seed=seed)


def test_the_default_loses_what_large_rotations_keep(rows):
    assert gradient(rows, rnn_gradient.DEFAULT, 20) == pytest.approx(-5.5, abs=0.7)
    assert gradient(rows, "orthogonal 1.3", 20) > -0.6
    assert gradient(rows, rnn_gradient.DEFAULT, 0) == 0


def test_slopes_below_1_only_add_to_the_loss_of_a_rotation(rows):
    # The newest inputs pass tanh too, so the bound is that of the recurrent factors.
    for gain, log in (("0.5", -0.30103), ("0.7", -0.1549), ("1", 0.0)):
        name = f"orthogonal {gain}"
        assert gradient(rows, name, 99) - gradient(rows, name, 5) < 94 * log


def test_weights_between_0_and_1_need_not_vanish(rows):
    small, large = (gradient(rows, f"positive {radius}", 50) for radius in ("0.5", "1"))
    assert small < large - 10


def test_a_seed_decides(rows):
    assert rnn_gradient.measure_starts(1)[:30] == [row for row in rows if row["seed"] == 1][:30]
    assert gradient(rows, rnn_gradient.BEFORE, 10) != gradient(rows, rnn_gradient.TRAINED, 10)


def test_the_findings_are_a_verdict_with_the_number_of_the_summary(rows):
    found = rnn_gradient.findings(rows)
    assert found.verdict == Verdict.PARTLY
    assert max(found.values) < -4
    assert found.summary[0]["network"] == rnn_gradient.DEFAULT


@pytest.mark.parametrize(
    ("default", "other", "verdict"),
    [
        (-6.0, -5.0, Verdict.SUPPORTED),
        (-6.0, -1.0, Verdict.PARTLY),
        (-1.0, -6.0, Verdict.NOT_SUPPORTED),
    ],
)
def test_the_rule(default, other, verdict):
    assert (
        rnn_gradient.judge({rnn_gradient.DEFAULT: [default] * 3, "other": [other] * 3}) == verdict
    )
