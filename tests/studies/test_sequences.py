import pytest
import torch

from studies.sequences import (
    RecurrentTextEncoder,
    RecurrentTranslator,
    SequenceTask,
    train_translator,
)
from studies.training import seeded

REVERSE = SequenceTask(4, (2, 5), True)


def test_tasks_are_what_they_say() -> None:
    sources, labels = REVERSE.draw(50, 5)
    assert torch.equal(labels, sources.flip(1))
    assert set(sources.flatten().tolist()) == {0, 1, 2, 3}
    sources, labels = SequenceTask(4, (2, 5), False).draw(3, 4)
    assert torch.equal(labels, sources)
    with seeded(0):
        assert {REVERSE.draw(1)[0].shape[1] for _ in range(50)} == {2, 3, 4, 5}


def test_no_sequence_is_tested_twice() -> None:
    sources, labels = REVERSE.draw_tests(256, 2, seed=0)
    assert len(sources) == len(sources.unique(dim=0)) == 16  # all that there are
    assert torch.equal(labels, sources.flip(1))
    assert torch.equal(sources, REVERSE.draw_tests(256, 2, seed=0)[0])


def test_one_vector_is_the_last_state() -> None:
    """What the decoder takes the mean of is a single feature: the state after the last symbol."""
    torch.manual_seed(0)
    one = RecurrentTextEncoder(4, 8, last_only=True)
    sources = REVERSE.draw(3, 5)[0]
    states = one.recur(one.embed(sources))[1][0]
    assert one(sources).shape == (3, 1, 8)
    torch.testing.assert_close(one(sources).mean(1), states)


def test_accuracy_counts_symbols_in_their_places(monkeypatch: pytest.MonkeyPatch) -> None:
    model = RecurrentTranslator(REVERSE, 8, "dot", 10)
    labels = torch.tensor([[0, 1, 2], [0, 1, 2], [0, 1, 2], [0, 1, 2]])
    written = torch.tensor([[0, 1, 2, -1], [0, 1, -1, -1], [0, 1, 2, 3], [1, 2, 0, -1]])

    class Found:
        labels = written

    monkeypatch.setattr(model.decoder, "generate", lambda features: Found)
    assert model.accuracy(labels, labels) == pytest.approx((8 / 12, 1 / 4))


def test_short_sequences_are_learned() -> None:
    task = SequenceTask(3, (1, 2), True)
    model = train_translator(task, "dot", 0, dim=16, steps=120, learning_rate=0.02, batch=32)
    assert model.accuracy(*task.draw(100, 2))[0] > 0.9


def test_no_steps_are_no_training() -> None:
    models = [
        train_translator(REVERSE, "dot", 3, dim=8, steps=0, learning_rate=1.0) for _ in range(2)
    ]
    for a, b in zip(*(model.parameters() for model in models), strict=True):
        assert torch.equal(a, b)
