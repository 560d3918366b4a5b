import pytest
import torch
from torch import Tensor

from vit_str.characters.charset import PADDING
from vit_str.models import Recognizer, TransformerDecoder, VisionTransformer
from vit_str.models.attention import record_attention
from vit_str.models.cross_attention import cross_attention, looking_blocks
from vit_str.models.interfaces import Decoder

SIZE = (32, 128)  # grids of 4 x 8 patches, 8 x 16 pixels each


def small(class_token: bool = False, registers: int = 0) -> Recognizer:
    torch.manual_seed(0)
    encoder = VisionTransformer(
        dim=32,
        depth=1,
        heads=2,
        patch_size=(8, 16),
        class_token=class_token,
        registers=registers,
    )
    decoder = TransformerDecoder(10, dim=32, depth=2, heads=4, maximum_length=6)
    return Recognizer(encoder, decoder).eval()


class Blind(Decoder):
    dim = 32
    charset_size = 10
    maximum_length = 6

    def loss(self, features: Tensor, labels: Tensor) -> Tensor:
        return features.mean()


def test_cross_attention_is_that_of_every_block_without_the_end():
    recognizer = small()
    features = recognizer.encode(torch.randn(2, 3, *SIZE))
    labels = torch.tensor([[1, 2, 3], [4, PADDING, PADDING]])
    seen = cross_attention(recognizer.decoder, features, labels)
    assert seen.shape == (2, 2, 4, 3, 32)
    torch.testing.assert_close(seen.sum(-1), torch.ones(2, 2, 4, 3))
    with record_attention(recognizer.decoder) as maps:
        recognizer.decoder.loss(features, labels)
    torch.testing.assert_close(
        seen[:, 1], maps["blocks.1.cross_attention"][0][:, :, :3]
    )


def test_a_decoder_that_does_not_look_has_no_boxes():
    assert len(looking_blocks(small().decoder)) == 2
    with pytest.raises(ValueError, match="Blind has no cross-attention"):
        cross_attention(
            Blind(), torch.zeros(1, 32, 32), torch.zeros(1, 2, dtype=torch.int64)
        )
