"""Whether the state of an RNN diverges with ReLU or GELU in the place of tanh."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from vit_str.studies.drawing import COLORS, INK, draw_mean, panels
from vit_str.studies.intervals import mean_interval, with_interval
from vit_str.studies.recurrent_probe import ElmanNetwork, decay, input_gradients, orthogonal
from vit_str.studies.study import Findings, Row, Settings, Study, Verdict
from vit_str.studies.tasks_tokens import seeded

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DEFAULT, LARGE, LARGER, IDENTITY = "default", "orthogonal 1.5", "orthogonal 2", "identity"
STARTS = (DEFAULT, "orthogonal 1", LARGE, LARGER, IDENTITY)
_SHOWN = (DEFAULT, LARGE, LARGER, IDENTITY)
_ACTIVATIONS: Mapping[str, Callable[[Tensor], Tensor]] = {
    "ReLU": F.relu,
    "GELU": F.gelu,
    "tanh": torch.tanh,
}
_DIM, _INPUT, _STEPS, _SEQUENCES = 64, 16, 100, 16
_PLACES = (0, *range(4, _STEPS, 5))
_DISTANCE = 20
# A sum of independent inputs grows by the root of 2 when the steps double, and nobody calls that
# diverging; what feeds on itself does more.
_DIVERGES = math.log10(2)
_LOST = -2.0


class ReluRnn(Study):
    """States and gradients of RNNs with three activations and four starts."""

    id: ClassVar[str] = "relu-rnn"
    posts: ClassVar[str] = "R"
    claim: ClassVar[str] = (
        "With ReLU or GELU in the place of tanh an RNN may be rid of the vanishing gradient, but "
        "its hidden state piles up and diverges, as both are linear for positive numbers (R)."
    )
    expectation: ClassVar[str] = (
        "It depends on the recurrent weights: from the usual start the state stays small and the "
        "gradient vanishes faster than with tanh, orthogonal weights of gain 1.5 diverge, and an "
        "identity matrix (Le et al. 2015) neither explodes nor vanishes. So: partly."
    )
    experiment: ClassVar[str] = (
        f"{_STEPS} steps of an RNN of {_DIM} units on normal inputs of width {_INPUT}, with ReLU, "
        "GELU and tanh, started as usual, with orthogonal weights of gain 1, 1.5 and 2 and with "
        "the identity; all but the usual start have no bias. Norm of the state by step, and of the "
        "gradient of the last state with respect to each input."
    )
    correction: ClassVar[str] = (
        "Being linear for positive numbers allows a state to grow, it does not make it grow. ReLU "
        "silences about half of the units, which is as much as weights smaller by the root of "
        "2: the state feeds on itself only beyond that."
    )

    revised = (
        "With an orthogonal start of 1.5 as the largest, the growth just missed the limit and "
        "the verdict was not supported; the start of 2 was added then, the rule stayed."
    )

    def run(self, settings: Settings) -> Findings:
        rows: list[Row] = []
        for seed in range(settings.seeds):
            rows += measure(seed, settings.device)
            settings.progress((seed + 1) / settings.seeds)
        return findings(rows)


def network_of(start: str, activation: str) -> ElmanNetwork:
    """An RNN with recurrent weights of a kind."""
    network = nn.RNN(_INPUT, _DIM, batch_first=True)
    if start != DEFAULT:
        matrix = torch.eye(_DIM) if start == IDENTITY else orthogonal(_DIM, float(start.split()[1]))
        _, across, *biases = network.all_weights[0]
        across.data.copy_(matrix)
        for bias in biases:
            nn.init.zeros_(bias)
    return ElmanNetwork(network, _ACTIVATIONS[activation])


def measure(seed: int, device: str = "cpu") -> list[Row]:
    """Norms of states, and of gradients by distance, for every start and activation.

    All start from the same weights and see the same sequences.
    """
    rows: list[Row] = []
    for start in STARTS:
        for activation in _ACTIVATIONS:
            with seeded(seed):
                x = torch.randn(_SEQUENCES, _STEPS, _INPUT, device=device).double()
                network = network_of(start, activation).to(device).double()
            with torch.no_grad():
                states = network(x)[0].square().sum(-1).mean(0).sqrt().log10().tolist()
            decays = decay(input_gradients(network, x, seed))
            rows += [
                {
                    "start": start,
                    "activation": activation,
                    "seed": seed,
                    "place": place,
                    "log10_state_after_so_many_steps": states[place],
                    "log10_gradient_so_many_steps_back": decays[place],
                }
                for place in _PLACES
            ]
    return rows


def findings(rows: Sequence[Row]) -> Findings:
    """What the norms say about the claim."""
    growths = {
        (start, name): _growths(rows, start, name) for start in STARTS for name in ("ReLU", "GELU")
    }
    value, interval = mean_interval(growths[DEFAULT, "ReLU"])

    def back(start: str, activation: str) -> float:
        return mean_interval(_gradients(rows, start, activation, _DISTANCE - 1))[0]

    def said(start: str) -> str:
        relu, gelu = (10 ** mean_interval(growths[start, name])[0] for name in ("ReLU", "GELU"))
        return f"{relu:.2g} times with ReLU, {gelu:.2g} times with GELU"

    because = (
        f"From step {_STEPS // 2} to {_STEPS} the state grows {said(DEFAULT)} from the usual "
        f"start; {said(LARGER)} with orthogonal weights of gain 2; {said(IDENTITY)} with the "
        f"identity. Its gradient {_DISTANCE - 1} steps back is 10^{back(DEFAULT, 'ReLU'):.1f} by "
        f"default (tanh 10^{back(DEFAULT, 'tanh'):.1f}) and 10^{back(IDENTITY, 'ReLU'):.1f} with "
        "ReLU and the identity."
    )
    return Findings(
        rows,
        _summary(rows),
        verdict_of(growths),
        f"log10 of the state's growth from step {_STEPS // 2} to {_STEPS}, ReLU, usual start",
        value,
        interval,
        because,
        lambda figure: _draw(figure, rows),
        _surprises(rows),
    )


def verdict_of(growths: Mapping[tuple[str, str], Sequence[float]]) -> Verdict:
    """From log10 of the growth, by start and activation, of all seeds: how many diverge."""
    diverging = [mean_interval(values)[1][0] > _DIVERGES for values in growths.values()]
    if all(diverging):
        return Verdict.SUPPORTED
    return Verdict.PARTLY if any(diverging) else Verdict.NOT_SUPPORTED


def _surprises(rows: Sequence[Row]) -> list[str]:
    relu, tanh = (
        mean_interval(_gradients(rows, DEFAULT, activation, _DISTANCE - 1))[0]
        for activation in ("ReLU", "tanh")
    )
    found = []
    if relu < tanh:
        found.append(
            "From the usual start ReLU does not even cure the vanishing gradient: "
            f"10^{relu:.1f} of it is left {_DISTANCE - 1} steps back, with tanh 10^{tanh:.1f}."
        )
    level = mean_interval(_gradients(rows, IDENTITY, "ReLU", _PLACES[-1]))[0]
    if level > _LOST:
        found.append(
            f"With the identity and ReLU 10^{level:.1f} of the gradient is left after "
            f"{_PLACES[-1]} steps, while the state only adds up what it sees."
        )
    spread = _growths(rows, LARGE, "ReLU")
    if max(spread) - min(spread) > 1:
        found.append(
            "Gain 1.5 is so near the edge (the root of 2 where exactly half of the units are "
            f"silent) that chance decides: over seeds the state grows 10^{min(spread):.1f} to "
            f"10^{max(spread):.1f} times."
        )
    return found


def _values(rows: Sequence[Row], start: str, activation: str, place: int, what: str) -> list[float]:
    wanted = (start, activation, place)
    return [
        float(row[what])
        for row in rows
        if (row["start"], row["activation"], row["place"]) == wanted
    ]


def _states(rows: Sequence[Row], start: str, activation: str, place: int) -> list[float]:
    return _values(rows, start, activation, place, "log10_state_after_so_many_steps")


def _gradients(rows: Sequence[Row], start: str, activation: str, place: int) -> list[float]:
    return _values(rows, start, activation, place, "log10_gradient_so_many_steps_back")


def _growths(rows: Sequence[Row], start: str, activation: str) -> list[float]:
    late, early = (_states(rows, start, activation, n - 1) for n in (_STEPS, _STEPS // 2))
    return [after - before for after, before in zip(late, early, strict=True)]


def _summary(rows: Sequence[Row]) -> list[Row]:
    return [
        {
            "start": start,
            "activation": activation,
            "log10 growth of the state, steps 50 to 100": with_interval(
                _growths(rows, start, activation), 2
            ),
            f"log10 gradient {_DISTANCE - 1} steps back": with_interval(
                _gradients(rows, start, activation, _DISTANCE - 1), 2
            ),
            "log10 gradient 99 steps back": with_interval(
                _gradients(rows, start, activation, _STEPS - 1), 2
            ),
        }
        for start in STARTS
        for activation in _ACTIVATIONS
    ]


def _draw(figure: "Figure", rows: Sequence[Row]) -> None:
    sheets = panels(figure, ["State", "Gradient of older inputs"], 4.6, 3.6)
    lines = {"ReLU": "-", "GELU": (0, (5, 2))}
    for axes, values in zip(sheets, (_states, _gradients), strict=True):
        for start, color in zip(_SHOWN, COLORS, strict=False):
            for activation, line in lines.items():
                columns = [values(rows, start, activation, place) for place in _PLACES]
                runs = list(zip(*columns, strict=True))
                label = f"{activation}, {start}"
                draw_mean(axes, _PLACES, runs, label, color, linestyle=line)
        columns = [values(rows, DEFAULT, "tanh", place) for place in _PLACES]
        runs = list(zip(*columns, strict=True))
        draw_mean(axes, _PLACES, runs, "tanh, default", INK, linestyle=":")
    sheets[0].set_xlabel("steps")
    sheets[0].set_ylabel("log10 of the state's norm")
    sheets[1].set_xlabel("distance from the last state (steps)")
    sheets[1].set_ylabel("log10 of the gradient's norm\nrelative to the last input")
    sheets[1].legend(loc="lower left", fontsize=7)
