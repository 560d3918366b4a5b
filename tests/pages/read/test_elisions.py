"""Articles without their vowel."""

import pytest

from vit_str.decoding.boxes import Box
from vit_str.decoding.readings import Character
from vit_str.pages.page import Word
from vit_str.pages.read.elisions import with_elisions


def read(text: str) -> Word:
    """A word whose characters are 10 pixels wide."""
    characters = (
        Character(each, 0.9, Box(10 * n, 0, 10 * n + 10, 20))
        for n, each in enumerate(text)
    )
    return Word(text, 0.5, ((0, 0), (1, 0), (1, 1), (0, 1)), tuple(characters))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I'atelier", "l'atelier"),
        ("(I’école,", "(l’école,"),
        ("I'Europe", "l'Europe"),
        ("I'idée", "l'idée"),
        ("ľ'homme", "l'homme"),
        ("ľécole", "l'école"),
        ("«ľîle", "«l'île"),
        ("I'm", "I'm"),
        ("I'd", "I'd"),
        ("I've", "I've"),
        ("I'll", "I'll"),
        ("I'Il", "I'Il"),
        ("I'il", "I'il"),
        ("II", "II"),
        ("ľudia", "ľudia"),
        ("ľad", "ľad"),
        ("L'été", "L'été"),
    ],
)
def test_letters_before_apostrophes_and_vowels_are_articles(text, expected):
    (word,) = with_elisions([read(text)])
    assert word.text == expected
    assert "".join(each.character for each in word.characters) == expected


def test_letter_and_apostrophe_share_the_place_of_the_sign_for_both():
    (word,) = with_elisions([read("ľécole")])
    assert [each.box for each in word.characters[:3]] == [
        Box(0, 0, 6, 20),
        Box(6, 0, 10, 20),
        Box(10, 0, 20, 20),
    ]


def test_a_sign_that_slovak_has_is_an_article_beside_others():
    words = [read(text) for text in ("ľarbre", "qu'il", "ľouvre")]
    found = [word.text for word in with_elisions(words)]
    assert found == ["l'arbre", "qu'il", "l'ouvre"]


def test_the_apostrophe_is_that_of_other_articles():
    words = [read(text) for text in ("ľarbre", "qu’il", "d’un", "l'eau")]
    found = [word.text for word in with_elisions(words)]
    assert found == ["l’arbre", "qu’il", "d’un", "l'eau"]
