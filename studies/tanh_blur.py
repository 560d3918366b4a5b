"""Does stacking tanh blur what went in?"""

from collections.abc import Callable, Mapping
from itertools import accumulate, pairwise, product

import torch
from jaxtyping import Float
from matplotlib.figure import Figure
from torch import Tensor, nn

from studies.drawing import COLORS, chance_line, draw_lines, panels
from studies.study import Findings, Row, Rows, Settings, Study, Table, Verdict
from vit_str.reports.panels import legend

STUDY = Study(
    posts="R",
    claim=(
        "tanh maps everything to a narrow range and is almost 1 from 2.5 on, so "
        "that after tens or hundreds of them the input is blurred and hard to tell "
        "from other inputs."
    ),
    expected=(
        "tanh(2.5) = .9866 with slope .0266. Alone, n times tanh goes to zero like "
        "sqrt(3 / 2n) for every positive input, so that little more than the sign "
        "is left after 100. Between weights it depends on them: default weights "
        "blur faster, a gain above 1 keeps instances apart."
    ),
    experiment=(
        "101 instances, the numbers from -5 to 5, go through up to 100 times tanh: "
        "alone, and as multiples of one normal vector of 128 units (64 in the small "
        "version) with the recurrent matrix of an RNN before each tanh: PyTorch's "
        "default, or orthogonal times a gain. Noise of 0.01 (times the root of the "
        "width, so that width alone is no advantage) is added to the last state, or "
        "to the first one and carried through all steps; the nearest last state "
        "without noise says which instance it was. Measured is the share that is "
        "right."
    ),
    changed=(
        "A first version gave the networks more units than the scalars, which made "
        "them look safe; a gain of 1.25 was added after that. Noise was first added "
        "at the end only."
    ),
    correction=(
        "The post leaves weights and biases out, but they decide. tanh is strictly "
        "increasing: it loses nothing but to noise and rounding. What comes after "
        "the steps decides over tanh alone, which shrinks differences and noise of "
        "the input alike; a matrix that stretches what tanh shrinks keeps inputs "
        "apart for hundreds of steps, and stretches their noise too."
    ),
    rule="noise in the first state was added",
)

ALONE = "tanh alone"
FIRST = "first state"
LAST = "last state"
PLACES = (FIRST, LAST)
"""Where noise is added."""
NETWORKS = (
    "default weights",
    *(f"orthogonal, gain {gain}" for gain in ("1.0", "1.25", "1.5")),
)
# One part in two hundred of what tanh can put out: between seven and eight bits
_NOISE = 0.01
_INSTANCES = 101
_STEPS = (0, 1, 2, 5, 10, 20, 50, 100)
# An input counts as blurred when fewer than one in four are recognized, and as kept when nine in
# ten are: between chance (0.01) and all (1) nobody would call a half either.
_BLURRED = 0.25
_KEPT = 0.9
States = Float[Tensor, "instance unit"]


def run(settings: Settings) -> Findings:
    """Recognize instances after each number of steps."""
    width = 64 if settings.quick else 128
    draws = 5 if settings.quick else 20
    columns = "network noise seed steps recognized"
    table = settings.repeat(columns, lambda seed: measure(seed, width, draws))
    most = _STEPS[-1]
    alone = {
        place: table.values(network=ALONE, noise=place, steps=most) for place in PLACES
    }
    tanh = torch.tensor(2.5, dtype=torch.float64).tanh().item()
    chaotic = table.where(network=NETWORKS[-1], noise=LAST)
    early = chaotic.mean(steps=10)
    late = chaotic.mean(steps=most)
    summary: list[Row] = []
    for name, place in product((ALONE, *NETWORKS), PLACES):
        measured = table.where(network=name, noise=place)
        after = measured.cells("after {}", "steps", (1, 10, 100))
        summary.append({"network": name, "noise": place, **after})
    at_end = table.where(steps=most)
    best_of_networks = {}
    for name in NETWORKS:
        shares = (at_end.mean(network=name, noise=place) for place in PLACES)
        best_of_networks[name] = max(shares)
    return Findings(
        table=table,
        summary=summary,
        verdict=judge(
            {place: values.mean for place, values in alone.items()},
            best_of_networks,
        ),
        measure=f"share recognized after {most} times tanh without weights, noise in the {LAST}",
        values=alone[LAST],
        because=(
            f"tanh(2.5) is {tanh:.4f} and its slope there {1 - tanh * tanh:.4f}. Of "
            f"numbers from -5 to 5, {alone[LAST].text()} are recognized after {most} "
            f"times tanh if noise is added behind them, {alone[FIRST].text()} if it "
            "is added before. With weights between them, as in any network, "
            f"{_best(table, LAST)}; {_best(table, FIRST)}."
        ),
        draw=lambda figure: _draw(figure, table),
        surprises={
            f"With a gain of 1.5, {early:.2f} are recognized after 10 steps and "
            f"{late:.2f} after {most}: chaotic steps pull apart what the first tanh "
            "had squeezed (Poole et al. 2016).": late > early
        },
    )


