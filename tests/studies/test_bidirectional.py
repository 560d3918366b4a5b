import pytest
import torch

from studies import bidirectional
from studies.study import Table, Verdict

CHANCE, GOOD, BAD = [0.25, 0.255, 0.245], [0.99, 1.0, 0.98], [0.4, 0.5, 0.45]


@pytest.fixture(scope="module")
def gradients():
    return [row for seed in range(2) for row in bidirectional.measure_gradients(seed)]


@pytest.mark.parametrize("offset", [2, -2])
def test_the_answer_is_the_token_at_the_offset(offset):
    task = bidirectional.TokenAhead(offset, 6)
    said, answers = task.draw(3, torch.Generator().manual_seed(0))
    places = bidirectional.Tagger(torch.nn.Identity(), offset)(torch.arange(6)[None, :, None])[
        0, :, 0
    ]
    assert answers.shape == (3, 4, 1)
    assert torch.equal(answers, said[:, places + offset])


def test_an_offset_beyond_the_sequence_is_refused():
    with pytest.raises(ValueError, match="leaves"):
        bidirectional.TokenAhead(6, 6)


def test_a_forward_state_feels_later_inputs_exactly_not_at_all(gradients):
    later = {
        name: [
            row["gradient_or_accuracy"]
            for row in gradients
            if row["network"] == name and row["offset"] > 0
        ]
        for name in (bidirectional.FORWARD, bidirectional.BOTH, bidirectional.BOTH_LSTM)
    }
    assert set(later[bidirectional.FORWARD]) == {0.0}
    assert min(later[bidirectional.BOTH]) > 0 and min(later[bidirectional.BOTH_LSTM]) > 0
    assert bidirectional.measure_gradients(1) == [row for row in gradients if row["seed"] == 1]


def test_two_directions_learn_the_next_token_and_one_does_not():
    named = {
        name: bidirectional.measure_accuracy(name, 1, 6, 60, 0)["gradient_or_accuracy"]
        for name in (bidirectional.FORWARD, bidirectional.BOTH)
    }
    assert abs(named[bidirectional.FORWARD] - 0.25) < 0.06
    assert named[bidirectional.BOTH] > 0.8


def test_findings_tell_what_distance_costs(gradients):
    scores = {
        (bidirectional.FORWARD, 1): CHANCE,
        (bidirectional.FORWARD, 8): CHANCE,
        (bidirectional.FORWARD, -4): GOOD,
        (bidirectional.BOTH, 1): GOOD,
        (bidirectional.BOTH, 8): BAD,
        (bidirectional.BOTH_LSTM, 1): GOOD,
        (bidirectional.BOTH_LSTM, 8): BAD,
        (bidirectional.ATTENTION, 1): GOOD,
        (bidirectional.ATTENTION, 8): GOOD,
    }
    rows = [
        {
            "experiment": "accuracy",
            "network": name,
            "seed": seed,
            "offset": offset,
            "gradient_or_accuracy": value,
        }
        for (name, offset), values in scores.items()
        for seed, value in enumerate(values)
    ]
    found = bidirectional.findings(Table([*gradients, *rows]))
    assert found.verdict == Verdict.SUPPORTED
    assert sum(found.values) / 3 == pytest.approx(0.54)
    assert len(found.surprises) == 1  # the control to the left


@pytest.mark.parametrize(
    ("later", "forward", "near", "far", "verdict"),
    [
        (0.0, CHANCE, GOOD, BAD, Verdict.SUPPORTED),
        (0.0, CHANCE, GOOD, GOOD, Verdict.PARTLY),
        (1e-9, CHANCE, GOOD, BAD, Verdict.NOT_SUPPORTED),
        (0.0, GOOD, GOOD, BAD, Verdict.NOT_SUPPORTED),
        (0.0, CHANCE, BAD, BAD, Verdict.NOT_SUPPORTED),
    ],
)
def test_the_rule(later, forward, near, far, verdict):
    scores = {bidirectional.FORWARD: [forward, forward], bidirectional.BOTH: [near, far]}
    assert bidirectional.judge(later, scores) == verdict
