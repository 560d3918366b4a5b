import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen

from vit_str.characters.charset import CHARSETS
from vit_str.synthesis.rasterize import (
    HEIGHT,
    RasterFont,
    expected,
    is_blackletter,
    rasterize,
)


@pytest.fixture(scope="module")
def font() -> RasterFont:
    """DejaVu Sans, which comes with matplotlib and has nearly all of Latin."""
    origin = find_spec("matplotlib").origin
    path = Path(origin).parent / "mpl-data/fonts/ttf/DejaVuSans.ttf"
    (font,) = rasterize(str(path), CHARSETS["latin"])
    return font


def test_curly_quotes_are_drawn_although_fonts_name_them_as_straight_ones_are(font):
    for quote in "‘’‚“”„'\"`":
        assert font.drawn[CHARSETS["latin"].index(quote)], quote


def test_capitals_with_two_marks_fit_into_the_line(font):
    starts = font.widths.cumsum() - font.widths
    for letter in "ẮẲẴỔỖẪẨỂǗǙǛỞ":
        place = CHARSETS["latin"].index(letter)
        assert font.drawn[place], letter
        columns = font.columns[starts[place] : starts[place] + font.widths[place]]
        assert columns[:, 0].max() < 128, f"{letter} is cut off at the top"


def glyph(font: RasterFont, letter: str) -> list[list[int]]:
    place = CHARSETS["latin"].index(letter)
    start = int(font.widths[:place].sum())
    return font.columns[start : start + int(font.widths[place])].tolist()


def test_blackletter_has_umlauts_with_a_small_e_too(tmp_path):
    origin = find_spec("matplotlib").origin
    file = Path(origin).parent / "mpl-data/fonts/ttf/DejaVuSans.ttf"
    shutil.copy(file, tmp_path / "Schwabacher.ttf")
    usual, old = rasterize(str(tmp_path / "Schwabacher.ttf"), CHARSETS["latin"])
    assert (usual.variant, old.variant) == ("", "e above")
    assert glyph(usual, "n") == glyph(old, "n")
    for umlaut, vowel in ("äa", "öo", "üu"):
        assert len(glyph(old, umlaut)) == len(glyph(old, vowel)), (
            "the vowel, with something above"
        )
        assert glyph(old, umlaut) != glyph(usual, umlaut)
        with_e = [sum(map(bool, row)) for row in zip(*glyph(old, umlaut), strict=True)]
        without = [sum(map(bool, row)) for row in zip(*glyph(old, vowel), strict=True)]
        assert with_e[HEIGHT // 2 :] == without[HEIGHT // 2 :]
        assert sum(with_e) > sum(without)


def test_blackletter_is_known_by_its_name():
    for name in (
        "UnifrakturMaguntia/Unifraktur-Regular",
        "yswab/yswab",
        "Grenze Gotisch/Bold",
    ):
        assert is_blackletter(name)
    for name in ("Fruktur/Fruktur", "Texturina/Texturina", "DejaVu Sans/DejaVuSans"):
        assert not is_blackletter(name)


def test_nearly_all_of_latin_is_drawn(font):
    missing = {
        c for c, drawn in zip(CHARSETS["latin"], font.drawn, strict=True) if not drawn
    }
    assert len(missing) < 5


def test_fonts_of_european_letters_need_no_vietnamese_and_no_signs():
    characters = "aéŐạ€한Ж"
    kept = [
        c
        for c, is_expected in zip(characters, expected(characters), strict=True)
        if is_expected
    ]
    assert kept == [*"aéŐ한Ж"]


def test_hangul_taller_than_latin_letters_fits_into_the_line(tmp_path):
    """As in many brush fonts, whose Latin letters are small beside their syllables."""
    builder = FontBuilder(1000, isTTF=True)
    # Two characters more than Latin letters reach, above and below
    heights = {".notdef": (0, 10), "space": (0, 0), "H": (0, 400), "g": (-100, 300)}
    heights |= {"uniBC84": (-250, 850), "uniB97C": (-300, 900), "uniAF43": (-280, 880)}
    builder.setupGlyphOrder(list(heights))
    codes = {" ": "space", "H": "H", "g": "g"}
    codes |= {"버": "uniBC84", "를": "uniB97C", "꽃": "uniAF43"}
    builder.setupCharacterMap({ord(letter): name for letter, name in codes.items()})
    glyphs = {}
    for number, (name, (bottom, top)) in enumerate(heights.items()):
        pen = TTGlyphPen(None)
        if top:
            pen.moveTo((50, bottom))
            pen.lineTo((50, top))
            pen.lineTo((500 + 30 * number, top))
            pen.closePath()
        glyphs[name] = pen.glyph()
    builder.setupGlyf(glyphs)
    builder.setupHorizontalMetrics(dict.fromkeys(heights, (900, 50)))
    builder.setupHorizontalHeader(ascent=900, descent=-300)
    builder.setupNameTable({"familyName": "Tall", "styleName": "Regular"})
    builder.setupOS2()
    builder.setupPost()
    builder.save(tmp_path / "tall.ttf")
    (font,) = rasterize(str(tmp_path / "tall.ttf"), "Hg버를꽃")
    assert font.drawn.all()
