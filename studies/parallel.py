"""Can attention be computed in parallel where a recurrent network cannot, and is it faster?"""

import os
import time
import timeit
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product

import torch
from matplotlib.figure import Figure
from torch import Tensor, nn

from studies.drawing import COLORS, INK, draw_mean, log_ticks, panels
from studies.study import Findings, Row, Rows, Settings, Study, Table, Values, Verdict
from studies.training import Tokens, seeded
from vit_str.models.attention import MultiHeadAttention
from vit_str.models.decoders.recurrent import CELLS
from vit_str.models.encoders.recurrent import NETWORKS

STUDY = Study(
    posts="E, L",
    claim=(
        "A recurrent network works through its steps one after the other and can "
        "hardly be parallelized, while attention is a product of matrices and "
        "trains much faster (L, E)."
    ),
    expected=(
        "The longest chain of operations grows with the length for a GRU and stays "
        "the same for attention: that part holds everywhere. Faster is attention "
        "for short sequences and on many processors; on one CPU thread it becomes "
        "slower, beyond a length of about 64 at 128 units, as its operations grow "
        "with the square of the length. So: partly."
    ),
    experiment=(
        "One layer of 128 units: a GRU, and self-attention with 4 heads. The "
        "longest chain of dependent operations is counted in the graph of autograd, "
        "step by step for the GRU; multiplications and additions are counted too. "
        "The time of a step of training (forward and backward, 8 sequences) is "
        "measured for lengths 16 to 1024 (four if quick), on one thread, on all "
        "(not if quick), and on a GPU where there is one; the GRU is torch's own."
    ),
    changed=(
        "With lengths up to 256 attention was faster throughout and the claim "
        "supported; 1,024 was added after that. Wall time on a busy computer made "
        "no sense and was replaced by processor time."
    ),
    correction=(
        "Fewer operations in a row, not fewer operations: attention needs 8Td² + "
        "4T²d of them and a GRU 12Td², so from T = d on attention needs more. And "
        "the gain is in training: a Transformer that writes is as sequential as a "
        "recurrent network, one symbol after the other. Across the sequences of a "
        "batch recurrent networks are parallel as well."
    ),
    rule="longer sequences were added",
)

RECURRENT = "GRU"
ATTENTION = "self-attention"
LAYERS = (RECURRENT, ATTENTION)
ONE_THREAD = "1 CPU thread"
_QUICK = (16, 64, 256, 1024)
_FULL = (16, 32, 64, 128, 256, 512, 1024)
"""Lengths of the sequences."""
_DIM = 128
_BATCH = 8


def run(settings: Settings) -> Findings:
    """Count operations, then measure times with every seed."""
    lengths = _QUICK if settings.quick else _FULL
    repetitions = 2 if settings.quick else 6
    processors = _processors(settings.quick)
    shortest = lengths[0]
    longest = lengths[-1]
    chains = {name: [chain(name, length) for length in lengths] for name in LAYERS}
    counts = {name: [operations(name, length) for length in lengths] for name in LAYERS}

    def measure(seed: int) -> Rows:
        for processor, name in product(processors, LAYERS):
            of_lengths = zip(lengths, chains[name], counts[name], strict=True)
            for length, *numbers in of_lengths:
                elapsed = milliseconds(name, length, processor, seed, repetitions)
                yield processor, name, length, seed, *numbers, elapsed

    columns = "processor layer length seed chain operations milliseconds"
    table = settings.repeat(columns, measure)

    more = {}
    for length, gru, attention in zip(lengths, *counts.values(), strict=True):
        more[length] = attention / gru
    speeds = {processor: _speeds(table, processor) for processor in processors}
    all_speeds: list[Values] = []
    for speed in speeds.values():
        all_speeds += speed.values()
    alone = speeds[ONE_THREAD]
    slower = next((length for length in lengths if alone[length].high < 1), shortest)
    return Findings(
        table=table,
        summary=_summary(chains, more, speeds),
        verdict=judge(chains, all_speeds),
        measure=(
            "time of the GRU over that of attention, step of training, one CPU thread, "
            f"T = {longest}"
        ),
        values=alone[longest],
        because=(
            f"From length {shortest} to {longest} the longest chain of operations of "
            f"the GRU grows from {chains[RECURRENT][0]} to {chains[RECURRENT][-1]}, "
            f"that of attention from {chains[ATTENTION][0]} to "
            f"{chains[ATTENTION][-1]}. On one CPU thread a step of training with "
            f"attention is {alone[shortest].mean:.1f} times as fast at length "
            f"{shortest} and {alone[longest].mean:.1f} times at {longest}, where it "
            f"needs {more[longest]:.1f} times the operations."
        ),
        draw=lambda figure: _draw(figure, chains, speeds),
        surprises={
            f"On one CPU thread attention is slower from length {slower} on, where it needs "
            f"{more[slower]:.1f} times the operations of the GRU.": alone[slower].high
            < 1
        },
    )


def _processors(is_quick: bool) -> list[str]:
    """What is measured: all CPU threads only in the long version, as others may need them."""
    processors = [ONE_THREAD]
    count = os.cpu_count() or 1
    if not is_quick and count > 1:
        processors.append(f"{count} CPU threads")
    if torch.cuda.is_available():
        processors.append("GPU")
    return processors


