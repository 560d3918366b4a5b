import numpy as np
import pytest

from vit_str.decoding.boxes import Frame, attention_maps, boxes_in, character_boxes

SIZE = (32, 128)  # grids of 4 x 8 patches, 8 x 16 pixels each


def peaks(columns: list[float], row: int = 1, sharpness: float = 4.0) -> np.ndarray:
    """One word whose attention lies around columns of a 4 x 8 grid, in one row."""
    shares = np.exp(-sharpness * np.square(np.arange(8) - np.array(columns)[:, None]))
    maps = np.zeros((1, len(columns), 4, 8), np.float32)
    maps[0, :, row] = shares / shares.sum(1, keepdims=True)
    return maps


def everywhere(maps: np.ndarray) -> np.ndarray:
    return np.ones(maps.shape[:2], bool)


def test_boxes_meet_halfway_and_lie_around_the_attention():
    maps = peaks([1, 3, 5], sharpness=1.0)
    boxes = character_boxes(maps, everywhere(maps), SIZE)[0]
    assert boxes[:-1, 2].tolist() == pytest.approx(boxes[1:, 0].tolist(), abs=0.5)
    # Column 3 is at 56
    assert boxes[1].tolist()[::2] == pytest.approx([40, 72], abs=0.5)
    np.testing.assert_allclose(boxes[:, [1, 3]].mean(1), 12.0, rtol=1e-5)


def test_rows_and_columns_are_not_swapped():
    maps = np.zeros((1, 1, 4, 8), np.float32)
    maps[0, 0, 3, 6] = 1
    left, top, right, bottom = character_boxes(maps, everywhere(maps), SIZE)[
        0, 0
    ].tolist()
    assert left < 104 < right
    assert 16 < top < 28 < bottom <= 32
    assert right - left > bottom - top


def test_a_wide_gap_is_not_part_of_the_characters_beside_it():
    maps = peaks([0, 1, 6, 7])
    boxes = character_boxes(maps, everywhere(maps), SIZE)[0]
    assert boxes[2, 0] - boxes[1, 2] > 16


def test_a_mirrored_word_has_mirrored_boxes():
    noise = np.random.default_rng(1).random((1, 4, 4, 8), np.float32)
    maps = peaks([0.6, 2.1, 3.9, 6.2]) + np.float32(0.1) * noise
    maps /= maps.sum((2, 3), keepdims=True)
    boxes = character_boxes(maps, everywhere(maps), SIZE)
    mirrored = character_boxes(maps[..., ::-1], everywhere(maps), SIZE)
    np.testing.assert_allclose(
        mirrored[..., [0, 2]], 128 - boxes[..., [2, 0]], atol=1e-4
    )
    np.testing.assert_allclose(mirrored[..., [1, 3]], boxes[..., [1, 3]], atol=1e-4)


def test_padding_and_other_words_change_nothing():
    short = peaks([2, 5])
    long = peaks([0, 1, 3, 6], row=2)
    alone = character_boxes(short, everywhere(short), SIZE)
    batch = np.concatenate([np.concatenate([short, np.full_like(short, 0.5)], 1), long])
    there = np.array([[True, True, False, False], [True] * 4])
    boxes = character_boxes(batch, there, SIZE)
    np.testing.assert_allclose(boxes[:1, :2], alone, rtol=1e-5)
    assert not boxes[0, 2:].any()
    np.testing.assert_allclose(
        boxes[1:], character_boxes(long, everywhere(long), SIZE), rtol=1e-5
    )


@pytest.mark.parametrize("positions", [0, 1, 2, 3])
def test_words_without_characters(positions):
    maps = np.full((2, positions, 4, 8), 1 / 32, np.float32)
    boxes = character_boxes(maps, np.zeros((2, positions), bool), SIZE)
    assert boxes.shape == (2, positions, 4)
    assert not boxes.any()


def test_a_grid_of_one_row_has_boxes_with_a_height():
    maps = np.eye(8, dtype=np.float32)[None, :, None]
    boxes = character_boxes(maps, everywhere(maps), SIZE)[0]
    assert (boxes[:, 3] - boxes[:, 1] > 16).all()


def test_special_tokens_stand_for_no_place():
    attention = np.zeros((1, 1, 3 + 32), np.float32)
    attention[..., :3], attention[..., 3 + 9] = 0.3, 0.1
    maps = attention_maps(attention, grid=(4, 8), special_tokens=3)
    assert maps.shape == (1, 1, 4, 8)
    assert maps[0, 0, 1, 1] == pytest.approx(1)


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        (Frame(60, 300, turned=False), (37.5, 15, 75, 30)),
        (Frame(60, 300, turned=False, upside_down=True), (225, 30, 262.5, 45)),
        (Frame(300, 60, turned=True), (30, 37.5, 45, 75)),
        (Frame(300, 60, turned=True, upside_down=True), (15, 225, 30, 262.5)),
    ],
)
def test_boxes_are_in_pixels_of_the_image_as_it_was_given(frame, expected):
    seen = np.array([[[16.0, 8.0, 32.0, 16.0]]])
    assert [tuple(box) for (box,) in boxes_in([frame], seen, SIZE)] == [expected]
