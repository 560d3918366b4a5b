import torch

from vit_str.characters.charset import PADDING
from vit_str.models.auxiliary import UNKNOWN, TokenClassifier


def test_unknown_tokens_do_not_count():
    torch.manual_seed(0)
    classifier = TokenClassifier(8, 5)
    features = torch.randn(2, 3, 8)
    known = torch.tensor([[0, PADDING, 4], [UNKNOWN, UNKNOWN, UNKNOWN]])
    together = classifier.loss(features, known)
    torch.testing.assert_close(together, classifier.loss(features[:1], known[:1]))
    nothing = classifier.loss(features[1:], known[1:])
    assert nothing == 0 and nothing.requires_grad
