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
from vit_str.models import ConvolutionalEncoder, Recognizer, TransformerDecoder, VisionTransformer
from vit_str.models.attention import ScaledDotProductAttention, attention_weights

LABELS = torch.tensor([[1, 2, 3], [4, 5, -1]])


def make_recognizer(**arguments: object) -> Recognizer:
    torch.manual_seed(0)
    sizes = {"dim": 16, "depth": 2, "heads": 2, "image_size": (12, 40), "patch_size": (4, 8)}
    encoder = VisionTransformer(**{**sizes, **arguments})
    return Recognizer(encoder, TransformerDecoder(9, 16, 2, 2, maximum_length=4)).eval()


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
    torch.testing.assert_close(found.flatten(), (relevance / relevance.sum()).detach())


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
    torch.testing.assert_close(sums, (LABELS != -1).float())
    alone = character_relevance(recognizer, images[1:], LABELS[1:, :2])
    torch.testing.assert_close(found[1:, :2], alone, atol=1e-5, rtol=1e-4)


def test_characters_to_come_change_nothing() -> None:
    recognizer, images = make_recognizer(), torch.randn(1, 3, 12, 40)
    first = character_relevance(recognizer, images, torch.tensor([[1, 2, 3]]))
    second = character_relevance(recognizer, images, torch.tensor([[1, 2, 8]]))
    torch.testing.assert_close(first[:, :2], second[:, :2])
    assert not torch.allclose(first[:, 2], second[:, 2])


def test_encoders_without_attention_have_relevance_too() -> None:
    torch.manual_seed(0)
    encoder = ConvolutionalEncoder((16,), (1,), ((4, 8),), (12, 40))
    recognizer = Recognizer(encoder, TransformerDecoder(9, 16, 1, 2, maximum_length=4)).eval()
    found = character_relevance(recognizer, torch.randn(2, 3, 12, 40), LABELS)
    assert found.shape == (2, 3, 3, 5)
    assert character_relevance(recognizer, torch.randn(2, 3, 12, 40), LABELS[:, :0]).shape[1] == 0
