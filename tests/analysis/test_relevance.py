from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from vit_str.analysis.relevance.measure import (
    DecoderLayer,
    character_relevance,
    propagate,
)
from vit_str.analysis.relevance.methods import (
    METHODS,
    drops,
    gradient_times_input,
    hide,
    probabilities,
    random_maps,
)
from vit_str.analysis.rollout.measure import character_rollout, encoder_rollout, looked_at, rollout
from vit_str.models import ConvolutionalEncoder, Recognizer, TransformerDecoder, VisionTransformer
from vit_str.models.attention import ScaledDotProductAttention, attention_weights, record_attention
from vit_str.torch_runtime.engine import generate

LABELS = torch.tensor([[1, 2, 3], [4, 5, -1]])


def make_recognizer(conv: bool = False, **arguments: object) -> Recognizer:
    torch.manual_seed(0)
    sizes = {"dim": 16, "depth": 2, "heads": 2, "image_size": (12, 40), "patch_size": (4, 8)}
    encoder = (
        ConvolutionalEncoder((16,), (1,), ((4, 8),), (12, 40))
        if conv
        else VisionTransformer(**{**sizes, **arguments})
    )
    decoder = TransformerDecoder(9, 16, 2, 2, maximum_length=4)
    torch.nn.init.normal_(decoder.classify.weight)
    return Recognizer(encoder, decoder).eval()


def test_the_model_is_left_as_it_was() -> None:
    recognizer, images = make_recognizer(), torch.randn(2, 3, 12, 40)
    with torch.no_grad():
        before = recognizer.decoder.logits(recognizer.encode(images), LABELS)
    character_relevance(recognizer, images, LABELS)
    with torch.no_grad():
        after = recognizer.decoder.logits(recognizer.encode(images), LABELS)
    assert torch.equal(after, before)
    assert all(not module._forward_hooks for module in recognizer.modules())


def test_frozen_weights_have_gradients_of_maps_too() -> None:
    frozen, trained, images = make_recognizer(), make_recognizer(), torch.randn(2, 3, 12, 40)
    frozen.requires_grad_(False)
    torch.testing.assert_close(
        character_relevance(frozen, images, LABELS), character_relevance(trained, images, LABELS)
    )


def test_gradients_of_maps_are_those_of_explicit_maps() -> None:
    """Equation 5, with maps that take part in the computation themselves."""
    recognizer, images = make_recognizer(), torch.randn(1, 3, 12, 40)
    maps: dict[nn.Module, Tensor] = {}

    def explicit(core: nn.Module) -> Callable[..., Tensor]:
        def forward(queries: Tensor, keys: Tensor, values: Tensor, mask: Any = None) -> Tensor:
            maps[core] = attention_weights(queries, keys, mask)
            return maps[core] @ values

        return forward

    found = character_relevance(recognizer, images, LABELS[:1])[0, 1]
    cores = [each for each in recognizer.modules() if isinstance(each, ScaledDotProductAttention)]
    for core in cores:
        core.forward = explicit(core)
    score = recognizer.decoder.logits(recognizer.encode(images), LABELS[:1])[0, 1, 2]
    gradients = torch.autograd.grad(score, [maps[core] for core in cores])
    weighted = {
        core: (gradient * maps[core]).clamp(min=0).mean(1)
        for core, gradient in zip(cores, gradients, strict=True)
    }
    encoder = [weighted[block.attention.attend] for block in recognizer.encoder.blocks]
    decoder = [
        DecoderLayer(weighted[block.self_attention.attend], weighted[block.cross_attention.attend])
        for block in recognizer.decoder.blocks
    ]
    relevance = propagate(encoder, decoder)[0, 1]
    torch.testing.assert_close(found.flatten(), (relevance / relevance.sum()).detach().double())


