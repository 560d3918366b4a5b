from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from vit_str.models import Recognizer
from vit_str.models.hypotheses import Hypotheses
from vit_str.models.interfaces import Decoder
from vit_str.models.step_scores import step_scores


@pytest.fixture
def recognizer(small_recognizer: Callable[..., Recognizer]) -> Recognizer:
    return small_recognizer()


def test_they_give_the_confidences_of_generating(recognizer: Recognizer) -> None:
    recognizer.decoder.classify.bias.data[94] = 8.0  # some labels end early
    images = torch.randn(24, 3, 32, 128, generator=torch.Generator().manual_seed(0))
    features = recognizer.encode(images)
    temperatures = torch.tensor([0.5, 1.0, 2.0], dtype=torch.float64)
    labels = recognizer.decoder.generate(features).labels
    lengths = (labels >= 0).sum(1)
    assert len(set(lengths.tolist())) > 1
    assert lengths.max() == recognizer.decoder.maximum_length  # some are cut there
    with torch.no_grad():
        found = step_scores(recognizer.decoder, features, labels).log_confidences(temperatures)
    for column, temperature in enumerate(temperatures.tolist()):
        expected = recognizer.decoder.generate(features, temperature)
        assert torch.equal(expected.labels, labels)
        torch.testing.assert_close(
            found[:, column].exp().float(), expected.word_confidences, rtol=1e-4, atol=1e-7
        )


def test_empty_labels_have_an_end(recognizer: Recognizer) -> None:
    recognizer.decoder.classify.bias.data[94] = 1e4
    features = recognizer.encode(torch.randn(3, 3, 32, 128))
    labels = recognizer.decoder.generate(features).labels
    steps = step_scores(recognizer.decoder, features, labels)
    assert labels.shape == (3, 0)
    assert steps.symbols.tolist() == [94] * 3
    assert steps.words.tolist() == [0, 1, 2]


def test_other_decoders_are_refused() -> None:
    class Other(Decoder):
        def loss(self, features: Tensor, labels: Tensor) -> Tensor:
            return features.mean()

        def generate(self, features: Tensor) -> Hypotheses:
            raise AssertionError("not asked for")

    with pytest.raises(ValueError, match="Other has no scores step by step"):
        step_scores(Other(), torch.zeros(1, 1, 1), torch.zeros(1, 1).long())
