"""Columns of lone marks: beside words, level with them, and lines of their own."""

from dataclasses import replace
from random import Random

import numpy as np
import pytest

from vit_str.characters.charset import CHARSETS, Charset
from vit_str.synthesis.places import Places, no_places, upright_strips
from vit_str.training.find import lone_marks
from vit_str.training.find.lone_marks import with_lone_marks
from vit_str.training.find.typesetting import strings_of

SIZE = 14


@pytest.fixture
def page() -> tuple[np.ndarray, Places]:
    """Ten lines of one word of black bars at the left."""
    tops = np.arange(10) * 24 + 20
    boxes = np.array([(20, top, 90, top + SIZE) for top in tops], float)
    pixels = np.full((280, 300, 3), 240, np.uint8)
    for left, top, right, bottom in boxes.astype(int):
        pixels[top + 2 : bottom - 2, left:right:3] = 20
    sizes = np.full(len(boxes), float(SIZE))
    strips = upright_strips(boxes, sizes, np.zeros(len(boxes), int))
    numbers = np.arange(len(boxes), dtype=np.int32)
    return pixels, replace(no_places(), strips=strips, lines=numbers)


def test_marks_stand_level_with_words_and_apart_from_them(page, one_font, monkeypatch):
    monkeypatch.setattr(lone_marks, "_MARKS", ("[0-9]",))
    monkeypatch.setattr(lone_marks, "_CODE_SHARE", 0.0)
    pixels, places = page
    count = 0
    for seed in range(20):
        image, found = with_lone_marks(
            np.random.default_rng(seed), pixels, places, one_font
        )
        assert np.array_equal(found.strips[: len(places.strips)], places.strips)
        own = found.strips[len(places.strips) :]
        count += len(own)
        numbers = found.lines[len(places.lines) :].tolist()
        assert len({*numbers}) == len(own) and not {*numbers} & {*places.lines.tolist()}
        changed = (image != pixels).any(2)
        rest = changed.copy()
        for strip in own:
            (left, top), (right, bottom) = strip[0, 0], strip[1, 1]
            assert left > 90 + 0.8 * SIZE
            assert bottom - top == pytest.approx(SIZE, abs=0.01)
            middle = (top + bottom) / 2
            assert np.abs(places.strips[:, 0, :, 1].mean(1) - middle).min() < 0.01
            part = np.s_[int(top) - 2 : int(bottom) + 3, int(left) - 1 : int(right) + 3]
            assert changed[part].any(), seed
            rest[part] = False
        assert not rest.any(), seed
    assert count > 40


def test_words_of_a_code_are_where_their_ink_is(page, one_font, monkeypatch):
    monkeypatch.setattr(lone_marks, "CODES", ("[0-9]{2}(~[0-9]{2}){2}",))
    monkeypatch.setattr(lone_marks, "_CODE_SHARE", 1.0)
    pixels, places = page
    count = 0
    for seed in range(20):
        image, found = with_lone_marks(
            np.random.default_rng(seed), pixels, places, one_font
        )
        own = found.lines[len(places.lines) :]
        strips = found.strips[len(places.strips) :]
        changed = (image != pixels).any(2)
        for number in np.unique(own):
            words = strips[own == number]
            assert len(words) == 3
            starts, ends = words[:, 0, 0, 0], words[:, 1, 0, 0]
            top, bottom = words[0, 0, :, 1]
            columns = changed[int(top) - 2 : int(bottom) + 3].any(0)
            for start, end in zip(starts, ends, strict=True):
                assert columns[round(start) + 1 : round(end) - 1].mean() > 0.6
            for end, start in zip(ends[:-1], starts[1:], strict=True):
                assert not columns[round(end) + 2 : round(start) - 2].any()
            count += 1
    assert count > 20


@pytest.mark.parametrize(
    "pattern", [*lone_marks._MARKS, *lone_marks.CODES], ids=lambda each: each[:12]
)
def test_patterns_can_be_written(pattern):
    strings = strings_of(pattern, Charset(CHARSETS["latin"]))
    assert strings is not None and len(strings.draw(Random(1), 20)) == 20


def test_marks_that_would_not_be_seen_are_not_there(page, one_font):
    pixels, places = page
    pixels = pixels.copy()
    pixels[:, 95:] = 20  # as dark as the letters
    for seed in range(10):
        image, found = with_lone_marks(
            np.random.default_rng(seed), pixels, places, one_font
        )
        assert np.array_equal(image, pixels)
        assert len(found.strips) == len(places.strips)


def test_pages_with_few_words_stay_as_they_are(page, one_font):
    pixels, places = page
    few = replace(places, strips=places.strips[:2], lines=places.lines[:2])
    image, found = with_lone_marks(np.random.default_rng(1), pixels, few, one_font)
    assert image is pixels and found is few
