"""Rows of dashes and stars: drawn where no text is, and rules if they are of dashes."""

from dataclasses import replace

import numpy as np
import pytest

from vit_str.synthesis.places import Places, no_places, upright_strips
from vit_str.training.find import separators
from vit_str.training.find.separators import with_ruling, with_separators

_SIZE = 12


def page() -> tuple[np.ndarray, Places]:
    """Eight lines of black bars in place of words, with room for a row between them."""
    tops = np.arange(8) * 30 + 20
    boxes = [(left, top, left + 60, top + _SIZE) for top in tops for left in (10, 80)]
    pixels = np.full((270, 200, 3), 240, np.uint8)
    for left, top, right, bottom in boxes:
        pixels[top + 2 : bottom - 2, left:right:3] = 20
    sizes = np.full(len(boxes), float(_SIZE))
    strips = upright_strips(np.array(boxes, float), sizes, np.zeros(len(boxes), int))
    lines = np.arange(len(boxes), dtype=np.int32) // 2
    return pixels, replace(no_places(), strips=strips, lines=lines)


@pytest.mark.parametrize("sign", ["-", "=", "*", ".", "+"])
def test_rows_are_drawn_between_lines(monkeypatch, sign):
    monkeypatch.setattr(separators, "_SIGNS", (sign,))
    pixels, places = page()
    drawn = 0
    for seed in range(20):
        image, found = with_separators(np.random.default_rng(seed), pixels, places)
        changed = (image != pixels).any(2)
        drawn += bool(changed.any())
        assert np.array_equal(found.strips, places.strips)
        for strip in places.strips:
            (left, top), (right, bottom) = strip[0, 0], strip[1, 1]
            inner = changed[int(top) + 3 : int(bottom) - 2, int(left) : int(right)]
            assert not inner.any(), seed
        if sign in "-=":
            assert len(found.rules) == len(found.rule_widths)
            assert bool(len(found.rules)) == bool(changed.any())
        else:
            assert not len(found.rules)
    assert drawn > 15


def test_a_rule_runs_through_its_dashes_in_the_color_of_text(monkeypatch):
    monkeypatch.setattr(separators, "_SIGNS", ("-",))
    pixels, places = page()
    image, found = with_separators(np.random.default_rng(3), pixels, places)
    for (left, y), (right, _) in found.rules:
        row = image[round(y), round(left) + 2 : round(right) - 8]
        assert row.min() < 130 and np.ptp(row) > 40


def test_pages_without_upright_text_stay_as_they_are():
    pixels, places = page()
    sideways = replace(places, strips=places.strips[..., ::-1])
    for each in (replace(places, strips=places.strips[:0]), sideways):
        for draw in (with_separators, with_ruling):
            image, found = draw(np.random.default_rng(1), pixels, each)
            assert image is pixels and found is each


def test_rules_run_through_lines_and_text_stays_text():
    pixels, places = page()
    crossed = 0
    for seed in range(20):
        image, found = with_ruling(np.random.default_rng(seed), pixels, places)
        assert np.array_equal(found.strips, places.strips)
        for (left, y), (right, end) in found.rules:
            assert y == end and left < right
            row = image[min(int(y), 269), max(0, int(left) + 2) : int(right) - 2]
            assert len(row) == 0 or row.max() < 230
            crossed += any(20 + 30 * k < y < 32 + 30 * k for k in range(8))
    assert crossed > 20