def test_relevance_worked_by_hand() -> None:
    """Two patches, two characters, one layer each; numbers of equations 5 to 10."""
    encoder = torch.tensor([[[0.2, 0.6], [0.0, 0.0]]])
    to_characters = torch.tensor([[[0.0, 0.0], [0.5, 0.1]]])
    to_image = torch.tensor([[[0.3, 0.1], [0.0, 0.4]]])
    found = propagate([encoder], [DecoderLayer(to_characters, to_image)])[0]
    # Image: I + encoder; what was added, as shares of rows, is [[1/4, 3/4], [0, 0]].
    # Text: I + to_characters; likewise [[0, 0], [5/6, 1/6]], transposed [[1, 5/6], [0, 7/6]].
    # to_image times [[5/4, 3/4], [0, 1]] is [[0.375, 0.325], [0, 0.4]].
    expected = torch.tensor([[0.375 + 0 * 5 / 6, 0.325 + 0.4 * 5 / 6], [0 * 7 / 6, 0.4 * 7 / 6]])
    torch.testing.assert_close(found, expected)


def test_relevance_of_earlier_blocks_is_handed_on_between_characters() -> None:
    """The second block looks at no image, only from the second character at the first."""
    nothing = torch.zeros(1, 2, 2)
    first = DecoderLayer(nothing, torch.tensor([[[0.3, 0.1], [0.0, 0.4]]]))
    second = DecoderLayer(torch.tensor([[[0.0, 0.0], [0.5, 0.0]]]), nothing)
    found = propagate([], [first, second])[0]
    torch.testing.assert_close(found, torch.tensor([[0.3, 0.1], [0.15, 0.45]]))


@pytest.mark.parametrize("options", [{}, {"class_token": True, "registers": 1}])
def test_relevance_of_a_model(options: dict[str, object]) -> None:
    recognizer, images = make_recognizer(**options), torch.randn(2, 3, 12, 40)
    found = character_relevance(recognizer, images, LABELS)
    assert found.shape == (2, 3, 3, 5)
    assert (found >= 0).all()
    sums = found.sum((2, 3))
    torch.testing.assert_close(sums, (LABELS != -1).double())
    alone = character_relevance(recognizer, images[1:], LABELS[1:, :2])
    torch.testing.assert_close(found[1:, :2], alone, atol=1e-5, rtol=1e-4)


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
    read = generate(recognizer.decoder, recognizer.encode(images))
    found = probabilities(recognizer, images, read.labels)
    there = read.labels != -1
    torch.testing.assert_close(found[there], read.confidences[there])


def layer_maps(layers: int = 3, tokens: int = 15) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(layers, 2, 4, tokens, tokens, generator=generator, dtype=torch.float64)
    return list(scores.softmax(-1))


def test_even_attention_mixes_by_the_share_it_has() -> None:
    """After n layers, residual^n of a token is its own; the rest is even over all tokens."""
    even = torch.full((1, 2, 15, 15), 1 / 15, dtype=torch.float64)
    for number, mixed in enumerate(rollout([even] * 3, residual=0.6), 1):
        kept = 0.6**number
        expected = kept * torch.eye(15, dtype=torch.float64) + (1 - kept) / 15
        torch.testing.assert_close(mixed[0], expected)


def test_the_product_is_last_layer_times_the_ones_before() -> None:
    maps = layer_maps()
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
    found = character_rollout(recognizer, images, LABELS)
    assert found.shape == (2, 3, 3, 5)
    torch.testing.assert_close(found.sum((2, 3)), torch.ones(2, 3, dtype=torch.float64))
    reached = (looked_at(recognizer.decoder, features, LABELS) @ expected[-1])[1, 1]
    patches = reached[encoder.special_tokens :]
    torch.testing.assert_close(found[1, 1].flatten(), patches / patches.sum())


def test_what_cannot_be_rolled_out_is_refused() -> None:
    with pytest.raises(ValueError, match="from 0 to 1, found 2"):
        rollout(layer_maps(), residual=2)
    with pytest.raises(ValueError, match="holds no attention"):
        encoder_rollout(ConvolutionalEncoder((8,), (0,), ((8, 8),)), torch.zeros(1, 3, 32, 128))
