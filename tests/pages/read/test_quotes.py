"""Quotation marks that readers have no signs for."""

import pytest

from vit_str.decoding.boxes import Box
from vit_str.decoding.readings import Character
from vit_str.pages.page import Word
from vit_str.pages.read.quotes import with_low_quotes


def read(text: str) -> list[Word]:
    """Words whose characters are 10 pixels wide."""
    polygon = ((0, 0), (1, 0), (1, 1), (0, 1))
    return [
        Word(
            each,
            0.5,
            polygon,
            tuple(
                Character(c, 0.9, Box(10 * n, 0, 10 * n + 8, 20))
                for n, c in enumerate(each)
            ),
        )
        for each in text.split()
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (',Schöne Welt", sagte er.', "„Schöne Welt“, sagte er."),
        ('Das Buch ,,Der Prozess".', "Das Buch „Der Prozess“."),
        (',Komm!" und ,,Geh!"', "„Komm!“ und „Geh!“"),
        (",Einfach' (,Doppelt\")", "‚Einfach‘ („Doppelt“)"),
        (",,Ohne Ende", "„Ohne Ende"),
        ("eins ,zwei drei", "eins ,zwei drei"),
        ('1 ,000 "and" more"', '1 ,000 "and" more"'),
        ('"English" ones', '"English" ones'),
        (',Er "zitiert"', ',Er "zitiert"'),
    ],
)
def test_low_quotation_marks_come_from_commas(text, expected):
    words = with_low_quotes(read(text))
    assert " ".join(word.text for word in words) == expected
    assert all("".join(c.character for c in w.characters) == w.text for w in words)


def test_two_commas_are_one_mark_around_both():
    (word,) = with_low_quotes(read(',,Ja"'))
    first = word.characters[0]
    assert (first.box, word.confidence) == (Box(0, 0, 18, 20), 0.5)
    assert first.confidence == pytest.approx(0.81)
