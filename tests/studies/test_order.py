import torch

from studies import Verdict
from studies.order import (
    ENCODERS,
    MASKED,
    NONE,
    SINUSOIDAL,
    OrderedTokens,
    judge,
    learned,
    permutation_error,
    texts,
)


def test_without_positions_permuting_is_exact() -> None:
    errors = {name: permutation_error(name, seed=0, count=3) for name in ENCODERS}
    assert errors[NONE] < 1e-14
    assert errors[MASKED] > 0.01
    assert errors[SINUSOIDAL] > 0.01


def test_pooled_answers_are_the_same_for_every_order() -> None:
    torch.manual_seed(0)
    model = OrderedTokens(NONE, depth=1).double()
    tokens, _ = texts(5)
    answers = model.answer(tokens)
    assert (answers - answers[:1]).abs().max() < 1e-12


def test_texts() -> None:
    torch.manual_seed(0)
    tokens, answers = texts(500)
    assert all(sorted(row) == list(range(12)) for row in tokens.tolist())
    assert answers.tolist() == [int(row.index(0) < row.index(1)) for row in tokens.tolist()]
    assert 200 < answers.sum() < 300


def test_training_is_the_same_every_time_and_leaves_no_trace() -> None:
    state = torch.random.get_rng_state()
    assert learned(NONE, 1, 2) == learned(NONE, 1, 2)
    assert permutation_error(NONE, 1, 2) == permutation_error(NONE, 1, 2)
    assert torch.equal(state, torch.random.get_rng_state())


def test_verdicts() -> None:
    errors = {NONE: [1e-15, 2e-15], MASKED: [0.3, 0.3], SINUSOIDAL: [0.4, 0.5]}
    right = {NONE: [0.5, 0.51], MASKED: [0.9, 0.9], SINUSOIDAL: [0.99, 1.0]}
    assert judge(errors, right) is Verdict.SUPPORTED
    assert judge(errors, right | {NONE: [0.8, 0.8]}) is Verdict.PARTLY
    assert judge(errors | {NONE: [0.1, 0.1]}, right) is Verdict.PARTLY
    assert judge(errors | {NONE: [0.1, 0.1]}, right | {NONE: [0.9, 0.9]}) is Verdict.NOT_SUPPORTED
