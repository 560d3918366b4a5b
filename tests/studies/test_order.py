import torch

from studies import Verdict, order


def test_without_positions_permuting_is_exact() -> None:
    errors = {name: order.permutation_error(name, seed=0, count=3) for name in order.ENCODERS}
    assert errors[order.NONE] < 1e-14
    assert errors[order.MASKED] > 0.01
    assert errors[order.SINUSOIDAL] > 0.01


def test_pooled_answers_are_the_same_for_every_order() -> None:
    torch.manual_seed(0)
    model = order.OrderedTokens(order.NONE, depth=1).double()
    tokens, _ = order.texts(5)
    answers = model.answer(tokens)
    assert (answers - answers[:1]).abs().max() < 1e-12


def test_texts() -> None:
    torch.manual_seed(0)
    tokens, answers = order.texts(500)
    assert all(sorted(row) == list(range(12)) for row in tokens.tolist())
    assert answers.tolist() == [int(row.index(0) < row.index(1)) for row in tokens.tolist()]
    assert 200 < answers.sum() < 300


def test_verdicts() -> None:
    errors = {order.NONE: [1e-15, 2e-15], order.MASKED: [0.3, 0.3], order.SINUSOIDAL: [0.4, 0.5]}
    right = {order.NONE: [0.5, 0.51], order.MASKED: [0.9, 0.9], order.SINUSOIDAL: [0.99, 1.0]}
    assert order.judge(errors, right) is Verdict.SUPPORTED
    assert order.judge(errors, right | {order.NONE: [0.8, 0.8]}) is Verdict.PARTLY
    assert order.judge(errors | {order.NONE: [0.1, 0.1]}, right) is Verdict.PARTLY
    assert (
        order.judge(errors | {order.NONE: [0.1, 0.1]}, right | {order.NONE: [0.9, 0.9]})
        is Verdict.NOT_SUPPORTED
    )
