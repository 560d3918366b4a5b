import pytest
import torch

from vit_str.analysis.relevance.methods import (
    METHODS,
    drops,
    gradient_times_input,
    hide,
    probabilities,
    random_maps,
)
from vit_str.models import ConvolutionalEncoder, Recognizer, TransformerDecoder, VisionTransformer

LABELS = torch.tensor([[1, 2, 3], [4, 5, -1]])


def make_recognizer(conv: bool = False) -> Recognizer:
    torch.manual_seed(0)
    encoder = (
        ConvolutionalEncoder((16,), (1,), ((4, 8),), (12, 40))
        if conv
        else VisionTransformer(16, 2, 2, (12, 40), (4, 8), class_token=True)
    )
    decoder = TransformerDecoder(9, 16, 2, 2, maximum_length=4)
    torch.nn.init.normal_(decoder.classify.weight)
    return Recognizer(encoder, decoder).eval()


@pytest.mark.parametrize("conv", [False, True])
def test_every_method_gives_maps_that_sum_to_one(conv: bool) -> None:
    recognizer, images = make_recognizer(conv), torch.randn(2, 3, 12, 40)
    for name in [name for name in METHODS if not conv or name != "rollout"]:
        maps = METHODS[name](recognizer, images, LABELS)
        assert maps.shape == (2, 3, 3, 5)
        assert maps.dtype == torch.float64
        assert (maps >= 0).all()
        written = maps[LABELS != -1]
        torch.testing.assert_close(written.sum((1, 2)), torch.ones(5).double(), msg=name)
        assert METHODS[name](recognizer, images, LABELS[:, :0]).shape == (2, 0, 3, 5)


def test_gradient_times_input_sees_only_what_the_score_depends_on() -> None:
    recognizer, images = make_recognizer(conv=True), torch.randn(1, 3, 12, 40)
    images[:, :, 4:8, 16:24] = 0  # token (1, 2): whatever the gradient, nothing to multiply
    maps = gradient_times_input(recognizer, images, LABELS[:1])
    assert (maps[0, :, 1, 2] == 0).all()
    assert (maps[0, :, 0] > 0).all()


def test_the_highest_tokens_are_painted_over() -> None:
    images = torch.arange(2 * 3 * 12 * 40, dtype=torch.float).view(2, 3, 12, 40)
    maps = torch.zeros(2, 3, 5).double()
    maps[0, 1, 2], maps[0, 0, 4], maps[1, 2, 0], maps[1, 2, 1] = 0.6, 0.4, 0.9, 0.1
    hidden = hide(images, maps, share=2 / 15)
    expected = images.clone()
    mean = images.mean((2, 3), keepdim=True)
    expected[0, :, 4:8, 16:24], expected[0, :, 0:4, 32:40] = mean[0], mean[0]
    expected[1, :, 8:12, 0:16] = mean[1]
    torch.testing.assert_close(hidden, expected)


def test_drops_are_those_of_each_character_hidden_by_itself() -> None:
    recognizer, images = make_recognizer(), torch.randn(2, 3, 12, 40)
    maps = random_maps(torch.zeros(2, 3, 3, 5), seed=1)
    found = drops(recognizer, images, LABELS, maps, share=0.2)
    assert found.isnan().tolist() == [[False] * 3, [False, False, True]]
    before = probabilities(recognizer, images, LABELS)
    after = probabilities(recognizer, hide(images, maps[:, 1], 0.2), LABELS)
    torch.testing.assert_close(found[:, 1], (before - after)[:, 1].double())
    assert before.max() < 1
    assert found.nan_to_num().abs().max() > 0


def test_probabilities_are_those_of_reading() -> None:
    recognizer, images = make_recognizer(), torch.randn(3, 3, 12, 40)
    read = recognizer.generate(images)
    found = probabilities(recognizer, images, read.labels)
    there = read.labels != -1
    torch.testing.assert_close(found[there], read.confidences[there])
