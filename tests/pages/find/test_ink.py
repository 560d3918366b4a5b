"""The type of a line by its ink."""

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from vit_str.pages.find.ink import (
    _percentiles,
    ink_of,
    inked_rows,
    trimmed,
    type_of,
)


@pytest.fixture(scope="module")
def draw(matplotlib_fonts):
    def drawn(
        text: str,
        size: int = 30,
        bold: bool = False,
        ink: str = "black",
        paper: str = "white",
    ):
        file = matplotlib_fonts / ("DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf")
        font = ImageFont.truetype(file, size)
        image = Image.new(
            "RGB", (round(font.getlength(text)) + 40, round(1.5 * size)), paper
        )
        ImageDraw.Draw(image).text((20, 0.15 * size), text, ink, font)
        return ink_of(image)

    return drawn


def measured(ink, text: str):
    words = text.split()
    return type_of(ink, [(word, (0, ink.shape[1])) for word in words])


def test_sizes_are_those_of_the_fonts(draw):
    small, large = (
        measured(draw("museum near", size), "museum near").size for size in (24, 36)
    )
    assert large / small == pytest.approx(1.5, rel=0.06)


def test_capitals_and_digits_are_higher(draw):
    text = measured(draw("museum near"), "museum near").size
    for other in ("MUSEUM", "24106"):
        assert measured(draw(other), other).size == pytest.approx(text, rel=0.12)


def test_bold_is_heavier_whatever_is_written(draw):
    plain = [
        measured(draw(text), text).weight for text in ("museum near", "Im Hof", "FAX")
    ]
    bold = [
        measured(draw(text, bold=True), text).weight
        for text in ("museum near", "Im Hof")
    ]
    assert min(bold) > 1.3 * max(plain)


def test_light_on_dark_is_the_same(draw):
    dark, light = draw("museum"), draw("museum", ink="white", paper="black")
    assert measured(dark, "museum") == pytest.approx(
        measured(light, "museum"), rel=0.05
    )


def test_words_are_trimmed_to_their_ink(draw):
    ink = draw("museum")
    assert trimmed(ink, 0, ink.shape[1]) == pytest.approx(
        (20, ink.shape[1] - 20), abs=4
    )
    assert trimmed(ink, 0, 10) == (0, 10), "nothing there"
    most = 0.6 * ink.shape[0]
    assert trimmed(ink, -100, ink.shape[1])[0] == -100 + most, "not far"


def test_nothing_has_no_type():
    blank = ink_of(Image.new("L", (50, 20), 200))
    assert type_of(blank, [("a", (0, 50))]).size == 0
    assert type_of(blank, []).weight == 0


def test_percentiles_of_pixels_are_those_of_numpy():
    random = np.random.default_rng(0)
    for _ in range(50):
        shades = random.integers(0, 256, random.integers(1, 30, 2)).astype(np.uint8)
        found = _percentiles(Image.fromarray(shades), (2, 50, 98))
        assert found == np.percentile(shades, (2, 50, 98)).tolist()


def test_a_side_that_runs_through_a_letter_goes_on_to_its_end():
    ink = np.zeros((20, 100), np.uint8)
    ink[:, 20:50] = 255
    ink[:, 60:80] = 255
    assert trimmed(ink, 25, 45, room=8) == (20, 50)
    assert trimmed(ink, 25, 45, room=3) == (22, 48)
    assert trimmed(ink, 25, 45) == (25, 45)
    assert trimmed(ink, 15, 55, room=10) == (20, 50), "white is no letter"


def rows_of(letters: str) -> tuple[float, float] | None:
    """Of a line of 20 rows with rectangles of ink: first row, row behind the last, width."""
    ink = np.zeros((20, 30), np.uint8)
    for part in letters.split():
        first, end, width = map(int, part.split("-"))
        ink[first:end, 5 : 5 + width] = 255
    return inked_rows(ink, 5, 15)


@pytest.mark.parametrize(
    ("letters", "rows"),
    [
        ("6-14-8", (6, 14)),
        ("2-4-2 6-14-8", (2, 14)),  # a dot above a letter
        ("0-2-8 6-14-8", (6, 14)),  # what hangs down from the line above
        ("6-14-8 18-20-8", (6, 14)),
        ("6-14-8 16-17-25", (6, 14)),  # a rule below
        ("5-15-10", (5, 15)),  # a letter like a bar
        ("9-10-10", (9, 10)),  # a dash
    ],
)
def test_rows_of_letters(letters, rows):
    assert rows_of(letters) == rows


def test_no_ink_has_no_rows():
    assert rows_of("") is None
    assert inked_rows(np.zeros((20, 30), np.uint8), 7, 7) is None
