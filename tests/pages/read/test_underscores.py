"""Low lines: strokes at the foot of a line, which readers take for spaces."""

import pytest
from PIL import Image, ImageDraw, ImageFont

from vit_str.decoding.boxes import Box
from vit_str.decoding.readings import Character, Reading
from vit_str.pages.find.geometry import Strip, rectangle
from vit_str.pages.read.underscores import with_low_lines

SIZE = 24


def read(
    fonts: object, text: str, seen: str, underlined: bool = False
) -> tuple[Strip, Reading]:
    """A drawn line, and what a reader without low lines makes of it.

    Args:
        fonts: the folder of matplotlib's.
        text: that is drawn.
        seen: of the same length, with spaces where nothing is read.
        underlined: whether a rule runs below all of it.
    """
    font = ImageFont.truetype(f"{fonts}/DejaVuSansMono.ttf", SIZE)
    step = font.getlength("a")
    size = round(step * len(text)) + 10, 34
    image = Image.new("RGB", size, "white")
    pen = ImageDraw.Draw(image)
    pen.text((5, 2), text, "black", font)
    if underlined:
        pen.line((5, 27, size[0] - 5, 27), "black", 2)
    characters = []
    for place, character in enumerate(seen):
        box = Box(5 + place * step, 0, 5 + (place + 1) * step, size[1])
        if character != " ":
            characters.append(Character(character, 0.99, box))
        elif characters and characters[-1].character != " ":
            characters.append(Character(" ", 0.9, box))
    text = "".join(character.character for character in characters)
    return Strip(image, rectangle(0, 0, *size)), Reading(text, 0.9, tuple(characters))


@pytest.mark.parametrize(
    ("seen", "width", "found"),
    [("a_b", 16, "a_b"), ("a_b", 22, "a__b"), ("a b", 16, "a __ b")],
)
def test_a_reader_counts_low_lines_of_wide_faces(seen, width, found, matplotlib_fonts):
    font = ImageFont.truetype(f"{matplotlib_fonts}/DejaVuSansMono.ttf", SIZE)
    end = 26 + width
    size = end + 24, 34
    image = Image.new("RGB", size, "white")
    pen = ImageDraw.Draw(image)
    pen.text((5, 2), "a", "black", font)
    pen.line((22, 27, 21 + width, 27), "black", 2)
    pen.text((end, 2), "b", "black", font)
    boxes = Box(5, 0, 20, 34), Box(22, 0, 22 + width, 34), Box(end, 0, end + 15, 34)
    characters = tuple(map(Character, seen, (0.99,) * 3, boxes))
    strip = Strip(image, rectangle(0, 0, *size))
    assert with_low_lines(strip, Reading(seen, 0.9, characters)).text == found


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("read_file(path)", "read file(path)"),
        ("__init__ and", "  init   and"),
        ("a_b c_d", "a b c d"),
        ("name: ____", "name:     "),
        ("on ____ only", "on      only"),
        ("name ____ of CL", "name      of CL"),
        ("max_workers", "max_workers"),
        ("on ____, only", "on     , only"),
        ("__init__ and", "- init   and"),
        ("class _Tape", "class  Tape"),
    ],
)
def test_strokes_between_letters_are_low_lines(text, seen, matplotlib_fonts):
    found = with_low_lines(*read(matplotlib_fonts, text, seen))
    assert found.text == text
    assert "".join(each.character for each in found.characters) == text
    sides = [each.box.left for each in found.characters if each.box]
    assert sides == sorted(sides)


@pytest.mark.parametrize(
    "text", ["two words", "a, b. c; d", "x = y - 1", "say 'so' now", "MODEL LAB L"]
)
def test_other_lines_stay(text, matplotlib_fonts):
    strip, reading = read(matplotlib_fonts, text, text)
    assert with_low_lines(strip, reading) is reading


def test_a_line_below_words_is_no_text(matplotlib_fonts):
    strip, reading = read(matplotlib_fonts, "two words", "two words", underlined=True)
    assert with_low_lines(strip, reading) is reading


def test_a_line_without_letters_stays(matplotlib_fonts):
    strip, _ = read(matplotlib_fonts, "____", "____")
    empty = Reading("", 0.0, ())
    assert with_low_lines(strip, empty) is empty
