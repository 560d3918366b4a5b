"""Do several heads help, and is it because attention is weak in position?"""

from collections.abc import Mapping, Sequence
from itertools import chain, product

import torch
from matplotlib.figure import Figure

from studies.drawing import COLORS, chance_line, draw_mean, log_ticks, panels
from studies.study import Findings, Row, Rows, Settings, Study, Table, Values, Verdict
from studies.tokens import Pointers, TokenNetwork, learning_curve
from studies.training import seeded
from vit_str.models.blocks import EncoderBlock
from vit_str.models.positions import sinusoidal_positions

STUDY = Study(
    posts="E, S",
    claim=(
        'Multi-head attention is used "because self-attention is weak in position" (E, '
        "translated); it is self-attention in parallel over parts of the input (S)."
    ),
    expected=(
        "Two heads learn to look at two places sooner than one, a real but small "
        "gain. No number of heads makes a block know positions: its outputs move "
        "with its inputs to 1e-15, so the reason that E gives is wrong."
    ),
    experiment=(
        "Every one of 8 tokens points to two places and asks for the symbols there, "
        "in order. One encoder block of width 32 with 1, 2, 4 or 8 heads and equal "
        "parameters learns it; accuracy, and steps to 95%. With a single pointer as "
        "a control. A permutation of the tokens, with and without positions, tests "
        "every number of heads."
    ),
    correction=(
        "Heads do not make up for missing positions; positional encodings alone do. "
        "One head takes one weighted mean; several take several means at once. It "
        "is the queries, keys and values, after their projections, that are split "
        "over the heads, not the input."
    ),
    kind="identity in part: that outputs move with inputs",
)

HEADS = (1, 2, 4, 8)
DIM = 32
GOAL = 0.95
# Rounding of doubles is a million times smaller, what real positions change a million times more.
EXACT = 1e-9
_POSITIONS = {
    False: "permutation error without positions",
    True: "permutation error with positions",
}
_TRAININGS = [(2, heads) for heads in HEADS] + [(1, 1), (1, HEADS[-1])]
"""Pointers of a token, and heads."""
Curves = Mapping[tuple[int, int], tuple[list[float], list[Values]]]
"""For each training: steps, and for each seed the accuracy after them."""


def run(settings: Settings) -> Findings:
    """Train with every number of heads, then permute."""
    steps = 320 if settings.quick else 2000
    every = 20 if settings.quick else 50

    def measure(seed: int) -> Rows:
        for pointers, heads in _TRAININGS:
            network = make_network(pointers, heads, seed)
            task = Pointers(pointers)
            total = steps * pointers // 2  # one pointer is learned sooner
            network.to(settings.device)
            curve = learning_curve(
                network,
                task,
                total,
                seed,
                every=every,
                learning_rate=5e-3,
            )
            for step, accuracy in enumerate(curve, 1):
                yield seed, pointers, heads, "accuracy", step * every, accuracy
        for heads in HEADS:
            for positions, measured in _POSITIONS.items():
                yield (
                    seed,
                    0,
                    heads,
                    measured,
                    0,
                    permutation_error(heads, seed, positions),
                )

    table = settings.repeat("seed pointers heads measure step value", measure)
    learning = table.where(measure="accuracy")
    curves = {
        (p, h): learning.curves("step", pointers=p, heads=h) for p, h in _TRAININGS
    }
    last = {key: Values(run[-1] for run in runs) for key, (_, runs) in curves.items()}
    gains = last[2, 2] - last[2, 1]
    errors = {}
    for heads, positions in product(HEADS, _POSITIONS):
        errors[heads, positions] = table.values(
            measure=_POSITIONS[positions],
            heads=heads,
        )
    without = list(chain.from_iterable(errors[heads, False] for heads in HEADS[1:]))
    with_positions = min(min(errors[heads, True]) for heads in HEADS)
    return Findings(
        table=table,
        summary=_summary(curves, errors),
        verdict=judge(gains, without),
        measure=f"accuracy gained by a second head, two pointers, after {steps} steps",
        values=gains,
        because=(
            f"With two places to look at, two heads reach {last[2, 2].mean:.2f} "
            f"where one reaches {last[2, 1].mean:.2f}. But without positions a block "
            f"of any number of heads follows a permutation to {max(without):.0e} "
            f"(with positions it differs by {with_positions:.1f} or more): heads "
            "help, and not because of position."
        ),
        draw=lambda figure: _draw(figure, learning, errors),
    )


