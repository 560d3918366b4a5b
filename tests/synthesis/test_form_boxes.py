"""Boxes of forms for fonts that have none."""

import pytest
import torch

from vit_str.characters.charset import PRINTABLE_ASCII, Charset
from vit_str.synthesis.form_boxes import CROSSED, EMPTY, TICKED, with_form_boxes
from vit_str.synthesis.glyph_drawing import draw_glyphs
from vit_str.synthesis.glyphs import GlyphAtlas

BOXES = EMPTY + TICKED + CROSSED


@pytest.fixture(scope="module")
def plain(matplotlib_fonts) -> GlyphAtlas:
    """Two fonts, of which the second has no boxes."""
    fonts = [matplotlib_fonts / name for name in ("DejaVuSans.ttf", "cmr10.ttf")]
    return draw_glyphs(fonts, Charset(PRINTABLE_ASCII + BOXES))[0]


def test_fonts_without_boxes_get_them_and_others_keep_theirs(plain):
    atlas = with_form_boxes(plain)
    ids = torch.tensor(plain.charset.encode(BOXES))
    assert not plain.is_correct[:, ids].all(), "or there is nothing to test"
    assert atlas.is_correct[:, ids].all()
    had = plain.is_correct
    for name in ("starts", "widths", "bearings", "advances"):
        assert torch.equal(getattr(atlas, name)[had], getattr(plain, name)[had])
    assert with_form_boxes(atlas) is atlas


def test_boxes_stand_at_capitals_and_ticks_are_ink_within(plain):
    atlas = with_form_boxes(plain)
    ids = plain.charset.encode(BOXES)
    (capital,) = plain.charset.encode("H")
    drawn = (~plain.is_correct[:, ids].all(1)).nonzero()[:, 0].tolist()
    for font in drawn:
        ink = {}
        for id_ in (*ids, capital):
            start = int(atlas.starts[font, id_])
            columns = atlas.columns[start : start + int(atlas.widths[font, id_])]
            rows = (columns.amax(0) > 64).nonzero()[:, 0]
            # How much of the middle of a box is ink
            third = len(columns) // 3
            inner = columns[third : 2 * third, rows[0] + 6 : rows[-1] - 6]
            ink[id_] = int(rows[0]), int(rows[-1]), float((inner > 128).float().mean())
        empty, ticked, crossed = (ink[id_] for id_ in ids)
        top, bottom, _ = ink[capital]
        for first, last, _ in (empty, ticked, crossed):
            assert first < (top + bottom) / 2 < last
        assert empty[2] == 0 < min(ticked[2], crossed[2])


def test_charsets_without_boxes_are_left_alone(atlas):
    assert with_form_boxes(atlas) is atlas
