import pytest
import torch

from studies import relu_rnn
from studies.study import Table, Verdict


@pytest.fixture(scope="module")
def rows():
    return Table(row for seed in range(2) for row in relu_rnn.measure(seed))


def test_identity_adds_up_positive_inputs_exactly():
    network = relu_rnn.make_network(relu_rnn.IDENTITY, "ReLU")
    into = network.network.weight_ih_l0
    into.data.abs_()
    x = torch.rand(2, 5, 16)
    torch.testing.assert_close(network(x)[0], (x @ into.T).cumsum(1))


def test_the_start_decides_whether_a_state_diverges(rows):
    found = relu_rnn.findings(rows)
    growth = {
        row["start"]: float(
            row["log10 growth of the state, steps 50 to 100"].split()[0]  # the mean
        )
        for row in found.summary
        if row["activation"] == "ReLU"
    }
    assert growth[relu_rnn.LARGER] > 6 and abs(growth[relu_rnn.DEFAULT]) < 0.1
    assert 0 < growth[relu_rnn.IDENTITY] < 0.3
    assert growth[relu_rnn.LARGE] < growth[relu_rnn.LARGER]
    assert found.verdict == Verdict.PARTLY


def test_a_seed_decides(rows):
    assert relu_rnn.measure(1) == [row for row in rows if row["seed"] == 1]


@pytest.mark.parametrize(
    ("growths", "verdict"),
    [
        ((3.0, 2.0), Verdict.SUPPORTED),
        ((3.0, 0.15), Verdict.PARTLY),
        ((0.15, -0.1), Verdict.NOT_SUPPORTED),
    ],
)
def test_the_rule(growths, verdict):
    assert relu_rnn.judge([[growth] * 3 for growth in growths]) == verdict
