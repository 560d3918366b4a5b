import pytest
import torch
from torch import Tensor

from vit_str.charset import PADDING
from vit_str.models import Recognizer, TransformerDecoder, VisionTransformer
from vit_str.models.attention import record_attention
from vit_str.models.character_boxes import (
    attention_maps,
    centroids,
    character_boxes,
    cross_attention,
    locate_characters,
    looking_blocks,
)
from vit_str.models.hypotheses import Hypotheses
from vit_str.models.interfaces import Decoder

SIZE = (32, 128)  # grids of 4 x 8 patches, 8 x 16 pixels each


def peaks(columns: list[float], row: int = 1, sharpness: float = 4.0) -> Tensor:
    """One word whose attention lies around columns of a 4 x 8 grid, in one row."""
    places = torch.arange(8.0)
    shares = (-sharpness * (places - torch.tensor(columns)[:, None]).square()).softmax(-1)
    maps = torch.zeros(1, len(columns), 4, 8)
    maps[0, :, row] = shares
    return maps


def everywhere(maps: Tensor) -> Tensor:
    return torch.ones(maps.shape[:2], dtype=torch.bool)


def small(class_token: bool = False, registers: int = 0) -> Recognizer:
    torch.manual_seed(0)
    encoder = VisionTransformer(
        dim=32, depth=1, heads=2, patch_size=(8, 16), class_token=class_token, registers=registers
    )
    decoder = TransformerDecoder(10, dim=32, depth=2, heads=4, maximum_length=6)
    return Recognizer(encoder, decoder).eval()


class Blind(Decoder):
    dim, charset_size, maximum_length = 32, 10, 6

    def loss(self, features: Tensor, labels: Tensor) -> Tensor:
        return features.mean()

    def generate(self, features: Tensor) -> Hypotheses:
        raise NotImplementedError


def test_boxes_meet_halfway_and_lie_around_the_attention() -> None:
    maps = peaks([1, 3, 5], sharpness=1.0)
    boxes = character_boxes(maps, everywhere(maps), SIZE)[0]
    torch.testing.assert_close(centroids(maps, SIZE)[0, :, 1], torch.full((3,), 12.0))
    assert boxes[:-1, 2].tolist() == pytest.approx(boxes[1:, 0].tolist(), abs=0.5)
    assert boxes[1].tolist()[::2] == pytest.approx([40, 72], abs=0.5)  # column 3 is at 56
    torch.testing.assert_close(boxes[:, [1, 3]].mean(1), torch.full((3,), 12.0))


def test_rows_and_columns_are_not_swapped() -> None:
    maps = torch.zeros(1, 1, 4, 8)
    maps[0, 0, 3, 6] = 1
    assert centroids(maps, SIZE).tolist() == [[[104, 28]]]
    left, top, right, bottom = character_boxes(maps, everywhere(maps), SIZE)[0, 0].tolist()
    assert left < 104 < right
    assert 16 < top < 28 < bottom <= 32
    assert right - left > bottom - top


def test_a_wide_gap_is_not_part_of_the_characters_beside_it() -> None:
    maps = peaks([0, 1, 6, 7])
    boxes = character_boxes(maps, everywhere(maps), SIZE)[0]
    assert boxes[2, 0] - boxes[1, 2] > 16


def test_a_single_character_is_as_wide_as_its_attention() -> None:
    narrow, wide = (peaks([3.5], sharpness=sharpness) for sharpness in (4.0, 0.2))
    boxes = [character_boxes(maps, everywhere(maps), SIZE)[0, 0] for maps in (narrow, wide)]
    assert boxes[0][2] - boxes[0][0] < boxes[1][2] - boxes[1][0] <= 128


def test_even_attention_gives_a_box_of_about_the_image_within_it() -> None:
    maps = torch.full((1, 1, 4, 8), 1 / 32)
    left, top, right, bottom = character_boxes(maps, everywhere(maps), SIZE)[0, 0].tolist()
    assert 0 <= left < 10
    assert 118 < right <= 128
    assert 0 <= top < 8
    assert 24 < bottom <= 32


