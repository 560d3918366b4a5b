"""The verdict of every study follows from its numbers by the rule that the study states."""

from collections.abc import Callable

import pytest

from studies import (
    alignment,
    bidirectional,
    bottleneck,
    conv_far,
    cross_attention,
    data_hunger,
    distance,
    filters,
    first_layer,
    gates,
    heads,
    order,
    parallel,
    patches,
    path_length,
    projections,
    recency,
    relu_rnn,
    residual_norm,
    rnn_gradient,
    scaling,
    sinusoid,
    tanh_blur,
    translation,
    worked_example,
)
from studies.study import Values, Verdict

YES = Verdict.SUPPORTED
PARTLY = Verdict.PARTLY
NO = Verdict.NOT_SUPPORTED
UNDECIDED = Verdict.UNDECIDED
CHANCE = Values([0.25, 0.255, 0.245])
GOOD = Values([0.99, 1, 0.98])
BAD = Values([0.4, 0.5, 0.45])
FAILS = Values([0.16, 0.17, 0.165])
SOLVES = Values([0.001, 0.002, 0.001])
EXACT = {patches.ROUND_TRIP: 0.0, patches.CONVOLUTION: 1e-16, patches.BLOCKS: 0.0}
GAIN = Values([0.3, 0.31, 0.29])
NO_GAIN = Values([0.1, -0.1, 0.0])
BLIND = {order.NONE: Values([1e-15]), order.SINUSOIDAL: Values([0.4])}
ORDERED = {order.NONE: Values([0.5]), order.SINUSOIDAL: Values([0.99])}
OWN = {projections.NONE: 0.97, projections.SEPARATE: 0.03}
GROWING = {parallel.RECURRENT: [20, 90, 200], parallel.ATTENTION: [9, 9, 9]}
BOTH_GROW = GROWING | {parallel.ATTENTION: [9, 20, 90]}


def same(value: float) -> Values:
    return Values([value] * 3)


def decays(default: float, other: float) -> dict[str, Values]:
    return {rnn_gradient.DEFAULT: same(default), "other": same(other)}


def adders(gradient: float, plain: Values, opened: Values, rnn: Values) -> Verdict:
    errors = {
        gates.RNN: rnn,
        gates.LSTM: plain,
        gates.OPEN_LSTM: opened,
        gates.GRU: plain,
    }
    starts = dict.fromkeys((gates.LSTM, gates.GRU), same(gradient))
    return gates.judge(starts, {30: errors})


def directions(later: float, forward: Values, near: Values, far: Values) -> Verdict:
    scores = {
        bidirectional.FORWARD: [forward, forward],
        bidirectional.BOTH: [near, far],
    }
    return bidirectional.judge(later, scores)


def stages(steps: tuple[float, ...], learned: Values, dilated: Values) -> Verdict:
    scores = dict.fromkeys(conv_far.NETWORKS, learned) | {conv_far.DILATED: dilated}
    layers = dict.fromkeys(conv_far.NETWORKS, steps) | {conv_far.ATTENTION: (1, 1)}
    return conv_far.judge(layers, scores | {conv_far.ATTENTION: GOOD})


def tanh(alone: float, before: float, last: float) -> Verdict:
    networks = dict.fromkeys(tanh_blur.NETWORKS[:-1], 0.05) | {
        tanh_blur.NETWORKS[-1]: last
    }
    return tanh_blur.judge({tanh_blur.LAST: alone, tanh_blur.FIRST: before}, networks)


def stacks(bare: float, unnormed: float) -> Verdict:
    right = dict.fromkeys(residual_norm.VARIANTS, same(0.9))
    changed = {residual_norm.BARE: same(bare), residual_norm.UNNORMED: same(unnormed)}
    return residual_norm.judge(right | changed)


