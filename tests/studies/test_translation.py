import pytest
import torch

from studies import Verdict, translation
from studies.spoken import dates, ids_of, in_words, numbers
from studies.study import Table
from studies.training import seeded
from vit_str.models.beam import beam_search

TINY = translation.Size(digits=2, dim=16, depth=1, steps=3, batch=64, tested=10)


def test_the_probability_is_that_of_the_beam() -> None:
    with seeded(0):
        model = translation.learn(numbers(2), TINY)[0]
    features = model.encoder(ids_of([in_words(number) for number in (7, 42, 90)]))
    # The end as likely as it needs to be for no text to be cut.
    model.decoder.classify.bias.data[model.decoder.end] += 3
    found = beam_search(model.decoder, features, 2)
    expected = found.word_confidences.log().mean().item()
    assert translation.log_probability(model.decoder, features, found.labels) == pytest.approx(
        expected, abs=1e-4
    )


def rows(right: float, stranger: float) -> Table:
    values = {translation.GREEDY: right, translation.BEAM: right, translation.STRANGER: stranger}
    return Table(
        {
            "direction": direction,
            "decoding": way,
            "seed": seed,
            "right": value + 0.001 * seed * (value > 0),
            "of_the_other": 0.9,
            "log_probability": -0.1,
        }
        for direction in (*numbers(2).directions, *dates().directions)
        for way, value in values.items()
        for seed in range(3)
    )


def test_the_verdict_follows_from_the_numbers() -> None:
    assert translation.findings(rows(0.97, 0.0)).verdict is Verdict.SUPPORTED
    assert translation.findings(rows(0.8, 0.0)).verdict is Verdict.PARTLY
    assert translation.findings(rows(0.3, 0.0)).verdict is Verdict.NOT_SUPPORTED
    # As good without the source: nothing was translated.
    assert translation.findings(rows(0.97, 0.9)).verdict is Verdict.NOT_SUPPORTED


def test_the_same_seed_gives_the_same_rows() -> None:
    before = torch.get_rng_state()
    first, again = (translation.measure(dates(), TINY, 1) for _ in range(2))
    assert first == again
    assert len(first) == 6
    assert torch.equal(before, torch.get_rng_state())


def test_what_is_tested_was_trained_on_and_is_tested_once() -> None:
    spoken = numbers(2)
    with seeded(0):
        symbols = translation.learn(spoken, TINY)[1] | {"twelve", "forty", "five"}
    translation.check_tests(spoken, [12, 45], symbols)
    with pytest.raises(AssertionError, match="numbers are tested more than once"):
        translation.check_tests(spoken, [12, 45, 12], symbols)
    with pytest.raises(AssertionError, match=r"not trained on: \['zero'\]"):
        translation.check_tests(spoken, [12, 0], symbols - {"zero"})
