"""Does the context vector of a recurrent encoder hold the last symbols best?"""

from collections.abc import Mapping

import torch
import torch.nn.functional as F
from matplotlib.figure import Figure
from torch import nn

from studies.drawing import chance_line, draw_lines, panels
from studies.sequences import (
    FULL,
    QUICK,
    RecurrentTextEncoder,
    RecurrentTranslator,
    SequenceTask,
    train_translator,
)
from studies.study import Findings, Rows, Settings, Study, Table, Values, Verdict
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
        "Sequences of 24 random symbols out of 10 (quick: 8 out of 8) go through a "
        "recurrent encoder. A linear map from its last state, fitted by least "
        "squares to 4,096 sequences, names the symbol at every place of 1,024 "
        "others. Encoders are a tanh RNN and a GRU without training, and GRUs that "
        "were trained, with a GRU that has nothing but this vector, to write the "
        "sequence again, forwards or backwards, as in the study bottleneck. The "
        "claim holds for an encoder if the last quarter of the symbols is named "
        "better than the first by more than a tenth."
    ),
    correction=(
        "That the end is clear and the beginning faint is how recurrent networks "
        "start. What training makes of it is not shown here: after 700 steps the "
        "decoders write the first few symbols, and hardly any sequence of 24 without "
        "a mistake, so that these vectors are not yet those of networks that have "
        "learned to copy or to reverse."
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
_FITTED = 4096
_TESTED = 1024
# Less is no difference that anybody would call clear against faint.
_CLEARER = 0.1


def run(settings: Settings) -> Findings:
    """Read the last states of all encoders, with every seed."""
    task = (
        SequenceTask(8, (2, 8), False)
        if settings.quick
        else SequenceTask(10, (3, 24), False)
    )
    table = settings.repeat(
        "experiment network seed distance right_symbols",
        lambda seed: measure(seed, task, settings),
    )
    named = table.where(experiment=_NAMED)
    length = task.lengths[1]
    shown = sorted({0, length // 4, length // 2, length - 1})
    gaps = {name: gap(named.where(network=name), length) for name in ENCODERS}
    return Findings(
        table=table,
        summary=[
            {"encoder": name, "last quarter minus first": gaps[name].text(2)}
            | named.cells("{} from the end", "distance", shown, digits=2, network=name)
            for name in ENCODERS
        ],
        verdict=judge(gaps),
        measure="share named of the last quarter minus that of the first, GRU that copies",
        values=gaps[COPYING],
        because=(
            f"Of {length} symbols, the share of the last quarter that is named from "
            "the last state minus that of the first quarter is "
            + ", ".join(f"{values.text(2)} ({name})" for name, values in gaps.items())
            + f"; guessing names {1 / task.symbols:.2f}."
        ),
        draw=lambda figure: _draw(figure, table, task),
        surprises={
            "The GRU that copies holds its first symbols better than its last: they "
            "are what it writes first.": gaps[COPYING].high < -_CLEARER
        },
    )


def measure(seed: int, task: SequenceTask, settings: Settings) -> Rows:
    """Shares of symbols named from the last state, and written, by distance from the end."""
    sizes = QUICK if settings.quick else FULL
    length = task.lengths[1]
    for name in ENCODERS:
        if name in _BACKWARDS:
            drawn = SequenceTask(task.symbols, task.lengths, _BACKWARDS[name])
            model = train_translator(
                drawn,
                "none",
                seed,
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


def judge(gaps: Mapping[str, Values]) -> Verdict:
    """Supported if the last symbols are clearer in every encoder, partly if in some."""
    return Verdict.of(*(values.low > _CLEARER for values in gaps.values()))


def _draw(figure: Figure, table: Table, task: SequenceTask) -> None:
    titles = ["Named from the last state", "Written by the decoder"]
    sheets = panels(figure, titles, 4.6, 3.4)
    for axes, experiment in zip(sheets, (_NAMED, _WRITTEN), strict=True):
        part = table.where(experiment=experiment)
        for color, name in enumerate(ENCODERS):
            if part.where(network=name):
                colors = [f"C{color}"]
                draw_lines(
                    axes,
                    part,
                    "distance",
                    "network",
                    [name],
                    colors,
                    marker="o",
                    ms=3,
                )
        chance_line(axes, 1 / task.symbols)
        axes.set(
            xlabel="symbols from the end",
            ylabel="share of right symbols",
            ylim=(0, 1.03),
        )
    legend(figure, sheets)
