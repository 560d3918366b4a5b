import pytest
import torch

from studies import gates
from studies.study import Table, Verdict
from studies.training import seeded
from vit_str.models.encoders.recurrent import NETWORKS

NAMES = (gates.RNN, gates.LSTM, gates.OPEN_LSTM, gates.GRU, gates.ATTENTION)
FAILS, SOLVES = [0.16, 0.17, 0.165], [0.001, 0.002, 0.001]


@pytest.fixture(scope="module")
def starts():
    return Table(row for seed in range(2) for row in gates.measure_start(seed))


def left(rows, name, distance=20):
    return rows.values("log10_gradient_or_error", network=name, distance_or_length=distance)


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
        network_class, opened = gates.CELLS[name]
        network = NETWORKS[network_class](2, 4, batch_first=True)
        gates.open_gate(network, opened)
        for parameter in (network.weight_ih_l0, network.weight_hh_l0):
            parameter.data.zero_()
        bias = network.bias_ih_l0
        state = torch.full((1, 1, 4), 0.5)
    kept = torch.sigmoid(torch.tensor(opened))
    assert bias[4:8].tolist() == [opened] * 4
    if gate == "forget":
        bias.data[8:12] = network.bias_hh_l0.data[8:12] = 0.0  # nothing new to write
        memory = network(torch.zeros(1, 1, 2), (state, state))[1][1]
    else:
        bias.data[8:] = network.bias_hh_l0.data[8:] = 0.0
        memory = network(torch.zeros(1, 1, 2), state)[1]
    torch.testing.assert_close(memory, kept * state)


def test_open_gates_keep_the_gradient_and_closed_ones_lose_it(starts):
    assert max(left(starts, gates.LSTM) + left(starts, gates.GRU)) < -3.5
    assert min(left(starts, gates.OPEN_LSTM) + left(starts, "GRU, bias 3")) > -1
    by_bias = [left(starts, f"LSTM, bias {bias}")[0] for bias in (0, 1, 3)]
    assert by_bias == sorted(by_bias)
    assert gates.measure_start(1) == [row for row in starts if row["seed"] == 1]


def test_findings_tell_the_error_of_the_best_gates(starts):
    errors = {
        gates.RNN: FAILS,
        gates.LSTM: FAILS,
        gates.OPEN_LSTM: SOLVES,
        gates.GRU: [0.004] * 3,
        gates.ATTENTION: [0.0] * 3,
    }
    found = gates.findings(Table([*starts, *adding(errors)]))
    assert found.verdict == Verdict.PARTLY
    assert found.values == pytest.approx(SOLVES[:2])
    assert gates.OPEN_LSTM in found.measure and found.surprises


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
    errors = {
        gates.RNN: rnn,
        gates.LSTM: plain,
        gates.OPEN_LSTM: opened,
        gates.GRU: plain,
        gates.ATTENTION: SOLVES,
    }
    starts = dict.fromkeys((gates.LSTM, gates.GRU), [gradient] * 3)
    assert gates.judge(starts, {30: errors}) == verdict
