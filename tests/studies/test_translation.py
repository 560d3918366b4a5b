import pytest
import torch

from vit_str.charset import PADDING
from vit_str.models.beam import beam_search
from studies import Settings, Verdict
from studies.spoken import ids_of, in_words
from studies.study import Row
from studies.tasks_tokens import seeded
from studies.tasks_translation import dates, draw_many, is_held_out, numbers
from studies.translation import (
    BEAM,
    GREEDY,
    STRANGER,
    Size,
    Translation,
    findings,
    learn,
    log_probability,
    measure,
    same,
)

TINY = Size(digits=2, dim=16, depth=1, steps=3, batch=8, tested=10)


def test_a_fifth_of_the_numbers_is_held_out() -> None:
    share = sum(map(is_held_out, range(10_000))) / 10_000
    assert share == pytest.approx(0.2, abs=0.005)
    with seeded(0):
        drawn = {held: set(draw_many(300, numbers(3), held)) for held in (True, False)}
    assert not drawn[True] & drawn[False]
    assert {len(str(number)) for number in drawn[True]} == {1, 2, 3}


def test_dates_are_those_of_three_centuries() -> None:
    spoken = dates()
    with seeded(0):
        days = draw_many(500, spoken, held_out=False)
    years = {"".join(spoken.digits(day))[:2] for day in days}
    assert years == {"18", "19", "20"}
    assert max(len(spoken.words(day)) for day in days) <= 6


def test_texts_are_the_same_whatever_the_padding() -> None:
    written = torch.tensor([[1, 2, PADDING], [1, 2, 3], [1, PADDING, PADDING]])
    labels = torch.tensor([[1, 2], [1, 2], [1, 2]])
    assert same(written, labels).tolist() == [True, False, False]
    assert same(labels, written).tolist() == [True, False, False]


def test_the_probability_is_that_of_the_beam() -> None:
    with seeded(0):
        model = learn(numbers(2), TINY, "cpu", lambda share: None)
    features = model.encoder(ids_of([in_words(number) for number in (7, 42, 90)]))
    # The end as likely as it needs to be for no text to be cut.
    model.decoder.classify.bias.data[model.decoder.end] += 3
    found = beam_search(model.decoder, features, 2)
    expected = found.word_confidences.log().mean().item()
    assert log_probability(model.decoder, features, found.labels) == pytest.approx(
        expected, abs=1e-4
    )


def rows(right: float, stranger: float) -> list[Row]:
    values = {GREEDY: right, BEAM: right, STRANGER: stranger}
    return [
        {
            "direction": direction,
            "way": way,
            "seed": seed,
            "right": value + 0.001 * seed * (value > 0),
            "of_the_other": 0.9,
            "log_probability": -0.1,
        }
        for direction in (*numbers(2).directions, *dates().directions)
        for way, value in values.items()
        for seed in range(3)
    ]


def test_the_verdict_follows_from_the_numbers() -> None:
    assert findings(rows(0.97, 0.0)).verdict is Verdict.SUPPORTED
    assert findings(rows(0.8, 0.0)).verdict is Verdict.PARTLY
    assert findings(rows(0.3, 0.0)).verdict is Verdict.NOT_SUPPORTED
    # As good without the source: nothing was translated.
    assert findings(rows(0.97, 0.9)).verdict is Verdict.NOT_SUPPORTED


def test_the_same_seed_gives_the_same_rows() -> None:
    found = []
    before = torch.get_rng_state()
    for _ in range(2):
        with seeded(1):
            model = learn(dates(), TINY, "cpu", lambda share: None)
        found.append(measure(model, dates(), TINY, 1, "cpu"))
    assert found[0] == found[1]
    assert torch.equal(before, torch.get_rng_state())
    assert len(found[0]) == 6
    assert Translation.id == "translation" and Settings().seeds == 5
