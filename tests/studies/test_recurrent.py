"""Recurrent networks: gradients, starts and gates are what the studies say they are."""

import math
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from studies import bidirectional, conv_far, gates, memory, recency, relu_rnn, tanh_blur
from studies.sequences import SequenceTask, growing_tasks, train_translator
from studies.study import Settings, Table, Verdict
from studies.training import seeded
from vit_str.models.encoders.recurrent import NETWORKS


@pytest.mark.parametrize(
    ("name", "activation"), [("tanh", torch.tanh), ("relu", F.relu)]
)
def test_the_loop_equals_the_network_of_torch(name, activation):
    with seeded(0):
        network = nn.RNN(3, 5, batch_first=True, nonlinearity=name)
        x = torch.randn(2, 7, 3)
    states, last = memory.ElmanNetwork(network, activation)(x)
    torch.testing.assert_close(states, network(x)[0])
    torch.testing.assert_close(last, network(x)[1][0])


@pytest.mark.parametrize("gain", [0.5, 1.0, 1.25])
def test_without_saturation_a_rotation_loses_its_gain_in_every_step(gain):
    # All inputs zero and no bias: the state is zero, where tanh is the identity.
    with seeded(0):
        network = nn.RNN(4, 8, batch_first=True, bias=False)
        network.weight_hh_l0.data.copy_(memory.orthogonal(8, gain))
        network.weight_ih_l0.data.copy_(torch.eye(8)[:, :4])
    # The norm for one direction depends on it; the gradient by the state itself would not.
    decays = memory.decay(network, torch.zeros(400, 6, 4), 0)
    assert decays[0] == 0
    assert decays[5] == pytest.approx(5 * math.log10(gain), abs=0.05)


def test_random_directions_estimate_the_norm_of_the_jacobian():
    with seeded(0):
        network = nn.GRU(2, 6, batch_first=True).double()
        x = torch.randn(1, 4, 2, dtype=torch.float64)
    jacobian = torch.autograd.functional.jacobian(lambda x: network(x)[0][0, -1], x)
    exact = jacobian.square().sum((0, 1, 3)).sqrt()
    norms = memory.input_gradients(
        network, x.expand(4000, -1, -1), torch.Generator().manual_seed(0)
    )
    torch.testing.assert_close(norms, exact, rtol=0.05, atol=0)


def test_matrices_have_the_radius_asked_for():
    with seeded(0):
        rotation = memory.orthogonal(16, 1.3)
        weights = memory.positive(16, 0.8)
    assert memory.spectral_radius(rotation) == pytest.approx(1.3, rel=1e-5)
    assert memory.spectral_radius(weights) == pytest.approx(0.8, rel=1e-5)
    assert weights.min() >= 0 and weights.max() <= 1


def test_identity_adds_up_positive_inputs_exactly():
    network = relu_rnn.make_network(relu_rnn.IDENTITY, "ReLU")
    into = network.network.weight_ih_l0
    into.data.abs_()
    x = torch.rand(2, 5, 16)
    torch.testing.assert_close(network(x)[0], (x @ into.T).cumsum(1))


def test_far_states_are_recognized_equal_ones_are_not_and_width_is_no_advantage():
    def share(states, draws):
        generator = torch.Generator().manual_seed(1)
        return tanh_blur.recognized(tanh_blur.noisy(states, draws, generator), states)

    apart = torch.arange(101, dtype=torch.float64)[:, None]
    assert share(apart, 3) == 1.0
    equal = torch.zeros(101, 1, dtype=torch.float64)
    assert share(equal, 3) == pytest.approx(1 / 101)
    numbers = torch.linspace(-1, 1, 101, dtype=torch.float64)[:, None]
    assert share(numbers, 40) == pytest.approx(
        share(numbers.repeat(1, 64), 40), abs=0.03
    )


def test_noise_before_tanh_is_squeezed_with_the_differences_noise_behind_it_is_not():
    rows = list(tanh_blur.measure(0, width=8, draws=3))
    last = {row[:2]: row[4] for row in rows if row[3] == 100}
    assert last[tanh_blur.ALONE, tanh_blur.FIRST] > 0.9
    assert last[tanh_blur.ALONE, tanh_blur.LAST] < 0.1


