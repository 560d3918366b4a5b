"""Lines that reach over the low lines at their ends, and over no rules and frames."""

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from vit_str.pages.find.geometry import rectangle
from vit_str.pages.find.low_lines import with_low_lines_beside

SIZE = 24
TOP = 40


class Page:
    """A page with one row of text, and the lines that a detector finds in it."""

    def __init__(self, fonts, text, ground="white", ink="black"):
        self.font = ImageFont.truetype(f"{fonts}/DejaVuSans.ttf", SIZE)
        self.image = Image.new("RGB", (900, 160), ground)
        self.pen = ImageDraw.Draw(self.image)
        self.pen.text((50, TOP), text, ink, self.font)
        self.text = text

    def line(self, part):
        """The box around a part of the text, as a detector has it."""
        start = self.text.index(part)
        left = 50 + self.font.getlength(self.text[:start])
        right = left + self.font.getlength(part)
        return rectangle(left - 3, TOP, right + 3, TOP + 31)

    def sides(self, *parts):
        """The left and right sides of the lines, from the left."""
        lines = with_low_lines_beside(self.image, [self.line(part) for part in parts])
        return sorted((line[:, 0].min(), line[:, 0].max()) for line in lines)

    def end(self, part):
        """Where a part of the text ends."""
        until = self.text.index(part) + len(part)
        return 50 + self.font.getlength(self.text[:until])


@pytest.mark.parametrize("colors", [("white", "black"), ("#202020", "white")])
def test_a_line_reaches_over_a_blank_and_the_mark_behind_it(colors, matplotlib_fonts):
    page = Page(matplotlib_fonts, "The capital is _________.", *colors)
    [(left, right)] = page.sides("The capital is")
    assert left == pytest.approx(47)
    assert right >= page.end(".") - 1


def test_lines_on_both_sides_of_a_blank_become_one(matplotlib_fonts):
    page = Page(matplotlib_fonts, "I, ________, agree.")
    [(left, right)] = page.sides("I,", ", agree.")
    assert (left, right) == pytest.approx((47, page.end("agree.") + 3))


def test_a_line_behind_a_blank_that_is_far_stays_a_line(matplotlib_fonts):
    page = Page(matplotlib_fonts, "Name ________          Date ________")
    (_, right), (left, end) = page.sides("Name", "Date")
    assert right < left
    assert right >= page.end("Name ________") - 1
    assert end >= page.end("Date ________") - 1


def test_low_lines_of_a_name_are_in_its_line(matplotlib_fonts):
    page = Page(matplotlib_fonts, "__init__ and __main__")
    [(left, right)] = page.sides("init__ and __main")
    assert left < 50
    assert right > page.end("__main__")


def test_a_long_blank_beside_a_tilted_line_stays_in_its_box(matplotlib_fonts):
    page = Page(matplotlib_fonts, "Name: ____________________")
    tilted = page.line("Name:") + np.array([[0, -1], [0, 1], [0, 1], [0, -1]])
    [line] = with_low_lines_beside(page.image, [tilted])
    assert np.ptp(line[:2, 1]) < 1


@pytest.mark.parametrize("text", ["Name: John", "A-B = C", "LIZ 2Z", "gypsy"])
def test_other_lines_stay(text, matplotlib_fonts):
    page = Page(matplotlib_fonts, text)
    line = page.line(text)
    assert with_low_lines_beside(page.image, [line])[0] is line


@pytest.mark.parametrize(
    "strokes",
    [
        [(130, TOP + 28, 500, TOP + 28), (500, TOP - 10, 500, TOP + 28)],  # a frame
        [(130, TOP + 28, 500, TOP + 28), (500, TOP + 28, 500, 110)],
        [(130, TOP + 28, 500, TOP + 28), (130, TOP + 31, 500, TOP + 31)],
        [(130, TOP + 14, 500, TOP + 14)],  # a leader in the middle
        [(20, TOP + 28, 500, TOP + 28)],  # a rule below the line
    ],
)
def test_rules_and_frames_are_no_low_lines(strokes, matplotlib_fonts):
    page = Page(matplotlib_fonts, "Name:")
    for stroke in strokes:
        page.pen.line(stroke, "black", 2)
    line = page.line("Name:")
    assert with_low_lines_beside(page.image, [line])[0] is line


def test_a_blank_that_is_written_on_is_none(matplotlib_fonts):
    page = Page(matplotlib_fonts, "Name:  ____________")
    page.pen.text((page.end("Name:  "), TOP - 1), "John Smith", "black", page.font)
    line = page.line("Name:")
    assert with_low_lines_beside(page.image, [line])[0] is line


def test_upright_lines_and_pages_without_lines_stay(matplotlib_fonts):
    page = Page(matplotlib_fonts, "____")
    upright = rectangle(20, 10, 45, 150)
    assert with_low_lines_beside(page.image, [upright]) == [upright]
    assert with_low_lines_beside(page.image, []) == []
