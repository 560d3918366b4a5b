"""Bullets before lines, which are drawn and no text."""

import numpy as np
import pytest
from PIL import Image, ImageDraw

from vit_str.pages.find.geometry import rectangle, turn_points
from vit_str.pages.page import Word
from vit_str.pages.read.bullets import with_bullets

SIZE = 320, 200
TOPS = 30, 60, 90


def page(spot: tuple[int, int], count: int) -> tuple[Image.Image, list[list[Word]]]:
    """Three lines of strokes; before some of them a spot of a width and height."""
    image = Image.new("RGB", SIZE, "white")
    pen = ImageDraw.Draw(image)
    lines = []
    for number, top in enumerate(TOPS):
        for x in range(60, 260, 8):
            pen.rectangle((x, top + 4, x + 2, top + 18), "black")
        if number < count:
            width, height = spot
            pen.ellipse(
                (40, top + 11 - height / 2, 40 + width, top + 11 + height / 2), "black"
            )
        corners = tuple(map(tuple, rectangle(60, top, 260, top + 20).tolist()))
        lines.append([Word("text", 1.0, corners, size=9.0)])
    return image, lines


def texts(lines: list[list[Word]]) -> list[str]:
    return [" ".join(word.text for word in line) for line in lines]


@pytest.mark.parametrize("quarters", [0, 1, 2, 3])
def test_bullets_are_found_before_lines_however_a_page_is_turned(quarters):
    image, lines = page((6, 6), 2)
    corner = turn_points(rectangle(0, 0, *SIZE), quarters).min(0)
    turned = [
        [
            Word(
                word.text,
                1.0,
                tuple(
                    map(tuple, turn_points(np.array(word.polygon), quarters) - corner)
                ),
            )
            for word in line
        ]
        for line in lines
    ]
    image = image.rotate(-90 * quarters, expand=True)
    assert texts(with_bullets(image, turned)) == ["• text", "• text", "text"]


def test_a_bullet_lies_before_its_line_and_is_as_high_and_large():
    image, lines = page((6, 6), 3)
    bullet, word = with_bullets(image, lines)[1]
    assert bullet.box.left == pytest.approx(40, abs=1)
    assert bullet.box.right == pytest.approx(47, abs=1)
    assert bullet.box.top == pytest.approx(word.box.top, abs=1)
    assert bullet.box.bottom == pytest.approx(word.box.bottom, abs=1)
    assert bullet.size == word.size


@pytest.mark.parametrize(
    ("spot", "count"),
    [((6, 6), 1), ((14, 14), 3), ((1, 1), 3), ((14, 3), 3), ((6, 6), 0)],
)
def test_what_is_no_bullet_is_left(spot, count):
    """One alone may be a speck; others are letters, noise or dashes."""
    image, lines = page(spot, count)
    assert with_bullets(image, lines) == lines


def test_circles_are_bullets_and_letters_that_were_read_are_none():
    """However near the frame of a box is."""
    image, lines = page((8, 8), 3)
    pen = ImageDraw.Draw(image)
    pen.line((20, 0, 20, 199), "black", 2)
    for top in TOPS:
        pen.ellipse((42, top + 9, 46, top + 13), "white")
    assert texts(with_bullets(image, lines)) == ["• text"] * 3
    corners = tuple(map(tuple, rectangle(38, 30, 50, 50).tolist()))
    letters = [[Word("o", 1.0, corners)], *lines]
    assert texts(with_bullets(image, letters)) == ["o", "text", "• text", "• text"]


def test_a_line_with_a_mark_has_no_other():
    image, lines = page((6, 6), 3)
    marked = [[Word("•", 1.0, line[0].polygon), *line] for line in lines]
    assert with_bullets(image, marked) == marked
