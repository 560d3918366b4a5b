import pytest
import torch

from vit_str.analysis.geometry import TokenGrid, uniform_attention
from vit_str.analysis.rollout.measure import character_rollout, encoder_rollout, looked_at, rollout
from vit_str.models import ConvolutionalEncoder, Recognizer, TransformerDecoder, VisionTransformer
from vit_str.models.attention import record_attention

GRID = TokenGrid(3, 5, (4, 8))


def make_recognizer(**arguments: object) -> Recognizer:
    torch.manual_seed(0)
    sizes = {"dim": 16, "depth": 3, "heads": 2, "image_size": (12, 40), "patch_size": (4, 8)}
    encoder = VisionTransformer(**{**sizes, **arguments})
    return Recognizer(encoder, TransformerDecoder(9, 16, 2, 2, maximum_length=4)).eval()


def random_maps(layers: int = 3, tokens: int = 15) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(layers, 2, 4, tokens, tokens, generator=generator, dtype=torch.float64)
    return list(scores.softmax(-1))


def test_tokens_that_look_at_themselves_stay_unmixed() -> None:
    identity = torch.eye(15).expand(2, 4, 15, 15)
    for mixed in rollout([identity] * 4):
        torch.testing.assert_close(mixed, torch.eye(15).double().expand(2, -1, -1))


def test_even_attention_mixes_by_the_share_it_has() -> None:
    """After n layers, residual^n of a token is its own; the rest is even over all tokens."""
    even = uniform_attention(GRID).expand(1, 2, 15, 15)
    for number, mixed in enumerate(rollout([even] * 3, residual=0.6), 1):
        kept = 0.6**number
        expected = kept * torch.eye(15, dtype=torch.float64) + (1 - kept) / 15
        torch.testing.assert_close(mixed[0], expected)


def test_everybody_looking_right_moves_along() -> None:
    """Two layers of tokens that look one column right, half by half: binomial weights."""
    right = torch.zeros(15, 15)
    for token in range(15):
        right[token, token + (token % 5 < 4)] = 1
    mixed = rollout([right.expand(1, 1, 15, 15)] * 2)[-1][0]
    assert mixed[5, 5:8].tolist() == pytest.approx([0.25, 0.5, 0.25])
    assert mixed[3, 3:5].tolist() == pytest.approx([0.25, 0.75])


def test_the_product_is_last_layer_times_the_ones_before() -> None:
    maps = random_maps()
    steps = [0.3 * torch.eye(15, dtype=torch.float64) + 0.7 * each.mean(1) for each in maps]
    found = rollout(maps, residual=0.3)
    torch.testing.assert_close(found[2], steps[2] @ steps[1] @ steps[0])
    torch.testing.assert_close(found[2].sum(-1), torch.ones(2, 15, dtype=torch.float64))


@pytest.mark.parametrize("options", [{}, {"class_token": True, "registers": 1}])
def test_rollout_of_a_model_is_that_of_its_maps(options: dict[str, object]) -> None:
    recognizer, images = make_recognizer(**options), torch.randn(2, 3, 12, 40)
    encoder = recognizer.encoder
    with record_attention(encoder) as maps:
        features = encoder(images)
    expected = rollout([calls[0] for calls in maps.values()])
    for mixed, other in zip(encoder_rollout(encoder, images), expected, strict=True):
        torch.testing.assert_close(mixed, other)
    labels = torch.tensor([[1, 2, 3], [4, 5, -1]])
    found = character_rollout(recognizer, images, labels)
    assert found.shape == (2, 3, 3, 5)
    torch.testing.assert_close(found.sum((2, 3)), torch.ones(2, 3, dtype=torch.float64))
    reached = (looked_at(recognizer.decoder, features, labels) @ expected[-1])[1, 1]
    patches = reached[encoder.special_tokens :]
    torch.testing.assert_close(found[1, 1].flatten(), patches / patches.sum())


def test_what_cannot_be_rolled_out_is_refused() -> None:
    with pytest.raises(ValueError, match="from 0 to 1, found 2"):
        rollout(random_maps(), residual=2)
    with pytest.raises(ValueError, match="one layer or more"):
        rollout([])
    with pytest.raises(ValueError, match="holds no attention"):
        encoder_rollout(ConvolutionalEncoder((8,), (0,), ((8, 8),)), torch.zeros(1, 3, 32, 128))
