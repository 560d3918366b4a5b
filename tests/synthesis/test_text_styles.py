"""Styles that texts ask for, and what they leave alone."""

from dataclasses import replace

import pytest
import torch

from vit_str.characters.charset import PRINTABLE_ASCII, Charset
from vit_str.synthesis.glyph_drawing import draw_glyphs
from vit_str.synthesis.ingredients import Ingredients
from vit_str.synthesis.lexicon import Lexicon
from vit_str.synthesis.machine_faces import DOTS, SEVEN, WHEELS, kind_of_face
from vit_str.synthesis.renderer import Renderer
from vit_str.synthesis.text_styles import LED, StyleSampler

STYLES = ("machine", "small_capitals", "struck", "baseline_rule", "subtitle")
NONE = dict.fromkeys(STYLES, 0.0)
CHARSET = Charset(PRINTABLE_ASCII + " °")


@pytest.fixture(scope="module")
def spaced(matplotlib_fonts) -> Renderer:
    names = ("DejaVuSans.ttf", "DejaVuSerif-Bold.ttf", "STIXGeneral.ttf")
    atlas = draw_glyphs([matplotlib_fonts / name for name in names], CHARSET)[0]
    return Renderer(atlas, Lexicon(CHARSET))


def with_strengths(renderer: Renderer, **strengths: float) -> Renderer:
    plain = Ingredients().at(0)
    return Renderer(
        renderer.atlas, renderer.lexicon, ingredients=replace(plain, **NONE | strengths)
    )


def test_words_without_a_style_keep_their_pictures(spaced):
    words = ["window", "Glass", "STREET", "12:45", "house", "a", "of"]
    asked = {"machine": [3], "small_capitals": [2], "struck": [0, 1, 2, 4]}
    before = with_strengths(spaced).render(words, 5)
    for name, places in asked.items():
        strength = 2.0 if name == "machine" else 300.0  # or all would be on panels
        after = with_strengths(spaced, **{name: strength}).render(words, 5)
        difference = (before.images.int() - after.images.int()).abs()
        # Others in a chunk may differ by what is rounded
        changed = difference.flatten(1).amax(1) > 2
        kept = [place for place in range(len(words)) if place not in places]
        assert torch.equal(before.labels, after.labels)
        assert changed[places].all() and not changed[kept].any(), name


@pytest.mark.parametrize(
    ("name", "word"), [("struck", "window"), ("baseline_rule", "a_window")]
)
def test_strokes_add_ink_and_nothing_else(spaced, name, word):
    quiet = {"texture": 0.0, "gradient": 0.0, "low_resolution": 0.0, "compression": 0.0}
    before = with_strengths(spaced, **quiet).render([word] * 8, 3)
    after = with_strengths(spaced, **quiet, **{name: 200.0}).render([word] * 8, 3)
    assert torch.equal(before.labels, after.labels)
    assert torch.equal(before.boxes, after.boxes)
    changed = (before.images.int() - after.images.int()).abs().amax(1) > 40
    by_row = changed.float().sum((0, 2))
    middle = by_row[8:24].sum()
    below = by_row[20:].sum()
    if name == "struck":
        assert changed.flatten(1).any(1).all()
        assert middle > 0.7 * by_row.sum()
    else:
        assert below > 0.9 * by_row.sum() > 0, "where the crop reaches as far"


def test_readings_are_set_in_faces_of_machines_and_words_are_not(spaced):
    sampler = StyleSampler(spaced.atlas)
    strengths = replace(Ingredients(), machine=2.0)
    texts = ["12:45", "23.5 °C", "0.845 kg", "004711", "window", "May"] * 60
    styles = sampler.sample(texts, strengths, 1, 128)
    kinds: dict[str, set[str]] = {}
    for text, face in zip(texts, styles.faces, strict=True):
        kind = kind_of_face(spaced.atlas.names[face]) if face >= 0 else ""
        kinds.setdefault(text, set()).add(kind)
    assert "" not in kinds["12:45"] and SEVEN in kinds["12:45"]
    assert SEVEN in kinds["0.845 kg"], "units are printed beside the display"
    assert WHEELS in kinds["004711"]
    assert WHEELS not in kinds["12:45"]
    assert kinds["window"] <= {"", DOTS} and kinds["May"] <= {"", DOTS}
    assert LED in styles.looks
    rolled = [
        face
        for face, is_rolled in zip(styles.faces, styles.is_rolled, strict=True)
        if is_rolled
    ]
    assert rolled and all(
        kind_of_face(spaced.atlas.names[face]) == WHEELS for face in rolled
    )


def test_styles_are_the_same_for_a_seed_and_scaled_by_strengths(spaced):
    sampler = StyleSampler(spaced.atlas)
    texts = Lexicon(CHARSET).sample(2_000, 1)
    assert sampler.sample(texts, Ingredients(), 3, 128) == sampler.sample(
        texts, Ingredients(), 3, 128
    )
    none = sampler.sample(texts, replace(Ingredients(), **NONE), 3, 128)
    assert max(none.faces) < 0
    assert not any(
        (*none.is_struck, *none.is_underlined, *none.is_subtitle, *none.small)
    )
    usual = sampler.sample(texts, Ingredients(), 3, 128)
    of_machines = sum(face >= 0 for face in usual.faces) / len(texts)
    assert 0.01 < of_machines < 0.06
    assert 0.004 < sum(usual.is_struck) / len(texts) < 0.03


def test_underscores_are_underlined_more_often(spaced):
    sampler = StyleSampler(spaced.atlas)
    plain = sampler.sample(["word"] * 4_000, Ingredients(), 1, 128)
    code = sampler.sample(["a_word"] * 4_000, Ingredients(), 1, 128)
    assert sum(code.is_underlined) > 3 * sum(plain.is_underlined) > 0


def test_small_capitals_are_lower_than_the_first_letter(spaced):
    strengths = {"small_capitals": 100.0}
    renderer = with_strengths(spaced, **strengths)
    batch = renderer.render(["HEIGHT", "THE HOUSE", "height", "123456"] * 4, 2)
    boxes = batch.boxes
    heights = boxes[..., 3] - boxes[..., 1]
    ratio = heights[0::4, 1:6].mean(1) / heights[0::4, 0]
    assert (ratio < 0.95).all()
    # Both words of a line begin with a large letter
    assert (heights[1::4, 5] < 0.95 * heights[1::4, 4]).all()
    plain = with_strengths(spaced).render(
        ["HEIGHT", "THE HOUSE", "height", "123456"] * 4, 2
    )
    for row in (2, 3):
        assert torch.equal(batch.images[row::4], plain.images[row::4])


def test_panels_show_long_words_in_fonts(spaced):
    """Dots of letters that are too close could not be told apart."""
    sampler = StyleSampler(spaced.atlas)
    strengths = replace(Ingredients(), machine=400.0)
    assert min(sampler.sample(["panel"] * 99, strengths, 1, 128).faces) >= 0
    assert max(sampler.sample(["panel" * 5] * 99, strengths, 1, 128).faces) < 0
