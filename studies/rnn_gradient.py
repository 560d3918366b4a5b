"""Whether a tanh RNN loses the gradient of its older inputs, and on what that depends.

Claim (R, V, E, L): In an RNN the first inputs inevitably lose their connection to the last ones,
as weights between 0 and 1 are multiplied again and again (V), and as the slope of tanh is 1 at
most: merely for being far away (R; E and L call it long-term dependency).

Expected: With the usual initialization about 10^-6 of the gradient is left 20 steps back. It
should depend on the spectral radius of the recurrent weights, not on their lying between 0 and 1:
orthogonal weights of gain 1 or more should keep far more of it. So: partly.

Experiment: Gradient of the last of 100 states of a tanh RNN with respect to every input (64 units,
normal inputs of width 16), relative to that of the last input, for the usual start, orthogonal
weights and weights between 0 and 1 of several spectral radii, and for a network of 16 units that
has learned to add two marked numbers of 10.

Correction: Weights are not confined to 0 and 1, and their size alone decides nothing: what is
multiplied is a matrix. With slopes of 1 at most, a largest singular value below 1 is enough for
the gradient to vanish, and one above 1 is needed for it to explode (Pascanu et al. 2013); for
orthogonal weights that value is the spectral radius.

Revised: The trained network has 10 steps because it did not learn the task with 15.
"""

import math
from collections.abc import Iterator
from copy import deepcopy

import torch
from matplotlib.figure import Figure
from torch import nn

from studies.adding import RecurrentAdder, draw_batch, train
from studies.drawing import COLORS, INK, draw_lines, draw_mean, panels
from studies.gradients import decay, orthogonal, positive, spectral_radius
from studies.study import Cell, Findings, Settings, Table, Values, Verdict, repeat
from studies.training import seeded

DEFAULT, BEFORE, TRAINED = "default", "before training", "trained to add"
_DIM, _INPUT, _STEPS, _SEQUENCES = 64, 16, 100, 16
_DISTANCE = 20
# A hundredth of the gradient of the newest input: the older one hardly takes part in learning.
_LOST = -2.0
_TRAINING_LENGTH = 10
_RADII = (0.5, 0.7, 0.9, 1.0, 1.1, 1.3, 1.6)
_DISTANCES = (*range(0, _STEPS, 5), _STEPS - 1)
# All positive weights are between 0 and 1; beyond a radius of 1 states stick to the ends of tanh.
_MATRICES = {"orthogonal": orthogonal, "positive": positive}
_SHOWN = (DEFAULT, "orthogonal 1", "orthogonal 1.3", TRAINED)


def run(settings: Settings) -> Findings:
    """Measure untrained networks, then one before and after training, with every seed."""
    return findings(
        repeat(
            settings,
            "network seed spectral_radius distance log10_gradient",
            lambda seed: measure(seed, 600 if settings.quick else 1500, settings.device),
        )
    )


def measure(seed: int, steps: int, device: str = "cpu") -> Iterator[tuple[Cell, ...]]:
    """Decays of every network."""
    for x, name, network in (*starts(seed, device), *trained(seed, steps, device)):
        decays = decay(network, x, seed)
        radius = spectral_radius(network.all_weights[0][1])
        yield from ((name, seed, radius, at, decays[at]) for at in _DISTANCES)


def starts(seed: int, device: str) -> Iterator[tuple[torch.Tensor, str, nn.RNNBase]]:
    """Sequences, and networks at initialization with their names."""
    with seeded(seed):
        x = torch.randn(_SEQUENCES, _STEPS, _INPUT, device=device)
        networks = {DEFAULT: nn.RNN(_INPUT, _DIM, batch_first=True)}
        for matrix, draw in _MATRICES.items():
            for radius in _RADII:
                network = networks[f"{matrix} {radius:g}"] = nn.RNN(_INPUT, _DIM, batch_first=True)
                network.all_weights[0][1].data.copy_(draw(_DIM, radius))
    yield from ((x, name, network.to(device)) for name, network in networks.items())


