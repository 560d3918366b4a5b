"""Does stacking tanh blur what went in?"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import torch
from jaxtyping import Float
from torch import Tensor, nn

from vit_str.studies.drawing import COLORS, draw_mean, panels
from vit_str.studies.intervals import mean_interval, with_interval
from vit_str.studies.study import Findings, Row, Settings, Study, Verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ALONE = "tanh alone"
NETWORKS = ("default weights", *(f"orthogonal, gain {gain}" for gain in ("1.0", "1.25", "1.5")))

_NOISE = 0.01  # one part in two hundred of what tanh can put out: between seven and eight bits
_INSTANCES = 101
_STEPS = (0, 1, 2, 5, 10, 20, 50, 100)
# An input counts as blurred when fewer than one in four of its kind are recognized, and as kept
# when nine in ten are: between chance (0.01) and all (1) nobody would call a half either.
_BLURRED, _KEPT = 0.25, 0.9

States = Float[Tensor, "instance unit"]


class TanhBlur(Study):
    """Instances are recognized from their state after many times tanh."""

    id = "tanh-blur"
    posts = "R"
    claim = (
        "tanh maps everything to a narrow range and is almost 1 from 2.5 on, so that after tens or "
        "hundreds of them the input is blurred and hard to tell from other inputs."
    )
    expectation = (
        "tanh(2.5) = .9866 with slope .0266. Alone, n times tanh goes to zero like sqrt(3 / 2n) "
        "for every positive input, so that little more than the sign is left after 100. Between "
        "weights it depends on them: default weights blur faster, a gain above 1 keeps instances "
        "apart."
    )
    experiment = (
        f"{_INSTANCES} instances, the numbers from -5 to 5, go through up to {_STEPS[-1]} times "
        "tanh: alone, and as multiples of one normal vector of 128 units (64 in the small version) "
        "with the recurrent matrix of an RNN before each tanh: PyTorch's default, or orthogonal "
        f"times a gain. Noise of {_NOISE} is added (times the root of the width, so that width "
        "alone is no advantage), and the nearest state without noise says which instance it was. "
        "Measured is the share that is right."
    )
    correction = (
        "The post leaves weights and biases out, but they decide. tanh is strictly increasing: it "
        "loses nothing but to noise and rounding, and a matrix that stretches what tanh shrinks "
        "keeps inputs apart for hundreds of steps."
    )

    revised = (
        "A first version gave the networks more units than the scalars, which made them look "
        "safe; a gain of 1.25 was added after that."
    )

    def run(self, settings: Settings) -> Findings:
        """Recognize instances after each number of steps."""
        width, draws = (64, 5) if settings.quick else (128, 20)
        shares: dict[str, list[list[float]]] = {name: [] for name in (ALONE, *NETWORKS)}
        for seed in range(settings.seeds):
            for name, runs in shares.items():
                generator = torch.Generator().manual_seed(seed)
                step, start = _network(name, width, generator)
                runs.append(recognized_by_steps(step, start, draws, generator))
            settings.progress((seed + 1) / settings.seeds)
        last = {name: [run[-1] for run in runs] for name, runs in shares.items()}
        value, interval = mean_interval(last[ALONE])
        kept = [name for name in NETWORKS if mean_interval(last[name])[0] > _KEPT]
        return Findings(
            rows=_rows(shares),
            summary=_summary(shares),
            verdict=verdict(value, {name: mean_interval(last[name])[0] for name in NETWORKS}),
            measure=f"share recognized after {_STEPS[-1]} times tanh without weights",
            value=value,
            interval=interval,
            because=_because(last, kept),
            draw=lambda figure: _draw(figure, shares),
            surprises=_surprises(shares),
        )


def verdict(alone: float, networks: dict[str, float]) -> Verdict:
    """Supported if tanh blurs alone and between all weights, partly if it does alone only."""
    if alone >= _BLURRED:
        return Verdict.NOT_SUPPORTED
    return Verdict.PARTLY if max(networks.values()) > _KEPT else Verdict.SUPPORTED


def recognized_by_steps(
    step: Callable[[States], States], start: States, draws: int, generator: torch.Generator
) -> list[float]:
    """Share of instances recognized after each number of steps, see `recognized`."""
    found, state, done = [], start, 0
    for steps in _STEPS:
        for _ in range(steps - done):
            state = step(state)
        done = steps
        found.append(recognized(state, draws, generator))
    return found


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


def _rows(shares: dict[str, list[list[float]]]) -> list[Row]:
    return [
        {"network": name, "seed": seed, "steps": steps, "recognized": share}
        for name, runs in shares.items()
        for seed, run in enumerate(runs)
        for steps, share in zip(_STEPS, run, strict=True)
    ]


def _summary(shares: dict[str, list[list[float]]]) -> list[Row]:
    rows: list[Row] = []
    for name, runs in shares.items():
        cells: dict[str, str] = {"network": name}
        for steps in (1, 10, 100):
            cells[f"after {steps}"] = with_interval([run[_STEPS.index(steps)] for run in runs])
        rows.append(cells)
    return rows


def _because(last: dict[str, list[float]], kept: Sequence[str]) -> str:
    y = torch.tensor(2.5, dtype=torch.float64).tanh().item()
    text = (
        f"tanh(2.5) is {y:.4f} and its slope there {1 - y * y:.4f}. Of numbers from -5 to 5, "
        f"{with_interval(last[ALONE])} are recognized after {_STEPS[-1]} times tanh, "
    )
    if not kept:
        return f"{text}and no weights between them kept more than {_KEPT}."
    told = " and ".join(f"{with_interval(last[name])} with {name}" for name in kept)
    return f"{text}but with weights between them, as in any network, {told}."


def _surprises(shares: dict[str, list[list[float]]]) -> list[str]:
    states = torch.linspace(-5, 5, _INSTANCES, dtype=torch.float64)
    for _ in range(_STEPS[-1]):
        states = states.tanh()
    different = len(set(states.tolist()))
    found = [
        f"After {_STEPS[-1]} times tanh alone, {different} of {_INSTANCES} numbers are "
        f"still different in double precision. The largest is {states.max():.4f}; sqrt(3 / 2n) "
        f"says {(1.5 / _STEPS[-1]) ** 0.5:.4f}."
    ]
    early, late = (
        mean_interval([run[_STEPS.index(steps)] for run in shares[NETWORKS[-1]]])[0]
        for steps in (10, _STEPS[-1])
    )
    if late > early:
        found.append(
            f"With a gain of 1.5 it goes the other way: {early:.2f} are recognized after 10 steps "
            f"and {late:.2f} after {_STEPS[-1]}. The steps are chaotic and pull apart what the "
            "first tanh had squeezed (Poole et al. 2016); near is not easy to read, though: what "
            "is measured is whether states differ, not whether a layer could use them."
        )
    return found


def _draw(figure: "Figure", shares: dict[str, list[list[float]]]) -> None:
    left, right = panels(figure, ("n times tanh, no weights", "Instances recognized"))
    xs = torch.linspace(-5, 5, 401, dtype=torch.float64)
    ys = xs
    for steps in range(1, _STEPS[-1] + 1):
        ys = ys.tanh()
        if steps in (1, 2, 10, 100):
            color = COLORS[(1, 2, 10, 100).index(steps)]
            left.plot(xs.tolist(), ys.tolist(), color=color, label=f"n = {steps}")
    left.set(xlabel="input", ylabel="output")
    left.legend(loc="upper left")
    for (name, runs), color, mark in zip(shares.items(), COLORS, "osD^v", strict=False):
        draw_mean(right, _STEPS, runs, name, color, marker=mark, markersize=4)
    right.axhline(1 / _INSTANCES, color="#666c75", linewidth=1, linestyle=":", label="chance")
    right.set_xscale("symlog", linthresh=1)
    ticks = (0, 1, 10, 100)
    right.set_xticks(ticks, [str(tick) for tick in ticks])
    right.set(xlabel="number of tanh", ylabel=f"share recognized, noise {_NOISE}", ylim=(0, 1.05))
    right.set_xlim(-0.2, 125)
    right.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=7)
