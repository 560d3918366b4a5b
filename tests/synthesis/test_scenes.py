"""Scenes: words in pictures, where their places say."""

from dataclasses import replace

import numpy as np
import pytest

from vit_str.characters.charset import Charset
from vit_str.synthesis.glyph_cache import load_or_draw_glyphs
from vit_str.synthesis.grounds import add_look_alikes, ground
from vit_str.synthesis.ingredients import Ingredients
from vit_str.synthesis.line_masks import LineDrawer
from vit_str.synthesis.renderer import Renderer
from vit_str.synthesis.scenes import SceneDrawer, Scenery

SMALL = Scenery(sides=(200, 260), words=(3, 8), heights=(10, 60), empty_share=0.0)


class Words:
    """Always the same words."""

    def sample(self, count: int, seed: int) -> list[str]:
        return ["Hello", "world", "7"][:count] * (count // 3 + 1)


@pytest.fixture(scope="module")
def renderer(font_folder) -> Renderer:
    """One that knows the space."""
    charset = Charset(Charset().characters + " ")
    atlas = load_or_draw_glyphs(charset, [font_folder], font_folder.parent / "spaced")
    return Renderer(atlas, Words())


def test_words_of_a_line_are_where_its_ink_is(renderer):
    plain = Renderer(renderer.atlas, Words(), ingredients=Ingredients().at(0.0))
    [line] = LineDrawer(plain).draw(["Hello big 7"], seed=3)
    assert line.strips.shape == (3, 7, 2, 2)
    columns = line.ink.shape[1]
    has_ink = (line.ink > 60).numpy().any(0)
    starts = line.strips[:, 0, :, 0].mean(1).numpy() * columns
    ends = line.strips[:, -1, :, 0].mean(1).numpy() * columns
    for start, end in zip(starts, ends, strict=True):
        assert has_ink[int(start) + 2 : int(end) - 2].mean() > 0.6
        assert not has_ink[int(end) + 4 : int(end) + 8].any()
    assert (starts[1:] > ends[:-1]).all()


def test_scenes_are_the_same_for_the_same_seed(renderer):
    drawer = SceneDrawer(renderer, SMALL)
    one, other = drawer.draw(5), drawer.draw(5)
    assert np.array_equal(one.image, other.image)
    assert np.array_equal(one.places.strips, other.places.strips)
    assert not np.array_equal(one.image.shape, drawer.draw(6).image.shape)


def test_words_stand_out_from_what_is_behind_them(renderer):
    drawer = SceneDrawer(renderer, SMALL)
    count = 0
    for seed in range(8):
        image, places = drawer.draw(seed)
        for strip in places.strips:
            low = strip.reshape(-1, 2).min(0).clip(0).astype(int)
            high = strip.reshape(-1, 2).max(0).astype(int)
            part = image[low[1] : high[1], low[0] : high[0]] @ [0.3, 0.59, 0.11]
            assert part.max() - part.min() > 20
            count += 1
        assert (np.diff(places.lines) >= 0).all()
    assert count > 10


def test_some_scenes_have_no_text(renderer):
    scene = SceneDrawer(renderer, replace(SMALL, empty_share=1.0)).draw(1)
    assert len(scene.places.strips) == 0
    assert scene.image.dtype == np.uint8


def test_grounds_differ_and_use_photographs():
    random = np.random.default_rng(2)
    tiles = np.full((2, 16, 32, 3), 90, np.uint8)
    pictures = [ground(random, (60, 80), tiles) for _ in range(20)]
    for picture in pictures:
        add_look_alikes(random, picture)
        assert picture.shape == (60, 80, 3)
    assert np.std([picture.mean() for picture in pictures]) > 10


def test_scenes_stand_on_grounds_that_repeat_as_often_as_asked_for(
    renderer, monkeypatch
):
    laid = []
    monkeypatch.setattr(
        "vit_str.synthesis.scenes.structured",
        lambda random, size: laid.append(size) or np.full((*size, 3), 120, np.float32),
    )
    for share in (0.0, 1.0):
        SceneDrawer(renderer, replace(SMALL, structured_share=share)).draw(2)
        assert len(laid) == share
