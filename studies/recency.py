"""Does the context vector of a recurrent encoder hold the last symbols best?"""

from collections.abc import Mapping
from typing import Any

import torch
import torch.nn.functional as F
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from torch import nn

from studies.drawing import chance_line, draw_lines, panels
from studies.sequences import (
    RecurrentTextEncoder,
    RecurrentTranslator,
    SequenceTask,
    train_translator,
)
from studies.study import Findings, Row, Rows, Settings, Study, Table, Values, Verdict
from studies.training import seeded
from vit_str.reports.panels import legend

STUDY = Study(
    posts="R",
    claim=(
        "The context vector of a recurrent encoder is of poor quality: the words at "
        "the back are relatively clear in it, those at the front are faint."
    ),
    expected=(
        "Without training the state of an RNN holds the last few symbols and "
        "nothing of the rest, that of a GRU some more. Training to write all "
        "symbols asks for all of them alike, so that the trained vectors should be "
        "flatter, still with the last symbols ahead. So: supported, weaker after "
        "training."
    ),
    experiment=(
        "Sequences of 8 random symbols out of 8 go through a recurrent encoder of 64 "
        "units (quick: 32, trained for fewer steps). A linear map from its last state, "
        "fitted by least squares to 4,096 sequences, names the symbol at every place "
        "of 1,024 others. Encoders are a tanh RNN and a GRU without training, and "
        "GRUs that were trained, with a GRU that has nothing but this vector, to "
        "write the sequence again, forwards or backwards; the sequences get longer "
        "during the first half of the training. A training has learned if it writes "
        "at least nine of ten symbols of new sequences of full length right. The "
        "others are counted and left out; unless more than half of the trainings of "
        "each network learned, nothing is decided. The claim holds for an encoder if "
        "the last quarter of the symbols is named better than the first by more than "
        "a tenth."
    ),
    changed=(
        "A first run had sequences of 24 symbols out of 10 and 700 steps, after which "
        "the trained networks wrote a quarter of the symbols right. Shorter "
        "sequences, their growth and the steps were then chosen by how much is "
        "written right."
    ),
    correction=(
        "That the end is clear and the beginning faint is how recurrent networks "
        "start. Training turns it: a GRU that has learned to copy holds the first "
        "symbols best, one that has learned to reverse both ends about alike."
    ),
)

RNN = "RNN, untrained"
GRU = "GRU, untrained"
COPYING = "GRU that copies"
REVERSING = "GRU that reverses"
ENCODERS = (RNN, GRU, COPYING, REVERSING)
_BACKWARDS: Mapping[str, bool] = {COPYING: False, REVERSING: True}
_NAMED = "named"
_WRITTEN = "written"
LEARNED = 0.9
"""Share of symbols that a network has to write right for its vector to be looked at."""
_TASK = SequenceTask(8, (2, 8), backwards=False)
_TRAINING: dict[str, Any] = {"dim": 64, "steps": 4000, "learning_rate": 5e-3}
_QUICK_TRAINING: dict[str, Any] = {"dim": 32, "steps": 600, "learning_rate": 1e-2}
"""Of `train_translator`."""
_FITTED = 4096
_TESTED = 1024
# Less is no difference that anybody would call clear against faint.
_CLEARER = 0.1


def run(settings: Settings) -> Findings:
    """Read the last states of all encoders, with every seed."""
    task = _TASK
    table = settings.repeat(
        "experiment network seed distance right_symbols",
        lambda seed: measure(seed, task, settings),
    )
    length = task.lengths[1]
    written = written_by_run(table)
    held = of_learned(table.where(experiment=_NAMED), written)
    gaps = {
        name: gap(held.where(network=name), length)
        for name in ENCODERS
        if held.where(network=name)
    }
    learned = {name: _learned_text(shares) for name, shares in written.items()}
    verdict = judge(gaps, written)
    measure_name = "share of symbols that the GRU that copies writes right"
    values = written[COPYING]
    if verdict is not Verdict.UNDECIDED:
        measure_name = (
            "share named of the last quarter minus that of the first, GRU that copies"
        )
        values = gaps[COPYING]
    return Findings(
        table=table,
        summary=[
            _summary_row(name, held.where(network=name), length)
            | {
                "trainings that learned": learned.get(name, ""),
                "written right": written[name].text(2) if name in written else "",
            }
            for name in ENCODERS
        ],
        verdict=verdict,
        measure=measure_name,
        values=values,
        because=(
            f"Of {length} symbols, the share of the last quarter that is named from "
            "the last state minus that of the first quarter is "
            + ", ".join(f"{values.text(2)} ({name})" for name, values in gaps.items())
            + f"; guessing names {1 / task.symbols:.2f}. Of the trainings "
            + ", ".join(f"{text} learned ({name})" for name, text in learned.items())
            + "."
        ),
        draw=lambda figure: _draw(figure, table, held, task),
        surprises={
            "The GRU that copies holds its first symbols better than its last: they "
            "are what it writes first.": COPYING in gaps
            and gaps[COPYING].high < -_CLEARER
        },
    )


def written_by_run(table: Table) -> dict[str, Values]:
    """For each trained network and seed the mean share of symbols that is written right."""
    written = table.where(experiment=_WRITTEN)
    shares = {}
    for name in _BACKWARDS:
        of_network = written.where(network=name)
        runs = of_network.parts("seed", *of_network.levels("seed"))
        shares[name] = Values(run.mean() for run in runs)
    return shares