def trained(seed: int, steps: int, device: str) -> Iterator[tuple[torch.Tensor, str, nn.RNNBase]]:
    """A network before and after it learned to look back a little, and long sequences."""
    with seeded(seed):
        model = RecurrentAdder("rnn", 16).to(device)
    x = draw_batch(_SEQUENCES, _STEPS, torch.Generator().manual_seed(seed))[0].to(device)
    yield x, BEFORE, model.recur
    model = deepcopy(model)
    train(model, _TRAINING_LENGTH, steps, seed=seed, learning_rate=2e-2)
    yield x, TRAINED, model.recur


def findings(table: Table) -> Findings:
    """What the decays say about the claim."""
    at = {name: table.values(network=name, distance=_DISTANCE) for name in _SHOWN}

    def lost(name: str) -> str:
        return f"{-_slopes(table, name).mean:.2f}"

    left = {name: f"10^{values.mean:.1f}" for name, values in at.items()}
    surprises = []
    if _slopes(table, "positive 1.6").mean < -0.1:
        surprises.append(
            f"Positive weights of spectral radius 1.6 lose {lost('positive 1.6')} powers of ten "
            "per step: above 1, but the gradient vanishes."
        )
    before, after = (
        table.values(network=name, distance=_TRAINING_LENGTH) for name in (BEFORE, TRAINED)
    )
    gains = after - before
    if gains.low > 0:
        surprises.append(
            f"Learning to add over {_TRAINING_LENGTH} steps changes log10 of the gradient that far "
            f"back by {gains.text(1)}."
        )
    return Findings(
        table=table,
        summary=[
            {"network": name}
            | table.cells(
                "log10 at distance {}", "distance", (10, 20, 50, 99), digits=2, network=name
            )
            for name in (*_SHOWN, BEFORE, "positive 0.5", "positive 1", "positive 1.6")
        ],
        verdict=judge(at),
        measure=(
            f"log10 of the share of gradient left at distance {_DISTANCE}, default initialization"
        ),
        values=at[DEFAULT],
        because=(
            f"{_DISTANCE} steps back, {left[DEFAULT]} of the gradient is left by default, "
            f"{left['orthogonal 1']} with orthogonal weights and {left['orthogonal 1.3']} with "
            "those times 1.3: it is lost or not by the recurrent matrix. Weights that all lie "
            f"between 0 and 1 lose {lost('positive 0.5')} powers of ten per step with a spectral "
            f"radius of 0.5, but {lost('positive 1')} with one of 1."
        ),
        draw=lambda figure: _draw(figure, table),
        surprises=surprises,
    )


def judge(decays: dict[str, Values]) -> Verdict:
    """From the decays at one distance, by network, of all seeds: "inevitably" means every one."""
    lost = {name: values.high < _LOST for name, values in decays.items()}
    return Verdict.of(*lost.values()) if lost[DEFAULT] else Verdict.NOT_SUPPORTED


def _slopes(table: Table, name: str) -> Values:
    """For each seed, powers of ten per step between distances 5 and 50."""
    near, far = (table.values(network=name, distance=distance) for distance in (5, 50))
    return Values(change / 45 for change in far - near)


def _draw(figure: Figure, table: Table) -> None:
    left, right = panels(
        figure, ["Gradient of older inputs", "Change per step and spectral radius"], 4.6, 3.4
    )
    draw_lines(left, table, "distance", "network", _SHOWN)
    left.set_xlabel("distance from the last state (steps)")
    left.set_ylabel("log10 of the gradient's norm\nrelative to the last input")
    left.legend(loc="lower left")
    for matrix, color in (("orthogonal", COLORS[1]), ("positive", COLORS[3])):
        slopes = [_slopes(table, f"{matrix} {radius:g}") for radius in _RADII]
        label = "weights between 0 and 1" if matrix == "positive" else matrix
        draw_mean(right, _RADII, list(zip(*slopes, strict=True)), label, color, marker="o")
    limits = [math.log10(radius) for radius in _RADII]
    right.plot(_RADII, limits, color=INK, linewidth=1.1, linestyle=":", label="were all slopes 1")
    for axes in (left, right):
        axes.axhline(0, color=INK, linewidth=0.8)
    right.set(xlabel="spectral radius of the recurrent weights", ylabel="change of log10 per step")
    right.legend(loc="lower center")
