"""Attention, positions and blocks: what the studies measure is what they say."""

import math

import pytest
import torch

from studies import (
    alignment,
    bottleneck,
    heads,
    order,
    parallel,
    path_length,
    projections,
    residual_norm,
    scaling,
    sinusoid,
    worked_example,
)
from studies.sequences import RecurrentTranslator, SequenceTask
from studies.study import Table
from vit_str.models.attention import ScaledDotProductAttention, record_attention
from vit_str.models.positions import sinusoidal_positions

TASK = SequenceTask(4, (2, 5), True)
MIRROR = torch.eye(5).flip(1)[None]


def test_the_task_where_attention_helps_least_counts():
    accuracies = {
        ("copy", bottleneck.ONE): [0.5, 1.0],
        ("copy", bottleneck.ATTENTION): [1.0, 1.0],
        ("reverse", bottleneck.ONE): [0.5, 0.0],
        ("reverse", bottleneck.ATTENTION): [0.6, 0.5],
    }
    rows = (
        (*name, seed, 8, value)
        for name, values in accuracies.items()
        for seed, value in enumerate(values)
    )
    table = Table.of("task system seed length right_symbols", rows)
    assert bottleneck.avoided(table, 8) == pytest.approx([0.2, 0.0])


def test_a_mirror_lies_on_the_anti_diagonal():
    assert alignment.anti_diagonal(MIRROR) == 1
    assert alignment.anti_diagonal(torch.full((2, 5, 5), 0.2)) == pytest.approx(0.2)
    late = MIRROR.roll(1, 1)  # step t looks where step t - 1 should have
    assert alignment.anti_diagonal(late) == 0
    # The first has nothing later
    assert alignment.anti_diagonal(late, 1) == pytest.approx(4 / 5)
    assert alignment.change_per_step(MIRROR) == 1
    assert alignment.change_per_step(torch.full((2, 5, 5), 0.2)) == 0


def test_weights_are_of_the_steps_that_write_symbols_and_follow_the_formula():
    torch.manual_seed(0)
    model = RecurrentTranslator(TASK, 8, "dot")
    texts = TASK.draw(3, 5)
    weights = alignment.alignment(model, texts)
    assert weights.shape == (3, 5, 5)
    torch.testing.assert_close(weights.sum(-1), torch.ones(3, 5))
    assert alignment.formula_error(model, texts) < 1e-12
    # The check would see a temperature that is not √d.
    model.decoder.look.attend.forward = lambda q, k, v, mask=None: (
        (q @ k.mT).softmax(-1) @ v
    )
    assert alignment.formula_error(model, texts) > 1e-6


def test_attention_is_flat_and_a_gru_is_not():
    changes = {}
    for name in (path_length.ATTENTION, "gru"):
        norms = path_length.initial_gradients(name, 0, steps=30)
        changes[name] = math.log10(norms[29] / norms[1])
    assert abs(changes[path_length.ATTENTION]) < 0.15
    assert changes["gru"] < -3


def test_the_longest_way_counts_and_only_that_of_the_gru_grows():
    x = torch.ones((), requires_grad=True)
    assert parallel.longest_chain(x.exp()) == 2  # the operation, and the leaf
    assert parallel.longest_chain(x.exp() + x.sin().cos().tan()) == 5
    gru = [parallel.chain(parallel.RECURRENT, length, 4) for length in (5, 10, 20)]
    assert gru[2] - gru[1] == 2 * (gru[1] - gru[0]) > 0
    assert parallel.chain(parallel.ATTENTION, 5, 4) == parallel.chain(
        parallel.ATTENTION, 50, 4
    )


@pytest.mark.parametrize("length", [3, 40])
def test_operations_are_those_of_the_closed_forms(length):
    gru, attention = (parallel.operations(name, length, 8) for name in parallel.LAYERS)
    assert gru == 12 * length * 8**2
    assert attention == 8 * length * 8**2 + 4 * length**2 * 8


