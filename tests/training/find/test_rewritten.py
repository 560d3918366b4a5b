"""Lines written anew: codes in place of words, which are gone from picture and truth."""

from dataclasses import replace

import numpy as np
import pytest

from vit_str.synthesis.places import Places, no_places, upright_strips
from vit_str.training.find import rewritten
from vit_str.training.find.rewritten import with_codes

SIZE = 14
GROUND = 240


@pytest.fixture(autouse=True)
def short_codes(monkeypatch):
    monkeypatch.setattr(rewritten, "CODES", ("[0-9]{2}~[0-9]{2}",))


@pytest.fixture
def page() -> tuple[np.ndarray, Places]:
    """Ten lines of two words of black bars."""
    tops = np.arange(10) * 26 + 20
    boxes = [(left, top, left + 50, top + SIZE) for top in tops for left in (20, 90)]
    pixels = np.full((300, 300, 3), GROUND, np.uint8)
    for left, top, right, bottom in boxes:
        pixels[top + 2 : bottom - 2, left:right:3] = 20
    sizes = np.full(len(boxes), float(SIZE))
    strips = upright_strips(np.array(boxes, float), sizes, np.zeros(len(boxes), int))
    lines = np.arange(len(boxes), dtype=np.int32) // 2
    return pixels, replace(no_places(), strips=strips, lines=lines)


def test_old_words_are_gone_and_new_ones_where_their_ink_is(page, one_font):
    pixels, places = page
    count = 0
    for seed in range(20):
        image, found = with_codes(np.random.default_rng(seed), pixels, places, one_font)
        is_kept = (found.strips[:, None] == places.strips).all((2, 3, 4)).any(0)
        new = np.arange(len(found.lines)) >= is_kept.sum()
        assert np.array_equal(found.strips[~new], places.strips[is_kept])
        for strip in places.strips[is_kept]:
            (left, top), (right, bottom) = strip[0, 0].astype(int), strip[1, 1]
            part = np.s_[top : int(bottom), left : int(right)]
            assert np.array_equal(image[part], pixels[part])
        ink = (image < GROUND - 60).any(2)
        for strip in found.strips[new]:
            (left, top), (right, bottom) = strip[0, 0], strip[1, 1]
            part = np.s_[int(top) - 1 : int(bottom) + 2, int(left) - 1 : int(right) + 2]
            columns = ink[part].any(0)
            assert columns[2:-2].mean() > 0.6
            ink[part] = False
        for strip in places.strips[is_kept]:
            (left, top), (right, bottom) = strip[0, 0].astype(int), strip[1, 1]
            ink[top : int(bottom), left : int(right)] = False
        assert not ink.any(), seed
        count += int(new.sum())
    assert count > 40


def test_lines_on_uneven_grounds_stay(page, one_font):
    pixels, places = page
    pixels = pixels.copy()
    pixels[:, ::7] = 120
    image, found = with_codes(np.random.default_rng(1), pixels, places, one_font)
    assert image is pixels and found is places


def test_a_page_without_words_stays(one_font):
    image, places = np.zeros((50, 50, 3), np.uint8), no_places()
    assert with_codes(np.random.default_rng(1), image, places, one_font)[1] is places
