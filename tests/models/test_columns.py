from itertools import product

import torch

from vit_str.charset import PADDING
from vit_str.models.columns import ColumnSpeller


def collapse(path: tuple[int, ...], blank: int) -> list[int]:
    kept = [symbol for place, symbol in enumerate(path) if place == 0 or path[place - 1] != symbol]
    return [symbol for symbol in kept if symbol != blank]


def test_the_loss_is_that_of_all_ways_to_spell_the_label() -> None:
    torch.manual_seed(0)
    speller = ColumnSpeller(dim=8, charset_size=2, grid=(2, 4))
    features = torch.randn(2, 8, 8)
    labels = torch.tensor([[0, 1], [1, PADDING]])
    scores = speller.classify(features.view(2, 2, 4, 8).mean(1)).log_softmax(-1).detach()
    expected = torch.tensor(0.0)
    for row, label in enumerate(([0, 1], [1])):
        ways = [
            sum(float(scores[row, column, symbol]) for column, symbol in enumerate(path))
            for path in product(range(3), repeat=4)
            if collapse(path, 2) == label
        ]
        expected = expected - torch.tensor(ways).logsumexp(0)
    torch.testing.assert_close(speller.loss(features, labels).detach(), expected / 3)


def test_words_that_do_not_fit_do_not_count() -> None:
    speller = ColumnSpeller(dim=8, charset_size=2, grid=(1, 2))
    loss = speller.loss(torch.randn(1, 2, 8), torch.tensor([[0, 0, 1]]))
    assert loss == 0
