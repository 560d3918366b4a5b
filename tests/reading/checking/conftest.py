"""A page that is drawn here, and what checks it: the lines are known, the readers are real."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from vit_str.pages.find.geometry import Quadrilateral, rectangle
from vit_str.pages.reader import PageReader
from vit_str.reading.checking.checker import PageChecker
from vit_str.words.reader import load

LINES = (
    "The annual report of the company",
    "was recieved on 14.03.2021 and",
    "shows a profit of 12,580.50 in",
    "all regions; we thank our mem-",
    "bers for “trust” and patience.",
)
"""With a misspelling as it is printed, an amount, a word that is cut, and quotes."""


class DrawnLines:
    """Finds the lines of a picture that `draw` has drawn."""

    def __init__(self) -> None:
        self.boxes: list[Quadrilateral] = []

    def lines(self, image: Image.Image) -> list[Quadrilateral]:
        return self.boxes


@pytest.fixture(scope="session")
def draw(matplotlib_fonts) -> Callable[[Sequence[str]], tuple[Image.Image, DrawnLines]]:
    """Draws lines of text, and gives a detector that knows where they are."""

    def drawn(lines: Sequence[str]) -> tuple[Image.Image, DrawnLines]:
        letters = ImageFont.truetype(str(matplotlib_fonts / "DejaVuSerif.ttf"), 30)
        width = 80 + max(round(letters.getlength(line)) for line in lines)
        page = Image.new("RGB", (width, 40 + 56 * len(lines)), "white")
        pen = ImageDraw.Draw(page)
        detector = DrawnLines()
        for number, line in enumerate(lines):
            at = 40, 20 + 56 * number
            pen.text(at, line, "black", letters)
            left, top, right, bottom = pen.textbbox(at, line, letters)
            box = rectangle(left - 5, top - 5, right + 5, bottom + 5)
            detector.boxes.append(np.array(box))
        return page, detector

    return drawn


@pytest.fixture(scope="session")
def page(draw) -> Image.Image:
    """`LINES` as a picture."""
    return draw(LINES)[0]


@pytest.fixture(scope="session")
def reader(draw) -> PageReader:
    """A reader of `LINES`."""
    return PageReader(load("tiny"), draw(LINES)[1], minimum_confidence=0.0)


@pytest.fixture(scope="session")
def checker(reader) -> PageChecker:
    return PageChecker(reader)
