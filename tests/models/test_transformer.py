import pytest
import torch

from vit_str.characters.charset import PADDING
from vit_str.models import TransformerDecoder
from vit_str.torch_runtime.engine import generate


def make_decoder(maximum_length: int = 6) -> TransformerDecoder:
    torch.manual_seed(3)
    decoder = TransformerDecoder(
        9, dim=16, depth=2, heads=2, maximum_length=maximum_length
    )
    torch.nn.init.normal_(decoder.classify.weight, std=2.0)
    torch.nn.init.normal_(decoder.embed_characters.weight)
    return decoder.eval()


@torch.no_grad()
def slow_greedy(
    decoder: TransformerDecoder, features: torch.Tensor
) -> tuple[list[int], float]:
    """Decode the whole prefix again for every character, without a cache."""
    labels: list[int] = []
    confidence = 1.0
    while True:
        prefix = torch.tensor([labels]).long().reshape(1, len(labels))
        best = decoder.logits(features, prefix)[0, -1].softmax(-1).max(-1)
        if best.indices == decoder.end:
            return labels, confidence * float(best.values)
        if len(labels) == decoder.maximum_length:
            return labels, confidence
        labels.append(int(best.indices))
        confidence *= float(best.values)


def test_cached_decoding_of_a_batch_equals_decoding_each_row_again_and_again():
    decoder = make_decoder()
    features = torch.randn(40, 7, 16) * 2
    hypotheses = generate(decoder, features)
    lengths = set()
    for row, feature in enumerate(features):
        labels, confidence = slow_greedy(decoder, feature[None])
        kept = hypotheses.labels[row]
        assert kept[kept != PADDING].tolist() == labels
        assert float(hypotheses.word_confidences[row]) == pytest.approx(
            confidence, abs=1e-4
        )
        lengths.add(len(labels))
    assert len(lengths) > 2, "the test needs rows that end at different places"


def test_the_future_is_hidden():
    decoder = make_decoder()
    features = torch.randn(1, 7, 16)
    first = decoder.logits(features, torch.tensor([[1, 2, 3]]))
    second = decoder.logits(features, torch.tensor([[1, 2, 8]]))
    torch.testing.assert_close(first[:, :3], second[:, :3])
    assert not torch.allclose(first[:, 3], second[:, 3])


def test_padding_changes_nothing():
    decoder = make_decoder()
    features = torch.randn(2, 7, 16)
    alone = decoder.loss(features[:1], torch.tensor([[4, 5]]))
    padded = decoder.loss(features[:1], torch.tensor([[4, 5, PADDING, PADDING]]))
    torch.testing.assert_close(alone, padded)


def test_loss_is_the_mean_over_characters_and_ends_and_smoothed_in_training_only():
    decoder = make_decoder()
    features = torch.randn(2, 7, 16)
    labels = torch.tensor([[4, 5, 6], [7, PADDING, PADDING]])
    log_probabilities = decoder.logits(features, labels).log_softmax(-1)
    right = [
        log_probabilities[0, 0, 4],
        log_probabilities[0, 1, 5],
        log_probabilities[0, 2, 6],
    ]
    right += [
        log_probabilities[0, 3, 9],
        log_probabilities[1, 0, 7],
        log_probabilities[1, 1, 9],
    ]
    plain = decoder.loss(features, labels)
    torch.testing.assert_close(plain, -torch.stack(right).mean())
    decoder.label_smoothing = 0.1
    assert torch.equal(decoder.loss(features, labels), plain)
    assert not torch.allclose(decoder.train().loss(features, labels), plain)


def test_an_empty_batch_has_no_hypotheses():
    assert generate(make_decoder(), torch.zeros(0, 7, 16)).labels.shape == (0, 0)


def test_labels_that_are_too_long_are_refused():
    with pytest.raises(ValueError, match="maximum_length is 6"):
        make_decoder().logits(
            torch.zeros(1, 7, 16), torch.zeros(1, 7, dtype=torch.long)
        )
