import torch

from vit_str.models.auxiliary import UNKNOWN, ColumnSpeller, TokenClassifier
from vit_str.models.decoders.ctc import ctc_loss
from vit_str.runtime.charset import PADDING


def test_unknown_tokens_do_not_count() -> None:
    torch.manual_seed(0)
    classifier, features = TokenClassifier(8, 5), torch.randn(2, 3, 8)
    known = torch.tensor([[0, PADDING, 4], [UNKNOWN, UNKNOWN, UNKNOWN]])
    together = classifier.loss(features, known)
    torch.testing.assert_close(together, classifier.loss(features[:1], known[:1]))
    nothing = classifier.loss(features[1:], known[1:])
    assert nothing == 0 and nothing.requires_grad


def test_the_column_speller_spells_means_of_columns() -> None:
    speller = ColumnSpeller(dim=8, charset_size=2, grid=(2, 4))
    features, labels = torch.randn(2, 8, 8), torch.tensor([[0, 1], [1, PADDING]])
    scores = speller.classify(features.view(2, 2, 4, 8).mean(1))
    torch.testing.assert_close(speller.loss(features, labels), ctc_loss(scores, labels))
