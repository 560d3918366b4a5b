"""Lines that are longer than the reader of lines sees at once."""

from itertools import pairwise
from random import Random

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from vit_str.decoding.search import Search
from vit_str.images.line_cutting import cuts
from vit_str.words.reader import Reader, load

WORDS = """
the quick brown fox jumps over a lazy dog while museum stations open daily for coffee and tea in
1984 at 12.50 EUR, near Main Street (Berlin) because nobody knows what happens tomorrow
"""


@pytest.fixture(scope="module", params=["onnx", "onnx-int8"])
def reader(request) -> Reader:
    return load("line", backend=request.param)


def text_of(length: int) -> str:
    words = Random(length).choices(WORDS.split(), k=length)
    return " ".join(words)[:length].rpartition(" ")[0]


@pytest.fixture
def drawn(matplotlib_fonts):
    font = ImageFont.truetype(str(matplotlib_fonts / "DejaVuSans.ttf"), 28)

    def draw(text: str) -> Image.Image:
        left, top, right, bottom = font.getbbox(text)
        image = Image.new("RGB", (right - left + 16, bottom - top + 8), "white")
        ImageDraw.Draw(image).text((8 - left, 4 - top), text, "black", font)
        return image

    return draw


@pytest.mark.parametrize("length", [100, 200, 260, 500])
def test_lines_of_any_length_are_read(length, reader, drawn):
    text = text_of(length)
    image = drawn(text)
    plain = reader.read(image)
    reading = reader.read(image, boxes=True)
    assert plain.text == reading.text == text
    assert plain.confidence == reading.confidence > 0.8
    assert plain.characters[0].box is None
    middles = [(c.box.left + c.box.right) / 2 for c in reading.characters]
    assert all(first < second for first, second in pairwise(middles))
    share = [
        (reading.text[: i + 1], middle / image.width)
        for i, middle in enumerate(middles)
    ]
    for start, place in share[:: length // 10]:
        assert place == pytest.approx(drawn(start).width / image.width, abs=0.02)
    assert reading.characters[-1].box.right <= image.width


def test_lines_without_spaces_and_with_rules_are_read(reader, drawn):
    text = "".join(character for character in text_of(400) if character.isalpha())
    assert reader.read(drawn(text)).text == text
    image = drawn(text_of(300))
    pen = ImageDraw.Draw(image)
    pen.line((0, image.height - 2, image.width, image.height - 2), "black", 2)
    assert reader.read(image).text == text_of(300)


def test_a_wide_gap_is_a_space(reader, drawn):
    left = drawn("Left of the table")
    right = drawn("12.50")
    for width in (3000, 9000):
        image = Image.new("RGB", (width, left.height), "white")
        image.paste(left, (0, 0))
        image.paste(right, (width - right.width, 0))
        assert reader.read(image).text == "Left of the table 12.50"
    assert reader.read(Image.new("RGB", (9000, 40), "white")).text == ""


def test_long_and_short_lines_are_read_together(reader, drawn):
    texts = [text_of(length) for length in (40, 300, 20, 220)]
    readings = reader.read([drawn(text) for text in texts])
    assert [reading.text for reading in readings] == texts


def test_what_must_be_seen_as_a_whole_is_not_cut(drawn):
    image = drawn("1" * 300)
    reading = load("line", search=Search(alphabet="1")).read(image)
    assert reading.free is not None and set(reading.text) <= {"1"}
    reading = load("line", search=Search(n_best=2)).read(drawn(text_of(260)))
    assert (reading.text, reading.alternatives) == (text_of(260), ())


def test_cuts_lie_in_gaps_and_leave_no_part_too_long():
    line = np.full((32, 5000), 255, np.uint8)
    line[8:24:2, np.arange(5000) % 50 < 40] = 0
    places = cuts(line, 1000)
    assert all(40 <= place % 50 <= 49 for place in places)
    assert (
        max(np.diff([0, *places, 5000])) <= 1000
        and min(np.diff([0, *places, 5000])) > 500
    )
    assert len(cuts(np.zeros((32, 2500), np.uint8), 1000)) == 2  # without gaps too