def _best(table: Table, place: str) -> str:
    """The network whose instances are recognized best after all steps, in words."""
    last = {
        name: table.values(network=name, noise=place, steps=_STEPS[-1])
        for name in NETWORKS
    }
    name = max(last, key=lambda name: last[name].mean)
    return f"{last[name].text()} at best with noise in the {place} ({name})"


def measure(seed: int, width: int, draws: int) -> Rows:
    """Share of instances that are recognized after each number of steps."""
    for name in (ALONE, *NETWORKS):
        generator = torch.Generator().manual_seed(seed)
        step, clean = _network(name, width, generator)
        carried = noisy(clean, draws, generator)
        for before, steps in pairwise((0, *_STEPS)):
            for _ in range(steps - before):
                clean = step(clean)
                carried = step(carried)
            yield name, FIRST, seed, steps, recognized(carried, clean)
            yield (
                name,
                LAST,
                seed,
                steps,
                recognized(noisy(clean, draws, generator), clean),
            )


def judge(alone: Mapping[str, float], networks: Mapping[str, float]) -> Verdict:
    """Supported if tanh blurs alone and between all weights, wherever noise is added.

    Partly if it does so alone, with noise in one of the places. Networks count with the place
    where more is recognized.
    """
    blurred = [share < _BLURRED for share in alone.values()]
    return Verdict.graded(
        any(blurred), all(blurred) and max(networks.values()) <= _KEPT
    )


def noisy(
    states: States, draws: int, generator: torch.Generator
) -> Float[Tensor, "draw instance unit"]:
    """The states, several times, with different noise."""
    size = (draws, *states.shape)
    noise = torch.randn(size, generator=generator, dtype=states.dtype)
    return states + _NOISE * states.shape[1] ** 0.5 * noise


def recognized(noisy: Float[Tensor, "draw instance unit"], clean: States) -> float:
    """Share of instances whose own clean state is the nearest to their noisy one."""
    nearest = torch.cdist(noisy, clean.expand_as(noisy)).argmin(2)
    return (nearest == torch.arange(len(clean))).double().mean().item()


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
    titles = (
        "n times tanh, no weights",
        *(f"Noise in the {place}" for place in PLACES),
    )
    left, *rest = panels(figure, titles)
    xs = torch.linspace(-5, 5, 401, dtype=torch.float64)
    states = list(accumulate(range(100), lambda state, _: state.tanh(), initial=xs))
    for steps, color in zip((1, 2, 10, 100), COLORS, strict=False):
        left.plot(
            xs.tolist(), states[steps].tolist(), color=color, label=f"n = {steps}"
        )
    left.set(xlabel="input", ylabel="output")
    left.legend(loc="upper left")
    for axes, place in zip(rest, PLACES, strict=True):
        part = table.where(noise=place)
        draw_lines(
            axes,
            part,
            "steps",
            "network",
            (ALONE, *NETWORKS),
            marker="o",
            markersize=4,
        )
        chance_line(axes, 1 / _INSTANCES)
        axes.set_xscale("symlog", linthresh=1)
        axes.set_xticks((0, 1, 10, 100), ["0", "1", "10", "100"])
        axes.set(xlabel="number of tanh", ylabel="share recognized", ylim=(0, 1.05))
        axes.set_xlim(-0.2, 125)
    legend(figure, rest)