def test_a_mirrored_word_has_mirrored_boxes() -> None:
    torch.manual_seed(1)
    maps = peaks([0.6, 2.1, 3.9, 6.2]) + 0.1 * torch.rand(1, 4, 4, 8)
    maps /= maps.sum((2, 3), keepdim=True)
    boxes = character_boxes(maps, everywhere(maps), SIZE)
    mirrored = character_boxes(maps.flip(3), everywhere(maps), SIZE)
    torch.testing.assert_close(mirrored[..., [0, 2]], 128 - boxes[..., [2, 0]])
    torch.testing.assert_close(mirrored[..., [1, 3]], boxes[..., [1, 3]])


def test_padding_and_other_words_change_nothing() -> None:
    short, long = peaks([2, 5]), peaks([0, 1, 3, 6], row=2)
    alone = character_boxes(short, everywhere(short), SIZE)
    batch = torch.cat([torch.cat([short, torch.rand(1, 2, 4, 8)], 1), long])
    there = torch.tensor([[True, True, False, False], [True] * 4])
    boxes = character_boxes(batch, there, SIZE)
    torch.testing.assert_close(boxes[:1, :2], alone)
    assert not boxes[0, 2:].any()
    torch.testing.assert_close(boxes[1:], character_boxes(long, everywhere(long), SIZE))


@pytest.mark.parametrize("positions", [0, 1, 2, 3])
def test_words_without_characters(positions: int) -> None:
    maps = torch.full((2, positions, 4, 8), 1 / 32)
    boxes = character_boxes(maps, torch.zeros(2, positions, dtype=torch.bool), SIZE)
    assert boxes.shape == (2, positions, 4)
    assert not boxes.any()


def test_a_grid_of_one_row_has_boxes_with_a_height() -> None:
    maps = torch.eye(8)[None, :, None]
    boxes = character_boxes(maps, everywhere(maps), SIZE)[0]
    assert (boxes[:, 3] - boxes[:, 1] > 16).all()


def test_cross_attention_is_that_of_every_block_without_the_end() -> None:
    recognizer = small()
    features = recognizer.encode(torch.randn(2, 3, *SIZE))
    labels = torch.tensor([[1, 2, 3], [4, PADDING, PADDING]])
    seen = cross_attention(recognizer.decoder, features, labels)
    assert seen.shape == (2, 2, 4, 3, 32)
    torch.testing.assert_close(seen.sum(-1), torch.ones(2, 2, 4, 3))
    with record_attention(recognizer.decoder) as maps:
        recognizer.decoder.loss(features, labels)
    torch.testing.assert_close(seen[:, 1], maps["blocks.1.cross_attention"][0][:, :, :3])


def test_special_tokens_stand_for_no_place() -> None:
    recognizer = small(class_token=True, registers=2)
    attention = torch.zeros(1, 1, 3 + 32)
    attention[..., :3], attention[..., 3 + 9] = 0.3, 0.1
    maps = attention_maps(recognizer.encoder, attention)
    assert maps.shape == (1, 1, 4, 8)
    assert maps[0, 0, 1, 1] == pytest.approx(1)
    features = recognizer.encode(torch.randn(1, 3, *SIZE))
    boxes = locate_characters(
        recognizer.encoder, recognizer.decoder, features, torch.tensor([[1, 2]])
    )
    assert ((boxes >= 0) & (boxes <= torch.tensor([128, 32, 128, 32]))).all()
    assert (boxes[..., 2:] > boxes[..., :2]).all()


def test_a_decoder_that_does_not_look_has_no_boxes() -> None:
    assert len(looking_blocks(small().decoder)) == 2
    with pytest.raises(ValueError, match="Blind has no cross-attention"):
        cross_attention(Blind(), torch.zeros(1, 32, 32), torch.zeros(1, 2, dtype=torch.int64))
