from dataclasses import replace

import pytest
import torch

from studies import Table, Verdict
from studies.data_hunger import FULL, QUICK, judge, leads, train, unseen_words
from studies.reading import ANY_STRINGS, CONVOLUTION, VIT, word_renderer
from vit_str.charset import Charset

TINY = replace(QUICK, words=(4, 8), steps=3, batch_size=4, test_words=6)


def test_every_system_learns_from_every_number_of_words_and_the_seed_decides() -> None:
    state = torch.get_rng_state()
    rows = train(TINY, 0)

    assert [(row["words"], row["system"]) for row in rows] == [
        (4, VIT),
        (4, CONVOLUTION),
        (8, VIT),
        (8, CONVOLUTION),
    ]
    assert all(0 <= float(row["accuracy"]) <= 1 for row in rows)
    assert rows == train(TINY, 0)
    assert torch.get_rng_state().equal(state)


def test_the_lead_is_the_convolution_minus_the_vit() -> None:
    rows = [
        {"seed": 0, "system": VIT, "words": 10, "accuracy": 0.2},
        {"seed": 0, "system": CONVOLUTION, "words": 10, "accuracy": 0.7},
    ]
    assert leads(Table(rows), 10) == pytest.approx([0.5])


def test_the_verdict_follows_the_leads() -> None:
    assert judge((0.1, 0.2), (0.05, 0.1)) is Verdict.SUPPORTED
    assert judge((0.1, 0.2), (-0.1, 0.1)) is Verdict.PARTLY
    assert judge((-0.1, 0.2), (0.05, 0.1)) is Verdict.NOT_SUPPORTED


def test_words_of_the_test_are_new_and_of_known_characters() -> None:
    plan = replace(FULL, charset=Charset("0123456789"), words=(2, 60), shares=ANY_STRINGS)
    renderer = word_renderer(plan.charset, (16, 24), (2, 3), ANY_STRINGS, maximum_length=2)
    everything, drawn = renderer.batch(60, 0, 0), renderer.batch(300, 1, 0)
    chosen = unseen_words(drawn, everything, plan)
    texts, known = (
        [plan.charset.decode(ids) for ids in b.labels.tolist()] for b in (chosen, everything)
    )
    assert len(set(texts)) == len(texts) > 0
    assert not set(texts) & set(known)
    assert set("".join(texts)) <= set("".join(known[:2]))


def test_pictures_of_single_digits_may_come_again() -> None:
    renderer = word_renderer(QUICK.charset, (16, 16), (2, 2), QUICK.shares, 1)
    everything, drawn = renderer.batch(100, 0, 0), renderer.batch(50, 1, 0)
    assert len(unseen_words(drawn, everything, replace(QUICK, words=(100,)))) == 50
