"""Words that are struck out, and bars, dashes and underlines that strike nothing out."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from vit_str.pages.find.geometry import Strip, rectangle
from vit_str.pages.find.ink import ink_of
from vit_str.pages.find.strikes import Strike, find_strikes, without_strikes
from vit_str.pages.reader import PageReader
from vit_str.pages.write.json_rows import page_row
from vit_str.pages.write.markdown import markdown

FONTS = ("DejaVuSans", "DejaVuSans-Bold", "DejaVuSerif", "STIXGeneral", "cmr10")


def draw_line(
    file: Path, size: int, text: str, struck: str = "", below: bool = False
) -> tuple[Image.Image, tuple[float, float]]:
    """A line, and where the stroke through or below a part of it begins and ends."""
    font = ImageFont.truetype(str(file), size)
    line = Image.new(
        "RGB", (round(font.getlength(text)) + 20, round(1.3 * size)), "white"
    )
    pen = ImageDraw.Draw(line)
    at = (10, 0.65 * size)
    pen.text(at, text, "black", font, anchor="lm")
    start = 10 + font.getlength(text[: text.index(struck)])
    end = start + font.getlength(struck)
    _, top, _, bottom = pen.textbbox(at, "x", font, anchor="lm")
    y = bottom + 0.1 * size if below else (top + bottom) / 2
    if struck:
        pen.line((start, y, end, y), "black", max(1, size // 14))
    return line, (start, end)


@pytest.mark.parametrize("name", FONTS)
@pytest.mark.parametrize("size", [18, 24, 40])
@pytest.mark.parametrize("struck", ["quick", "over the lazy"])
def test_strokes_through_words_are_found(name, size, struck, matplotlib_fonts):
    line, ends = draw_line(
        matplotlib_fonts / f"{name}.ttf",
        size,
        "The quick fox over the lazy dog",
        struck,
    )
    (strike,) = find_strikes(ink_of(line))
    assert (strike.left, strike.right) == pytest.approx(ends, abs=0.15 * size)


@pytest.mark.parametrize("name", FONTS)
@pytest.mark.parametrize("size", [16, 24, 40])
def test_other_bars_are_no_strokes(name, size, matplotlib_fonts):
    font = matplotlib_fonts / f"{name}.ttf"
    for text in (
        "The quick brown fox jumps over the lazy dog",
        "A-B H–H x—y = z + 1 ~ 2 HEEFFTTA EEEEEE FFFF tttt ffff",
        "well-known state-of-the-art – and — so on ---- ____ ======",
    ):
        assert find_strikes(ink_of(draw_line(font, size, text)[0])) == []
    underlined = draw_line(
        font, size, "Signed by gypsy quay", "gypsy quay", below=True
    )[0]
    assert find_strikes(ink_of(underlined)) == []


def test_fractions_are_not_struck_out(matplotlib_fonts):
    font = ImageFont.truetype(str(matplotlib_fonts / "DejaVuSans.ttf"), 16)
    line = Image.new("RGB", (240, 48), "white")
    pen = ImageDraw.Draw(line)
    pen.text((20, 2), "number of words", "black", font)
    pen.line((15, 24, 190, 24), "black", 2)
    pen.text((20, 27), "number of lines", "black", font)
    assert find_strikes(ink_of(line)) == []


def test_struck_out_words_are_marked_and_read_without_the_stroke(
    matplotlib_fonts, tiny
):
    line, _ = draw_line(
        matplotlib_fonts / "DejaVuSerif.ttf", 30, "Price 12.99 now 9.49 EUR", "12.99"
    )

    class Known:
        def lines(self, page: Image.Image) -> list:
            return [rectangle(2, 0, line.width - 2, line.height)]

    sheet = Image.new("RGB", (line.width, 400), "white")
    sheet.paste(line, (0, 0))
    page = PageReader(tiny, Known()).read(sheet)
    assert page.text == "Price ~~12.99~~ now 9.49 EUR"
    assert [word.is_struck for word in page.words] == [False, True, False, False, False]
    assert markdown([page]).strip().endswith("Price ~~12.99~~ now 9.49 EUR")
    struck = [
        word["text"] for word in page_row("a.png", page)["words"] if word["struck"]
    ]
    assert struck == ["12.99"]


def test_a_tilted_stroke_leaves_nothing_beside_letters():
    pixels = np.full((24, 200, 3), 255, np.uint8)
    pixels[6:20, 60:63] = 0  # a stem, which it crosses
    pixels[17:19, 190:192] = 0  # a period
    for column in range(10, 195):
        top = 11 - column // 80
        pixels[top : top + 2, column] = 0
    line = Image.fromarray(pixels)
    cleaned = without_strikes(line, ink_of(line), [Strike(10, 195, 10, 12)])
    left = np.argwhere(np.asarray(cleaned)[..., 0] < 128)
    stem = (left[:, 1] >= 60) & (left[:, 1] < 63)
    assert sorted({*left[stem, 0]}) == list(range(6, 20))
    assert {*left[~stem, 0]} == {17, 18}


def test_a_strip_without_strokes_is_itself(matplotlib_fonts):
    line, _ = draw_line(
        matplotlib_fonts / "DejaVuSans.ttf", 24, "Nothing is struck out"
    )
    strip = Strip(line, rectangle(0, 0, *line.size))
    assert strip.without_strikes() is strip
