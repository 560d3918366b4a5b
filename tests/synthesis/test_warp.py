import pytest
import torch

from vit_str.charset import PADDING
from vit_str.synthesis.draw import Draw, noise_bank
from vit_str.synthesis.glyphs import GlyphAtlas
from vit_str.synthesis.ingredients import Ingredients
from vit_str.synthesis.layout import Lines, Typesetter
from vit_str.synthesis.warp import (
    View,
    character_boxes,
    crop_mask,
    sample_view,
    token_characters,
)

SIZE = (32, 128)


@pytest.fixture
def lines(atlas: GlyphAtlas) -> Lines:
    ids = atlas.charset.encode_batch(["window", "Ant", "10.30", "WWWWWWWWWWWW"] * 8)
    fonts = torch.zeros(len(ids), dtype=torch.long)
    return Typesetter(atlas).lay_out(ids, fonts, torch.full((len(ids),), 4.0))


def view_of(lines: Lines, strengths: Ingredients | None = None) -> View:
    count = len(lines.widths)
    return sample_view(lines, strengths or Ingredients(), Draw(5, count, noise_bank("cpu")))


def test_backward_undoes_forward(lines: Lines) -> None:
    points = torch.rand(len(lines.widths), 50, 2) * 1.8 - 0.9
    view = view_of(lines)
    torch.testing.assert_close(view.backward(view.forward(points)), points, rtol=1e-3, atol=1e-3)


def test_without_ingredients_a_word_stays_flat(lines: Lines) -> None:
    off = Ingredients(rotation=0, shear=0, perspective=0, curve=0, margin=0)
    view = view_of(lines, off)
    corners = torch.tensor([[-1.0, 0.0], [1.0, 0.0]]).expand(len(lines.widths), -1, -1)
    seen = view.forward(corners)
    torch.testing.assert_close(seen[:, 0, 0], torch.zeros(len(seen)), atol=1e-4, rtol=0)
    torch.testing.assert_close(seen[:, 1, 0], torch.ones(len(seen)), atol=1e-4, rtol=0)
    torch.testing.assert_close(seen[:, 0, 1], seen[:, 1, 1])


def test_the_ink_stays_in_the_crop(lines: Lines) -> None:
    """Margins may cut a little, as real crops do, never much."""
    loose = crop_mask(lines, view_of(lines, Ingredients(margin=0)), SIZE)
    normal = crop_mask(lines, view_of(lines), SIZE)
    for mask in (loose, normal):
        assert mask.shape == (len(lines.widths), 1, *SIZE)
        assert mask.min() >= 0
        assert mask.max() <= 1 + 1e-5
        assert (mask.sum((1, 2, 3)) > 60).all()


def test_boxes_follow_the_warp(lines: Lines) -> None:
    """Ink lies where the boxes say: inside their union, and hardly any outside."""
    view = view_of(lines)
    mask, boxes = crop_mask(lines, view, SIZE)[:, 0], character_boxes(lines, view, SIZE)
    for ink, row in zip(mask, boxes, strict=True):
        inside = torch.zeros(SIZE, dtype=torch.bool)
        for left, top, right, bottom in row[row.any(1)].tolist():
            rows = slice(max(0, int(top) - 1), max(0, int(bottom) + 2))
            inside[rows, max(0, int(left) - 1) : max(0, int(right) + 2)] = True
        assert ink[inside].sum() > 0.93 * ink.sum()


def test_tokens_name_the_character_whose_box_they_are_in(lines: Lines) -> None:
    view, grid = view_of(lines), (8, 16)
    named = token_characters(lines, view, grid).view(-1, *grid)
    boxes = character_boxes(lines, view, SIZE)
    ids = lines.characters
    right = total = 0
    for row in range(len(named)):
        order = ids[row][ids[row] != PADDING].unique_consecutive()
        for y, x in (named[row] != PADDING).nonzero().tolist():
            center = torch.tensor([(x + 0.5) * 8, (y + 0.5) * 4])
            distance = (boxes[row, : len(order), 0::2].mean(1) - center[0]).abs()
            nearest = order[int(distance.argmin())] if len(order) else PADDING
            right += int(nearest == named[row, y, x])
            total += 1
    assert total > 1000
    assert right / total > 0.85


def test_tokens_outside_the_word_have_no_character(lines: Lines) -> None:
    view = view_of(lines, Ingredients(margin=4))
    named = token_characters(lines, view, (4, 16)) != PADDING
    assert 0.05 < named.float().mean() < 0.7
