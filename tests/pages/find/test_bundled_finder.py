"""The network of the package that finds lines."""

import sys

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from vit_str.pages.find.detection import LineDetector
from vit_str.pages.find.detectors import OURS, open_detector
from vit_str.pages.reader import load_page

pytest.importorskip("cv2")
LINES = [
    "The harbor office opens at nine",
    "Boats are moored by the wall",
    "and leave with the evening tide",
]


@pytest.fixture(scope="module")
def detector() -> LineDetector:
    return open_detector(OURS)


@pytest.fixture(scope="module")
def font(matplotlib_fonts) -> str:
    return str(matplotlib_fonts / "DejaVuSans.ttf")


def page(font: str, ink: str = "black", paper: str = "white") -> Image.Image:
    image = Image.new("RGB", (800, 600), paper)
    pen = ImageDraw.Draw(image)
    for number, line in enumerate(LINES):
        at = (60, 80 + 60 * number)
        pen.text(at, line, ink, ImageFont.truetype(font, 28))
    return image


@pytest.mark.parametrize(("ink", "paper"), [("black", "white"), ("#dde", "#123")])
def test_lines_and_their_words_are_found(ink, paper, font, detector):
    found = sorted(
        detector.find(page(font, ink, paper)), key=lambda line: line.strip[0, 0, 1]
    )
    assert [len(line.words) for line in found] == [len(line.split()) for line in LINES]
    for number, line in enumerate(found):
        left, top = line.strip.reshape(-1, 2).min(0)
        assert left == pytest.approx(60, abs=8)
        assert top == pytest.approx(80 + 60 * number, abs=14)
        assert abs(line.direction) < 3
        assert line.confidence > 0.8


@pytest.mark.parametrize("quarters", [1, 3])
def test_words_of_lines_on_their_side_are_found(quarters, font, detector):
    """Whether such lines are read up or down nobody can tell before they are read."""
    image = page(font).rotate(90 * quarters, expand=True)
    found = sorted(detector.find(image), key=lambda line: line.strip[0, 0, 0])
    words = [len(line.split()) for line in (LINES if quarters == 1 else LINES[::-1])]
    assert [len(line.words) for line in found] == words
    assert all(abs(abs(line.direction) - 90) < 3 for line in found)


def test_lone_digits_are_found(font, detector):
    image = page(font)
    pen = ImageDraw.Draw(image)
    places = [(620, 90 + 45 * digit) for digit in range(1, 10)]
    for digit, place in enumerate(places, start=1):
        pen.text(place, str(digit), "black", ImageFont.truetype(font, 24))
    found = [line.mean(0) for line in detector.lines(image)]
    for digit, (x, y) in enumerate(places, start=1):
        middle = (x + 7, y + 14)
        assert any(np.abs(each - middle).max() < 12 for each in found), digit


def test_most_dashes_at_ends_of_lines_are_of_them(font, detector):
    letters = ImageFont.truetype(font, 24)
    image = Image.new("RGB", (1000, 300), "white")
    texts = [
        "There are more books about whales —",
        "than about any other animal, she wrote —",
        "and nobody would ask for one of them",
        "Was it so? —",
        "“Yes, it was so then, and it is now.”",
    ]
    for number, text in enumerate(texts):
        ImageDraw.Draw(image).text((30, 20 + 55 * number), text, "black", letters)
    found = [line.reshape(-1, 2) for line in detector.lines(image)]
    whole = 0
    for number, text in enumerate(texts):
        right, middle = 30 + letters.getlength(text), 34 + 55 * number
        whole += any(
            abs(line[:, 0].max() - right) < 14 and abs(line[:, 1].mean() - middle) < 14
            for line in found
        )
    assert whole >= 4  # without dashes, 2


def test_an_empty_page_has_no_lines(detector):
    assert detector.lines(Image.new("RGB", (600, 400), "white")) == []


def test_pages_are_read_without_rapidocr(font, monkeypatch):
    monkeypatch.setitem(sys.modules, "rapidocr", None)
    assert load_page(detector=OURS).read(page(font)).text == "\n".join(LINES)
