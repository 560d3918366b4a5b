from itertools import product

import pytest
import torch

from vit_str.charset import PADDING
from vit_str.models import PermutedDecoder, RecurrentDecoder, TransformerDecoder
from vit_str.models.beam import beam_search
from vit_str.models.decoders.autoregressive import AutoregressiveDecoder


def transformer() -> AutoregressiveDecoder:
    return TransformerDecoder(4, dim=16, depth=2, heads=2, maximum_length=3)


DECODERS = {
    "transformer": transformer,
    "permuted": lambda: PermutedDecoder(4, dim=16, heads=2, maximum_length=3, refinements=0),
    "lstm": lambda: RecurrentDecoder(4, 16, "lstm", "additive", maximum_length=3),
    "gru without attention": lambda: RecurrentDecoder(4, 16, "gru", "none", maximum_length=3),
}
FEATURES = torch.randn(30, 5, 16, generator=torch.Generator().manual_seed(5))


@pytest.fixture(params=DECODERS)
def decoder(request: pytest.FixtureRequest) -> AutoregressiveDecoder:
    torch.manual_seed(0)
    made: AutoregressiveDecoder = DECODERS[request.param]().eval()
    for name, parameter in made.named_parameters():
        if "norm" not in name and parameter.ndim > 1:
            parameter.data.mul_(3)
        if "cross_attention" in name:
            parameter.data.mul_(3)
        if name == "classify.bias":
            parameter.data[made.end] -= 1  # longer labels
    return made


def test_a_beam_of_one_is_greedy(decoder: AutoregressiveDecoder) -> None:
    greedy, beam = decoder.generate(FEATURES), beam_search(decoder, FEATURES, 1)
    assert torch.equal(greedy.labels, beam.labels)
    assert len(set(map(tuple, greedy.labels.tolist()))) > 3
    torch.testing.assert_close(greedy.confidences, beam.confidences)
    torch.testing.assert_close(greedy.end_confidences, beam.end_confidences)


def test_a_beam_as_wide_as_all_labels_finds_the_best(decoder: AutoregressiveDecoder) -> None:
    beam = beam_search(decoder, FEATURES, 5**3)
    labels = [label for length in range(4) for label in product(range(4), repeat=length)]
    best = torch.full((len(FEATURES),), -torch.inf)
    for label in labels:
        ids = torch.tensor([label], dtype=torch.int64).expand(len(FEATURES), -1)
        scores = decoder.logits(FEATURES, ids).log_softmax(-1)
        total = scores[:, :-1].gather(2, ids[:, :, None]).sum((1, 2))
        end = scores[:, -1, decoder.end]
        if len(label) == 3:  # cut, and something else than the end would follow
            end = end.where(scores[:, -1].argmax(-1) == decoder.end, 0)
        total = total + end
        best = best.maximum(total)
    torch.testing.assert_close(beam.word_confidences, best.exp())


def test_a_beam_is_seldom_worse_than_greedy(decoder: AutoregressiveDecoder) -> None:
    gain = (
        beam_search(decoder, FEATURES, 4).word_confidences
        - decoder.generate(FEATURES).word_confidences
    )
    assert gain.mean() >= -1e-6
    assert (gain > -1e-6).float().mean() >= 0.8


def test_padding_follows_the_end(decoder: AutoregressiveDecoder) -> None:
    hypotheses = beam_search(decoder, FEATURES, 3)
    over = (hypotheses.labels == PADDING).cumsum(1) > 0
    assert (hypotheses.labels[over] == PADDING).all()
    assert (hypotheses.confidences[over] == 1).all()
    alone = beam_search(decoder, FEATURES[7:8], 3)
    length = alone.labels.shape[1]
    assert torch.equal(alone.labels[0], hypotheses.labels[7, :length])


def test_no_images_and_no_width() -> None:
    assert beam_search(transformer(), FEATURES[:0], 3).labels.shape == (0, 3)
    with pytest.raises(ValueError, match="1 or more, found 0"):
        beam_search(transformer(), FEATURES, 0)