def _summary(curves: Curves, errors: Mapping[tuple[int, bool], Values]) -> list[Row]:
    """A row for each training."""
    rows: list[Row] = []
    for pointers, heads in _TRAININGS:
        network = make_network(pointers, heads, 0)
        steps, runs = curves[pointers, heads]
        row: Row = {
            "pointers": pointers,
            "heads": heads,
            "parameters": sum(parameter.numel() for parameter in network.parameters()),
            "accuracy": Values(run[-1] for run in runs).text(2),
            f"steps to {GOAL:.0%}": steps_to_goal(steps, runs),
            "permutation error": f"{max(errors[heads, False]):.0e}",
            "with positions": f"{min(errors[heads, True]):.1f}",
        }
        rows.append(row)
    return rows


def permutation_error(heads: int, seed: int, positions: bool) -> float:
    """How far the outputs of permuted tokens are from the permuted outputs, at most."""
    with seeded(seed):
        block = EncoderBlock(DIM, heads, 2.0, 0.0).double().eval()
        x = torch.randn(2, 16, DIM, dtype=torch.float64)
        order = torch.randperm(16)
    added = sinusoidal_positions(16, DIM).double() if positions else torch.zeros(1)
    with torch.no_grad():
        of_permuted = block(x[:, order] + added)
        permuted = block(x + added)[:, order]
    return (of_permuted - permuted).abs().max().item()


def make_network(pointers: int, heads: int, seed: int) -> TokenNetwork:
    """One block; the number of parameters does not depend on that of heads."""
    with seeded(seed):
        return TokenNetwork(Pointers(pointers), DIM, EncoderBlock(DIM, heads, 2.0, 0.0))


def judge(gains: Values, errors: Sequence[float]) -> Verdict:
    """Two halves: more heads help, and without positions they tell positions apart."""
    return Verdict.of(gains.low > 0, min(errors) > EXACT)


def steps_to_goal(steps: Sequence[float], runs: Sequence[Sequence[float]]) -> str:
    """Steps until the accuracy first reaches `GOAL`, and how many seeds do if not all."""
    reached = []
    for run in runs:
        pairs = zip(steps, run, strict=True)
        at_goal = (step for step, accuracy in pairs if accuracy >= GOAL)
        if max(run) >= GOAL:
            reached.append(next(at_goal))
    if not reached:
        return "never"
    some = f" in {len(reached)}/{len(runs)}" if len(reached) < len(runs) else ""
    return Values(reached).text(0) + some


def _draw(
    figure: Figure,
    learning: Table,
    errors: dict[tuple[int, bool], Values],
) -> None:
    curves, permuted = panels(
        figure, ["Two pointers, equal parameters", "Tokens permuted"], 4.2
    )
    for color, heads in zip(COLORS, HEADS, strict=False):
        label = "1 head" if heads == 1 else f"{heads} heads"
        draw_mean(
            curves, *learning.curves("step", pointers=2, heads=heads), label, color
        )
    chance_line(curves, 1 / 8)
    curves.set(xlabel="steps of training", ylabel="accuracy", ylim=(0, 1.05))
    curves.legend(loc="center right", bbox_to_anchor=(1, 0.42))
    lines = (
        (True, "with positions", COLORS[1]),
        (False, "without positions", COLORS[0]),
    )
    for positions, label, color in lines:
        worst = [max(*errors[heads, positions], 1e-18) for heads in HEADS]
        permuted.plot(HEADS, worst, "o-", color=color, label=label)
    log_ticks(permuted, HEADS)
    permuted.set(yscale="log", ylim=(1e-17, 1e2), xlabel="heads")
    permuted.set_ylabel("largest difference of an output")
    permuted.legend(loc="center right")
