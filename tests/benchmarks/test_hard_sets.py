"""Sets that are hard in one way: what they are asked for is in them."""

import sys
from itertools import islice
from pathlib import Path

import pytest

from vit_str.characters.charset import PRINTABLE_ASCII, Charset
from vit_str.synthesis.glyph_drawing import draw_glyphs
from vit_str.synthesis.glyphs import GlyphAtlas
from vit_str.synthesis.machine_text import is_count, share_of_machines

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from hard_sets import SETS, draw

CHARSET = Charset(PRINTABLE_ASCII + " °□☑☒–")


@pytest.fixture(scope="module")
def atlas(matplotlib_fonts) -> GlyphAtlas:
    names = (
        "DejaVuSans.ttf",
        "DejaVuSansMono.ttf",
        "DejaVuSerif.ttf",
        "STIXGeneral.ttf",
    )
    paths = [matplotlib_fonts / name for name in names]
    return draw_glyphs(paths, CHARSET)[0].held_out()


def labels(name: str, atlas: GlyphAtlas) -> list[str]:
    drawn = list(islice(draw(SETS[name], atlas, 1), 12))
    assert all(image.shape[0] == 3 for image, _ in drawn)
    return [label for _, label in drawn]


def test_sets_of_machines_hold_what_machines_show(atlas):
    for name in ("segments", "needles", "counters"):
        assert all(share_of_machines(label) == 1 for label in labels(name, atlas))
    assert all(map(is_count, labels("counters", atlas)))


def test_underlined_code_has_underscores_and_boxes_are_there_to_tick(atlas):
    assert all("_" in label for label in labels("underlined code", atlas))
    assert all(set(label) & set("□☑☒") for label in labels("boxes to tick", atlas))


def test_small_capitals_are_labeled_as_capitals(atlas):
    assert all(label.isupper() for label in labels("small capitals", atlas))


def test_lines_are_wider_than_words(atlas):
    drawn = list(islice(draw(SETS["lines of code"], atlas, 1), 20))
    assert all(image.shape[1:] >= (32, 192) for image, _ in drawn)
    assert len({label for _, label in drawn}) > 10


def test_blank_beside_a_word_has_the_color_of_the_ground(atlas):
    for image, label in islice(draw(SETS["blank beside"], atlas, 1), 12):
        width = image.shape[2]
        word = 12 * len(label)
        assert 1.3 * word - 1 <= width <= 2.2 * word + 1
        right, left = image[..., word:], image[..., : width - word]
        assert any((blank == blank[:, :1, :1]).all() for blank in (left, right))
