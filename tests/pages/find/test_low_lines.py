"""Lines that reach over the low lines at their ends, and over no rules and frames."""

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from vit_str.pages.find.geometry import rectangle
from vit_str.pages.find.low_lines import with_low_lines_beside

SIZE = 24
TOP = 40


def lines_of(image, found):
    """Lines that reach over low lines."""
    return [each.quadrilateral for each in with_low_lines_beside(image, found)]


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
        lines = lines_of(self.image, [self.line(part) for part in parts])
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


def test_a_line_with_a_space_before_it_stays_a_line(matplotlib_fonts):
    page = Page(matplotlib_fonts, "Amount ________  only")
    (_, right), (left, _) = page.sides("Amount", "only")
    assert page.end("Amount ________") - 1 <= right <= left


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
    [line] = lines_of(page.image, [tilted])
    assert np.ptp(line[:2, 1]) < 1


@pytest.mark.parametrize("text", ["Name: John", "A-B = C", "LIZ 2Z", "gypsy"])
def test_other_lines_stay(text, matplotlib_fonts):
    page = Page(matplotlib_fonts, text)
    line = page.line(text)
    assert lines_of(page.image, [line])[0] is line


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
    assert lines_of(page.image, [line])[0] is line


def test_a_line_of_a_form_that_a_scan_breaks_is_no_blank(matplotlib_fonts):
    page = Page(matplotlib_fonts, "Name:")
    for left in range(140, 500, 30):
        page.pen.line((left, TOP + 28, left + 23, TOP + 28), "black", 2)
    line = page.line("Name:")
    assert lines_of(page.image, [line])[0] is line


def test_a_stroke_that_goes_on_below_the_next_line_is_no_blank(matplotlib_fonts):
    page = Page(matplotlib_fonts, "Name:        ")
    page.pen.line((140, TOP + 28, 270, TOP + 28), "black", 2)
    lines = [page.line("Name:"), rectangle(250, TOP, 400, TOP + 31)]
    assert lines_of(page.image, lines) == lines


def test_a_blank_that_is_written_on_is_none(matplotlib_fonts):
    page = Page(matplotlib_fonts, "Name:  ____________")
    page.pen.text((page.end("Name:  "), TOP - 1), "John Smith", "black", page.font)
    line = page.line("Name:")
    assert lines_of(page.image, [line])[0] is line


def test_a_line_says_of_which_it_is_made(matplotlib_fonts):
    page = Page(matplotlib_fonts, "I, ________, agree.   and")
    found = [page.line(part) for part in ("and", ", agree.", "I,")]
    first, second = with_low_lines_beside(page.image, found)
    assert first.places == (0,)
    assert not first.is_longer
    assert second.places == (2, 1)
    assert second.is_longer


def test_upright_lines_and_pages_without_lines_stay(matplotlib_fonts):
    page = Page(matplotlib_fonts, "____")
    upright = rectangle(20, 10, 45, 150)
    assert lines_of(page.image, [upright]) == [upright]
    assert lines_of(page.image, []) == []
