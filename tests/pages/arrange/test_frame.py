"""Pages in the frame in which they are read: turns leave no trace in documents."""

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from vit_str.pages.arrange.frame import as_read
from vit_str.pages.find.geometry import rectangle, upright
from vit_str.pages.page import Page
from vit_str.pages.reader import PageReader
from vit_str.pages.write.markdown import markdown

ROWS = (("Region", "Spring", "Summer"), ("North", "52", "71"), ("South", "48", "66"))
TEXT = ("Sales grew in all of the regions", "as the table below shows")
COLUMNS = (30, 260, 420)


class TurnedLines:
    """Finds the lines that were drawn, on a page turned by some degrees to the right."""

    def __init__(self, boxes, size, turned_size, degrees):
        angle = np.deg2rad(degrees)
        turn = np.array(
            [[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]
        )
        middle, turned_middle = np.array(size) / 2, np.array(turned_size) / 2
        self._boxes = [upright((box - middle) @ turn + turned_middle) for box in boxes]

    def lines(self, image):
        return self._boxes


@pytest.fixture(scope="module")
def table(matplotlib_fonts):
    """A page with a paragraph and a table, and a box around each of its lines and cells."""
    letters = ImageFont.truetype(str(matplotlib_fonts / "DejaVuSans.ttf"), 28)
    page = Image.new("RGB", (620, 330), "white")
    pen = ImageDraw.Draw(page)
    places = [(30, 20 + 42 * row, line) for row, line in enumerate(TEXT)]
    places += [
        (left, 130 + 56 * row, cell)
        for row, cells in enumerate(ROWS)
        for left, cell in zip(COLUMNS, cells, strict=True)
    ]
    boxes = []
    for left, top, text in places:
        pen.text((left, top), text, "black", letters)
        sides = pen.textbbox((left, top), text, letters)
        boxes.append(rectangle(*np.add(sides, (-5, -5, 5, 5))))
    return page, boxes


@pytest.mark.parametrize("degrees", [0, 90, 180, 270, 5, -5])
def test_a_turned_page_gives_the_same_markdown(degrees, table, tiny):
    page, boxes = table
    turned = page.rotate(
        -degrees, Image.Resampling.BICUBIC, expand=True, fillcolor="white"
    )
    detector = TurnedLines(boxes, page.size, turned.size, degrees)
    found = PageReader(tiny, detector).read(turned)
    header, *rows = (f"| {' | '.join(row)} |" for row in ROWS)
    expected = "\n".join([" ".join(TEXT), "", header, "|---|---|---|", *rows, ""])
    assert markdown([found]) == expected


@pytest.mark.parametrize("quarters", range(4))
def test_words_lie_where_they_are_read(quarters, drawn, page_reader):
    image, detector = drawn
    level = page_reader.read(image)
    detector.quarters = quarters
    turned = as_read(page_reader.read(image.rotate(-90 * quarters, expand=True)))
    assert (turned.width, turned.height) == image.size
    assert turned.text == level.text
    places = [
        [word.polygon for word in page.words] for page in (turned, as_read(level))
    ]
    np.testing.assert_allclose(*places, atol=2)


def test_an_empty_page_stays_as_it_is():
    assert as_read(Page(30, 20, ())) == Page(30, 20, ())
