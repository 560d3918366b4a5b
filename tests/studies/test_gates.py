import pytest
import torch

from studies import study_of
from studies.gated_cells import CELLS, GRU, LSTM, OPEN_LSTM, RNN
from studies.gates import (
    ATTENTION,
    Size,
    findings,
    measure_adding,
    measure_start,
    verdict_of,
)
from studies.study import Verdict
from studies.tasks_tokens import seeded

NAMES = (RNN, LSTM, OPEN_LSTM, GRU, ATTENTION)
FAILS, SOLVES = [0.16, 0.17, 0.165], [0.001, 0.002, 0.001]


@pytest.fixture(scope="module")
def starts():
    return [row for seed in range(2) for row in measure_start(seed)]


def left(rows, name, distance=20):
    return [
        row["log10_gradient_or_error"]
        for row in rows
        if (row["network"], row["distance_or_length"]) == (name, distance)
    ]


def adding(errors, length=30):
    return [
        {
            "experiment": "adding",
            "network": name,
            "seed": seed,
            "distance_or_length": length,
            "log10_gradient_or_error": error,
        }
        for name, values in errors.items()
        for seed, error in enumerate(values[:2])
    ]


@pytest.mark.parametrize(("name", "gate"), [("LSTM, bias 5", "forget"), ("GRU, bias 3", "update")])
def test_the_bias_opens_the_gate_that_keeps_the_state(name, gate):
    with seeded(0):
        network = CELLS[name].build(2, 4)
        for parameter in (network.weight_ih_l0, network.weight_hh_l0):
            parameter.data.zero_()
        bias = network.bias_ih_l0
        state = torch.full((1, 1, 4), 0.5)
    kept = torch.sigmoid(torch.tensor(CELLS[name].keep))
    assert bias[4:8].tolist() == [CELLS[name].keep] * 4
    if gate == "forget":
        bias.data[8:12] = network.bias_hh_l0.data[8:12] = 0.0  # nothing new to write
        memory = network(torch.zeros(1, 1, 2), (state, state))[1][1]
    else:
        bias.data[8:] = network.bias_hh_l0.data[8:] = 0.0
        memory = network(torch.zeros(1, 1, 2), state)[1]
    torch.testing.assert_close(memory, kept * state)


def test_open_gates_keep_the_gradient_and_closed_ones_lose_it(starts):
    assert max(left(starts, LSTM) + left(starts, GRU)) < -3.5
    assert min(left(starts, OPEN_LSTM) + left(starts, "GRU, bias 3")) > -1
    by_bias = [left(starts, f"LSTM, bias {bias}")[0] for bias in (0, 1, 3)]
    assert by_bias == sorted(by_bias)
    assert measure_start(1) == [row for row in starts if row["seed"] == 1]


def test_training_is_decided_by_the_seed():
    size = Size({4: 2}, 2)
    for name in (LSTM, ATTENTION):
        row = measure_adding(name, 4, size, 0)
        assert row == measure_adding(name, 4, size, 0)
        assert row != measure_adding(name, 4, size, 1)


def test_findings_tell_the_error_of_the_best_gates(starts):
    errors = {RNN: FAILS, LSTM: FAILS, OPEN_LSTM: SOLVES, GRU: [0.004] * 3, ATTENTION: [0.0] * 3}
    found = findings([*starts, *adding(errors)])
    assert found.verdict == Verdict.PARTLY
    assert found.value == pytest.approx(0.0015)
    assert OPEN_LSTM in found.measure and found.surprises
    assert study_of("gates").id == "gates"


@pytest.mark.parametrize(
    ("gradient", "plain", "opened", "rnn", "verdict"),
    [
        (-0.5, SOLVES, SOLVES, FAILS, Verdict.SUPPORTED),
        (-4.5, SOLVES, SOLVES, FAILS, Verdict.PARTLY),
        (-0.5, FAILS, SOLVES, FAILS, Verdict.PARTLY),
        (-0.5, FAILS, FAILS, FAILS, Verdict.NOT_SUPPORTED),
        (-0.5, SOLVES, SOLVES, SOLVES, Verdict.NOT_SUPPORTED),
    ],
)
def test_the_rule(gradient, plain, opened, rnn, verdict):
    errors = {RNN: rnn, LSTM: plain, OPEN_LSTM: opened, GRU: plain, ATTENTION: SOLVES}
    starts = dict.fromkeys((LSTM, GRU), [gradient] * 3)
    assert verdict_of(starts, {30: errors}) == verdict
