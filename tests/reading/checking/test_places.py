"""Where words of a text lie on a page."""

import pytest
from PIL import Image

from vit_str.pages.page import Word
from vit_str.reading.checking.alignment import Group
from vit_str.reading.checking.places import PageWord, places_of


@pytest.mark.parametrize("read", ["x", "xy", "xyz", "wxyz"])
def test_every_word_that_was_read_as_a_part_of_one_can_be_looked_at(read):
    """Also where fewer characters were read than there are words."""
    polygon = ((10, 10), (90, 10), (90, 30), (10, 30))
    word = PageWord(Word(read, 0.9, polygon), 1, 0.9, (9.0, 9.0), 0)
    texts = ["one", "or", "three"]
    parts = places_of(Group(range(3), range(1)), texts, [word])
    picture = Image.new("RGB", (100, 40), "white")
    for (place,) in parts:
        crop = place.crop(picture)
        assert crop.width >= crop.height
        assert place.box.right - place.box.left >= 80 / len(read) - 1e-6
