from dataclasses import fields, replace

import pytest
import torch

from vit_str.synthesis.glyphs import GlyphAtlas
from vit_str.synthesis.ingredients import Ingredients
from vit_str.synthesis.layout import Lines, Typesetter
from vit_str.synthesis.random_numbers import Random, noise_bank
from vit_str.synthesis.view import sample_view
from vit_str.synthesis.warp import character_boxes, crop_mask

SIZE = (64, 256)
OFF = Ingredients(**{field.name: 0.0 for field in fields(Ingredients)})
EVERY_WORD = {"jitter": 10.0, "raised": 34.0, "stacked": 50.0}


def lay_out(
    atlas: GlyphAtlas, words: list[str], strengths: Ingredients
) -> tuple[Lines, torch.Tensor, torch.Tensor]:
    """The words, their masks seen straight on, and the boxes of their letters there."""
    random = Random(3, len(words), noise_bank("cpu"))
    lines = Typesetter(atlas).set(atlas.charset.encode_batch(words), strengths, random)
    view = sample_view(lines, replace(strengths, margin=0), random, SIZE)
    return lines, crop_mask(lines, view, SIZE)[:, 0], character_boxes(lines, view, SIZE)


@pytest.mark.parametrize("name", list(EVERY_WORD))
def test_ink_lies_in_the_boxes_wherever_letters_stand(atlas, name):
    strengths = replace(OFF, **{name: EVERY_WORD[name]})
    _, masks, boxes = lay_out(atlas, ["window", "Ant", "10.30", "Gjpq"] * 4, strengths)
    for ink, word in zip(masks, boxes, strict=True):
        inside = torch.zeros(SIZE, dtype=torch.bool)
        for left, top, right, bottom in word[word.any(1)].tolist():
            rows = slice(max(0, int(top) - 1), max(0, int(bottom) + 2))
            inside[rows, max(0, int(left) - 1) : max(0, int(right) + 2)] = True
        assert ink[inside].sum() > 0.97 * ink.sum()
        assert ink.sum() > 200


def test_stacked_letters_follow_each_other_with_their_tops_to_the_left(atlas):
    lines, masks, boxes = lay_out(
        atlas, ["TTTT"] * 3, replace(OFF, stacked=EVERY_WORD["stacked"])
    )
    assert lines.stacks is not None and len(lines.stacks.rows) == 3
    for ink, word in zip(masks, boxes, strict=True):
        # In reading order, none over another
        assert (word[:-1, 2] <= word[1:, 0] + 1).all()
        left, top, right, bottom = word[1].round().int().tolist()
        letter = ink[top:bottom, left:right]
        bar = letter[:, : (right - left) // 4]
        foot = letter[:, -(right - left) // 4 :]
        assert bar.sum() > 1.5 * foot.sum()


def test_the_last_letters_or_all_but_the_first_are_smaller(atlas):
    _, _, boxes = lay_out(
        atlas, ["HHHHH"] * 32, replace(OFF, raised=EVERY_WORD["raised"])
    )
    heights = boxes[..., 3] - boxes[..., 1]
    small = heights < 0.9 * heights[:, :1]
    assert set(small.sum(1).tolist()) == {1, 2, 4}
    widths = boxes[..., 2] - boxes[..., 0]
    assert (widths[small] < 0.95 * widths[:, :1].expand_as(widths)[small]).all()


def test_letters_off_the_baseline_keep_their_columns(atlas):
    words = ["HHHHHH"] * 16
    _, _, flat = lay_out(atlas, words, OFF)
    lines, _, _ = lay_out(atlas, words, replace(OFF, jitter=EVERY_WORD["jitter"]))
    bottoms = lines.boxes[..., 3]
    assert (bottoms.amax(1) - bottoms.amin(1) > 1).float().mean() > 0.8
    plain = Typesetter(atlas).set(
        atlas.charset.encode_batch(words), OFF, Random(3, len(words), noise_bank("cpu"))
    )
    torch.testing.assert_close(lines.boxes[..., 0::2], plain.boxes[..., 0::2])
    assert (flat[:, :, 3] - flat[:, :1, 3]).abs().max() < 0.5


@pytest.mark.parametrize(
    "name", ["jitter", "raised", "stacked", "turned", "curve", "spacing"]
)
def test_an_ingredient_changes_its_own_words_only(atlas, name):
    """The random numbers of everything else stay the same whatever its strength."""
    ids = atlas.charset.encode_batch(["window", "Ant", "10.30", "Gjpq"] * 64)
    widths = []
    for strength in (0.0, 1.0):
        random = Random(5, len(ids), noise_bank("cpu"))
        lines = Typesetter(atlas).set(ids, replace(OFF, **{name: strength}), random)
        view = sample_view(lines, replace(OFF, **{name: strength}), random)
        widths.append(character_boxes(lines, view, SIZE))
    changed = ((widths[0] - widths[1]).abs() > 1e-3).flatten(1).any(1).float().mean()
    assert 0 < changed < 0.45
