from dataclasses import replace

import pytest
import torch

from studies import Verdict
from studies.data_hunger import QUICK, first_words, judge, leads, train
from studies.tasks_reading import CONVOLUTION, VIT

TINY = replace(QUICK, words=(4, 8), steps=3, batch_size=4, test_words=6)


def test_every_system_learns_from_every_number_of_words_and_the_seed_decides() -> None:
    state, taken = torch.get_rng_state(), []
    rows = train(TINY, 0, "cpu", taken.append)

    assert [(row["words"], row["system"]) for row in rows] == [
        (4, VIT),
        (4, CONVOLUTION),
        (8, VIT),
        (8, CONVOLUTION),
    ]
    assert sum(taken) == 4 * 3
    assert all(0 <= float(row["accuracy"]) <= 1 for row in rows)
    assert rows == train(TINY, 0, "cpu")
    assert torch.get_rng_state().equal(state)


def test_smaller_sets_are_the_start_of_larger_ones() -> None:
    from studies.tasks_words import word_renderer

    batch = word_renderer(QUICK.charset, (16, 16), (2, 2), QUICK.shares, 1).batch(5, 0, 0)
    part = first_words(batch, 3)

    assert part.images.equal(batch.images[:3])
    assert part.labels.equal(batch.labels[:3])


def test_the_lead_is_the_convolution_minus_the_vit() -> None:
    rows = [
        {"seed": 0, "system": VIT, "words": 10, "accuracy": 0.2},
        {"seed": 0, "system": CONVOLUTION, "words": 10, "accuracy": 0.7},
    ]
    assert leads(rows, 10) == pytest.approx([0.5])


@pytest.mark.parametrize(
    ("small", "closing", "verdict"),
    [
        ((0.1, 0.2), (0.05, 0.1), Verdict.SUPPORTED),
        ((0.1, 0.2), (-0.1, 0.1), Verdict.PARTLY),
        ((-0.1, 0.2), (0.05, 0.1), Verdict.NOT_SUPPORTED),
    ],
)
def test_the_verdict_follows_the_leads(
    small: tuple[float, float], closing: tuple[float, float], verdict: Verdict
) -> None:
    assert judge(small, closing) is verdict
