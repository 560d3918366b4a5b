"""Whether an RNN can use what comes later, and whether two directions make distance harmless.

Claim (R, L): An RNN of one direction cannot reflect what comes later at all, so that a
bidirectional RNN is needed; but distance still matters to it, so it is no solution at the root (R;
L shows why two directions are joined).

Expected: The gradient of a forward RNN's state by later inputs is exactly zero and it names them
as well as chance; a bidirectional tanh RNN names the next one nearly always, and does worse the
farther the token is.

Experiment: Gradient of the state at place 20 of 41 by each input, at the start. Then every state
has to name the token k places to its right, one of 4: a network of 32 units (each direction half
of them) is trained for every k, 600 steps on sequences of 24 (quick: 150 steps, sequences of 12);
the forward RNN to the left too, as a control. Attention with sinusoidal positions is beside it.

Correction: That distance matters here is a matter of learning, not only of structure: everything
reaches a state of a bidirectional network, but in so few steps of training it does not find out
how to carry a token far. What more training would do is not shown by this.

Revised: That an RNN of one direction is blind first asked for an accuracy within 0.03 of chance at
both ends of the interval, and now for not being surely above that.
"""

from collections.abc import Mapping, Sequence

import torch
from jaxtyping import Float
from matplotlib.figure import Figure
from torch import Tensor, nn

from studies.drawing import COLORS, INK, draw_mean, panels
from studies.gradients import input_gradients
from studies.study import Findings, Row, Settings, Table, Verdict, differences
from studies.tokens import Examples, TokenNetwork, learning_curve
from studies.training import seeded
from vit_str.models.blocks import EncoderBlock
from vit_str.models.encoders.recurrent import NETWORKS
from vit_str.statistics import mean_interval

FORWARD, BOTH, BOTH_LSTM, ATTENTION = "RNN", "BiRNN", "BiLSTM", "attention"
_RECURRENT: Mapping[str, tuple[str, bool]] = {
    FORWARD: ("rnn", False),
    BOTH: ("rnn", True),
    BOTH_LSTM: ("lstm", True),
}
_NETWORKS = (*_RECURRENT, ATTENTION)
SYMBOLS = 4
"""Guessing is right once in as many times."""

_DIM, _STEPS, _STATE = 32, 41, 20
# Chance is one in four; who is not surely better by this much knows nothing.
_NEAR_CHANCE = 0.03
_KNOWS = 0.9
_VALUE = "gradient_or_accuracy"


class TokenAhead:
    """Which symbol stands so many tokens to the right (to the left if below zero)?

    Args:
        offset: how many.
        length: of a sequence; where there is no such token nothing is asked.
    """

    symbols = SYMBOLS
    input_sizes: tuple[int, ...] = (SYMBOLS,)
    answers = 1

    def __init__(self, offset: int, length: int) -> None:
        if abs(offset) >= length:
            raise ValueError(f"an offset of {offset} leaves a sequence of {length} tokens")
        self.offset, self.length = offset, length

    def draw(self, batch: int, generator: torch.Generator) -> Examples:
        """Independent symbols, so that none can be guessed from others."""
        said = torch.randint(self.symbols, (batch, self.length, 1), generator=generator)
        return Examples(said, with_token_ahead(said, -self.offset))


def with_token_ahead(tokens: Tensor, offset: int) -> Tensor:
    """The tokens that have a token ``offset`` tokens to their right."""
    length = tokens.shape[1]
    return tokens[:, max(-offset, 0) : length - max(offset, 0)]


class Tagger(nn.Module):
    """The features of the tokens at which something is asked.

    Args:
        network: recurrent, or from tokens to tokens.
        offset: of `TokenAhead`.
    """

    def __init__(self, network: nn.Module, offset: int) -> None:
        super().__init__()
        self.network, self.offset = network, offset

    def forward(self, x: Float[Tensor, "batch token dim"]) -> Float[Tensor, "batch asked dim"]:
        features = self.network(x)
        features = features[0] if isinstance(features, tuple) else features
        return with_token_ahead(features, self.offset)


def run(settings: Settings) -> Findings:
    """Measure gradients and train every network for every offset, with every seed."""
    offsets, length, steps = (
        ((1, 4, 8), 12, 150) if settings.quick else ((1, 2, 4, 8, 12, 16), 24, 600)
    )
    table = Table()
    for seed in range(settings.seeds):
        table += measure_gradients(seed, settings.device)
        for name in _NETWORKS:
            control = (-offsets[1],) if name == FORWARD else ()
            for offset in (*control, *offsets):
                table.append(measure_accuracy(name, offset, length, steps, seed, settings.device))
    return findings(table)


