"""Whether a tanh RNN loses the gradient of its older inputs, and on what that depends."""

import math
from copy import deepcopy

import torch
from matplotlib.figure import Figure

from studies import memory
from studies.drawing import COLORS, INK, draw_lines, draw_mean, panels
from studies.memory import (
    DISTANCES,
    LOST,
    SEQUENCES,
    STEPS,
    RecurrentAdder,
    spectral_radius,
)
from studies.study import Findings, Row, Rows, Settings, Study, Table, Values, Verdict
from studies.training import seeded

STUDY = Study(
    posts="R, V, E, L",
    claim=(
        "In an RNN the first inputs inevitably lose their connection to the last "
        "ones, as weights between 0 and 1 are multiplied again and again (V), and "
        "as the slope of tanh is 1 at most: merely for being far away (R; E and L "
        "call it long-term dependency)."
    ),
    expected=(
        "With the usual initialization about 10^-6 of the gradient is left 20 steps "
        "back. It should depend on the spectral radius of the recurrent weights, "
        "not on their lying between 0 and 1: orthogonal weights of gain 1 or more "
        "should keep far more of it. So: partly."
    ),
    experiment=(
        "Gradient of the last of 100 states of a tanh RNN with respect to every "
        "input (64 units, normal inputs of width 16), relative to that of the last "
        "input, for the usual start, orthogonal weights and weights between 0 and 1 "
        "of several spectral radii, and for a network of 16 units that has learned "
        "to add two marked numbers of 10."
    ),
    changed="The trained network has 10 steps because it did not learn the task with 15.",
    correction=(
        "Weights are not confined to 0 and 1, and their size alone decides nothing: "
        "what is multiplied is a matrix. With slopes of 1 at most, a largest "
        "singular value below 1 is enough for the gradient to vanish, and one above "
        "1 is needed for it to explode (Pascanu et al. 2013); for orthogonal "
        "weights that value is the spectral radius."
    ),
)

DEFAULT = "default"
BEFORE = "before training"
TRAINED = "trained to add"
_DISTANCE = 20
_TRAINING_LENGTH = 10
_RADII = (0.5, 0.7, 0.9, 1.0, 1.1, 1.3, 1.6)
# All positive weights are between 0 and 1; beyond a radius of 1 states stick to the ends of tanh.
_MATRICES = {"orthogonal": memory.orthogonal, "positive": memory.positive}
_SHOWN = (DEFAULT, "orthogonal 1", "orthogonal 1.3", TRAINED)


def run(settings: Settings) -> Findings:
    """Measure untrained networks, then one before and after training, with every seed."""
    steps = 600 if settings.quick else 1500
    columns = "network seed spectral_radius distance log10_gradient"
    table = settings.repeat(columns, lambda seed: measure(seed, steps, settings.device))
    at = {name: table.values(network=name, distance=_DISTANCE) for name in _SHOWN}
    left = {name: f"10^{values.mean:.1f}" for name, values in at.items()}
    lost = {
        name: -_slopes(table, name).mean
        for name in ("positive 0.5", "positive 1", "positive 1.6")
    }
    at_length = table.where(distance=_TRAINING_LENGTH)
    gains = at_length.values(network=TRAINED) - at_length.values(network=BEFORE)
    summary: list[Row] = []
    for name in (*_SHOWN, BEFORE, *lost):
        at_distances = table.cells(
            "log10 at distance {}",
            "distance",
            (10, 20, 50, 99),
            digits=2,
            network=name,
        )
        summary.append({"network": name, **at_distances})
    return Findings(
        table=table,
        summary=summary,
        verdict=judge(at),
        measure=(
            f"log10 of the share of gradient left at distance {_DISTANCE}, default "
            "initialization"
        ),
        values=at[DEFAULT],
        because=(
            f"{_DISTANCE} steps back, {left[DEFAULT]} of the gradient is left by "
            f"default, {left['orthogonal 1']} with orthogonal weights and "
            f"{left['orthogonal 1.3']} with those times 1.3: it is lost or not by "
            "the recurrent matrix. Weights that all lie between 0 and 1 lose "
            f"{lost['positive 0.5']:.2f} powers of ten per step with a spectral "
            f"radius of 0.5, but {lost['positive 1']:.2f} with one of 1."
        ),
        draw=lambda figure: _draw(figure, table),
        surprises={
            "Positive weights of spectral radius 1.6 lose "
            f"{lost['positive 1.6']:.2f} powers of ten per step: above 1, but the "
            "gradient vanishes.": lost["positive 1.6"] > 0.1,
            f"Learning to add over {_TRAINING_LENGTH} steps changes log10 of the "
            f"gradient that far back by {gains.text(1)}.": gains.low > 0,
        },
    )


def measure(seed: int, steps: int, device: str) -> Rows:
    """Decays of every network: at the start, and before and after it learned to look back."""
    with seeded(seed):
        x = memory.draw_inputs(device)
        networks = {DEFAULT: memory.make_network()}
        for matrix, draw in _MATRICES.items():
            for radius in _RADII:
                network = memory.make_network()
                network.all_weights[0][1].data.copy_(draw(memory.DIM, radius))
                networks[f"{matrix} {radius:g}"] = network
    measured = [(x, name, network.to(device)) for name, network in networks.items()]
    with seeded(seed):
        model = RecurrentAdder("rnn", 16).to(device)
    generator = torch.Generator().manual_seed(seed)
    x, _ = memory.draw_batch(SEQUENCES, STEPS, generator)
    x = x.to(device)
    measured.append((x, BEFORE, deepcopy(model.recur)))
    memory.train_to_add(model, _TRAINING_LENGTH, steps, seed, 2e-2)
    for inputs, name, network in (*measured, (x, TRAINED, model.recur)):
        decays = memory.decay(network, inputs, seed)
        radius = spectral_radius(network.all_weights[0][1])
        yield from ((name, seed, radius, at, decays[at]) for at in DISTANCES)


def judge(decays: dict[str, Values]) -> Verdict:
    """From the decays at one distance, by network, of all seeds: "inevitably" means every one."""
    lost = {name: values.high < LOST for name, values in decays.items()}
    return Verdict.graded(lost[DEFAULT], all(lost.values()))


def _slopes(table: Table, name: str) -> Values:
    """For each seed, powers of ten per step between distances 5 and 50."""
    near, far = (table.values(network=name, distance=distance) for distance in (5, 50))
    return Values(change / 45 for change in far - near)


def _draw(figure: Figure, table: Table) -> None:
    titles = ["Gradient of older inputs", "Change per step and spectral radius"]
    left, right = panels(figure, titles, 4.6, 3.4)
    draw_lines(left, table, "distance", "network", _SHOWN)
    left.set(**memory.LABELS)
    left.legend(loc="lower left")
    for matrix, color in (("orthogonal", COLORS[1]), ("positive", COLORS[3])):
        slopes = [_slopes(table, f"{matrix} {radius:g}") for radius in _RADII]
        label = "weights between 0 and 1" if matrix == "positive" else matrix
        draw_mean(
            right,
            _RADII,
            list(zip(*slopes, strict=True)),
            label,
            color,
            marker="o",
        )
    limits = [math.log10(radius) for radius in _RADII]
    right.plot(
        _RADII,
        limits,
        color=INK,
        linewidth=1.1,
        linestyle=":",
        label="were all slopes 1",
    )
    for axes in (left, right):
        axes.axhline(0, color=INK, linewidth=0.8)
    right.set(
        xlabel="spectral radius of the recurrent weights",
        ylabel="change of log10 per step",
    )
    right.legend(loc="lower center")
