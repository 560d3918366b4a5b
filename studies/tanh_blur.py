"""Does stacking tanh blur what went in?"""

from collections.abc import Callable
from itertools import accumulate, pairwise

import torch
from jaxtyping import Float
from matplotlib.figure import Figure
from torch import Tensor, nn

from studies.drawing import COLORS, chance_line, draw_lines, panels
from studies.study import Findings, Rows, Settings, Study, Table, Verdict

STUDY = Study(
    posts="R",
    claim=(
        "tanh maps everything to a narrow range and is almost 1 from 2.5 on, so that after tens "
        "or hundreds of them the input is blurred and hard to tell from other inputs."
    ),
    expected=(
        "tanh(2.5) = .9866 with slope .0266. Alone, n times tanh goes to zero like sqrt(3 / 2n) "
        "for every positive input, so that little more than the sign is left after 100. Between "
        "weights it depends on them: default weights blur faster, a gain above 1 keeps instances "
        "apart."
    ),
    experiment=(
        "101 instances, the numbers from -5 to 5, go through up to 100 times tanh: alone, and as "
        "multiples of one normal vector of 128 units (64 in the small version) with the "
        "recurrent matrix of an RNN before each tanh: PyTorch's default, or orthogonal times a "
        "gain. Noise of 0.01 is added (times the root of the width, so that width alone is no "
        "advantage), and the nearest state without noise says which instance it was. Measured is "
        "the share that is right."
    ),
    changed=(
        "A first version gave the networks more units than the scalars, which made them look "
        "safe; a gain of 1.25 was added after that."
    ),
    correction=(
        "The post leaves weights and biases out, but they decide. tanh is strictly increasing: "
        "it loses nothing but to noise and rounding, and a matrix that stretches what tanh "
        "shrinks keeps inputs apart for hundreds of steps."
    ),
)

ALONE = "tanh alone"
NETWORKS = ("default weights", *(f"orthogonal, gain {gain}" for gain in ("1.0", "1.25", "1.5")))
_NOISE = 0.01  # one part in two hundred of what tanh can put out: between seven and eight bits
_INSTANCES = 101
_STEPS = (0, 1, 2, 5, 10, 20, 50, 100)
# An input counts as blurred when fewer than one in four are recognized, and as kept when nine in
# ten are: between chance (0.01) and all (1) nobody would call a half either.
_BLURRED, _KEPT = 0.25, 0.9
States = Float[Tensor, "instance unit"]


def run(settings: Settings) -> Findings:
    """Recognize instances after each number of steps."""
    width, draws = (64, 5) if settings.quick else (128, 20)
    columns = "network seed steps recognized"
    table = settings.repeat(columns, lambda seed: measure(seed, width, draws))
    most = _STEPS[-1]
    alone = table.values(network=ALONE, steps=most)
    last = {name: table.values(network=name, steps=most) for name in NETWORKS}
    kept = " and ".join(
        f"{values.text()} with {name}" for name, values in last.items() if values.mean > _KEPT
    )
    tanh = torch.tensor(2.5, dtype=torch.float64).tanh().item()
    early, late = (table.mean(network=NETWORKS[-1], steps=steps) for steps in (10, most))
    return Findings(
        table=table,
        summary=[
            {"network": name} | table.cells("after {}", "steps", (1, 10, 100), network=name)
            for name in (ALONE, *NETWORKS)
        ],
        verdict=judge(alone.mean, {name: values.mean for name, values in last.items()}),
        measure=f"share recognized after {most} times tanh without weights",
        values=alone,
        because=(
            f"tanh(2.5) is {tanh:.4f} and its slope there {1 - tanh * tanh:.4f}. Of numbers from "
            f"-5 to 5, {alone.text()} are recognized after {most} times tanh, "
            + (
                f"but with weights between them, as in any network, {kept}."
                if kept
                else f"and no weights between them kept more than {_KEPT}."
            )
        ),
        draw=lambda figure: _draw(figure, table),
        surprises={
            f"With a gain of 1.5, {early:.2f} are recognized after 10 steps and {late:.2f} after "
            f"{most}: chaotic steps pull apart what the first tanh had squeezed (Poole et al. "
            "2016).": late > early
        },
    )


def measure(seed: int, width: int, draws: int) -> Rows:
    """Share of instances that are recognized after each number of steps."""
    for name in (ALONE, *NETWORKS):
        generator = torch.Generator().manual_seed(seed)
        step, state = _network(name, width, generator)
        for before, steps in pairwise((0, *_STEPS)):
            for _ in range(steps - before):
                state = step(state)
            yield name, seed, steps, recognized(state, draws, generator)


def judge(alone: float, networks: dict[str, float]) -> Verdict:
    """Supported if tanh blurs alone and between all weights, partly if it does alone only."""
    return Verdict.graded(alone < _BLURRED, max(networks.values()) <= _KEPT)


def recognized(states: States, draws: int, generator: torch.Generator) -> float:
    """Share of instances whose own clean state is the nearest to their noisy one."""
    right, noise = 0.0, _NOISE * states.shape[1] ** 0.5
    for _ in range(draws):
        noisy = states + noise * torch.randn(states.shape, generator=generator, dtype=states.dtype)
        nearest = torch.cdist(noisy, states).argmin(1)
        right += float((nearest == torch.arange(len(states))).double().mean())
    return right / draws


def _network(
    name: str, width: int, generator: torch.Generator
) -> tuple[Callable[[States], States], States]:
    """What is done at each step, and the instances that it starts from."""
    numbers = torch.linspace(-5, 5, _INSTANCES, dtype=torch.float64)[:, None]
    if name == ALONE:
        return torch.tanh, numbers
    weight = torch.empty(width, width, dtype=torch.float64)
    if name == "default weights":
        weight.uniform_(-(width**-0.5), width**-0.5, generator=generator)
    else:
        nn.init.orthogonal_(weight, float(name.rpartition(" ")[2]), generator=generator)
    direction = torch.randn(1, width, generator=generator, dtype=torch.float64)
    return lambda state: torch.tanh(state @ weight.T), numbers * direction


def _draw(figure: Figure, table: Table) -> None:
    left, right = panels(figure, ("n times tanh, no weights", "Instances recognized"))
    xs = torch.linspace(-5, 5, 401, dtype=torch.float64)
    states = list(accumulate(range(100), lambda state, _: state.tanh(), initial=xs))
    for steps, color in zip((1, 2, 10, 100), COLORS, strict=False):
        left.plot(xs.tolist(), states[steps].tolist(), color=color, label=f"n = {steps}")
    left.set(xlabel="input", ylabel="output")
    left.legend(loc="upper left")
    draw_lines(right, table, "steps", "network", (ALONE, *NETWORKS), marker="o", markersize=4)
    chance_line(right, 1 / _INSTANCES)
    right.set_xscale("symlog", linthresh=1)
    right.set_xticks((0, 1, 10, 100), ["0", "1", "10", "100"])
    right.set(xlabel="number of tanh", ylabel=f"share recognized, noise {_NOISE}", ylim=(0, 1.05))
    right.set_xlim(-0.2, 125)
    right.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=7)
