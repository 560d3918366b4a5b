"""Boxes to tick, drawn in many ways, and letters in frames, which are none."""

from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFilter, ImageFont, ImageOps

from vit_str.pages.find.geometry import Quadrilateral, rectangle, upright
from vit_str.pages.read.check_boxes import find_check_boxes
from vit_str.pages.reader import PageReader
from vit_str.pages.write.markdown import markdown

pytest.importorskip("cv2")
STATES = (False, True, True, False, True)  # of the boxes of a form, from the top
LABELS = ("Married", "Single", "Divorced", "Widowed", "I accept")
MARKS = ("cross", "tick", "dot", "long tick", "square")


def draw_mark(pen: ImageDraw.ImageDraw, box: list[int], mark: str, width: int) -> None:
    left, top, right, bottom = box
    side = right - left
    inner = [left + side // 4, top + side // 4, right - side // 4, bottom - side // 4]
    if mark == "cross":
        pen.line(inner, "black", width)
        pen.line([inner[0], inner[3], inner[2], inner[1]], "black", width)
    elif mark == "dot":
        pen.ellipse(inner, "black")
    elif mark == "square":
        pen.rectangle(inner, "black")
    else:
        beyond = side // 4 if mark == "long tick" else -side // 5
        middle = (left + 2 * side // 5, bottom - side // 5)
        end = (right + beyond, top - beyond)
        pen.line([inner[0], top + side // 2, *middle, *end], "black", width)


def draw_form(
    font_file: Path, size: int = 24, mark: str = "cross", frame: str = "black"
) -> tuple[Image.Image, list[Quadrilateral]]:
    """A form, and quadrilaterals around its labels, some of them with their boxes."""
    font = ImageFont.truetype(str(font_file), size)
    page = Image.new("RGB", (14 * size, 12 * size), "white")
    pen = ImageDraw.Draw(page)
    lines = []
    for row, (label, is_ticked) in enumerate(zip(LABELS, STATES, strict=True)):
        top = round((1 + 2 * row) * size)
        box = [size, top + size // 5, size + 4 * size // 5, top + size]
        pen.rectangle(box, outline=frame, width=max(1, size // 16))
        if is_ticked:
            draw_mark(pen, box, mark, max(1, size // 10))
        at = (2.3 * size, top)
        pen.text(at, label, "black", font)
        _, upper, right, lower = pen.textbbox(at, label, font)
        left = box[0] - 3 if row % 2 else at[0] - 3
        lines.append(rectangle(left, upper - 3, right + 3, lower + 3))
    return page, lines


def states(image: Image.Image, lines: list[Quadrilateral]) -> list[bool]:
    """Of what is found before the labels: only reading tells some letters from frames."""
    before = min(line[1, 0] for line in lines) / 3
    boxes = [box for box in find_check_boxes(image, lines) if box.middle[0] < before]
    return [box.is_ticked for box in sorted(boxes, key=lambda box: box.middle[1])]


@pytest.fixture
def font(matplotlib_fonts) -> Path:
    return matplotlib_fonts / "DejaVuSans.ttf"


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize("size", [16, 24, 40, 90])
@pytest.mark.parametrize("frame", ["black", "#767676"])
def test_ticked_boxes_are_told_from_empty_ones(mark, size, frame, font):
    assert states(*draw_form(font, size, mark, frame)) == list(STATES)


def test_boxes_of_scans_are_found(font):
    image, lines = draw_form(font, 32, "tick")
    values = np.asarray(image.filter(ImageFilter.GaussianBlur(0.8)), float)
    noise = np.random.default_rng(0).normal(0, 12, values.shape)
    noisy = Image.fromarray((values * 0.8 + 20 + noise).clip(0, 255).astype(np.uint8))
    file = BytesIO()
    noisy.save(file, "JPEG", quality=60)
    assert states(Image.open(file).convert("RGB"), lines) == list(STATES)


def test_boxes_on_dark_ground_are_found(font):
    image, lines = draw_form(font, 24)
    assert states(ImageOps.invert(image), lines) == list(STATES)


@pytest.mark.parametrize("quarters", range(4))
def test_forms_are_read_with_their_boxes(quarters, font, tiny):
    image, lines = draw_form(font)

    class Known:
        def lines(self, page: Image.Image) -> list[Quadrilateral]:
            found = np.array(lines)
            width, height = image.size
            for _ in range(quarters):
                found = np.stack([height - found[..., 1], found[..., 0]], -1)
                width, height = height, width
            return [upright(line) for line in found]

    page = PageReader(tiny, Known()).read(image.rotate(-90 * quarters, expand=True))
    signs = ["[x]" if is_ticked else "□" for is_ticked in STATES]
    expected = [f"{sign} {label}" for sign, label in zip(signs, LABELS, strict=True)]
    assert [line for line in page.text.split("\n") if line] == expected
    if not quarters:
        tasks = [
            line for line in markdown([page]).replace("[ ]", "□").split("\n") if line
        ]
        assert tasks[:4] == [f"- {line}" for line in expected[:4]]


def test_letters_in_frames_and_letters_with_straight_sides_are_kept(font, tiny):
    letters = ImageFont.truetype(str(font), 30)
    image = Image.new("RGB", (400, 140), "white")
    pen = ImageDraw.Draw(image)
    pen.text((20, 10), "DODO 80 BED", "black", letters)
    for place, letter in enumerate("PAY"):
        pen.rectangle((20 + 50 * place, 78, 56 + 50 * place, 114), outline="black")
        pen.text((28 + 50 * place, 78), letter, "black", letters)
    lines = [rectangle(15, 10, 240, 45), rectangle(15, 74, 165, 118)]

    class Known:
        def lines(self, page: Image.Image) -> list[Quadrilateral]:
            return lines

    text = PageReader(tiny, Known(), minimum_confidence=0).read(image).text
    assert "[x]" not in text and "□" not in text
    assert text.startswith("DODO 80 BED")


def test_dark_boxes_with_a_light_tick_are_ticked(font):
    image, lines = draw_form(font)
    pen = ImageDraw.Draw(image)
    for row in (1, 2, 4):
        top = 24 + 48 * row
        pen.rectangle((24, top + 4, 24 + 19, top + 24), "#0075ff")
        pen.line((28, top + 14, 32, top + 19, 39, top + 9), "white", 2)
    assert states(image, lines) == list(STATES)


@pytest.mark.parametrize("noise", [0.0, 6.0])
def test_solid_squares_are_no_boxes(font, noise):
    image, lines = draw_form(font)
    pen = ImageDraw.Draw(image)
    for row in range(len(STATES)):
        top = 24 + 48 * row
        pen.rectangle((24, top + 4, 24 + 19, top + 24), "#333333")
    random = np.random.default_rng(0)
    pixels = np.asarray(image) + random.normal(0, noise, (*image.size[::-1], 1))
    scan = Image.fromarray(pixels.clip(0, 255).astype(np.uint8))
    assert states(scan, lines) == []
