"""A word amid nothing is found, read and located."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

import vit_str
from vit_str.decoding.boxes import Box, Frame, maps_in
from vit_str.images.image_decoding import decode, without_margins
from vit_str.images.preprocessing import Preprocessing
from vit_str.words.reader import Reader

PREPROCESSING = Preprocessing(turn_above=1.5)
SAMPLES = Path(__file__).parents[2] / "data" / "samples" / "images"
Corner = tuple[int, int]


def amid_nothing(
    word: Image.Image, sides: tuple[float, float], at: Corner
) -> Image.Image:
    """A word on a sheet so many times as wide and as high, in shades from left to right."""
    width, height = (
        round(share * side) for share, side in zip(sides, word.size, strict=True)
    )
    shades = np.linspace(150, 250, width).astype(np.uint8)
    image = Image.fromarray(
        np.broadcast_to(shades[None, :, None], (height, width, 3)).copy()
    )
    image.paste(
        (20, 20, 20), at, Image.eval(word.convert("L"), lambda value: 255 - value)
    )
    return image


def _middle(box: Box) -> np.ndarray:
    return np.array([box.left + box.right, box.top + box.bottom]) / 2


@pytest.fixture(scope="module")
def tiny() -> Reader:
    return vit_str.load("tiny", "cpu", backend="onnx")


@pytest.mark.parametrize(
    ("sides", "at"),
    [
        ((7, 7), (300, 100)),
        ((13, 13), (900, 300)),
        ((6, 1), (0, 0)),
        ((1, 7), (0, 120)),
    ],
)
def test_a_word_amid_nothing_is_read_as_if_it_were_cut_out(sides, at, tiny, word_image):
    word = word_image("Museum")
    alone = tiny.read(word, boxes=True)
    image = amid_nothing(word, sides, at)
    reading = tiny.read(image, boxes=True)
    assert reading.text == alone.text == "Museum"
    for one, other in zip(reading.characters, alone.characters, strict=True):
        assert one.box and other.box
        assert _middle(one.box) - at == pytest.approx(_middle(other.box), abs=15)


def test_a_column_amid_nothing_is_turned_after_it_is_cut_out(tiny, word_image):
    wide = amid_nothing(word_image("Museum"), (7, 3), (300, 40))
    for turn in (Image.Transpose.ROTATE_90, Image.Transpose.ROTATE_270):
        image = wide.transpose(turn)
        left, top, *_ = window = without_margins(image, PREPROCESSING)[1]
        part = tiny.read(image.crop(window), boxes=True)
        reading = tiny.read(image, boxes=True)
        assert reading.text == part.text == "Museum"
        for one, other in zip(reading.characters, part.characters, strict=True):
            assert one.box and other.box
            assert np.subtract(one.box, other.box) == pytest.approx(
                (left, top) * 2, abs=0.01
            )


def test_a_lone_digit_amid_nothing_stands_upright(tiny):
    image = Image.new("RGB", (400, 300), "white")
    ImageDraw.Draw(image).text((150, 100), "1", "black", ImageFont.load_default(40))
    assert tiny.read(image).text == "1"


@pytest.mark.parametrize("path", sorted(SAMPLES.iterdir()), ids=lambda path: path.stem)
def test_crops_of_words_stay_as_they_are(path):
    image = vit_str.images.loading.load_image(path)
    pixels, window = without_margins(image, PREPROCESSING)
    assert window == (0, 0, *image.size)
    assert (pixels == PREPROCESSING.array(image)).all()


@pytest.mark.parametrize("box", [(12, 40, 18, 46), (10, 30, 50, 36), (0, 0, 1, 1)])
def test_marks_in_a_high_line_stay_as_they_are(box):
    image = Image.new("RGB", (60, 60), "white")
    image.paste("black", box)
    assert without_margins(image, PREPROCESSING)[1] == (0, 0, 60, 60)


@pytest.mark.parametrize("size", [(1, 1), (1, 500), (500, 1), (700, 300)])
def test_nothing_at_all_stays_as_it_is(size):
    assert without_margins(Image.new("RGB", size), PREPROCESSING)[1] == (0, 0, *size)


def test_the_part_is_in_pixels_of_the_whole_photograph(tmp_path):
    image = Image.new("RGB", (8000, 4000), "white")
    image.paste("black", (4000, 2000, 4400, 2200))
    image.save(tmp_path / "large.jpg")
    decoded = decode(tmp_path / "large.jpg", PREPROCESSING)
    assert decoded.size == (4000, 8000)
    left, top, right, bottom = decoded.window
    assert (3700 < left < 4000, 1800 < top < 2000) == (True, True)
    assert (4400 < right < 4700, 2200 < bottom < 2400) == (True, True)


def test_maps_of_a_part_lie_in_the_whole():
    maps = np.zeros((1, 1, 2, 4), np.float32)
    maps[0, 0, 1, 3] = 1
    frame = Frame(20, 40, turned=False, left=120, top=60, size=(80, 200))
    (((seen),),) = maps_in([frame], maps)
    whole = np.array(seen)
    assert whole.shape == (8, 20)
    assert whole.sum() == pytest.approx(1)
    assert whole[7, 15] == 1


@pytest.mark.parametrize("effort", ["fast", None])
@pytest.mark.parametrize("share", [1.3, 1.8, 2.6])
def test_nothing_is_read_where_it_is_blank_beside_a_word(
    share, effort, matplotlib_fonts
):
    font = ImageFont.truetype(matplotlib_fonts / "DejaVuSerif.ttf", 22)
    words = ["Rubbed", "EXCLUDED", "properly", "Mcgregor", "opening", "PARKWAY"]
    images = []
    for place, word in enumerate(words):
        length = round(font.getlength(word))
        image = Image.new("RGB", (round(share * length) + 8, 32), "white")
        left = 4 if place % 2 else image.width - length - 4
        ImageDraw.Draw(image).text((left, 3), word, "black", font=font)
        images.append(image)
    reader = vit_str.load("tiny", "cpu", effort=effort)
    assert [reading.text for reading in reader.read(images)] == words
