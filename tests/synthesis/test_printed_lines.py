"""Lines of print: the same for an index, and the ink where they say it is."""

import pytest
import torch
from fontTools import subset

from vit_str.characters.charset import PADDING, charset_of
from vit_str.synthesis.glyph_drawing import draw_glyphs
from vit_str.synthesis.lexicon import Lexicon
from vit_str.synthesis.line_texts import GAP, LineTexts
from vit_str.synthesis.printed_lines import TextLineRenderer

CHARSET = charset_of("european")


@pytest.fixture(scope="module")
def lines(matplotlib_fonts) -> TextLineRenderer:
    fonts = [
        matplotlib_fonts / name for name in ("DejaVuSans.ttf", "DejaVuSansMono.ttf")
    ]
    atlas = draw_glyphs(fonts, CHARSET)[0]
    return TextLineRenderer(atlas, LineTexts(CHARSET, Lexicon(CHARSET)), widest=640)


def test_an_index_gives_the_same_batch_every_time(lines):
    widths = set()
    for index in range(0, 48, 4):
        first = lines.batch(5, 1, index)
        second = lines.batch(5, 1, index)
        count, _, height, width = first.images.shape
        assert (count, height, width % 32) == (5, 32, 0)
        assert first.token_characters.shape == (5, width // 2)
        assert first.boxes.shape == (*first.labels.shape, 4)
        assert torch.equal(first.images, second.images)
        assert torch.equal(first.labels, second.labels)
        widths.add(width)
    assert len(widths) > 3
    assert not torch.equal(lines.batch(5, 1, 0).labels, lines.batch(5, 2, 0).labels)


def test_characters_stand_in_their_boxes_and_columns(lines):
    texts = ["Total amount 12.50", f"CASH{GAP}9.99", "ll i jj", "W"]
    seen = 0
    for seed in range(6):
        batch = lines.render(texts, 320, seed, difficulty=0.0)
        labels = [CHARSET.decode(row) for row in batch.labels.tolist()]
        assert labels == ["Total amount 12.50", "CASH 9.99", "ll i jj", "W"]
        ink = (
            batch.images.float()
            - batch.images.float().flatten(2).median(2)[0][..., None, None]
        )
        ink = ink.abs().mean(1)
        for row, ids in enumerate(batch.labels):
            there = (ids != PADDING) & (ids != CHARSET.encode(" ")[0])
            left, top, right, bottom = batch.boxes[row, there].unbind(-1)
            assert (right > left).all() and (bottom > top).all()
            assert (left[1:] >= left[:-1]).all() and right.max() <= 320.5
            columns = torch.cat([
                torch.arange(int(a), int(b) + 1) for a, b in zip(left, right, strict=True)
            ])  # fmt: skip
            inside = ink[row][:, columns.clamp(max=319).unique()].mean()
            assert inside >= ink[row].mean()
            named = batch.token_characters[row]
            assert set(named[named >= 0].tolist()) <= set(ids[there].tolist())
            seen += int((named >= 0).sum())
    assert seen > 500


def test_a_gap_grows_until_the_line_is_full(lines):
    rights = []
    for seed in range(8):
        batch = lines.render([f"A{GAP}B"] * 4, 512, seed, difficulty=0.0)
        rights.append(batch.boxes[:, 2, 2])
    assert torch.cat(rights).median() > 256


def test_a_font_without_the_letters_is_no_typewriter(matplotlib_fonts, tmp_path):
    accents = tmp_path / "Accents.ttf"
    source = matplotlib_fonts / "DejaVuSans.ttf"
    subset.main([str(source), "--unicodes=00C0-017F", f"--output-file={accents}"])
    atlas = draw_glyphs([source, accents], CHARSET)[0]
    assert len(atlas) == 2
    lines = TextLineRenderer(atlas, LineTexts(CHARSET, Lexicon(CHARSET)), widest=320)
    for seed in range(8):
        batch = lines.render(["Total"] * 4, 256, seed, difficulty=0.0)
        assert (batch.images.float().flatten(1).std(1) > 10).all()
