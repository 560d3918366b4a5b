import pytest

from vit_str.decoding.boxes import Box
from vit_str.decoding.readings import Character, Reading
from vit_str.pages.read.settling import MarkStyle, settled, with_apostrophes

CURLY = MarkStyle(typographic=True, ellipsis=True)
STRAIGHT = MarkStyle(typographic=False, ellipsis=False)


def reading(text, confidence=0.9):
    characters = [
        Character(each, 0.9, Box(place, 0, place + 1, 1))
        for place, each in enumerate(text)
    ]
    return Reading(text, confidence, tuple(characters))


@pytest.mark.parametrize(
    ("line", "word", "style", "expected"),
    [
        ("angry?”", 'angry?"', CURLY, "angry?”"),
        ("d'un", "d’un", CURLY, "d’un"),
        ("d'un", "d’un", STRAIGHT, "d'un"),
        ("Об’ізд", "Об'їзд", CURLY, "Об’їзд"),
        ("không…", "không...", CURLY, "không…"),
        ("không…", "không...", STRAIGHT, "không..."),
        ("không...", "không…", MarkStyle(), "không…"),
        ("angry?”", 'angry?"', MarkStyle(), "angry?”"),
        ("angry?", 'angry?"', CURLY, 'angry?"'),
        ("cổ", "CỔ", CURLY, "cổ"),
        ("SO", "so", CURLY, "SO"),
        ("the", "THE", CURLY, "THE"),
        ("sow", "SOLD", CURLY, "SOLD"),
        ("", "SO", CURLY, "SO"),
    ],
)
def test_page_settles_marks_and_line_settles_case(line, word, style, expected):
    line, word = reading(line), reading(word)
    found = settled(word, line, word, style)
    assert found.text == expected
    assert "".join(each.character for each in found.characters) == expected
    assert found.confidence == word.confidence


def test_marks_of_the_page_are_in_what_the_line_says_too():
    line, word = reading("d'un"), reading("d’un")
    assert settled(line, line, word, CURLY).text == "d’un"
    assert settled(line, line, word, MarkStyle()) is line


def test_three_dots_share_the_place_of_one_sign():
    line, word = reading("a..."), reading("a…b")
    sign = settled(line, line, word, CURLY).characters[1]
    assert (sign.character, sign.box) == ("…", Box(1, 0, 4, 1))
    assert sign.confidence == pytest.approx(0.9**3)
    dots = settled(word, line, word, STRAIGHT)
    assert dots.text == "a...b"
    assert [each.box.left for each in dots.characters] == [0, 1, 1, 1, 2]


def test_a_bullet_within_a_word_is_a_dash():
    dashes, bullet = reading("--clean"), reading("▪-clean")
    assert settled(bullet, dashes, bullet, CURLY).text == "--clean"
    assert settled(dashes, dashes, bullet, CURLY).text == "--clean"
    alone, dash = reading("▪"), reading("-")
    assert settled(alone, dash, alone, CURLY).text == "▪"


def test_most_marks_tell_the_style_of_a_page():
    assert MarkStyle.of([reading("l’île"), reading('d’un "x’')]).typographic
    typed = [reading("it's"), reading("'5…'"), reading("6…")]
    assert MarkStyle.of(typed) == MarkStyle(typographic=False, ellipsis=True)
    assert MarkStyle.of([reading("it's"), reading("5…")]) == MarkStyle()
    assert MarkStyle.of([reading("plain")]) == MarkStyle(None, None)


def test_readings_without_characters_keep_none():
    line = Reading("cổ", 0.8, ())
    assert settled(Reading("CỔ", 0.9, ()), line, line, CURLY) == Reading("cổ", 0.9, ())


def test_apostrophes_between_letters_are_those_of_nearly_all_words():
    page = [reading(each) for each in ("l’île", "d’un", "qu’on", "c'est")]
    style = MarkStyle.of(page)
    found = [with_apostrophes(each, style).text for each in page]
    assert found == ["l’île", "d’un", "qu’on", "c’est"]
    assert with_apostrophes(reading("5' 'tis"), style).text == "5' 'tis"
    typed = MarkStyle.of([reading(each) for each in ("it's", "he's", "she's", "we’d")])
    assert with_apostrophes(page[0], typed).text == "l'île"
    few = MarkStyle.of(page[2:])
    assert with_apostrophes(page[3], few) is page[3]
