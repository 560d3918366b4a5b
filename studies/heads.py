"""Do several heads help, and is it because attention is weak in position?"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import torch

from vit_str.models.blocks import EncoderBlock
from vit_str.models.positions import sinusoidal_positions
from studies.drawing import COLORS, MUTED, draw_mean, panels
from studies.intervals import mean_interval, with_interval
from studies.study import Findings, Row, Settings, Study, Verdict
from studies.tasks_tokens import (
    Pointers,
    TokenNetwork,
    Training,
    learning_curve,
    seeded,
    steps_to,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HEADS = (1, 2, 4, 8)
DIM = 32
GOAL = 0.95
# Rounding of doubles is a million times smaller, what real positions change a million times more.
EXACT = 1e-9

Curves = Mapping[tuple[int, int], list[float]]
"""Pointers of a token, heads -> accuracy along training."""


def permutation_error(heads: int, seed: int, positions: bool) -> float:
    """How far the outputs of permuted tokens are from the permuted outputs, at most.

    Zero says that the block cannot know where a token stands.
    """
    with seeded(seed):
        block = EncoderBlock(DIM, heads, 2.0, 0.0).double().eval()
        x, order = torch.randn(2, 16, DIM, dtype=torch.float64), torch.randperm(16)
    places = sinusoidal_positions(16, DIM).double() if positions else torch.zeros(1)
    with torch.no_grad():
        return (block(x[:, order] + places) - block(x + places)[:, order]).abs().max().item()


def network(pointers: int, heads: int, seed: int) -> TokenNetwork:
    """One block; the number of parameters does not depend on that of heads."""
    with seeded(seed):
        return TokenNetwork(Pointers(pointers), DIM, EncoderBlock(DIM, heads, 2.0, 0.0))


def judge(gains: Sequence[float], errors: Sequence[float]) -> Verdict:
    """Two halves: more heads help, and the reason is that they tell positions apart.

    Args:
        gains: accuracy of two heads less that of one, for each seed.
        errors: permutation errors of blocks with several heads and without positions.
    """
    halves = [mean_interval(gains)[1][0] > 0, min(errors) > EXACT]
    if all(halves):
        return Verdict.SUPPORTED
    return Verdict.PARTLY if any(halves) else Verdict.NOT_SUPPORTED


class Heads(Study):
    """Two places at once, with 1 to 8 heads of the same parameters."""

    id = "heads"
    posts = "ES"
    claim = (
        'Multi-head attention is used "because self-attention is weak in position" (E); it is '
        "self-attention in parallel over parts of the input (S)."
    )
    expectation = (
        "Two heads learn to look at two places sooner than one, a real but small gain. No number "
        "of heads makes a block know positions: its outputs move with its inputs to 1e-15, so "
        "the reason that E gives is wrong."
    )
    experiment = (
        "Every one of 8 tokens points to two places and asks for the symbols there, in order. "
        f"One encoder block of width {DIM} with 1, 2, 4 or 8 heads and equal parameters learns "
        f"it; accuracy, and steps to {GOAL:.0%}. With a single pointer as a control. A "
        "permutation of the tokens, with and without positions, tests every number of heads."
    )
    correction = (
        "Heads do not make up for missing positions; positional encodings alone do. One head "
        "takes one weighted mean; several take several means at once. It is the queries, keys "
        "and values, after their projections, that are split over the heads, not the input."
    )

    def run(self, settings: Settings) -> Findings:
        """Train with every number of heads, then permute."""
        steps, every = (320, 20) if settings.quick else (2000, 50)
        plan = [(2, heads) for heads in HEADS] + [(1, 1), (1, HEADS[-1])]
        runs: list[dict[tuple[int, int], list[float]]] = []
        for seed in range(settings.seeds):
            runs.append({})
            for place, (pointers, heads) in enumerate(plan):
                # One pointer is learned sooner.
                training = Training(steps * pointers // 2, every, learning_rate=5e-3)
                net = network(pointers, heads, seed).to(settings.device)
                curve = learning_curve(net, Pointers(pointers), training, seed)
                runs[seed][pointers, heads] = curve
                done = seed + (place + 1) / len(plan)
                settings.progress(done / settings.seeds)
        errors = {
            (heads, positions): [
                permutation_error(heads, seed, positions) for seed in range(settings.seeds)
            ]
            for heads in HEADS
            for positions in (False, True)
        }
        return _findings(runs, errors, every)


def _findings(
    runs: Sequence[Curves], errors: Mapping[tuple[int, bool], Sequence[float]], every: int
) -> Findings:
    gains = [run[2, 2][-1] - run[2, 1][-1] for run in runs]
    value, interval = mean_interval(gains)
    without = [error for heads in HEADS[1:] for error in errors[heads, False]]
    with_positions = min(error for heads in HEADS for error in errors[heads, True])
    steps = len(runs[0][2, 1]) * every
    control = mean_interval([run[1, HEADS[-1]][-1] - run[1, 1][-1] for run in runs])[0]
    final = {heads: mean_interval([run[2, heads][-1] for run in runs])[0] for heads in HEADS}
    return Findings(
        rows=_rows(runs, errors, every),
        summary=_summary(runs, errors, every),
        verdict=judge(gains, without),
        measure=f"accuracy gained by a second head, two pointers, after {steps} steps",
        value=value,
        interval=interval,
        because=(
            f"With two places to look at, two heads reach {final[2]:.2f} where one reaches "
            f"{final[1]:.2f}. But without positions a block of any number of heads follows a "
            f"permutation to {max(without):.0e} (with positions it differs by "
            f"{with_positions:.1f} or more): heads help, and not because of position."
        ),
        surprises=(
            "The gain is not small where the task asks for as many places: "
            f"{value:+.2f} with two pointers, {control:+.2f} from {HEADS[-1]} heads with one "
            f"pointer after {len(runs[0][1, 1]) * every} steps.",
            f"With 2, 4 and 8 heads the accuracy is {final[2]:.2f}, {final[4]:.2f} and "
            f"{final[8]:.2f}: what counts is the step from one head to as many as places.",
        ),
        draw=partial(_draw, runs, errors, every),
    )


def _rows(
    runs: Sequence[Curves], errors: Mapping[tuple[int, bool], Sequence[float]], every: int
) -> list[Row]:
    curves: list[Row] = [
        {
            "seed": seed,
            "pointers": pointers,
            "heads": heads,
            "measure": "accuracy",
            "step": step * every,
            "value": value,
        }
        for seed, run in enumerate(runs)
        for (pointers, heads), curve in run.items()
        for step, value in enumerate(curve, 1)
    ]
    permuted: list[Row] = [
        {
            "seed": seed,
            "pointers": 0,
            "heads": heads,
            "measure": f"permutation error {'with' if positions else 'without'} positions",
            "step": 0,
            "value": value,
        }
        for (heads, positions), values in errors.items()
        for seed, value in enumerate(values)
    ]
    return curves + permuted


def _summary(
    runs: Sequence[Curves], errors: Mapping[tuple[int, bool], Sequence[float]], every: int
) -> list[Row]:
    def steps(pointers: int, heads: int) -> str:
        found = [steps_to(run[pointers, heads], GOAL, every) for run in runs]
        reached = [float(number) for number in found if number is not None]
        text = with_interval(reached, 0) if reached else "never"
        return text if len(reached) in (0, len(runs)) else f"{text} in {len(reached)}/{len(runs)}"

    return [
        {
            "pointers": pointers,
            "heads": heads,
            "parameters": sum(p.numel() for p in network(pointers, heads, 0).parameters()),
            "accuracy": with_interval([run[pointers, heads][-1] for run in runs], 2),
            f"steps to {GOAL:.0%}": steps(pointers, heads),
            "permutation error": f"{max(errors[heads, False]):.0e}",
            "with positions": f"{min(errors[heads, True]):.1f}",
        }
        for pointers, heads in runs[0]
    ]


def _draw(
    runs: Sequence[Curves],
    errors: Mapping[tuple[int, bool], Sequence[float]],
    every: int,
    figure: "Figure",
) -> None:
    learning, permuted = panels(
        figure, ["Two pointers, equal parameters", "Tokens permuted"], width=4.2
    )
    steps = [every * (i + 1) for i in range(len(runs[0][2, 1]))]
    for color, heads in zip(COLORS, HEADS, strict=False):
        label = f"{heads} head{'s' * (heads > 1)}"
        draw_mean(learning, steps, [run[2, heads] for run in runs], label, color)
    learning.axhline(1 / 8, color=MUTED, linewidth=1, linestyle=":", label="chance")
    learning.set(xlabel="steps of training", ylabel="accuracy", ylim=(0, 1.05))
    learning.legend(loc="lower right")
    for positions, color in ((True, COLORS[1]), (False, COLORS[0])):
        worst = [max(max(errors[heads, positions]), 1e-18) for heads in HEADS]
        label = f"{'with' if positions else 'without'} positions"
        permuted.plot(HEADS, worst, "o-", color=color, label=label)
    permuted.set_xscale("log", base=2)
    permuted.set_xticks(HEADS, [str(heads) for heads in HEADS])
    permuted.set(yscale="log", ylim=(1e-17, 1e2), xlabel="heads")
    permuted.set_ylabel("largest difference of an output")
    permuted.legend(loc="center right")
