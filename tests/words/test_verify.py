"""How probable given texts are for given images."""

from itertools import chain

import pytest
from PIL import Image, ImageDraw, ImageFont

from vit_str.words.reader import Reader, load


@pytest.fixture(scope="module", params=["tiny", "line"])
def reader(request) -> Reader:
    return load(request.param, backend="onnx").at_one_look()


@pytest.fixture(scope="module")
def word(matplotlib_fonts) -> Image.Image:
    """The picture of "Wordmark"."""
    letters = ImageFont.truetype(str(matplotlib_fonts / "DejaVuSerif.ttf"), 28)
    picture = Image.new("RGB", (170, 44), "white")
    ImageDraw.Draw(picture).text((8, 4), "Wordmark", "black", letters)
    return picture


def test_what_is_read_is_as_probable_as_reading_says(reader, word):
    read = reader.read(word)
    ((verified,),) = reader.verify([word], [[read.text]])
    assert verified.text == read.text == "Wordmark"
    assert verified.confidence == pytest.approx(read.confidence, abs=1e-5)


def test_other_texts_are_less_probable(reader, word):
    others = ["Wordrnark", "Wordmarks", "Wordmar", "Vordmark", ""]
    (readings,) = reader.verify([word], [["Wordmark", *others]])
    assert [each.text for each in readings] == ["Wordmark", *others]
    assert readings[0].confidence > 0.9
    assert sum(each.confidence for each in readings) < 1 + 1e-6
    assert max(each.confidence for each in readings[1:]) < 0.05


def test_batches_and_widths_do_not_matter(reader, word):
    wide = word.resize((2 * word.width, word.height))
    images = [word, wide, word]
    texts = [["Wordmark"], ["Wordmark", "Word"], []]
    together = reader.verify(images, texts)
    alone = reader.verify(images, texts, batch_size=1)
    assert list(map(len, together)) == [1, 2, 0]
    for one, other in zip(chain(*together), chain(*alone), strict=True):
        assert one.confidence == pytest.approx(other.confidence, abs=1e-4)


def test_texts_that_cannot_be_written_are_refused(reader, word):
    assert reader.can_write("Wordmark")
    assert not reader.can_write("年度")
    with pytest.raises(ValueError, match="lacks"):
        reader.verify([word], [["年度"]])
    long = "a" * reader.maximum_length
    assert reader.can_write(long) == reader.reads_lines
    if not reader.reads_lines:
        with pytest.raises(ValueError, match="use weights of lines"):
            reader.verify([word], [[long]])
