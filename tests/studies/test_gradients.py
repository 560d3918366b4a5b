import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from studies import gradients
from studies.training import seeded


@pytest.mark.parametrize(("name", "activation"), [("tanh", torch.tanh), ("relu", F.relu)])
def test_the_loop_equals_the_network_of_torch(name, activation):
    with seeded(0):
        network = nn.RNN(3, 5, batch_first=True, nonlinearity=name)
        x = torch.randn(2, 7, 3)
    states, last = gradients.ElmanNetwork(network, activation)(x)
    torch.testing.assert_close(states, network(x)[0])
    torch.testing.assert_close(last, network(x)[1][0])


@pytest.mark.parametrize("gain", [0.5, 1.0, 1.25])
def test_without_saturation_a_rotation_loses_its_gain_in_every_step(gain):
    # All inputs zero and no bias: the state is zero, where tanh is the identity.
    with seeded(0):
        network = nn.RNN(4, 8, batch_first=True, bias=False)
        network.weight_hh_l0.data.copy_(gradients.orthogonal(8, gain))
        network.weight_ih_l0.data.copy_(torch.eye(8)[:, :4])
    # The norm for one direction depends on it; the gradient by the state itself would not.
    decays = gradients.decay(network, torch.zeros(400, 6, 4), 0)
    assert decays[0] == 0
    assert decays[5] == pytest.approx(5 * math.log10(gain), abs=0.05)


def test_random_directions_estimate_the_norm_of_the_jacobian_and_change_nothing():
    with seeded(0):
        network = nn.GRU(2, 6, batch_first=True).double()
        x = torch.randn(1, 4, 2, dtype=torch.float64)
    before = {name: value.clone() for name, value in network.state_dict().items()}
    jacobian = torch.autograd.functional.jacobian(lambda x: network(x)[0][0, -1], x)
    exact = jacobian.square().sum((0, 1, 3)).sqrt()
    norms = gradients.input_gradients(network, x.expand(4000, -1, -1))
    torch.testing.assert_close(norms, exact, rtol=0.05, atol=0)
    for name, value in network.state_dict().items():
        assert torch.equal(value, before[name])


def test_matrices_have_the_radius_asked_for():
    with seeded(0):
        rotation, weights = gradients.orthogonal(16, 1.3), gradients.positive(16, 0.8)
    assert gradients.spectral_radius(rotation) == pytest.approx(1.3, rel=1e-5)
    assert gradients.spectral_radius(weights) == pytest.approx(0.8, rel=1e-5)
    assert weights.min() >= 0 and weights.max() <= 1
