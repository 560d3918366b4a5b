"""Whether an RNN can use what comes later, and whether two directions make distance harmless."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import torch
from torch import nn

from vit_str.models.blocks import EncoderBlock
from vit_str.models.encoders.recurrent import NETWORKS
from studies.drawing import COLORS, INK, draw_mean, panels
from studies.intervals import mean_interval, with_interval
from studies.recurrent_probe import input_gradients
from studies.study import Findings, Row, Settings, Study, Verdict
from studies.tasks_offset import SYMBOLS, Tagger, TokenAhead
from studies.tasks_tokens import (
    TokenNetwork,
    Training,
    accuracy,
    learning_curve,
    seeded,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORWARD, BOTH, BOTH_LSTM, ATTENTION = "RNN", "BiRNN", "BiLSTM", "attention"
_RECURRENT: Mapping[str, tuple[str, bool]] = {
    FORWARD: ("rnn", False),
    BOTH: ("rnn", True),
    BOTH_LSTM: ("lstm", True),
}
_DIM, _STEPS, _PLACE = 32, 41, 20
# Chance is one in four; who is not surely better by this much knows nothing.
_NEAR_CHANCE = 0.03
_KNOWS = 0.9


@dataclass(frozen=True, slots=True)
class Size:
    """How large the trainings are.

    Attributes:
        offsets: places to the right to ask for.
        length: of a sequence.
        steps: of training.
    """

    offsets: tuple[int, ...]
    length: int
    steps: int


_QUICK = Size((1, 4, 8), 12, 150)
_FULL = Size((1, 2, 4, 8, 12, 16), 24, 600)


class Bidirectional(Study):
    """What states feel of later inputs, and what they can say about them."""

    id: ClassVar[str] = "bidirectional"
    posts: ClassVar[str] = "RL"
    claim: ClassVar[str] = (
        "An RNN of one direction cannot reflect what comes later at all, so that a bidirectional "
        "RNN is needed; but distance still matters to it, so it is no solution at the root (R; L "
        "shows why two directions are joined)."
    )
    expectation: ClassVar[str] = (
        "The gradient of a forward RNN's state by later inputs is exactly zero and it names them "
        "as well as chance; a bidirectional tanh RNN names the next one nearly always, and does "
        "worse the farther the token is."
    )
    experiment: ClassVar[str] = (
        f"Gradient of the state at place {_PLACE} of {_STEPS} by each input, at the start. Then "
        f"every state has to name the token k places to its right, one of {SYMBOLS}: a network of "
        f"{_DIM} units (each direction half of them) is trained for every k, 600 steps on "
        "sequences of 24 (quick: 150 steps, sequences of 12); the forward RNN to the left too, as "
        "a control. Attention with sinusoidal positions is beside it."
    )
    correction: ClassVar[str] = (
        "That distance matters here is a matter of learning, not only of structure: everything "
        "reaches a state of a bidirectional network, but in so few steps of training it does not "
        "find out how to carry a token far. What more training would do is not shown by this."
    )

    revised = (
        "That an RNN of one direction is blind first asked for an accuracy within 0.03 of "
        "chance at both ends of the interval, and now for not being surely above that."
    )

    def run(self, settings: Settings) -> Findings:
        size = _QUICK if settings.quick else _FULL
        runs = [
            (name, offset)
            for name in (*_RECURRENT, ATTENTION)
            for offset in (*((-size.offsets[1],) if name == FORWARD else ()), *size.offsets)
        ]
        rows: list[Row] = []
        for seed in range(settings.seeds):
            rows += measure_gradients(seed, settings.device)
            for done, (name, offset) in enumerate(runs):
                rows.append(measure_accuracy(name, offset, size, seed, settings.device))
                settings.progress((seed + (done + 1) / len(runs)) / settings.seeds)
        return findings(rows)


def network_of(name: str) -> nn.Module:
    """A network of the width of a token, both directions together."""
    if name == ATTENTION:
        return EncoderBlock(_DIM, 2, mlp_ratio=2.0, dropout=0.0)
    cell, both = _RECURRENT[name]
    return NETWORKS[cell](_DIM, _DIM // (1 + both), batch_first=True, bidirectional=both)


def measure_gradients(seed: int, device: str = "cpu") -> list[Row]:
    """Norm of the gradient of a state in the middle by the inputs around it."""
    rows: list[Row] = []
    for name in _RECURRENT:
        with seeded(seed):
            network = network_of(name).to(device)
            x = torch.randn(16, _STEPS, _DIM, device=device)
        norms = input_gradients(network, x, seed, at=_PLACE).tolist()
        rows += [
            _row("gradient", name, seed, place - _PLACE, norm) for place, norm in enumerate(norms)
        ]
    return rows


def measure_accuracy(name: str, offset: int, size: Size, seed: int, device: str = "cpu") -> Row:
    """Share of tokens at an offset that are named after training."""
    task = TokenAhead(offset, size.length)
    with seeded(seed):
        body = Tagger(network_of(name), offset)
        model = TokenNetwork(task, _DIM, body, positions=name == ATTENTION).to(device)
    training = Training(size.steps, every=size.steps + 1, learning_rate=1e-2)
    learning_curve(model, task, training, seed)
    unseen = task.draw(256, torch.Generator().manual_seed(seed + 1_000_000))
    return _row("accuracy", name, seed, offset, accuracy(model, unseen))


def _row(part: str, name: str, seed: int, offset: int, value: float) -> Row:
    return {
        "experiment": part,
        "network": name,
        "seed": seed,
        "offset": offset,
        "gradient_or_accuracy": value,
    }


def findings(rows: Sequence[Row]) -> Findings:
    """What gradients and accuracies say about the claim."""
    offsets = [offset for offset in _offsets(rows) if offset > 0]
    later = max(
        float(row["gradient_or_accuracy"])
        for row in rows
        if (row["experiment"], row["network"]) == ("gradient", FORWARD) and int(row["offset"]) > 0
    )
    scores = {
        name: [_values(rows, "accuracy", name, offset) for offset in offsets]
        for name in (*_RECURRENT, ATTENTION)
    }
    drops = [near - far for near, far in zip(scores[BOTH][0], scores[BOTH][-1], strict=True)]
    value, interval = mean_interval(drops)

    def ends(name: str) -> str:
        near, far = (mean_interval(scores[name][end])[0] for end in (0, -1))
        return f"{near:.2f} and {far:.2f} ({name})"

    because = (
        f"The largest gradient of a forward RNN's state by a later input is {later:g}. Of the "
        f"tokens {offsets[0]} and {offsets[-1]} places to the right these shares are named: "
        f"{', '.join(ends(name) for name in scores)}; chance is {1 / SYMBOLS:.2f}."
    )
    return Findings(
        rows,
        _summary(rows),
        verdict_of(later, scores),
        f"accuracy of a tanh BiRNN at {offsets[0]} minus that at {offsets[-1]} places",
        value,
        interval,
        because,
        lambda figure: _draw(figure, rows),
        _surprises(rows, scores),
    )


def verdict_of(later: float, scores: Mapping[str, Sequence[Sequence[float]]]) -> Verdict:
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
    drop = mean_interval([a - b for a, b in zip(near, far, strict=True)])[1][0]
    return Verdict.SUPPORTED if drop > _NEAR_CHANCE else Verdict.PARTLY


def _surprises(rows: Sequence[Row], scores: Mapping[str, Sequence[Sequence[float]]]) -> list[str]:
    found = []
    for place, offset in enumerate(offset for offset in _offsets(rows) if offset > 0):
        plain, gated = (mean_interval(scores[name][place])[0] for name in (BOTH, BOTH_LSTM))
        if gated < plain - _NEAR_CHANCE:
            found.append(
                f"{offset} places away a BiLSTM names {gated:.2f}, fewer than the plain BiRNN with "
                f"{plain:.2f}: gates are no gain at every distance."
            )
    left = min(_offsets(rows))
    if left < 0:
        behind = mean_interval(_values(rows, "accuracy", FORWARD, left))[0]
        found.append(
            f"Backwards the forward RNN names the token {-left} places away in {behind:.2f} of "
            "cases, so it is the direction that it lacks, not the learning."
        )
    return found


def _values(rows: Sequence[Row], part: str, name: str, offset: int) -> list[float]:
    wanted = (part, name, offset)
    return [
        float(row["gradient_or_accuracy"])
        for row in rows
        if (row["experiment"], row["network"], row["offset"]) == wanted
    ]


def _offsets(rows: Sequence[Row]) -> list[int]:
    return sorted({int(row["offset"]) for row in rows if row["experiment"] == "accuracy"})


def _summary(rows: Sequence[Row]) -> list[Row]:
    table: list[Row] = []
    for name in (*_RECURRENT, ATTENTION):
        line = {"network": name}
        for offset in _offsets(rows):
            values = _values(rows, "accuracy", name, offset)
            line[f"accuracy at {offset:+d}"] = with_interval(values, 2) if values else ""
        table.append(line)
    return table


def _draw(figure: "Figure", rows: Sequence[Row]) -> None:
    left, right = panels(figure, ["Inputs felt by a state", "Naming a later token"], 4.6, 3.4)
    for name, color in zip(_RECURRENT, COLORS, strict=False):
        places = [
            offset
            for offset in range(-_PLACE, _STEPS - _PLACE)
            if min(_values(rows, "gradient", name, offset)) > 0  # the logarithm of 0 is nowhere
        ]
        columns = [
            [math.log10(value) for value in _values(rows, "gradient", name, offset)]
            for offset in places
        ]
        draw_mean(left, places, list(zip(*columns, strict=True)), name, color)
    left.axvline(0, color=INK, linewidth=0.8)
    left.annotate("RNN: exactly 0", (1, 0.05), xycoords=("data", "axes fraction"), fontsize=8)
    left.set_xlabel("place of the input after the state's (steps)")
    left.set_ylabel("log10 of the gradient's norm")
    left.legend(loc="upper left")
    offsets = [offset for offset in _offsets(rows) if offset > 0]
    for name, color in zip((*_RECURRENT, ATTENTION), COLORS, strict=False):
        columns = [_values(rows, "accuracy", name, offset) for offset in offsets]
        draw_mean(right, offsets, list(zip(*columns, strict=True)), name, color, marker="o")
    right.axhline(1 / SYMBOLS, color=INK, linewidth=1.1, linestyle="--", label="chance")
    right.set_ylim(0, 1.03)
    right.set_xlabel("places to the right")
    right.set_ylabel("share of tokens named")
    right.legend(loc="center left", fontsize=7, bbox_to_anchor=(0, 0.47))
