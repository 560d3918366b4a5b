"""Tasks of symbols and the small networks that learn them."""

import pytest
import torch
from torch import nn

from studies import cross_attention, memory, translation
from studies.sequences import (
    RecurrentTextEncoder,
    RecurrentTranslator,
    SequenceTask,
    TextTransformer,
)
from studies.tokens import NextToken, Pointers
from studies.training import seeded
from vit_str.characters.charset import PADDING, Charset
from vit_str.torch_runtime.engine import generate

REVERSE = SequenceTask(4, (2, 5), True)


@pytest.mark.parametrize("length", [2, 3, 9])
def test_one_number_of_each_half_is_marked_and_their_sum_is_asked(length):
    inputs, targets = memory.draw_batch(64, length, torch.Generator().manual_seed(0))
    values, marks = inputs.unbind(-1)
    assert inputs.shape == (64, length, 2)
    assert (marks[:, : length // 2].sum(1) == 1).all()
    assert (marks[:, length // 2 :].sum(1) == 1).all()
    assert torch.equal(targets, (values * marks).sum(1))


def test_the_best_constant_has_the_error_of_the_baseline():
    class Model(nn.Module):
        def __init__(self, adds):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(()))
            self.adds = adds

        def forward(self, x):
            return (
                self.weight * x.prod(-1).sum(-1)
                if self.adds
                else self.weight.expand(len(x))
            )

    error = memory.squared_error(Model(adds=False), 10, 20_000)
    assert error == pytest.approx(memory.BASELINE, abs=0.005)
    assert memory.squared_error(Model(adds=True), 10) == 0


def test_tasks_are_what_they_say():
    sources, labels = REVERSE.draw(50, 5)
    assert torch.equal(labels, sources.flip(1))
    assert set(sources.flatten().tolist()) == {0, 1, 2, 3}
    sources, labels = SequenceTask(4, (2, 5), False).draw(3, 4)
    assert torch.equal(labels, sources)
    with seeded(0):
        assert {REVERSE.draw(1)[0].shape[1] for _ in range(50)} == {2, 3, 4, 5}


def test_no_sequence_is_tested_twice():
    sources, labels = REVERSE.draw_tests(256, 2, seed=0)
    assert len(sources) == len(sources.unique(dim=0)) == 16  # all that there are
    assert torch.equal(labels, sources.flip(1))
    assert torch.equal(sources, REVERSE.draw_tests(256, 2, seed=0)[0])


def test_a_text_alone_is_read_as_beside_others():
    torch.manual_seed(0)
    encoder = TextTransformer(5, dim=32, depth=1, heads=2, maximum_length=4)
    lengths = torch.randint(1, 5, (8, 1))
    sources = torch.randint(5, (8, 4)).masked_fill(torch.arange(4) >= lengths, PADDING)
    for source, together in zip(sources, encoder(sources), strict=True):
        alone = source[source != PADDING][None]
        torch.testing.assert_close(encoder(alone)[0], together)


def test_one_vector_is_the_last_state():
    """What the decoder takes the mean of is a single feature: the state after the last symbol."""
    torch.manual_seed(0)
    one = RecurrentTextEncoder(4, 8, last_only=True)
    sources = REVERSE.draw(3, 5)[0]
    states = one.recur(one.embed(sources))[1][0]
    assert one(sources).shape == (3, 1, 8)
    torch.testing.assert_close(one(sources).mean(1), states)


def test_accuracy_counts_symbols_in_their_places(monkeypatch):
    model = RecurrentTranslator(REVERSE, 8, "dot")
    labels = torch.tensor([[0, 1, 2], [0, 1, 2], [0, 1, 2], [0, 1, 2]])
    written = torch.tensor([[0, 1, 2, -1], [0, 1, -1, -1], [0, 1, 2, 3], [1, 2, 0, -1]])

    class Found:
        labels = written

    monkeypatch.setattr("studies.sequences.generate", lambda decoder, features: Found)
    assert model.accuracy(labels, labels) == pytest.approx(8 / 12)


def test_the_next_token_is_asked_for_in_a_circle_and_pointers_for_what_they_point_to():
    said, answers = NextToken(length=5).draw(3, torch.Generator().manual_seed(0))
    assert answers[:, :-1].equal(said[:, 1:])
    assert answers[:, -1].equal(said[:, 0])
    inputs, answers = Pointers(2, length=5).draw(3, torch.Generator().manual_seed(0))
    for (row, token, pointer), answer in zip(
        torch.cartesian_prod(*map(torch.arange, answers.shape)),
        answers.flatten(),
        strict=True,
    ):
        assert answer == inputs[row, inputs[row, token, 1 + pointer], 0]


def test_a_beam_of_one_writes_what_the_decoder_generates():
    with seeded(0):
        model = translation.learn(translation.numbers(2), 3)[0]
    features = model.encoder(
        translation.ids_of([*map(translation.in_words, (7, 42, 90))])
    )
    written = translation.write(model.decoder, features, 1)
    assert written.equal(generate(model.decoder, features).labels)


def test_what_is_translated_was_trained_on_and_is_tested_once():
    spoken = translation.numbers(2)
    symbols = {*"0123456789", "twelve", "forty", "five"}
    translation.check_tests(spoken, [12, 45], symbols)
    with pytest.raises(AssertionError, match="numbers are tested more than once"):
        translation.check_tests(spoken, [12, 45, 12], symbols)
    with pytest.raises(AssertionError, match=r"not trained on: \['zero'\]"):
        translation.check_tests(spoken, [12, 0], symbols)


def test_pairs_are_counted_with_start_and_end():
    charset = Charset("ab")
    shares = cross_attention.PairModel(charset, ["ab", "ab", "a"]).log_shares.exp()
    # After the start: a three times, each of the three symbols with half a count more.
    assert shares[2].tolist() == pytest.approx([3.5 / 4.5, 0.5 / 4.5, 0.5 / 4.5])
    # After a: b twice, the end once.
    assert shares[0].tolist() == pytest.approx([0.5 / 4.5, 2.5 / 4.5, 1.5 / 4.5])
    model = cross_attention.PairModel(charset, ["ab"])
    together = model.score(charset.encode_batch(["ab", "a"]))[1]
    alone = [model.score(charset.encode_batch([word]))[1] for word in ("ab", "a")]
    assert together == pytest.approx((3 * alone[0] + 2 * alone[1]) / 5)


def test_another_image_is_read_as_that_image(weights):
    features = torch.randn(3, 32, 32, generator=torch.Generator().manual_seed(0))
    written = generate(weights.recognizer.decoder, features).labels
    texts = [weights.charset.decode(ids) for ids in written.tolist()]
    labels = weights.charset.encode_batch([text or "x" for text in texts])
    rates = {
        name: (own, other)
        for name, _, _, own, other in cross_attention.measure(weights, features, labels)
    }
    assert rates[cross_attention.OTHER][1] == rates[cross_attention.INTACT][0]
