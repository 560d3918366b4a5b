"""Whether an RNN can use what comes later, and whether two directions make distance harmless."""

import math
from collections.abc import Mapping, Sequence

import torch
from matplotlib.figure import Figure
from torch import Tensor, nn

from studies.drawing import INK, draw_lines, panels
from studies.memory import input_gradients
from studies.study import Findings, Row, Rows, Settings, Study, Table, Values, Verdict
from studies.tokens import Examples, Task, TokenNetwork, learning_curve
from studies.training import Tokens, seeded
from vit_str.models.blocks import EncoderBlock
from vit_str.models.encoders.recurrent import NETWORKS

STUDY = Study(
    posts="R, L",
    claim=(
        "An RNN of one direction cannot reflect what comes later at all, so that a "
        "bidirectional RNN is needed; but distance still matters to it, so it is no "
        "solution at the root (R; L shows why two directions are joined)."
    ),
    expected=(
        "The gradient of a forward RNN's state by later inputs is exactly zero and "
        "it names them as well as chance; a bidirectional tanh RNN names the next "
        "one nearly always, and does worse the farther the token is."
    ),
    experiment=(
        "Gradient of the state at place 20 of 41 by each input, at the start. Then "
        "every state has to name the token k places to its right, one of 4: a "
        "network of 32 units (each direction half of them) is trained for every k, "
        "600 steps on sequences of 24 (quick: 150 steps, sequences of 12); the "
        "forward RNN to the left too, as a control. Attention with sinusoidal "
        "positions is beside it."
    ),
    changed=(
        "That an RNN of one direction is blind first asked for an accuracy within "
        "0.03 of chance at both ends of the interval, and now for not being surely "
        "above that."
    ),
    correction=(
        "Distance matters here for learning, not only for structure: everything "
        "reaches a state of a bidirectional network, but so few steps of training "
        "do not teach it to carry a token far. This study does not show what more "
        "training would do."
    ),
)

FORWARD = "RNN"
BOTH = "BiRNN"
BOTH_LSTM = "BiLSTM"
ATTENTION = "attention"
_RECURRENT: Mapping[str, tuple[str, bool]] = {
    FORWARD: ("rnn", False),
    BOTH: ("rnn", True),
    BOTH_LSTM: ("lstm", True),
}
_NETWORKS = (*_RECURRENT, ATTENTION)
SYMBOLS = 4
"""Guessing is right once in as many times."""
_DIM = 32
_STEPS = 41
_STATE = 20
# Chance is one in four; who is not surely better by this much knows nothing.
_NEAR_CHANCE = 0.03
_KNOWS = 0.9
_VALUE = "gradient_or_accuracy"


class TokenAhead(Task):
    """Which symbol stands so many tokens to the right (to the left if below zero)?

    Where there is no such token nothing is asked.
    """

    def __init__(self, offset: int, length: int) -> None:
        super().__init__(length, SYMBOLS)
        self.offset = offset

    def draw(self, batch: int, generator: torch.Generator) -> Examples:
        said = torch.randint(self.symbols, (batch, self.length, 1), generator=generator)
        return said, with_token_ahead(said, -self.offset)


def with_token_ahead(tokens: Tensor, offset: int) -> Tensor:
    """The tokens that have a token ``offset`` tokens to their right."""
    length = tokens.shape[1]
    return tokens[:, max(-offset, 0) : length - max(offset, 0)]


class Tagger(nn.Module):
    """The features that a network gives the tokens at which something is asked."""

    def __init__(self, network: nn.Module, offset: int) -> None:
        super().__init__()
        self.network = network
        self.offset = offset

    def forward(self, x: Tokens) -> Tokens:
        features = self.network(x)
        features = features[0] if isinstance(features, tuple) else features
        return with_token_ahead(features, self.offset)


