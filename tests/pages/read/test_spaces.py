"""Spaces that are none: by the reader, their white, and what stands beside them."""

import numpy as np
import pytest
from PIL import Image

from vit_str.decoding.boxes import Box
from vit_str.decoding.readings import Character, Reading
from vit_str.pages.find.geometry import Strip, rectangle
from vit_str.pages.read.spaces import widths_of, without_odd_spaces

PITCH, HEIGHT = 20, 40


def line(
    text: str,
    confidence: float = 0.6,
    white: int = 8,
    frame: bool = False,
    letters: float = 0.99,
) -> tuple[Strip, Reading]:
    """A line of bars, 14 of 20 pixels wide, whose spaces are so wide, and how it was read.

    Args:
        text: that is read.
        confidence: of its spaces.
        white: of its spaces, in pixels.
        frame: whether a rule runs through the whole strip.
        letters: the confidence of all else.
    """
    bars: list[tuple[int, int]] = []
    characters = []
    x = 4
    for character in text:
        if character == " ":
            characters.append(Character(" ", confidence))
            x += white - 6
            continue
        bars.append((x, x + 14))
        box = Box(x, 0, x + 14, HEIGHT)
        characters.append(Character(character, letters, box))
        x += PITCH
    pixels = np.full((HEIGHT, x, 3), 255, np.uint8)
    for start, end in bars:
        pixels[8:32, start:end] = 0
    if frame:
        pixels[14:16] = 0
    strip = Strip(Image.fromarray(pixels), rectangle(0, 0, x, HEIGHT))
    return strip, Reading(text, 0.5, tuple(characters))


def kept(text: str, **options: object) -> str:
    """The text without its odd spaces."""
    return without_odd_spaces(*line(text, **options)).text


def test_widths_are_told_over_the_distance_of_characters():
    (width,) = widths_of(*line("ab cd", white=20)).values()
    assert width == pytest.approx(20 / PITCH, abs=0.1)
    assert widths_of(*line("abcd")) == {}
    assert widths_of(*line("ab cd", frame=True)) == {}, "nothing tells"


@pytest.mark.parametrize(
    ("read", "right"),
    [
        ("d3 1f0a35", "d31f0a35"),
        ("b561 a4", "b561a4"),
        ("x = len (name)", "x = len(name)"),
        ("f(a [0] )", "f(a[0])"),
        ("clear( )", "clear()"),
        ("BED- AND", "BED-AND"),
        ("du PALAIS- ROYAL", "du PALAIS-ROYAL"),
    ],
)
def test_narrow_white_in_codes_and_brackets_is_no_space(read, right):
    assert kept(read) == right


@pytest.mark.parametrize("text", ["d3 1f0a35", "len (name)", "A4 B5", "two words"])
def test_wide_white_that_is_read_surely_is_a_space(text):
    assert kept(text, confidence=0.9999, white=22) == text


@pytest.mark.parametrize(
    ("read", "right"),
    [
        ("01 Aug2018 paid", "01Aug2018 paid"),
        ("01Aug 2018 paid", "01Aug2018 paid"),
    ],
)
def test_a_space_within_half_of_a_date_is_none(read, right):
    assert kept(read, confidence=0.99, white=14) == right


@pytest.mark.parametrize("text", ["PALAIS- ROYAL", "Saint -Denis", "half- way"])
def test_a_hyphen_with_even_white_on_its_sides_has_no_space(text):
    assert kept(text, confidence=0.99, white=8) == text.replace(" ", "")
    assert kept(text, confidence=0.99, white=16) == text


@pytest.mark.parametrize(
    "text", ["01 Aug 2018", "12 Bolts15 cm", "pre- and post", "NORTH - SOUTH", "ls -la"]
)
def test_spaces_of_dates_and_hyphens_stay(text):
    assert kept(text, confidence=0.999, white=18) == text


@pytest.mark.parametrize(
    "text", ["two words", "4111 1111", "( ) yes", "a word (so)", "제 1조"]
)
def test_spaces_of_common_text_stay_in_doubt(text):
    assert kept(text, white=13) == text


def test_what_hides_the_white_leaves_it_to_the_reader():
    assert kept("d3 1f0a35", frame=True) == "d3 1f0a35"


def test_a_space_that_was_doubted_leaves_a_doubt():
    reading = without_odd_spaces(*line("d3 1f0a35"))
    assert len(reading.characters) == len(reading.text)
    assert reading.characters[2].confidence < reading.characters[1].confidence == 0.99


def test_a_doubtful_code_tells_little_of_a_space():
    assert kept("MRC 8Y M", confidence=0.9) == "MRC8YM"
    assert kept("MRC 8Y M", confidence=0.9, letters=0.5) == "MRC 8Y M"