def of_learned(table: Table, written: Mapping[str, Values]) -> Table:
    """The rows of networks without training, and of trainings that learned to write."""
    failed = {
        (name, seed)
        for name, shares in written.items()
        for seed, share in enumerate(shares)
        if share < LEARNED
    }
    return Table(row for row in table if (row["network"], row["seed"]) not in failed)


def _learned_text(shares: Values) -> str:
    return f"{sum(share >= LEARNED for share in shares)} of {len(shares)}"


def _summary_row(name: str, held: Table, length: int) -> Row:
    """What the last state holds; empty where no training learned."""
    row: Row = {"encoder": name, "last quarter minus first": ""}
    for distance in sorted({0, length // 4, length // 2, length - 1}):
        at = held.where(distance=distance)
        row[f"{distance} from the end"] = at.text(digits=2) if at else ""
    if held:
        row["last quarter minus first"] = gap(held, length).text(2)
    return row


def measure(seed: int, task: SequenceTask, settings: Settings) -> Rows:
    """Shares of symbols named from the last state, and written, by distance from the end."""
    sizes = _QUICK_TRAINING if settings.quick else _TRAINING
    length = task.lengths[1]
    for name in ENCODERS:
        if name in _BACKWARDS:
            drawn = SequenceTask(task.symbols, task.lengths, _BACKWARDS[name])
            model = train_translator(
                drawn,
                "none",
                seed,
                growing=True,
                device=settings.device,
                **sizes,
            )
            encoder: nn.Module = model.encoder
            written = written_right(model, drawn, length, seed, settings.device)
            for distance, share in enumerate(written):
                yield _WRITTEN, name, seed, distance, share
        else:
            encoder = untrained(name, task, sizes["dim"], seed).to(settings.device)
        shares = named_right(encoder, task.symbols, length, seed, settings.device)
        for distance, share in enumerate(shares):
            yield _NAMED, name, seed, distance, share


def untrained(
    name: str,
    task: SequenceTask,
    dim: int,
    seed: int,
) -> RecurrentTextEncoder:
    """An encoder as torch draws it."""
    with seeded(seed):
        encoder = RecurrentTextEncoder(task.symbols, dim, last_only=True)
        if name == RNN:
            encoder.recur = nn.RNN(dim, dim, batch_first=True)
    return encoder


@torch.no_grad()
def named_right(
    encoder: nn.Module, symbols: int, length: int, seed: int, device: str = "cpu"
) -> list[float]:
    """Share of symbols that a linear map of the last state names, the last symbol first."""
    with seeded(2_000_000 + seed):
        sources = torch.randint(symbols, (_FITTED + _TESTED, length))
    states = encoder(sources.to(device))[:, -1].double().cpu()
    states = F.pad(states, (0, 1), value=1.0)  # a bias
    asked = F.one_hot(sources, symbols).double().flatten(1)
    fit = torch.linalg.lstsq(states[:_FITTED], asked[:_FITTED], driver="gelsd")
    scores = (states[_FITTED:] @ fit.solution).unflatten(1, (length, symbols))
    right = (scores.argmax(2) == sources[_FITTED:]).double()
    return right.mean(0).flip(0).tolist()


def written_right(
    model: RecurrentTranslator,
    task: SequenceTask,
    length: int,
    seed: int,
    device: str = "cpu",
) -> list[float]:
    """Share of symbols that a network writes right, the last one of the source first."""
    right = (
        model.right_symbols(*task.draw_tests(_TESTED, length, seed, device))
        .double()
        .mean(0)
    )
    by_distance = right if task.backwards else right.flip(0)
    return by_distance.tolist()


def gap(shares: Table, length: int) -> Values:
    """For each seed: the mean share of the last quarter of the symbols minus that of the first."""
    quarter = length // 4

    def mean(distances: range) -> Values:
        columns = [shares.values(distance=distance) for distance in distances]
        return Values(sum(column) / quarter for column in zip(*columns, strict=True))

    return mean(range(quarter)) - mean(range(length - quarter, length))


def judge(gaps: Mapping[str, Values], written: Mapping[str, Values]) -> Verdict:
    """Supported if the last symbols are clearer in every encoder, partly if in some.

    Undecided unless of every trained network more than half of the trainings learned to write.
    """
    for shares in written.values():
        if sum(share >= LEARNED for share in shares) <= len(shares) / 2:
            return Verdict.UNDECIDED
    return Verdict.of(*(values.low > _CLEARER for values in gaps.values()))


def _draw(figure: Figure, table: Table, held: Table, task: SequenceTask) -> None:
    titles = ["Named from the last state", "Written by the decoder"]
    sheets = panels(figure, titles, 4.6, 3.4)
    shown = (held, table.where(experiment=_WRITTEN))
    for axes, part in zip(sheets, shown, strict=True):
        for color, name in enumerate(ENCODERS):
            if part.where(network=name):
                draw_lines(
                    axes,
                    part,
                    "distance",
                    "network",
                    [name],
                    [f"C{color}"],
                    marker="o",
                    ms=3,
                )
        chance_line(axes, 1 / task.symbols)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set(
            xlabel="symbols from the end",
            ylabel="share of right symbols",
            ylim=(0, 1.03),
        )
    legend(figure, sheets)