def run(settings: Settings) -> Findings:
    """Measure gradients and train every network for every offset, with every seed."""
    right: tuple[int, ...]
    if settings.quick:
        right = (1, 4, 8)
        length = 12
        steps = 150
    else:
        right = (1, 2, 4, 8, 12, 16)
        length = 24
        steps = 600
    back = -right[1]

    def measure(seed: int) -> Rows:
        for name in _RECURRENT:
            norms = gradient_norms(name, seed, settings.device)
            for place, norm in enumerate(norms):
                yield "gradient", name, seed, place - _STATE, norm
        for name in _NETWORKS:
            offsets = (back, *right) if name == FORWARD else right
            for offset in offsets:
                named = accuracy(name, offset, length, steps, seed, settings.device)
                yield "accuracy", name, seed, offset, named

    table = settings.repeat(f"experiment network seed offset {_VALUE}", measure)
    gradients, named = table.parts("experiment", "gradient", "accuracy")
    of_forward = gradients.where(network=FORWARD)
    later = max(float(row[_VALUE]) for row in of_forward if int(row["offset"]) > 0)
    scores = {n: [named.values(network=n, offset=k) for k in right] for n in _NETWORKS}
    behind = named.mean(network=FORWARD, offset=back)
    ends = [
        f"{of[0].mean:.2f} and {of[-1].mean:.2f} ({name})"
        for name, of in scores.items()
    ]
    summary: list[Row] = []
    for name in _NETWORKS:
        at = named.cells(
            "accuracy at {:+d}",
            "offset",
            (back, *right),
            digits=2,
            network=name,
        )
        summary.append({"network": name, **at})
    return Findings(
        table=table,
        summary=summary,
        verdict=judge(later, scores),
        measure=f"accuracy of a tanh BiRNN at {right[0]} minus that at {right[-1]} places",
        values=scores[BOTH][0] - scores[BOTH][-1],
        because=(
            "The largest gradient of a forward RNN's state by a later input is "
            f"{later:g}. Of the tokens {right[0]} and {right[-1]} places to the "
            f"right these shares are named: {', '.join(ends)}; chance is "
            f"{1 / SYMBOLS:.2f}."
        ),
        draw=lambda figure: _draw(figure, gradients, named),
        surprises={
            f"Backwards the forward RNN names the token {-back} places away in {behind:.2f} of "
            "cases: it lacks the direction, not the learning.": behind > _KNOWS
        },
    )


def gradient_norms(name: str, seed: int, device: str = "cpu") -> list[float]:
    """Norm of the gradient of a state in the middle by each input."""
    with seeded(seed):
        network = make_network(name).to(device)
        x = torch.randn(16, _STEPS, _DIM, device=device)
    generator = torch.Generator().manual_seed(seed)
    return input_gradients(network, x, generator, at=_STATE).tolist()


def accuracy(
    name: str, offset: int, length: int, steps: int, seed: int, device: str = "cpu"
) -> float:
    """Share of tokens at an offset that are named after training."""
    task = TokenAhead(offset, length)
    with seeded(seed):
        body = Tagger(make_network(name), offset)
        model = TokenNetwork(task, _DIM, body, positions=name == ATTENTION).to(device)
    return learning_curve(model, task, steps, seed, learning_rate=1e-2)[-1]


def make_network(name: str) -> nn.Module:
    """A network of the width of a token, both directions together."""
    if name == ATTENTION:
        return EncoderBlock(_DIM, 2, mlp_ratio=2.0, dropout=0.0)
    network, both = _RECURRENT[name]
    dim = _DIM // 2 if both else _DIM
    return NETWORKS[network](_DIM, dim, batch_first=True, bidirectional=both)


def judge(later: float, scores: Mapping[str, Sequence[Values]]) -> Verdict:
    """Supported if one direction knows nothing, two know the next, and distance costs."""
    chance = 1 / SYMBOLS + _NEAR_CHANCE
    blind = later == 0 and all(values.low < chance for values in scores[FORWARD])
    near = scores[BOTH][0]
    far = scores[BOTH][-1]
    return Verdict.graded(blind and near.low >= _KNOWS, (near - far).low > _NEAR_CHANCE)


def _draw(figure: Figure, gradients: Table, named: Table) -> None:
    left, right = panels(
        figure, ["Inputs felt by a state", "Naming a later token"], 4.6, 3.4
    )
    norms = ((row, float(row[_VALUE])) for row in gradients)
    logs = Table(row | {_VALUE: math.log10(norm)} for row, norm in norms if norm)
    draw_lines(left, logs, "offset", "network", _RECURRENT)
    left.axvline(0, color=INK, linewidth=0.8)
    left.annotate(
        "RNN: exactly 0",
        (1, 0.05),
        xycoords=("data", "axes fraction"),
        fontsize=8,
    )
    left.set_xlabel("place of the input after the state's (steps)")
    left.set_ylabel("log10 of the gradient's norm")
    left.legend(loc="upper left")
    asked = Table(row for row in named if int(row["offset"]) > 0)
    draw_lines(right, asked, "offset", "network", _NETWORKS, marker="o")
    right.axhline(1 / SYMBOLS, color=INK, linewidth=1.1, linestyle="--", label="chance")
    right.set(
        xlabel="places to the right",
        ylabel="share of tokens named",
        ylim=(0, 1.03),
    )
    right.legend(loc="center left", fontsize=7, bbox_to_anchor=(0, 0.47))
