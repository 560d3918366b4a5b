"""A drawn page, and a detector that knows where its lines are."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from vit_str.pages.find.geometry import Quadrilateral, rectangle, upright
from vit_str.pages.reader import PageReader
from vit_str.words.reader import Reader, load

LINES = ("Museum station", "Open daily", "Coffee and tea")


class KnownLines:
    """Finds the lines that were drawn, on a page turned by quarters to the right."""

    def __init__(self, boxes: Sequence[Quadrilateral], size: tuple[int, int]) -> None:
        self.boxes, (self.width, self.height), self.quarters = boxes, size, 0

    def lines(self, image: Image.Image) -> list[Quadrilateral]:
        corners = np.array(self.boxes)
        width, height = self.width, self.height
        for _ in range(self.quarters):
            corners = np.stack([height - corners[..., 1], corners[..., 0]], -1)
            width, height = height, width
        return [upright(box) for box in corners]


def draw_page(font: Path, lines: Sequence[str]) -> tuple[Image.Image, KnownLines]:
    letters = ImageFont.truetype(str(font), 32)
    width = max(420, *(round(letters.getlength(line)) + 60 for line in lines))
    page = Image.new("RGB", (width, 40 + 60 * len(lines)), "white")
    pen = ImageDraw.Draw(page)
    boxes = []
    for number, line in enumerate(lines):
        at = 30, 20 + 60 * number
        pen.text(at, line, "black", letters)
        left, top, right, bottom = pen.textbbox(at, line, letters)
        boxes.append(rectangle(left - 5, top - 5, right + 5, bottom + 5))
    return page, KnownLines(boxes, page.size)


@pytest.fixture(scope="session")
def draw(matplotlib_fonts) -> Callable[..., tuple[Image.Image, KnownLines]]:
    return partial(draw_page, matplotlib_fonts / "DejaVuSans.ttf")


@pytest.fixture(scope="session")
def lines() -> Sequence[str]:
    return LINES


@pytest.fixture(scope="session")
def tiny() -> Reader:
    return load("tiny")


@pytest.fixture
def drawn(draw) -> tuple[Image.Image, KnownLines]:
    return draw(LINES)


@pytest.fixture
def page_reader(tiny, drawn) -> PageReader:
    return PageReader(tiny, drawn[1])
