"""Strings of one's own: patterns, files, and what cannot be drawn."""

import re
from collections import Counter

import pytest

from vit_str.characters.charset import Charset
from vit_str.synthesis.lexicon import Lexicon
from vit_str.synthesis.own_texts import (
    OwnStrings,
    OwnTexts,
    PatternStrings,
    refuse_right_to_left,
)
from vit_str.synthesis.word_lists import count_words

ASCII = Charset()


class Usual:
    def sample(self, count: int, seed: int) -> list[str]:
        return ["usual"] * count


def drawn(own: OwnTexts, count: int = 400, charset: Charset = ASCII) -> list[str]:
    return OwnStrings(own, charset, 25, Usual()).sample(count, seed=3)


@pytest.mark.parametrize(
    "pattern",
    [
        r"[A-Z]{2}\d{6}",
        r"[A-HJ-NPR-Z0-9]{17}",
        r"(?:B|HH|M)-[A-Z]{1,2} ?[1-9]\d{0,3}",
        r"\d+(?:[.,]\d{3})?",
        r"^[^a-z\d]\w\S*$",
        r"A.?B.*",
        r"(ab|cd)+?x{2,}",
    ],
)
def test_texts_match_their_pattern(pattern):
    charset = Charset(ASCII.characters + " ")
    texts = drawn(OwnTexts(pattern), charset=charset)
    assert len(texts) == 400 and len({*texts}) > 20
    for text in texts:
        assert re.fullmatch(pattern, text) and 0 < len(text) <= 25
        assert not charset.unknown(text) and text == text.strip()
    assert texts == drawn(OwnTexts(pattern), charset=charset)


def test_sets_hold_what_the_charset_has():
    charset = Charset("0123456789ÄÖ")
    assert {*"".join(drawn(OwnTexts(r"[^\d]"), charset=charset))} == {*"ÄÖ"}
    assert {*"".join(drawn(OwnTexts("."), charset=charset))} == {*charset.characters}


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("[A-Z", "unterminated character set"),
        (r"(?=a)b", "what looks around or refers back"),
        (r"(a)\1", "what looks around or refers back"),
        ("Ä", "the charset has no 'Ä' that it needs"),
        ("[Ä-Ü]", "the charset has no character that it needs"),
        ("a{26}", "hardly a text of it has 1 to 25 characters"),
        ("", "hardly a text of it has 1 to 25 characters"),
    ],
)
def test_what_cannot_be_drawn_is_refused_at_once(pattern, reason):
    with pytest.raises(ValueError, match=re.escape(reason)):
        PatternStrings(pattern, ASCII, 25)


def test_texts_of_a_file_are_drawn_as_they_are_and_as_often(tmp_path, capsys):
    path = tmp_path / "meters.txt"
    path.write_text("Nord 1\nNord 1\nNord 1\nSüd\n\n  West  \n", encoding="utf-8")
    charset = Charset(ASCII.characters + " ")
    counts = Counter(drawn(OwnTexts(words=path), charset=charset))
    assert {*counts} == {"Nord 1", "West"} and counts["Nord 1"] > 2 * counts["West"]
    err = capsys.readouterr().err
    assert "meters.txt: 1 of 3 texts are not drawn ('Süd'): " in err
    assert "characters that the charset lacks, 'ü'" in err
    path.write_text("Süd", encoding="utf-8")
    with pytest.raises(ValueError, match="holds no text to draw with the charset"):
        drawn(OwnTexts(words=path))
    with pytest.raises(ValueError, match="cannot read texts from"):
        drawn(OwnTexts(words=tmp_path / "missing.txt"))


def test_shares(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("Nord")
    own = OwnTexts({r"\d": 3.0, "[a-c]": 1.0}, {str(path): 2.0}, usual=4.0)
    kinds = Counter(
        "digit" if text.isdigit() else "letter" if len(text) == 1 else text
        for text in drawn(own, 4000)
    )
    for kind, share in (("digit", 0.3), ("letter", 0.1), ("Nord", 0.2), ("usual", 0.4)):
        assert abs(kinds[kind] / 4000 - share) < 0.03
    for bad in (OwnTexts(), OwnTexts({"a": -1.0}, usual=1.0)):
        with pytest.raises(ValueError, match="have shares from 0 on, and one above 0"):
            drawn(bad)


def test_letters_with_marks_apart_are_composed(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("Zu\u0308rich Cafe\u0301", encoding="utf-8")
    assert dict(count_words(path)) == {"Zürich": 1, "Café": 1}
    charset = Charset(ASCII.characters + "üé")
    path.write_text("Zu\u0308rich\nCafe\u0301\n", encoding="utf-8")
    assert {*drawn(OwnTexts(words=path), charset=charset)} == {"Zürich", "Café"}
    lexicon = Lexicon(charset, words=path, weights={"words": 1.0})
    assert {text.casefold() for text in lexicon.sample(100, 1)} == {"zürich", "café"}


def test_words_that_are_left_out_are_counted_and_named(tmp_path, capsys):
    path = tmp_path / "words.txt"
    path.write_text("one two Süd " + 30 * "x", encoding="utf-8")
    Lexicon(ASCII, words=path)
    err = capsys.readouterr().err
    assert f"words.txt: 2 of 4 texts are not drawn ('Süd', '{30 * 'x'}')" in err
    assert "longer than 25 characters" in err


@pytest.mark.parametrize(("letters", "name"), [("אב", "Hebrew"), ("بت", "Arabic")])
def test_letters_from_right_to_left_are_refused_by_name(letters, name):
    with pytest.raises(ValueError, match=f"^{name} letters run from right to left"):
        refuse_right_to_left(Charset("abc" + letters))
    with pytest.raises(ValueError, match=name):
        Lexicon(Charset("abc" + letters))


def test_letters_from_right_to_left_are_drawn_to_tell_scripts_apart():
    charset = Charset("אבגד")
    lexicon = Lexicon(charset, weights={"contextless": 1}, any_direction=True)
    assert set("".join(lexicon.sample(50, 1))) == set(charset.characters)
