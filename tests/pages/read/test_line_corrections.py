"""Lines that are read again where low lines are beside them."""

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from vit_str.decoding.boxes import Box
from vit_str.decoding.readings import Character, Reading
from vit_str.pages.find.geometry import Strip, rectangle
from vit_str.pages.read.line_corrections import with_blanks
from vit_str.pages.read.lines import Line, PageReaders
from vit_str.pages.read.pieces import whole, words_of

SIZE = 24


class Known:
    """Reads the same text in every image, its letters one after the other from the left."""

    def __init__(self, text, step):
        self.text = text
        self.step = step
        self.sizes = []

    def read(self, images, boxes):
        self.sizes += [image.size for image in images]
        return [reading(self.text, self.step, image.height) for image in images]


def reading(text, step, height):
    """A reading of a text whose characters are so many pixels wide."""
    characters = [
        Character(letter, 0.99, Box(3 + n * step, 0, 3 + (n + 1) * step, height))
        for n, letter in enumerate(text)
    ]
    return Reading(text, 0.9, tuple(characters))


def page_and_line(fonts, text, seen, read_again):
    """A page with a text, and a line as it was read within its box."""
    font = ImageFont.truetype(f"{fonts}/DejaVuSansMono.ttf", SIZE)
    step = font.getlength("a")
    image = Image.new("RGB", (600, 120), "white")
    ImageDraw.Draw(image).text((50, 40), text, "black", font)
    around = rectangle(47, 40, 53 + step * len(seen), 71)
    strip = Strip(image, around)
    first = reading(seen, step, strip.image.height)
    readers = PageReaders(Known(read_again, step), None)
    words = words_of(whole(strip), first)
    return image, Line(around, 0, words, readers, first)


def test_a_line_is_read_with_the_blank_beside_it(matplotlib_fonts):
    image, line = page_and_line(matplotlib_fonts, "name: ______", "name:", "name:")
    [longer] = with_blanks([line], image)
    assert longer.whole.text.startswith("name: ___")
    assert np.ptp(longer.quadrilateral[:, 0]) > np.ptp(line.quadrilateral[:, 0])
    assert longer.readings[-1].text.strip("_") == ""


@pytest.mark.parametrize("again", ["nam", "name:4"])
def test_a_line_that_is_read_otherwise_with_its_blank_stays(again, matplotlib_fonts):
    image, line = page_and_line(matplotlib_fonts, "name: ______", "name:", again)
    assert with_blanks([line], image) == [line]


def test_a_line_without_low_lines_beside_it_is_not_read_again(matplotlib_fonts):
    image, line = page_and_line(matplotlib_fonts, "name: John", "name:", "name:")
    assert with_blanks([line], image) == [line]
    assert line.readers.lines.sizes == []