def test_the_fastest_counts_and_the_first_does_not(monkeypatch):
    clock = iter([0.0, 1.0, 10.0, 15.0, 20.0, 23.0])
    monkeypatch.setattr("time.process_time", lambda: next(clock))
    assert (
        parallel.milliseconds("GRU", 4, parallel.ONE_THREAD, 0, repetitions=2) == 3000
    )


def test_jacobian_norm_and_gradient_at_the_query_are_those_of_autograd():
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(3, 6, generator=generator, dtype=torch.float64)
    explicit = [
        torch.autograd.functional.jacobian(lambda x: x.softmax(-1), row).norm()
        for row in scores
    ]
    torch.testing.assert_close(
        scaling.jacobian_norm(scores.softmax(-1)), torch.stack(explicit)
    )
    q = torch.randn(1, 4, generator=generator)
    k = torch.randn(1, 6, 4, generator=generator)
    for divisor in (1.0, 2.0):
        expected = torch.autograd.functional.jacobian(
            lambda x, divisor=divisor: (k[0] @ x / divisor).softmax(-1), q[0]
        )
        found = scaling.softmax_numbers(q, k, divisor)["query_gradient_median"]
        assert found == pytest.approx(expected.norm().item(), rel=1e-4)


def test_raw_attention_is_the_softmax_of_undivided_products():
    q, k, v = torch.randn(3, 2, 1, 5, 8, generator=torch.Generator().manual_seed(0))
    raw = scaling.RawDotProductAttention()(q, k, v)
    torch.testing.assert_close(raw, (q @ k.transpose(-1, -2)).softmax(-1) @ v)
    torch.testing.assert_close(raw, ScaledDotProductAttention()(q * math.sqrt(8), k, v))


def test_networks_start_with_equal_weights_but_for_the_small_start():
    scaled, raw, small = (
        scaling.make_network(16, name, 0).body[1].to_queries.weight
        for name in scaling.TRAINED
    )
    assert scaled.equal(raw)
    torch.testing.assert_close(small, raw / 4)


def test_weight_of_a_token_on_itself():
    def weight(name, width=64):
        return projections.own_weight(name, width, torch.Generator().manual_seed(0), 20)

    assert weight("none") == pytest.approx(0.97, abs=0.02)
    assert weight("tied") == pytest.approx(0.94, abs=0.04)
    assert weight("separate") == pytest.approx(1 / projections.LENGTH, abs=0.02)
    assert weight("none", 4) < 0.4 < weight("none", 16)
    assert weight(projections.UNEVEN) < weight("none")


@pytest.mark.parametrize("name", projections.PROJECTIONS)
def test_attention_without_projections_is_the_formula(name):
    torch.manual_seed(0)
    attention = projections.SharedAttention(8, name)
    x = torch.randn(2, 5, 8)
    core = attention.attention
    queries = x if name in ("none", "one") else core.to_queries(x)
    keys = queries if name in ("none", "tied") else core.to_keys_values(x)[..., :8]
    scores = queries @ keys.transpose(1, 2)
    with record_attention(attention) as maps:
        attention(x)
    torch.testing.assert_close(
        maps["attention"][0][:, 0], (scores / 8**0.5).softmax(-1)
    )
    # Scores of a shared projection are symmetric: what is missing is freedom.
    symmetric = torch.allclose(scores, scores.transpose(1, 2), atol=1e-5)
    assert symmetric == (name in ("none", "tied"))


def test_no_number_of_heads_knows_positions_and_parameters_are_equal():
    for number in heads.HEADS:
        assert heads.permutation_error(number, 0, positions=False) < 1e-13
        assert heads.permutation_error(number, 0, positions=True) > 0.01
    networks = [heads.make_network(2, number, 0) for number in heads.HEADS]
    assert (
        len({sum(p.numel() for p in network.parameters()) for network in networks}) == 1
    )


def test_steps_to_the_goal():
    assert heads.steps_to_goal([20, 40, 60], [[0.5, 0.96, 0.9]]) == "40 [40, 40]"
    assert (
        heads.steps_to_goal([20, 40], [[0.5, 0.97], [0.5, 0.8]]) == "40 [40, 40] in 1/2"
    )
    assert heads.steps_to_goal([20, 40], [[0.5, 0.6]]) == "never"


