"""How far back networks look: gradients by distance, and the adding problem.

The adding problem is that of Hochreiter and Schmidhuber 1997, section 5.4, as in Le et al. 2015:
every step holds a number from 0 to 1 and a mark; one step of each half is marked, and the sum of
the two numbers is asked for. Who cannot look back that far says 1 at best.

An adder is any module from ``batch step 2`` to ``batch``. Here are two, made of the project's own
parts; both must answer from what they hold at the last step, so that distances are real.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn
from torch.func import functional_call

from studies.training import fit_warm
from vit_str.models.blocks import EncoderBlock
from vit_str.models.encoders.recurrent import NETWORKS

SMALLEST = 1e-300
"""Where not even double precision holds a number, this is as good as zero."""
# Of the networks whose gradients are followed back.
DIM = 64  # units
INPUT = 16  # numbers in each input
STEPS = 100
SEQUENCES = 16  # that they are measured on
DISTANCES = (*range(0, STEPS, 5), STEPS - 1)
LOST = -2.0
"""log10 of a hundredth of the gradient of the newest input: an older one hardly takes part."""
LABELS = {
    "xlabel": "distance from the last state (steps)",
    "ylabel": "log10 of the gradient's norm\nrelative to the last input",
}
BASELINE = 1 / 6
"""Mean squared error of the best constant answer, 1: twice the variance 1/12 of one number."""
SOLVED = BASELINE / 10
"""Below this error an adder has found both numbers: with one of them 1/12 would be left."""

Matrix = Float[Tensor, "dim dim"]
Sequences = Float[Tensor, "batch step input"]
Sums = Float[Tensor, " batch"]


class ElmanNetwork(nn.Module):
    """h(t) = f(W x(t) + U h(t - 1) + b) with any f and the weights of ``network``."""

    def __init__(self, network: nn.RNN, activation: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.network = network
        self.activation = activation

    def forward(self, x: Sequences) -> tuple[Float[Tensor, "batch step dim"], Tensor]:
        """All states and the last one, as torch's networks return them."""
        into, across, bias, bias_across = self.network.all_weights[0]
        driven = x @ into.T + bias + bias_across
        state = driven.new_zeros(len(x), len(across))
        states = []
        for step in driven.unbind(1):
            state = self.activation(step + state @ across.T)
            states.append(state)
        return torch.stack(states, 1), state


def make_network(name: str = "rnn") -> nn.RNNBase:
    """A network to measure: ``rnn`` (tanh), ``lstm`` or ``gru``."""
    return NETWORKS[name](INPUT, DIM, batch_first=True)


def draw_inputs(device: str) -> Sequences:
    """Normal sequences to measure it on."""
    return torch.randn(SEQUENCES, STEPS, INPUT, device=device)


def input_gradients(
    network: nn.Module,
    x: Sequences,
    draw: torch.Generator,
    at: int = -1,
    directions: int = 1,
) -> Float[Tensor, " step"]:
    """Norm of the gradient of a state by each input, in the order of the inputs.

    Random directions v of the state are followed back for each sequence. The mean of |vᵀJ|² over
    v of unit variance is the squared Frobenius norm of the Jacobian J, so the root of the mean over
    the batch tells that norm without a backward pass for every unit. All is in double precision:
    a hundred steps would fall out of the range of single precision.
    """
    x = x.detach().double().requires_grad_()
    weights = {name: value.double() for name, value in network.named_parameters()}
    outputs = functional_call(network, weights, (x,))
    state = (outputs[0] if isinstance(outputs, tuple) else outputs)[:, at]
    squares = x.new_zeros(x.shape[1])
    for _ in range(directions):
        direction = torch.randn(state.shape, generator=draw, dtype=state.dtype)
        direction = direction.to(state.device)
        (gradient,) = torch.autograd.grad(
            (state * direction).sum(),
            x,
            retain_graph=True,
        )
        squares += gradient.square().sum(-1).mean(0) / directions
    return squares.sqrt()


def decay(network: nn.Module, x: Sequences, seed: int) -> list[float]:
    """log10 of `input_gradients` of the last state by distance from the last input, whose is 0."""
    backwards = input_gradients(network, x, torch.Generator().manual_seed(seed)).flip(0)
    return (backwards / backwards[0]).clamp_min(SMALLEST).log10().tolist()


def orthogonal(dim: int, gain: float) -> Matrix:
    """A random rotation (with or without a reflection) times a gain, which is its radius."""
    return gain * nn.init.orthogonal_(torch.empty(dim, dim))


def positive(dim: int, radius: float) -> Matrix:
    """Random weights between 0 and 1 with a spectral radius, which is small against ``dim / 2``."""
    weights = torch.rand(dim, dim)
    return weights * (radius / spectral_radius(weights))


def spectral_radius(matrix: Matrix) -> float:
    """The largest absolute value of an eigenvalue."""
    return torch.linalg.eigvals(matrix.detach().double()).abs().max().item()


def draw_batch(
    batch: int,
    length: int,
    generator: torch.Generator,
) -> tuple[Sequences, Sums]:
    """Random numbers and marks (0 or 1) in their columns, and sums of marked numbers."""
    numbers = torch.rand(batch, length, generator=generator)
    first = torch.randint(length // 2, (batch, 1), generator=generator)
    second = torch.randint(length // 2, length, (batch, 1), generator=generator)
    marked = torch.cat([first, second], 1)
    marks = torch.zeros_like(numbers).scatter_(1, marked, 1.0)
    return torch.stack([numbers, marks], -1), numbers.gather(1, marked).sum(1)


class RecurrentAdder(nn.Module):
    """A recurrent network of one layer and a linear reading of its last state."""

    def __init__(self, network: str, dim: int) -> None:
        super().__init__()
        self.recur = NETWORKS[network](2, dim, batch_first=True)
        self.to_sum = nn.Linear(dim, 1)

    def forward(self, x: Sequences) -> Sums:
        return self.to_sum(self.recur(x)[0][:, -1])[:, 0]


class AttentionAdder(nn.Module):
    """A block of self-attention with two heads and a linear reading of the last token.

    There are no positions: the marks say all that matters here, and where they stand does not.
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.embed = nn.Linear(2, dim)
        self.block = EncoderBlock(dim, heads=2, mlp_ratio=2.0, dropout=0.0)
        self.to_sum = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, 1))

    def forward(self, x: Sequences) -> Sums:
        return self.to_sum(self.block(self.embed(x))[:, -1])[:, 0]


def train_to_add(
    model: nn.Module,
    length: int,
    steps: int,
    seed: int,
    learning_rate: float,
    batch: int = 32,
) -> None:
    """Train on new sequences at every step, see `fit_warm`."""
    generator = torch.Generator().manual_seed(seed)
    device = next(model.parameters()).device

    def loss() -> Tensor:
        inputs, sums = draw_batch(batch, length, generator)
        return F.mse_loss(model(inputs.to(device)), sums.to(device))

    fit_warm(model, loss, steps, learning_rate)


@torch.no_grad()
def squared_error(model: nn.Module, length: int, sequences: int = 1024) -> float:
    """Error on sequences of their own; `BASELINE` is that of knowing nothing."""
    device = next(model.parameters()).device
    inputs, sums = draw_batch(sequences, length, torch.Generator().manual_seed(10_000))
    answers = torch.cat([model(part.to(device)) for part in inputs.chunk(8)])
    return F.mse_loss(answers.cpu(), sums).item()
