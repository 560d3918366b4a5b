"""Does self-attention reach any distance in one step, and is long-term dependency solved by it?"""

import math
from collections.abc import Mapping, Sequence
from statistics import median

import torch
from matplotlib.figure import Figure
from torch import nn

from studies import memory
from studies.drawing import INK, draw_lines, panels
from studies.memory import BASELINE, SOLVED, AttentionAdder, RecurrentAdder
from studies.study import Findings, Rows, Settings, Study, Table, Values, Verdict
from studies.training import seeded
from vit_str.models.blocks import EncoderBlock
from vit_str.models.encoders.recurrent import NETWORKS
from vit_str.reports.panels import legend

STUDY = Study(
    posts="E, L",
    claim=(
        "However far apart two words are, self-attention fetches one for the other "
        "directly, without passing the steps between, and so solves long-term "
        "dependency at its root (L; E: the operations are constant in number)."
    ),
    expected=(
        "The gradient of self-attention is the same at every distance, while those "
        "of recurrent networks fall, and it learns the adding problem at lengths "
        "where they do not. But the problem is not solved at its root: on sequences "
        "longer than in training it fails, and its cost grows with the square of "
        "the length. So: partly."
    ),
    experiment=(
        "Gradient of the last output with respect to the input so many steps "
        "before, at initialization, for 100 steps and 64 units: one block of "
        "self-attention, GRU, tanh RNN. Then the adding problem, trained at lengths "
        "100 and 400 (quick: 50), and tested at one, two and four times the length."
    ),
    changed=(
        "The rule for errors first asked for the upper end of an interval, and now "
        "for the worst seed; the verdict was the same."
    ),
    correction=(
        "One step is the length of the way, not its price: each of T tokens looks "
        "at all T, so cost and memory grow as T². The gradient is flat, but thin: "
        "before training every input has about 1 / T of it. And what is learned at "
        "one length need not hold at another, as the softmax shares 1 among more "
        "and more tokens."
    ),
)

ATTENTION = "self-attention"
NETS = {ATTENTION: "self-attention", "gru": "GRU", "rnn": "tanh RNN"}
GRADIENT = "log10 gradient"
ERROR = "error"
_WIDTH = 64
_STEPS_BACK = 100
_LONGER = (1, 2, 4)  # times as long as in training
# Flat: the farthest input is felt at least half and at most twice as much as the nearest.
_FLAT = math.log10(2)
_QUICK = ((50, 300, 32),)
_FULL = ((100, 800, 32), (400, 600, 16))
"""Length of the sequences, steps of training, and sequences in a batch."""


def run(settings: Settings) -> Findings:
    """Measure gradients and train every network with every seed."""
    trainings = _QUICK if settings.quick else _FULL
    table = settings.repeat(
        "network seed measure trained at value",
        lambda seed: measure(seed, trainings, settings.device),
    )
    gradients, adding = table.parts("measure", GRADIENT, ERROR)
    farthest = _STEPS_BACK - 1
    trained = adding.levels("trained")
    longest = max(trained)
    beyond = max(adding.levels("at"))
    changes = {}
    for name in NETS:
        far = gradients.values(network=name, at=farthest)
        changes[name] = far - gradients.values(network=name, at=1)

    def middle(name: str, at: int) -> str:
        return f"{median(adding.values(network=name, trained=longest, at=at)):.2g}"

    change = changes[ATTENTION]
    learned = [max(adding.values(network=ATTENTION, trained=n, at=n)) for n in trained]
    outside = adding.values(network=ATTENTION, trained=longest, at=beyond)
    failed = sum(error >= SOLVED for error in outside)
    near = {name: 10 ** gradients.mean(network=name, at=1) for name in NETS}
    return Findings(
        table=table,
        summary=_summary(changes, adding),
        verdict=judge(change, max(learned), max(outside)),
        measure=(
            f"log10 of the gradient at distance {farthest} over that at distance 1, "
            "self-attention"
        ),
        values=change,
        because=(
            f"From distance 1 to {farthest} the gradient of self-attention changes "
            f"by a factor of {10**change.mean:.2f}, of a GRU by "
            f"10^{changes['gru'].mean:.0f} and of a tanh RNN by "
            f"10^{changes['rnn'].mean:.0f}. After the same short training on the "
            f"adding problem at length {longest} the errors are "
            f"{middle(ATTENTION, longest)}, {middle('gru', longest)} and "
            f"{middle('rnn', longest)} (medians; knowing nothing has "
            f"{BASELINE:.3f}). At length {beyond}, without training there, "
            f"self-attention has {middle(ATTENTION, beyond)}, and {failed} of "
            f"{len(outside)} seeds do not solve it."
        ),
        draw=lambda figure: _draw(figure, gradients, adding.where(trained=longest)),
        surprises={
            "At distance 1 the gradient of a GRU is "
            f"{near['gru'] / near[ATTENTION]:.0f} times that of untrained "
            "self-attention: flat does not mean strong.": (
                near[ATTENTION] < near["gru"]
            )
        },
    )