def make_network(name: str) -> nn.Module:
    """A network of the width of a token, both directions together."""
    if name == ATTENTION:
        return EncoderBlock(_DIM, 2, mlp_ratio=2.0, dropout=0.0)
    network, both = _RECURRENT[name]
    return NETWORKS[network](_DIM, _DIM // (1 + both), batch_first=True, bidirectional=both)


def measure_gradients(seed: int, device: str = "cpu") -> list[Row]:
    """Norm of the gradient of a state in the middle by the inputs around it."""
    rows: list[Row] = []
    for name in _RECURRENT:
        with seeded(seed):
            network = make_network(name).to(device)
            x = torch.randn(16, _STEPS, _DIM, device=device)
        norms = input_gradients(network, x, seed, at=_STATE).tolist()
        rows += [
            _row("gradient", name, seed, step - _STATE, norm) for step, norm in enumerate(norms)
        ]
    return rows


def measure_accuracy(
    name: str, offset: int, length: int, steps: int, seed: int, device: str = "cpu"
) -> Row:
    """Share of tokens at an offset that are named after training."""
    task = TokenAhead(offset, length)
    with seeded(seed):
        body = Tagger(make_network(name), offset)
        model = TokenNetwork(task, _DIM, body, positions=name == ATTENTION).to(device)
    accuracy = learning_curve(model, task, steps, seed, learning_rate=1e-2)[-1]
    return _row("accuracy", name, seed, offset, accuracy)


def _row(experiment: str, name: str, seed: int, offset: int, value: float) -> Row:
    return {
        "experiment": experiment,
        "network": name,
        "seed": seed,
        "offset": offset,
        _VALUE: value,
    }


def findings(table: Table) -> Findings:
    """What gradients and accuracies say about the claim."""
    offsets = sorted(table.levels("offset", experiment="accuracy"))
    right = [offset for offset in offsets if offset > 0]
    later = max(
        max(table.values(_VALUE, experiment="gradient", network=FORWARD, offset=offset))
        for offset in range(1, _STEPS - _STATE)
    )
    scores = {
        name: [table.values(_VALUE, experiment="accuracy", network=name, offset=k) for k in right]
        for name in _NETWORKS
    }

    def ends(name: str) -> str:
        near, far = (mean_interval(scores[name][end])[0] for end in (0, -1))
        return f"{near:.2f} and {far:.2f} ({name})"

    return Findings(
        table=table,
        summary=[
            {"network": name}
            | {
                f"accuracy at {offset:+d}": table.text(
                    _VALUE, 2, experiment="accuracy", network=name, offset=offset
                )
                for offset in offsets
            }
            for name in _NETWORKS
        ],
        verdict=judge(later, scores),
        measure=f"accuracy of a tanh BiRNN at {right[0]} minus that at {right[-1]} places",
        values=differences(scores[BOTH][0], scores[BOTH][-1]),
        because=(
            f"The largest gradient of a forward RNN's state by a later input is {later:g}. Of the "
            f"tokens {right[0]} and {right[-1]} places to the right these shares are named: "
            f"{', '.join(ends(name) for name in scores)}; chance is {1 / SYMBOLS:.2f}."
        ),
        draw=lambda figure: _draw(figure, table),
        surprises=_surprises(table, right, offsets[0], scores),
    )


def judge(later: float, scores: Mapping[str, Sequence[Sequence[float]]]) -> Verdict:
    """Supported if one direction knows nothing, two know the next, and distance costs.

    Args:
        later: largest gradient of a forward state by a later input.
        scores: accuracies for each seed, by network and offset from the nearest.
    """
    blind = later == 0 and all(
        mean_interval(values)[1][0] < 1 / SYMBOLS + _NEAR_CHANCE for values in scores[FORWARD]
    )
    near, far = scores[BOTH][0], scores[BOTH][-1]
    if not blind or mean_interval(near)[1][0] < _KNOWS:
        return Verdict.NOT_SUPPORTED
    drop = mean_interval(differences(near, far))[1][0]
    return Verdict.SUPPORTED if drop > _NEAR_CHANCE else Verdict.PARTLY


def _surprises(
    table: Table,
    right: Sequence[int],
    left: int,
    scores: Mapping[str, Sequence[Sequence[float]]],
) -> list[str]:
    surprises = []
    for index, offset in enumerate(right):
        plain, gated = (mean_interval(scores[name][index])[0] for name in (BOTH, BOTH_LSTM))
        if gated < plain - _NEAR_CHANCE:
            surprises.append(
                f"{offset} places away a BiLSTM names {gated:.2f}, fewer than the plain BiRNN with "
                f"{plain:.2f}: gates are no gain at every distance."
            )
    behind = table.values(_VALUE, experiment="accuracy", network=FORWARD, offset=left)
    if left < 0 and mean_interval(behind)[0] > _KNOWS:
        surprises.append(
            f"Backwards the forward RNN names the token {-left} places away in "
            f"{mean_interval(behind)[0]:.2f} of cases, so it is the direction that it lacks, not "
            "the learning."
        )
    return surprises


def _draw(figure: Figure, table: Table) -> None:
    left, right = panels(figure, ["Inputs felt by a state", "Naming a later token"], 4.6, 3.4)
    for name, color in zip(_RECURRENT, COLORS, strict=False):
        felt = Table(
            row for row in table if float(row[_VALUE]) > 0
        )  # the logarithm of 0 is nowhere
        xs, runs = felt.curves(_VALUE, "offset", experiment="gradient", network=name)
        draw_mean(left, xs, torch.tensor(runs).double().log10().tolist(), name, color)
    left.axvline(0, color=INK, linewidth=0.8)
    left.annotate("RNN: exactly 0", (1, 0.05), xycoords=("data", "axes fraction"), fontsize=8)
    left.set_xlabel("place of the input after the state's (steps)")
    left.set_ylabel("log10 of the gradient's norm")
    left.legend(loc="upper left")
    asked = Table(row for row in table if int(row["offset"]) > 0)
    for name, color in zip(_NETWORKS, COLORS, strict=False):
        curves = asked.curves(_VALUE, "offset", experiment="accuracy", network=name)
        draw_mean(right, *curves, name, color, marker="o")
    right.axhline(1 / SYMBOLS, color=INK, linewidth=1.1, linestyle="--", label="chance")
    right.set_ylim(0, 1.03)
    right.set(xlabel="places to the right", ylabel="share of tokens named")
    right.legend(loc="center left", fontsize=7, bbox_to_anchor=(0, 0.47))
