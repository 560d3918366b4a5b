from dataclasses import replace

import pytest
import torch

from vit_str.characters.charset import PADDING
from vit_str.synthesis.glyphs import GlyphAtlas
from vit_str.synthesis.layout import Typesetter
from vit_str.synthesis.random_numbers import Random, noise_bank


def plain_line(atlas: GlyphAtlas, text: str, font: int, spacing: float) -> torch.Tensor:
    """One word drawn glyph by glyph, as a person would: the oracle of the gather."""
    ids = atlas.charset.encode(text)
    pen = 0.0
    lefts = []
    for id_ in ids:
        lefts.append(pen + float(atlas.bearings[font, id_]))
        pen += float(atlas.advances[font, id_]) + spacing
    lefts = [round(left - min(lefts)) for left in lefts]
    widths = [int(atlas.widths[font, id_]) for id_ in ids]
    line = torch.zeros(
        atlas.height, max(map(sum, zip(lefts, widths, strict=True))), dtype=torch.uint8
    )
    for id_, left, width in zip(ids, lefts, widths, strict=True):
        start = int(atlas.starts[font, id_])
        glyph = atlas.columns[start : start + width].T
        line[:, left : left + width] = torch.maximum(
            line[:, left : left + width], glyph
        )
    return line


@pytest.mark.parametrize("spacing", [0.0, -2.0, 9.0])
def test_a_batch_equals_words_drawn_one_by_one(atlas, spacing):
    words = ["Wave", "jiffy", "A", "(AVATAR)/"]
    fonts = torch.tensor([0, 1, 2, 1])
    ids = atlas.charset.encode_batch(words)
    lines = Typesetter(atlas).lay_out(ids, fonts, torch.full((4, 1), spacing))
    for row, (word, font) in enumerate(zip(words, fonts.tolist(), strict=True)):
        expected = plain_line(atlas, word, font, spacing)
        width = expected.shape[1]
        assert int(lines.widths[row]) == width
        assert torch.equal(lines.masks[row, :, :width], expected)
        assert not lines.masks[row, :, width:].any()


def test_boxes_hold_the_ink_of_their_character(atlas):
    ids = atlas.charset.encode_batch(["agile", "Yo"])
    lines = Typesetter(atlas).lay_out(
        ids, torch.tensor([0, 2]), torch.full((2, 1), 12.0)
    )
    for row, length in ((0, 5), (1, 2)):
        for left, top, right, bottom in lines.boxes[row, :length].int().tolist():
            ink = lines.masks[row, :, left:right] > 64
            rows = ink.any(1).nonzero()[:, 0]
            assert (int(rows[0]), int(rows[-1]) + 1) == (top, bottom)
    assert not lines.boxes[1, 2:].any()


def test_columns_know_their_letter(atlas):
    ids = atlas.charset.encode_batch(["No"])
    lines = Typesetter(atlas).lay_out(ids, torch.tensor([0]), torch.tensor([[10.0]]))
    assert lines.owners[0].unique_consecutive().tolist() == [0, PADDING, 1]


def test_fonts_are_chosen_that_show_the_word_truly(atlas):
    correct = atlas.is_correct.clone()
    correct[1:, atlas.charset.encode("q")[0]] = False
    setter = Typesetter(replace(atlas, is_correct=correct))
    ids = atlas.charset.encode_batch(["quay"] * 64 + ["bay"] * 64)
    fonts = setter.choose_fonts(ids, Random(0, 128, noise_bank("cpu")))
    assert (fonts[:64] == 0).all()
    assert fonts[64:].unique().numel() > 1