def _summary(changes: Mapping[str, Values], adding: Table) -> list[dict[str, str]]:
    """A row for each network."""
    rows = []
    for name in NETS:
        row = {
            "network": name,
            "gradient, far over near (log10)": changes[name].text(2),
        }
        for length in adding.levels("trained"):
            for at in adding.levels("at", trained=length):
                errors = adding.values(network=name, trained=length, at=at)
                text = f"{median(errors):.2g} [{min(errors):.2g}, {max(errors):.2g}]"
                row[f"error at {at}, trained at {length} (median, range)"] = text
        rows.append(row)
    return rows


def measure(seed: int, trainings: Sequence[tuple[int, int, int]], device: str) -> Rows:
    """Gradients at a distance before training (``trained`` is 0), then errors at a length."""
    for name in NETS:
        for distance, norm in enumerate(initial_gradients(name, seed)):
            yield name, seed, GRADIENT, 0, distance, math.log10(norm)
        for length, steps, batch in trainings:
            with seeded(seed):
                model = (
                    AttentionAdder(32)
                    if name == ATTENTION
                    else RecurrentAdder(name, 32)
                )
            memory.train_to_add(model.to(device), length, steps, seed, 5e-3, batch)
            for at in (longer * length for longer in _LONGER):
                yield (
                    name,
                    seed,
                    ERROR,
                    length,
                    at,
                    memory.squared_error(model, at, 128),
                )


def initial_gradients(name: str, seed: int, steps: int = _STEPS_BACK) -> list[float]:
    """`input_gradients` at distance 0, 1, ... from the last step, before training."""
    with seeded(seed):
        if name == ATTENTION:
            network: nn.Module = EncoderBlock(
                _WIDTH,
                heads=4,
                mlp_ratio=2.0,
                dropout=0.0,
            )
        else:
            network = NETWORKS[name](_WIDTH, _WIDTH, batch_first=True)
        inputs = torch.randn(16, steps, _WIDTH)
        norms = memory.input_gradients(
            network,
            inputs,
            torch.default_generator,
            directions=4,
        )
    return norms.flip(0).tolist()


def judge(change: Values, learned: float, outside: float) -> Verdict:
    """Solved is: flat, learned by every seed, and true of sequences longer than in training too."""
    flat = max(map(abs, change.interval)) <= _FLAT
    return Verdict.graded(flat and learned < SOLVED, outside < SOLVED)


def _draw(figure: Figure, gradients: Table, adding: Table) -> None:
    trained = adding[0]["trained"]
    left, right = panels(
        figure,
        ["Gradient of the last output", f"Adding, trained at {trained} steps"],
        4.6,
        3.4,
    )
    logs = Table(row | {"value": math.log10(float(row["value"]))} for row in adding)
    draw_lines(left, gradients, "at", "network", NETS)
    draw_lines(right, logs, "at", "network", NETS, marker="o")
    left.set(xlabel="distance (steps back)", ylabel="norm of the gradient (log10)")
    right.axhline(
        math.log10(BASELINE),
        color=INK,
        ls=":",
        lw=1.1,
        label="knowing nothing",
    )
    legend(figure, [left, right])
    right.set_xticks(adding.levels("at"))
    right.set(xlabel="length of the test (steps)", ylabel="mean squared error (log10)")