def test_without_positions_permuting_is_exact():
    errors = {
        name: order.permutation_error(name, seed=0, count=3) for name in order.ENCODERS
    }
    assert errors[order.NONE] < 1e-14
    assert errors[order.MASKED] > 0.01
    assert errors[order.SINUSOIDAL] > 0.01


def test_texts_have_each_token_once_and_say_which_comes_first():
    torch.manual_seed(0)
    tokens, answers = order.texts(500)
    assert all(sorted(row) == list(range(12)) for row in tokens.tolist())
    assert answers.tolist() == [
        int(row.index(0) < row.index(1)) for row in tokens.tolist()
    ]
    assert 200 < answers.sum() < 300


def test_the_formula_of_positions_and_its_properties():
    exact = sinusoid.exact_positions(60, 16)
    assert (exact.float() - sinusoidal_positions(60, 16)).abs().max() < 1e-7
    assert exact[0].tolist() == [0.0, 1.0] * 8
    curve = sinusoid.distance_by_offset(16, 60)
    for first, second in ((0, 7), (50, 57), (57, 50)):
        assert float((exact[first] - exact[second]).norm()) == pytest.approx(
            float(curve[7])
        )
    # 2 sin(1/2)
    assert float(sinusoid.distance_by_offset(2, 2)[1]) == pytest.approx(0.9588510772)
    assert sinusoid.rotation_error(exact) < 1e-12
    assert sinusoid.rotation_error(exact[:, [1, 0, 3, 2, *range(4, 16)]]) > 0.1, (
        "a wrong turn"
    )


def test_the_variants_are_their_formulas():
    x = torch.randn(2, 5, 8, generator=torch.Generator().manual_seed(1))
    formulas = {
        residual_norm.FULL: lambda part, norm, x: x + part(norm(x)),
        residual_norm.POST: lambda part, norm, x: norm(x + part(x)),
        residual_norm.UNNORMED: lambda part, _norm, x: x + part(x),
        residual_norm.BARE: lambda part, norm, x: part(norm(x)),
        residual_norm.NEITHER: lambda part, _norm, x: part(x),
    }
    for variant, formula in formulas.items():
        stack = residual_norm.Stack(1, 8, 2, variant)
        expected = x
        for layer in stack.blocks[0]:
            norm = layer.after if variant == residual_norm.POST else layer.before
            expected = formula(layer.part, norm, expected)
        torch.testing.assert_close(stack(x), stack.norm(expected))


def test_tokens_collapse_without_residuals_only():
    same = torch.ones(1, 3, 4, dtype=torch.float64)
    assert residual_norm.token_cosine(same * 1e-200) == pytest.approx(1)
    assert residual_norm.token_cosine(
        torch.eye(4, dtype=torch.float64)[None]
    ) == pytest.approx(0)
    last = {}
    for variant in (residual_norm.FULL, residual_norm.BARE):
        rows = list(residual_norm.measure(variant, 6, 0))
        cosines = [value for *_, measure, value in rows if measure == "cosine"]
        assert len(cosines) == len(rows) / 2 == 6
        last[variant] = cosines[-1]
    assert last[residual_norm.BARE] > 0.99
    assert last[residual_norm.FULL] < 0.7


def test_weights_of_the_post_worked_by_hand():
    example = worked_example.of_post()
    weights = torch.tensor([0.2, 0.1, 0.4, 0.3], dtype=torch.float64)
    by_hand = torch.tensor([2.0, 3.0, 3.3, 4.3, 2.5], dtype=torch.float64)
    assert (weights @ example.values - by_hand).abs().max() < 1e-14
    for compute in (worked_example.by_loops, *worked_example.COMPUTATIONS.values()):
        assert (compute(*example)[0] - by_hand).abs().max() < 1e-14
    assert all(worked_example.statements().values()), worked_example.statements()