def _speeds(table: Table, processor: str) -> dict[int, Values]:
    """For each length, how many times as fast attention is as the GRU."""
    speeds = {}
    for length in table.levels("length"):
        part = table.where(processor=processor, length=length)
        pairs = zip(
            part.values(layer=RECURRENT),
            part.values(layer=ATTENTION),
            strict=True,
        )
        speeds[length] = Values(recurrent / attention for recurrent, attention in pairs)
    return speeds


def _summary(
    chains: Mapping[str, Sequence[int]],
    more: Mapping[int, float],
    speeds: Mapping[str, Mapping[int, Values]],
) -> list[Row]:
    """A row for each length."""
    rows: list[Row] = []
    for place, length in enumerate(more):
        row: Row = {"length": length}
        for name in LAYERS:
            row[f"operations in a row, {name}"] = chains[name][place]
        row["operations, attention over GRU"] = f"{more[length]:.2f}"
        for processor, speed in speeds.items():
            times = speed[length].text(2)
            row[f"attention is so many times as fast, {processor}"] = times
        rows.append(row)
    return rows


def chain(name: str, length: int, dim: int = _DIM) -> int:
    """Operations that have to wait for one another, from the inputs to the last output."""
    with seeded(0):
        inputs = torch.randn(1, length, dim, requires_grad=True)
        if name == ATTENTION:
            return longest_chain(_layer(name, dim)(inputs)[:, -1].sum())
        cell = CELLS["gru"](dim, dim)  # type: ignore[call-arg]
        state = torch.zeros(1, dim)
        for step in inputs.unbind(1):
            state = cell(step, state)
        return longest_chain(state.sum())


def longest_chain(result: Tensor) -> int:
    """Length of the longest way back through the graph of autograd."""
    assert result.grad_fn is not None
    depths: dict[object, int] = {}
    waiting = [result.grad_fn]
    # Not recursive: the graph of a long sequence is deeper than Python's stack
    while waiting:
        node = waiting[-1]
        before = [
            function for function, _ in node.next_functions if function is not None
        ]
        missing = [function for function in before if function not in depths]
        if missing:
            waiting += missing
        else:
            deepest = max((depths[function] for function in before), default=0)
            depths[waiting.pop()] = 1 + deepest
    return depths[result.grad_fn]


def operations(name: str, length: int, dim: int = _DIM) -> int:
    """Multiplications and additions in the products of matrices of one forward pass."""
    with seeded(0):
        layer = _layer(name, dim)
    weights = sum(weight.numel() for weight in layer.parameters() if weight.ndim > 1)
    every_token = 2 * length * weights
    # Products of queries and keys, then of weights and values, for every pair of tokens.
    return every_token + (4 * length**2 * dim if name == ATTENTION else 0)


def milliseconds(
    name: str,
    length: int,
    processor: str,
    seed: int,
    repetitions: int,
) -> float:
    """Of one step of training: forward, and backward to the weights and the inputs.

    The fastest of several times, after one that does not count: what else the machine does can
    only make it slower.
    """
    device = "cuda" if processor == "GPU" else "cpu"
    with seeded(seed):
        layer = _layer(name, _DIM).to(device)
        inputs = torch.randn(_BATCH, length, _DIM).to(device).requires_grad_()
    alone = processor == ONE_THREAD
    # One thread is measured by what it used of its processor, so that waiting does not count.
    clock = time.process_time if alone else time.perf_counter
    step = partial(_step, layer, inputs)
    threads = torch.get_num_threads()
    torch.set_num_threads(1 if alone else os.cpu_count() or 1)
    try:
        _, *seconds = timeit.repeat(step, timer=clock, repeat=repetitions + 1, number=1)
    finally:
        torch.set_num_threads(threads)
    return 1000 * min(seconds)


def judge(chains: Mapping[str, Sequence[int]], ratios: Sequence[Values]) -> Verdict:
    """The structure decides whether the claim holds, the times whether it does throughout."""
    few, *_, many = chains[RECURRENT]
    before, *_, after = chains[ATTENTION]
    return Verdict.graded(
        many > few and after <= before, all(ratio.low > 1 for ratio in ratios)
    )


def _layer(name: str, dim: int) -> nn.Module:
    if name == ATTENTION:
        return MultiHeadAttention(dim, heads=4)
    return NETWORKS["gru"](dim, dim, batch_first=True)


def _step(layer: nn.Module, inputs: Tokens) -> None:
    outputs = layer(inputs)
    states = outputs[0] if isinstance(outputs, tuple) else outputs
    torch.autograd.grad(states.sum(), [inputs, *layer.parameters()])
    if inputs.is_cuda:
        torch.cuda.synchronize()


def _draw(
    figure: Figure,
    chains: Mapping[str, list[int]],
    speeds: Mapping[str, Mapping[int, Values]],
) -> None:
    left, right = panels(figure, ["Operations in a row", "Speed in training"], 4.4, 3.4)
    lengths = list(speeds[ONE_THREAD])
    for (name, counts), color in zip(chains.items(), COLORS, strict=False):
        left.plot(lengths, counts, label=name, color=color, marker="o")
    for (processor, speed), color in zip(speeds.items(), COLORS[2:], strict=False):
        runs = list(zip(*speed.values(), strict=True))
        draw_mean(right, lengths, runs, processor, color, marker="o")
    right.axhline(1, color=INK, linestyle=":", linewidth=1.1)
    for axes in (left, right):
        log_ticks(axes, lengths)
        axes.set(yscale="log", xlabel="length of the sequence")
        axes.legend()
    left.set_ylabel("longest chain of operations")
    right.set_ylabel("time of the GRU / time of attention")