RULES: list[tuple[Callable[..., Verdict], tuple[object, ...], Verdict]] = [
    (rnn_gradient.judge, (decays(-6, -5),), YES),
    (rnn_gradient.judge, (decays(-6, -1),), PARTLY),
    (rnn_gradient.judge, (decays(-1, -6),), NO),
    (relu_rnn.judge, ([same(3), same(2)],), YES),
    (relu_rnn.judge, ([same(3), same(0.15)],), PARTLY),
    (relu_rnn.judge, ([same(0.15), same(-0.1)],), NO),
    (tanh, (0.05, 0.1, 0.3), YES),
    (tanh, (0.05, 0.1, 1.0), PARTLY),
    (tanh, (0.05, 1.0, 0.3), PARTLY),
    (tanh, (0.6, 1.0, 1.0), NO),
    (recency.judge, ({"a": same(0.3), "b": same(0.2)}, {"b": same(0.9)}), YES),
    (recency.judge, ({"a": same(0.3), "b": same(0.05)}, {"b": same(0.9)}), PARTLY),
    (recency.judge, ({"a": same(-0.3), "b": same(0.05)}, {"b": same(0.9)}), NO),
    (recency.judge, ({"a": same(0.3), "b": same(0.2)}, {"b": same(0.89)}), UNDECIDED),
    (recency.judge, ({"a": same(0.3)}, {"b": Values([1, 1, 0, 0])}), UNDECIDED),
    (stages, ((1, 32), BAD, CHANCE), YES),
    (stages, ((1, 32), BAD, GOOD), PARTLY),
    (stages, ((1, 1), BAD, BAD), NO),
    (adders, (-0.5, SOLVES, SOLVES, FAILS), YES),
    (adders, (-4.5, SOLVES, SOLVES, FAILS), PARTLY),
    (adders, (-0.5, FAILS, SOLVES, FAILS), PARTLY),
    (adders, (-0.5, FAILS, FAILS, FAILS), NO),
    (adders, (-0.5, SOLVES, SOLVES, SOLVES), NO),
    (directions, (0.0, CHANCE, GOOD, BAD), YES),
    (directions, (0.0, CHANCE, GOOD, GOOD), PARTLY),
    (directions, (1e-9, CHANCE, GOOD, BAD), NO),
    (directions, (0.0, GOOD, GOOD, BAD), NO),
    (directions, (0.0, CHANCE, BAD, BAD), NO),
    (bottleneck.judge, (same(0.5),), YES),
    (bottleneck.judge, (same(0.1),), PARTLY),
    (bottleneck.judge, (same(-0.1),), NO),
    (alignment.judge, (same(0.9), same(0.95), 0.0, 8), YES),
    (alignment.judge, (same(0.2), same(0.9), 0.0, 8), PARTLY),
    (alignment.judge, (same(0.3), same(0.45), 0.0, 8), NO),
    (alignment.judge, (same(0.9), same(0.95), 1e-3, 8), NO),
    (path_length.judge, (same(-0.1), 1e-3, 1e-3), YES),
    (path_length.judge, (same(0.1), 1e-3, path_length.SOLVED), PARTLY),
    (path_length.judge, (same(-2.5), 1e-3, 1e-3), NO),
    (path_length.judge, (same(0.1), 0.1, 0.1), NO),
    (parallel.judge, (GROWING, [same(1.5), same(1.1)]), YES),
    (parallel.judge, (GROWING, [same(1.5), same(0.5)]), PARTLY),
    (parallel.judge, (BOTH_GROW, [same(1.5)]), NO),
    (scaling.judge, ({2: 2.1, 64: 63.0}, [0.9, 0.2], 0.01, [0.3, 0.31], GAIN), YES),
    (
        scaling.judge,
        ({2: 2.1, 64: 63.0}, [0.9, 0.2], 0.01, [0.3, 0.31], NO_GAIN),
        PARTLY,
    ),
    (scaling.judge, ({2: 2.1, 64: 32.0}, [0.9, 0.8], 0.3, [0.1, 0.31], NO_GAIN), NO),
    (projections.judge, (OWN, {"none": same(0.1), "separate": GOOD}), YES),
    (projections.judge, (OWN, {"none": same(0.9), "separate": GOOD}), PARTLY),
    (
        projections.judge,
        ({"none": 0.1, "separate": 0.5}, {"none": GOOD, "separate": BAD}),
        NO,
    ),
    (heads.judge, (GAIN, [0.1]), YES),
    (heads.judge, (GAIN, [1e-15]), PARTLY),
    (heads.judge, (NO_GAIN, [0.1]), PARTLY),
    (heads.judge, (NO_GAIN, [1e-15]), NO),
    (order.judge, (BLIND, ORDERED), YES),
    (order.judge, (BLIND, ORDERED | {order.NONE: Values([0.8])}), PARTLY),
    (order.judge, (BLIND | {order.NONE: Values([0.1])}, ORDERED), PARTLY),
    (sinusoid.judge, (1.0, 1e-13, True), YES),
    (sinusoid.judge, (1e-5, 1e-13, True), PARTLY),
    (sinusoid.judge, (0.0, 1.0, False), NO),
    (stacks, (0.1, 0.5), YES),
    (stacks, (0.1, 0.9), PARTLY),
    (stacks, (0.9, 0.9), NO),
    (worked_example.judge, (1e-15, {"a": True}), YES),
    (worked_example.judge, (1e-15, {"a": True, "b": False}), PARTLY),
    (worked_example.judge, (1e-9, {"a": True}), PARTLY),
    (worked_example.judge, (1e-3, {"a": True}), NO),
    (cross_attention.judge, (Values([0.7, 0.72]), 2.8, 2.8), YES),
    (cross_attention.judge, (Values([0.7, 0.72]), 1.0, 2.8), PARTLY),
    (cross_attention.judge, (Values([0.2, 0.21]), 2.8, 2.8), PARTLY),
    (cross_attention.judge, (Values([0.2, -0.1]), 2.8, 2.8), NO),
    (patches.judge, (EXACT,), YES),
    (patches.judge, (EXACT | {patches.BLOCKS: 1e-7},), PARTLY),
    (patches.judge, (EXACT | {patches.ROUND_TRIP: 1e-7},), NO),
    (patches.judge, (EXACT | {patches.CONVOLUTION: 1e-3},), NO),
    (filters.judge, (same(0.6), [GAIN, GAIN]), YES),
    (filters.judge, (same(0.6), [GAIN, NO_GAIN]), PARTLY),
    (filters.judge, (same(0.3), [same(0.01), GAIN]), NO),
    (distance.judge, ([0.3, 1.0], GAIN, [0.5, 0.6, 0.7]), YES),
    (distance.judge, ([0.3, 1.0], GAIN, [0.5, 0.4, 0.7]), PARTLY),
    (distance.judge, ([1.0, 1.0], NO_GAIN, [1.0, 1.0, 1.0]), NO),
    (first_layer.judge, ([1.0, 0.9995], [0.02]), YES),
    (first_layer.judge, ([1.0, 0.7], [0.02]), PARTLY),
    (first_layer.judge, ([0.1, 0.1], [0.02]), NO),
    (first_layer.judge, ([1.0, 1.0], [0.02, 0.9]), NO),
    (data_hunger.judge, (GAIN, same(0.05)), YES),
    (data_hunger.judge, (GAIN, NO_GAIN), PARTLY),
    (data_hunger.judge, (NO_GAIN, same(0.05)), NO),
    (data_hunger.judge, (NO_GAIN, same(0.05), False), UNDECIDED),
    (data_hunger.judge, (GAIN, same(0.05), False), UNDECIDED),
    (translation.judge, (same(0.95), 0.0), YES),
    (translation.judge, (same(0.8), 0.0), PARTLY),
    (translation.judge, (same(0.3), 0.0), NO),
    (translation.judge, (same(0.95), 0.9), NO),  # as good without the source
]


@pytest.mark.parametrize(
    ("rule", "numbers", "verdict"),
    RULES,
    ids=[
        f"{rule.__module__.rpartition('.')[2]}-{verdict}" for rule, _, verdict in RULES
    ],
)
def test_the_rule(rule, numbers, verdict):
    assert rule(*numbers) is verdict
