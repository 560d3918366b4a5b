import pytest
import torch

from studies import adding
from studies.training import seeded


class One(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(()))

    def forward(self, x):
        return self.weight.expand(len(x))


class Sum(One):
    def forward(self, x):
        return self.weight * x.prod(-1).sum(-1)


@pytest.mark.parametrize("length", [2, 3, 9])
def test_one_number_of_each_half_is_marked_and_their_sum_is_asked(length):
    inputs, targets = adding.draw_batch(64, length, torch.Generator().manual_seed(0))
    numbers, marks = inputs.unbind(-1)
    assert inputs.shape == (64, length, 2)
    assert (marks[:, : length // 2].sum(1) == 1).all()
    assert (marks[:, length // 2 :].sum(1) == 1).all()
    assert torch.equal(targets, (numbers * marks).sum(1))


def test_the_best_constant_has_the_error_of_the_baseline():
    assert adding.mean_squared_error(One(), 10, 20_000) == pytest.approx(adding.BASELINE, abs=0.005)
    assert adding.mean_squared_error(Sum(), 10) == 0


def test_too_short_sequences_are_refused():
    with pytest.raises(ValueError, match="2 or more"):
        adding.draw_batch(1, 1, torch.Generator())


def test_training_is_decided_by_seeds_and_leaves_the_global_state_alone():
    def run():
        with seeded(1):
            model = adding.RecurrentAdder("gru", 4)
        adding.train(model, 4, 3, seed=2, batch_size=4)
        return adding.mean_squared_error(model, 4, 8)

    state = torch.random.get_rng_state()
    first = run()
    assert torch.equal(torch.random.get_rng_state(), state)
    assert first == run()


def test_attention_learns_to_add():
    with seeded(0):
        model = adding.AttentionAdder(16)
    adding.train(model, 6, 150, seed=0, learning_rate=2e-2)
    assert adding.mean_squared_error(model, 6) < adding.BASELINE / 3
