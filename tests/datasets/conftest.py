"""Words with real pictures, a different one for every number."""

from collections.abc import Callable
from io import BytesIO
from random import Random

import pytest
from PIL import Image

from vit_str.datasets import LabeledWord

LABELS = (
    "Museum",
    "가나다",
    " lead and trail ",
    'say "hi", you',
    "nai\u0308ve",
    "a\\b",
    "日本語😀",
    "1984",
)


def make_word(number: int) -> LabeledWord:
    """A picture of some 100 bytes that is always the same; every seventh fills a page."""
    file = BytesIO()
    size = (40 + number % 50, 24)
    if number % 7:
        Image.new("RGB", size, (number * 5 % 256, number % 256, 90)).save(file, "PNG")
    else:
        noise = Random(number).randbytes(3 * size[0] * size[1])
        Image.frombytes("RGB", size, noise).save(file, "PNG")
    boxes = tuple((float(i), 0.5, i + 1.0, float(number)) for i in range(number % 4))
    return LabeledWord(file.getvalue(), LABELS[number % len(LABELS)], boxes)


@pytest.fixture
def words_of() -> Callable[[int], list[LabeledWord]]:
    return lambda count: [make_word(number) for number in range(count)]