@pytest.mark.parametrize(
    ("name", "gate"), [("LSTM, bias 5", "forget"), ("GRU, bias 3", "update")]
)
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


@pytest.mark.parametrize("offset", [2, -2])
def test_the_answer_is_the_token_at_the_offset(offset):
    task = bidirectional.TokenAhead(offset, 6)
    said, answers = task.draw(3, torch.Generator().manual_seed(0))
    asked = bidirectional.Tagger(nn.Identity(), offset)(torch.arange(6)[None, :, None])[
        0, :, 0
    ]
    assert answers.shape == (3, 4, 1)
    assert torch.equal(answers, said[:, asked + offset])


class LastSymbol(nn.Module):
    """An encoder that knows the last symbol and nothing else."""

    def forward(self, sources):
        return F.one_hot(sources[:, -1:], 5).float()


def test_a_linear_map_names_what_the_last_state_holds():
    shares = recency.named_right(LastSymbol(), symbols=5, length=4, seed=0)
    assert shares[0] == 1.0
    assert shares[1:] == pytest.approx([0.2] * 3, abs=0.05)


def test_shares_are_written_from_the_end_of_the_source():
    task = SequenceTask(4, (2, 4), backwards=True)
    model = train_translator(task, "none", 0, dim=8, steps=1, learning_rate=1e-2)
    first = torch.tensor([[True, False, False, False]])
    model.right_symbols = lambda sources, labels: first
    assert recency.written_right(model, task, 4, 0) == [1, 0, 0, 0]
    assert recency.written_right(model, replace(task, backwards=False), 4, 0) == [
        0,
        0,
        0,
        1,
    ]


def recency_rows(written):
    """A table in which networks write these shares, for each seed one, and hold every symbol."""
    rows = []
    for name, shares in written.items():
        for seed, share in enumerate(shares):
            rows += [("written", name, seed, 0, share), ("written", name, seed, 1, 1.0)]
            rows.append(("named", name, seed, 0, 1.0))
    rows.append(("named", recency.RNN, 0, 0, 1.0))
    return Table.of("experiment network seed distance right_symbols", rows)


def test_vectors_of_trainings_that_did_not_learn_are_left_out():
    table = recency_rows({recency.COPYING: [0.8, 0.7, 0.9], recency.REVERSING: [0.1]})
    written = recency.written_by_run(table)
    assert written[recency.COPYING] == pytest.approx([0.9, 0.85, 0.95])
    held = recency.of_learned(table.where(experiment="named"), written)
    assert [(row["network"], row["seed"]) for row in held] == [
        (recency.COPYING, 0),
        (recency.COPYING, 2),
        (recency.RNN, 0),
    ]


@pytest.mark.parametrize("steps", [0, 400])
def test_recency_decides_by_networks_that_learned(monkeypatch, steps):
    sizes = {"dim": 32, "steps": steps, "learning_rate": 1e-2}
    monkeypatch.setattr(recency, "_QUICK_TRAINING", sizes)
    monkeypatch.setattr(recency, "_TASK", SequenceTask(4, (2, 4), False))
    found = recency.run(Settings(quick=True, seeds=1))
    assert (found.verdict == Verdict.UNDECIDED) == (steps == 0)
    assert ("writes right" in found.measure) == (steps == 0)
    trained = found.summary[2:]
    learned = "0 of 1" if steps == 0 else "1 of 1"
    assert [row["trainings that learned"] for row in trained] == [learned] * 2


def test_sequences_grow_during_the_first_half_of_the_steps():
    task = SequenceTask(4, (2, 6), True)
    longest = [each.lengths[1] for each in growing_tasks(task, 8)]
    assert longest == [2, 3, 4, 5, 6, 6, 6, 6]
    assert {each.lengths[0] for each in growing_tasks(task, 8)} == {2}


@pytest.mark.parametrize(
    ("name", "layers"),
    [
        (conv_far.PLAIN, [1, 3, 8]),
        (conv_far.RESIDUAL, [1, 3, 8]),
        (conv_far.DILATED, [1, 2, 4]),
        (conv_far.ATTENTION, [1, 1, 1]),
    ],
)
def test_layers_that_connect_two_places(name, layers):
    assert [
        conv_far.layers_needed(name, distance, 0) for distance in (1, 3, 8)
    ] == layers
