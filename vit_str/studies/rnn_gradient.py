"""Whether a tanh RNN loses the gradient of its older inputs, and on what that depends."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

import torch
from torch import nn

from vit_str.studies.adding_problem import RecurrentAdder, draw_batch, train
from vit_str.studies.drawing import COLORS, INK, draw_mean, panels
from vit_str.studies.intervals import mean_interval, with_interval
from vit_str.studies.recurrent_probe import (
    decay,
    input_gradients,
    orthogonal,
    positive,
    slope,
    spectral_radius,
)
from vit_str.studies.study import Findings, Row, Settings, Study, Verdict
from vit_str.studies.tasks_tokens import seeded

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DEFAULT, BEFORE, TRAINED = "default", "before training", "trained to add"
_DIM, _INPUT, _STEPS, _SEQUENCES = 64, 16, 100, 16
_DISTANCE = 20
# A hundredth of the gradient of the newest input: the older one hardly takes part in learning.
_LOST = -2.0
_TRAINING_LENGTH = 10
_GAINS = (0.5, 0.7, 0.9, 1.0, 1.1, 1.3, 1.6)
_DISTANCES = (*range(0, _STEPS, 5), _STEPS - 1)


def _name(kind: str, radius: float) -> str:
    return f"{kind} {radius:g}"


_ORTHOGONAL = {_name("orthogonal", gain): (orthogonal, gain) for gain in _GAINS}
# All weights between 0 and 1; beyond a radius of 1 the states stick to the ends of tanh.
_POSITIVE = {_name("positive", radius): (positive, radius) for radius in _GAINS}
_STARTS: Mapping[str, tuple[Callable[[int, float], torch.Tensor], float]] = {
    **_ORTHOGONAL,
    **_POSITIVE,
}
_SHOWN = (DEFAULT, _name("orthogonal", 1.0), _name("orthogonal", 1.3), TRAINED)


class RnnGradient(Study):
    """The gradient of the last state with respect to every input of a tanh RNN."""

    id: ClassVar[str] = "rnn-gradient"
    posts: ClassVar[str] = "RVEL"
    claim: ClassVar[str] = (
        "In an RNN the first inputs inevitably lose their connection to the last ones, as weights "
        "between 0 and 1 are multiplied again and again (V), and as the slope of tanh is 1 at "
        "most: merely for being far away (R; E and L call it long-term dependency)."
    )
    expectation: ClassVar[str] = (
        "With the usual initialization about 10^-6 of the gradient is left 20 steps back. It "
        "should depend on the spectral radius of the recurrent weights, not on their lying "
        "between 0 and 1: orthogonal weights of gain 1 or more should keep far more of it. So: "
        "partly."
    )
    experiment: ClassVar[str] = (
        f"Gradient of the last of {_STEPS} states of a tanh RNN with respect to every input "
        f"({_DIM} units, normal inputs of width {_INPUT}), relative to that of the last input, "
        "for the usual start, orthogonal weights and weights between 0 and 1 of several spectral "
        f"radii, and for a network of 16 units that has learned to add two marked numbers of "
        f"{_TRAINING_LENGTH}."
    )
    correction: ClassVar[str] = (
        "Weights are not confined to 0 and 1, and their size alone decides nothing: what is "
        "multiplied is a matrix. With slopes of 1 at most, a largest singular value below 1 is "
        "enough for the gradient to vanish, and one above 1 is needed for it to explode (Pascanu "
        "et al. 2013); for orthogonal weights that value is the spectral radius."
    )

    revised = "The trained network has 10 steps because it did not learn the task with 15."

    def run(self, settings: Settings) -> Findings:
        rows: list[Row] = []
        for seed in range(settings.seeds):
            rows += measure_starts(seed, settings.device)
            rows += measure_trained(seed, 600 if settings.quick else 1500, settings.device)
            settings.progress((seed + 1) / settings.seeds)
        return findings(rows)


def measure_starts(seed: int, device: str = "cpu") -> list[Row]:
    """Decays at initialization."""
    with seeded(seed):
        x = torch.randn(_SEQUENCES, _STEPS, _INPUT, device=device)
        rows = []
        for name in (DEFAULT, *_STARTS):
            network = nn.RNN(_INPUT, _DIM, batch_first=True)
            if name in _STARTS:
                draw, radius = _STARTS[name]
                network.all_weights[0][1].data.copy_(draw(_DIM, radius))
            rows += _rows(name, network.to(device), x, seed)
    return rows


def measure_trained(seed: int, steps: int, device: str = "cpu") -> list[Row]:
    """Decays of a network before and after it learned to look back a little, on long sequences."""
    with seeded(seed):
        model = RecurrentAdder("rnn", 16).to(device)
    x = draw_batch(_SEQUENCES, _STEPS, torch.Generator().manual_seed(seed)).inputs.to(device)
    before = _rows(BEFORE, model.recur, x, seed)
    train(model, _TRAINING_LENGTH, steps, seed=seed, learning_rate=2e-2)
    return before + _rows(TRAINED, model.recur, x, seed)


def _rows(name: str, network: nn.RNNBase, x: torch.Tensor, seed: int) -> list[Row]:
    decays = decay(input_gradients(network, x, seed))
    radius = spectral_radius(network.all_weights[0][1])
    return [
        {
            "network": name,
            "seed": seed,
            "spectral_radius": radius,
            "distance": distance,
            "log10_gradient": decays[distance],
        }
        for distance in _DISTANCES
    ]


def findings(rows: Sequence[Row]) -> Findings:
    """What the decays say about the claim."""
    at = {name: _values(rows, name, _DISTANCE) for name in _SHOWN}
    value, interval = mean_interval(at[DEFAULT])
    kept, full = _name("orthogonal", 1.3), _name("orthogonal", 1.0)
    small, large = _name("positive", 0.5), _name("positive", 1.0)
    because = (
        f"{_DISTANCE} steps back, 10^{value:.1f} of the gradient is left by default, "
        f"10^{mean_interval(at[full])[0]:.1f} with orthogonal weights and "
        f"10^{mean_interval(at[kept])[0]:.1f} with those times 1.3: it is lost or not by the "
        f"recurrent matrix. Weights that all lie between 0 and 1 lose "
        f"{-mean_interval(_slopes(rows, small))[0]:.2f} powers of ten per step with a spectral "
        f"radius of 0.5, but {-mean_interval(_slopes(rows, large))[0]:.2f} with one of 1."
    )
    return Findings(
        rows,
        _summary(rows),
        verdict_of(at),
        f"log10 of the share of gradient left at distance {_DISTANCE}, default initialization",
        value,
        interval,
        because,
        lambda figure: _draw(figure, rows),
        _surprises(rows),
    )


def verdict_of(decays: Mapping[str, Sequence[float]]) -> Verdict:
    """From the decays at one distance, by network, of all seeds: "inevitably" means every one."""
    lost = {name: mean_interval(values)[1][1] < _LOST for name, values in decays.items()}
    if not lost[DEFAULT]:
        return Verdict.NOT_SUPPORTED
    return Verdict.SUPPORTED if all(lost.values()) else Verdict.PARTLY


def _surprises(rows: Sequence[Row]) -> list[str]:
    found = []
    stuck = mean_interval(_slopes(rows, _name("positive", 1.6)))[0]
    if stuck < -0.1:
        found.append(
            f"Positive weights of spectral radius 1.6 lose {-stuck:.2f} powers of ten per step, "
            "though 1.6 to the power of the distance grows: all states run to the ends of tanh, "
            "where its slope is next to zero. A radius above 1 is needed to keep the gradient, "
            "but it is not enough."
        )
    before, after = (_values(rows, name, _TRAINING_LENGTH) for name in (BEFORE, TRAINED))
    gains = [new - old for new, old in zip(after, before, strict=True)]
    found.append(
        f"Learning to add over {_TRAINING_LENGTH} steps changes log10 of the gradient that far "
        f"back by {with_interval(gains, 1)}: what a network keeps is learned, not fixed by the "
        "distance, but it has to be learned through a gradient that is small at the start."
    )
    return found


def _values(rows: Sequence[Row], name: str, distance: int) -> list[float]:
    return [
        float(row["log10_gradient"])
        for row in rows
        if row["network"] == name and row["distance"] == distance
    ]


def _curves(rows: Sequence[Row], name: str) -> list[list[float]]:
    """For each seed, the decay over the distances."""
    columns = [_values(rows, name, distance) for distance in _DISTANCES]
    return [list(curve) for curve in zip(*columns, strict=True)]


def _slopes(rows: Sequence[Row], name: str) -> list[float]:
    """For each seed, powers of ten per step between distances 5 and 50."""
    near, far = _DISTANCES.index(5), _DISTANCES.index(50)
    return [slope(curve, near, far) * (far - near) / 45 for curve in _curves(rows, name)]


def _summary(rows: Sequence[Row]) -> list[Row]:
    names = (*_SHOWN, BEFORE, *(_name("positive", radius) for radius in (0.5, 1.0, 1.6)))
    return [
        {
            "network": name,
            **{
                f"log10 at distance {distance}": with_interval(_values(rows, name, distance), 2)
                for distance in (_TRAINING_LENGTH, _DISTANCE, 50, _STEPS - 1)
            },
        }
        for name in names
    ]


def _draw(figure: "Figure", rows: Sequence[Row]) -> None:
    left, right = panels(
        figure, ["Gradient of older inputs", "Change per step and spectral radius"], 4.6, 3.4
    )
    for name, color in zip(_SHOWN, COLORS, strict=False):
        draw_mean(left, _DISTANCES, _curves(rows, name), name, color)
    left.axhline(0, color=INK, linewidth=0.8)
    left.set_xlabel("distance from the last state (steps)")
    left.set_ylabel("log10 of the gradient's norm\nrelative to the last input")
    left.legend(loc="lower left")
    for kind, color in (("orthogonal", COLORS[1]), ("positive", COLORS[3])):
        slopes = [_slopes(rows, _name(kind, gain)) for gain in _GAINS]
        label = "weights between 0 and 1" if kind == "positive" else kind
        draw_mean(right, _GAINS, list(zip(*slopes, strict=True)), label, color, marker="o")
    limits = [math.log10(gain) for gain in _GAINS]
    right.plot(_GAINS, limits, color=INK, linewidth=1.1, linestyle=":", label="were all slopes 1")
    right.axhline(0, color=INK, linewidth=0.8)
    right.set_xlabel("spectral radius of the recurrent weights")
    right.set_ylabel("change of log10 per step")
    right.legend(loc="lower center")
