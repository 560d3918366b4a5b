import torch
from torch import nn

from studies.tokens import NextToken, Pointers, TokenNetwork, learning_curve
from studies.training import seeded


def test_the_next_token_is_asked_for_in_a_circle():
    said, answers = NextToken(length=5).draw(3, torch.Generator().manual_seed(0))
    assert answers[:, :-1].equal(said[:, 1:])
    assert answers[:, -1].equal(said[:, 0])


def test_pointers_ask_for_what_stands_where_they_point():
    inputs, answers = Pointers(2, length=5).draw(3, torch.Generator().manual_seed(0))
    for row in range(3):
        for token in range(5):
            for pointer in range(2):
                target = inputs[row, token, 1 + pointer]
                assert answers[row, token, pointer] == inputs[row, target, 0]


def curve() -> list[float]:
    task = NextToken(length=4, symbols=4)
    with seeded(3):
        network = TokenNetwork(task, 8, nn.Identity())
    return learning_curve(network, task, 4, 3, every=2, batch=4)


def test_the_same_seed_learns_the_same_and_nothing_outside_changes():
    before = torch.get_rng_state()
    assert curve() == curve()
    assert len(curve()) == 2
    assert torch.get_rng_state().equal(before)
