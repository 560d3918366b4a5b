"""How much a state of a network feels each of its inputs, and recurrent networks to measure."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.func import functional_call

SMALLEST = 1e-300
"""Where not even double precision holds a number, this is as good as zero."""


class ElmanNetwork(nn.Module):
    """h(t) = f(W x(t) + U h(t - 1) + b) with any f; torch's own knows only tanh and ReLU.

    Args:
        network: a recurrent network of one layer and one direction; its weights are taken over.
        activation: f.
    """

    def __init__(self, network: nn.RNN, activation: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.network, self.activation = network, activation

    def forward(
        self, x: Float[Tensor, "batch step input"]
    ) -> tuple[Float[Tensor, "batch step dim"], Float[Tensor, "batch dim"]]:
        """All states and the last one, as torch's networks return them."""
        into, across, bias, bias_across = self.network.all_weights[0]
        driven = x @ into.T + bias + bias_across
        state = driven.new_zeros(len(x), len(across))
        states = []
        for step in driven.unbind(1):
            state = self.activation(step + state @ across.T)
            states.append(state)
        return torch.stack(states, 1), state


def input_gradients(
    network: nn.Module, x: Float[Tensor, "batch step input"], seed: int = 0, at: int = -1
) -> Float[Tensor, " step"]:
    """Norm of the gradient of a state by each input, in the order of the inputs.

    One random direction v of the state is followed back for each sequence. The mean of |vᵀJ|² over
    v of unit variance is the squared Frobenius norm of the Jacobian J, so the root of the mean over
    the batch tells that norm without a backward pass for every unit.

    Args:
        network: returns the states first, as torch's recurrent networks do. It is used in double
            precision: a hundred steps would fall out of the range of single precision.
        x: the sequences.
        seed: of the directions.
        at: index of the state, the last by default.
    """
    x = x.detach().double().requires_grad_()
    weights = {name: value.double() for name, value in network.named_parameters()}
    state = functional_call(network, weights, (x,))[0][:, at]
    generator = torch.Generator().manual_seed(seed)
    directions = torch.randn(state.shape, generator=generator, dtype=state.dtype)
    (gradient,) = torch.autograd.grad((state * directions.to(state.device)).sum(), x)
    return gradient.square().sum(-1).mean(0).sqrt()


def decay(network: nn.Module, x: Float[Tensor, "batch step input"], seed: int) -> list[float]:
    """log10 of `input_gradients` of the last state by distance from the last input, whose is 0."""
    backwards = input_gradients(network, x, seed).flip(0)
    return (backwards / backwards[0]).clamp_min(SMALLEST).log10().tolist()


def orthogonal(dim: int, gain: float) -> Float[Tensor, "dim dim"]:
    """A random rotation (with or without a reflection) times a gain, which is its radius."""
    return gain * nn.init.orthogonal_(torch.empty(dim, dim))


def positive(dim: int, radius: float) -> Float[Tensor, "dim dim"]:
    """Random weights between 0 and 1 with a spectral radius, which is small against ``dim / 2``."""
    weights = torch.rand(dim, dim)
    return weights * (radius / spectral_radius(weights))


def spectral_radius(matrix: Float[Tensor, "dim dim"]) -> float:
    """The largest absolute value of an eigenvalue."""
    return torch.linalg.eigvals(matrix.detach().double()).abs().max().item()
