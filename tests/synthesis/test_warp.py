from dataclasses import replace

import pytest
import torch

from vit_str.characters.charset import PADDING
from vit_str.synthesis.ingredients import Ingredients
from vit_str.synthesis.layout import Lines, Typesetter
from vit_str.synthesis.random_numbers import Random, noise_bank
from vit_str.synthesis.view import View, sample_view
from vit_str.synthesis.warp import character_boxes, crop_mask, token_characters

SIZE = (32, 128)


@pytest.fixture
def lines(atlas) -> Lines:
    ids = atlas.charset.encode_batch(["window", "Ant", "10.30", "WWWWWWWWWWWW"] * 8)
    fonts = torch.zeros(len(ids), dtype=torch.long)
    return Typesetter(atlas).lay_out(ids, fonts, torch.full((len(ids), 1), 4.0))


def view_of(lines: Lines, strengths: Ingredients | None = None) -> View:
    count = len(lines.widths)
    return sample_view(
        lines, strengths or Ingredients(), Random(5, count, noise_bank("cpu"))
    )


def test_backward_undoes_forward(lines):
    points = torch.rand(len(lines.widths), 50, 2) * 1.8 - 0.9
    view = view_of(lines)
    torch.testing.assert_close(
        view.backward(view.forward(points)), points, rtol=1e-3, atol=1e-3
    )


def test_without_ingredients_a_word_stays_flat(lines):
    off = Ingredients(rotation=0, shear=0, perspective=0, curve=0, margin=0)
    view = view_of(lines, off)
    corners = torch.tensor([[-1.0, 0.0], [1.0, 0.0]]).expand(len(lines.widths), -1, -1)
    seen = view.forward(corners)
    torch.testing.assert_close(seen[:, 0, 0], torch.zeros(len(seen)), atol=1e-4, rtol=0)
    torch.testing.assert_close(seen[:, 1, 0], torch.ones(len(seen)), atol=1e-4, rtol=0)
    torch.testing.assert_close(seen[:, 0, 1], seen[:, 1, 1])


def test_boxes_follow_the_warp(lines):
    """Ink lies where the boxes say: inside their union, and hardly any outside."""
    view = view_of(lines)
    mask = crop_mask(lines, view, SIZE)[:, 0]
    boxes = character_boxes(lines, view, SIZE)
    for ink, row in zip(mask, boxes, strict=True):
        inside = torch.zeros(SIZE, dtype=torch.bool)
        for left, top, right, bottom in row[row.any(1)].tolist():
            rows = slice(max(0, int(top) - 1), max(0, int(bottom) + 2))
            inside[rows, max(0, int(left) - 1) : max(0, int(right) + 2)] = True
        assert ink[inside].sum() > 0.93 * ink.sum()


def test_tokens_name_the_character_whose_box_they_are_in(lines):
    view = view_of(lines)
    grid = (8, 16)
    named = token_characters(lines, view, grid).view(-1, *grid)
    boxes = character_boxes(lines, view, SIZE)
    right = total = 0
    for row in range(len(named)):
        order = lines.ids[row][lines.ids[row] != PADDING]
        for y, x in (named[row] != PADDING).nonzero().tolist():
            center = torch.tensor([(x + 0.5) * 8, (y + 0.5) * 4])
            distance = (boxes[row, : len(order), 0::2].mean(1) - center[0]).abs()
            nearest = order[int(distance.argmin())] if len(order) else PADDING
            right += int(nearest == named[row, y, x])
            total += 1
    assert total > 1000
    assert right / total > 0.85


def test_tall_crops_are_turned_as_readers_turn_them(lines):
    quarter = Ingredients(rotation=0, turned=20)
    view = view_of(lines, quarter)
    assert view.turned.float().mean() > 0.5
    upright = replace(view, turned=torch.zeros_like(view.turned))
    turned = crop_mask(lines, view, SIZE)[view.turned]
    unturned = crop_mask(lines, upright, SIZE[::-1])[view.turned]
    right = (turned - unturned.rot90(1, (2, 3))).abs().mean()
    wrong = (turned - unturned.rot90(-1, (2, 3))).abs().mean()
    # Not 0: one is averaged over columns, the other over rows
    assert right < 0.2 * wrong


def test_letters_on_a_wall_beside_the_camera_stand_upright(atlas):
    """Lines are narrower and run up and down, letters stand as on a wall in front."""
    ids = atlas.charset.encode_batch(["window"] * 400)
    fonts = torch.zeros(len(ids), dtype=torch.long)
    words = Typesetter(atlas).lay_out(ids, fonts, torch.full((len(ids), 1), 4.0))
    flat = dict.fromkeys(Ingredients.__dataclass_fields__, 0.0)
    view = view_of(words, Ingredients(**flat | {"perspective": 1.0}))
    narrowed, rise = (view.homography[:, :2, 0] / view.aspect[:, None]).unbind(1)
    beside = narrowed < 0.999
    assert 0.2 < beside.float().mean() < 0.4
    assert narrowed.min() > 0.3
    assert rise[beside].abs().max() > 0.3
    assert not rise[~beside].any()
    upright = torch.tensor([0.0, 1.0]).expand(400, 2)
    assert torch.equal(view.homography[:, :2, 1], upright)


def test_words_too_small_to_read_are_seen_straight_on(atlas):
    ids = atlas.charset.encode_batch(["n" * 21] * 64)
    lines = Typesetter(atlas).lay_out(
        ids, torch.zeros(64, dtype=torch.long), torch.zeros(64, 1)
    )
    boxes = character_boxes(lines, view_of(lines, Ingredients(rotation=6)), SIZE)
    middle = (boxes[..., 1] + boxes[..., 3]) / 2
    steps = boxes[:, 1:, :2] - boxes[:, :-1, :2]
    assert (steps.norm(dim=-1).mean(1) > 2.5).all()
    flat = (middle[:, 0] - middle[:, 20]).abs() < 2
    assert 0.1 < flat.float().mean() < 1


def test_an_arc_keeps_the_length_of_the_baseline(lines):
    view = view_of(
        lines, Ingredients(rotation=0, shear=0, perspective=0, turned=0, curve=3)
    )
    x = torch.linspace(-1, 1, 200)
    points = torch.stack([x, torch.zeros_like(x)], -1).expand(len(lines.widths), -1, -1)
    plane = view.forward(points) * view.size[:, None]
    plane = torch.where(view.turned[:, None, None], plane.flip(-1), plane)
    length = plane.diff(dim=1).norm(dim=-1).sum(1)
    bent = view.arc.abs() > 0.5
    assert bent.any()
    torch.testing.assert_close(length[bent], 2 * view.aspect[bent], rtol=1e-2, atol=0)
