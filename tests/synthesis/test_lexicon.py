import os
import re
from collections import Counter
from pathlib import Path

import pytest

from vit_str.characters.alphabets import ALPHABETS, ends_of_script, scripts_in
from vit_str.characters.charset import PRINTABLE_ASCII, Charset, charset_of
from vit_str.synthesis import word_lists
from vit_str.synthesis.lexicon import WEIGHTS, Lexicon
from vit_str.synthesis.patterns import fields, patterns
from vit_str.synthesis.spellings import (
    in_capitals,
    spelled_words,
    syllables,
    with_long_s,
    with_sharp_s,
)
from vit_str.synthesis.word_lists import (
    count_words,
    favor_accents,
    favor_rare_letters,
    language_words,
)

ALPHANUMERIC = "0123456789abcdefghijklmnopqrstuvwxyz"
HANGUL = "".join(chr(code) for code in range(0xAC00, 0xAC00 + 400))


@pytest.fixture(scope="module")
def lexicon() -> Lexicon:
    return Lexicon(Charset())


@pytest.mark.parametrize(
    "characters",
    [PRINTABLE_ASCII, PRINTABLE_ASCII + " ", ALPHANUMERIC, "0123456789", HANGUL],
)
def test_strings_keep_to_charset_and_length(characters):
    strings = Lexicon(Charset(characters), maximum_length=12).sample(3000, 1)
    assert len(strings) == 3000
    assert set("".join(strings)) <= set(characters)
    assert {1 <= len(string) <= 12 for string in strings} == {True}
    assert all(string == string.strip() for string in strings)


def test_every_character_and_length_occurs(lexicon):
    strings = lexicon.sample(20_000, 1)
    characters = Counter("".join(strings))
    lengths = Counter(map(len, strings))
    assert set(characters) == set(PRINTABLE_ASCII)
    assert min(characters.values()) > 50
    assert set(lengths) == set(range(1, 26))


def test_words_of_a_list_without_repetitions_are_drawn_equally_often(tmp_path):
    file = tmp_path / "words.txt"
    file.write_text("a bb ccc dddd eeeee ffffff ggggggggg")
    counts = Counter(
        map(
            str.lower,
            Lexicon(Charset(), words=file, weights={"words": 1}).sample(14_000, 1),
        )
    )
    assert len(counts) == 7
    assert min(counts.values()) > 1800
    assert max(counts.values()) < 2200


def test_nothing_is_an_empty_string():
    lexicon = Lexicon(Charset(), weights={"nothing": 0.25, "words": 0.75})
    strings = lexicon.sample(4000, 1)
    assert strings.count("") / 4000 == pytest.approx(0.25, abs=0.03)
    assert len(strings) == 4000


def test_languages_have_weights():
    lexicon = Lexicon(charset_of("european"), "en*3+sv", weights={"words": 1})
    only_swedish = Lexicon(charset_of("european"), "sv", weights={"words": 1})

    def swedish(words):
        return sum(bool(set("åäöÅÄÖ") & set(word)) for word in words) / len(words)

    share = swedish(lexicon.sample(4000, 1)) / swedish(only_swedish.sample(4000, 1))
    assert share == pytest.approx(0.25, abs=0.05)
    for mistake in ("en*0", "en*x", "en*"):
        with pytest.raises(ValueError, match=re.escape(repr(mistake))):
            Lexicon(Charset(), mistake)
    with pytest.raises(
        ValueError, match="or several as in en\\*8\\+de, found 'ko\\+xx'"
    ):
        Lexicon(Charset(), "ko+xx")


def test_words_with_accents_are_drawn_four_times_as_often():
    words = ["citta", "perché"]
    shares = [0.8, 0.2]
    assert favor_accents(words, shares) == pytest.approx([0.5, 0.5])
    assert favor_accents(["one", "two"], [1.0, 3.0]) == [0.25, 0.75]


def test_unwritable_ingredients_are_left_out():
    printed = {"typography", "currencies", "signs"}
    assert set(Lexicon(Charset()).ingredients) == set(WEIGHTS) - {
        "phrases",
        "nothing",
        *printed,
    }
    with_spaces = Lexicon(Charset(PRINTABLE_ASCII + " ")).ingredients
    assert set(with_spaces) == set(WEIGHTS) - {"nothing", *printed}
    assert set(Lexicon(charset_of("latin")).ingredients) == set(WEIGHTS) - {"nothing"}
    alphanumeric = Lexicon(Charset(ALPHANUMERIC)).ingredients
    assert {"words", "numbers", "contextless"} <= set(alphanumeric)
    assert not {"punctuated", "possessives", "addresses"} & set(alphanumeric)


def test_without_words_strings_are_contextless():
    ingredients = Lexicon(Charset("\u0e01\u0e02\u0e04"), language="en").ingredients
    assert set(ingredients) == {"contextless", "repeated", "single"}


def test_single_characters_are_digits_and_letters_in_equal_shares():
    lexicon = Lexicon(charset_of("latin"), weights={"single": 1})
    counts = Counter(lexicon.sample(4_000, 1))
    assert set(counts) == set(ALPHANUMERIC + ALPHANUMERIC.upper())
    digits = sum(counts[digit] for digit in "0123456789")
    assert 0.45 < digits / 4_000 < 0.55
    assert set(Lexicon(Charset("abc"), weights={"single": 1}).sample(99, 1)) == {*"abc"}


def test_letters_alone_are_more_frequent_than_signs_that_look_like_them():
    lexicon = Lexicon(charset_of("latin"), "en*4+es+pt", weights=WEIGHTS)
    counts = Counter(lexicon.sample(60_000, 1))
    assert not counts["ª"]
    assert not counts["º"]
    for letter, sign in ("A□", "0○", "1↓", "I–"):
        assert counts[letter] > 2 * counts[sign]


def test_own_words_keep_their_case(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("iPhone\nMcKay\nna\u00efve\n" + "x" * 40, encoding="utf-8")
    strings = Lexicon(Charset(), words=path, weights={"words": 1}).sample(300, 1)
    assert {string.lower() for string in strings} == {"iphone", "mckay"}
    assert {"iPhone", "McKay", "IPHONE", "Iphone"} <= set(strings)


def test_mistakes_are_named(tmp_path):
    with pytest.raises(ValueError, match=r"punctuated.*'wordz'"):
        Lexicon(Charset(), weights={"wordz": 1})
    with pytest.raises(ValueError, match=r"one of ar.*'xx'"):
        Lexicon(Charset(), language="xx")
    with pytest.raises(ValueError, match="maximum_length"):
        Lexicon(Charset(), maximum_length=0)
    with pytest.raises(ValueError, match="cannot read words"):
        Lexicon(Charset(), words=tmp_path / "missing.txt")
    path = tmp_path / "words.txt"
    path.write_text("na\u00efve", encoding="utf-8")
    with pytest.raises(ValueError, match="none of the 1 words"):
        Lexicon(Charset(), words=path)


def test_patterns_use_known_fields_and_ingredients():
    names = {*fields(), "word", "Word", "WORD", "cased"}
    for ingredient, written in patterns().items():
        assert ingredient in WEIGHTS
        for pattern in written:
            assert pattern.format(**dict.fromkeys(names, "x"))


def test_every_character_of_latin_is_drawn_often_enough():
    """With the languages of the recipe; words of few of them come fast enough for a test."""
    languages = (
        "en*20+vi*2+az+cy+eo+ff+ha+ig+la+mt+nv+sa+se+yo+pinyin+de-Latf+ro+lv+lt+sk+hu"
    )
    strings = Lexicon(charset_of("latin"), languages).sample(30_000, 1)
    counts = Counter("".join(strings))
    assert set(counts) <= set(charset_of("latin").characters)
    assert min(counts[character] for character in charset_of("latin").characters) >= 5
    printed = ["“", "’s", "…", "№", "§", "°C", "½", "–", "€"]
    assert all(any(mark in string for string in strings) for mark in printed)


def test_a_word_of_cyrillic_greek_has_one_script():
    """Joined words, words with anything behind them and random letters among them."""
    charset = charset_of("cyrillic-greek")
    strings = Lexicon(charset, "ru+kk+mk+sr+uk+be+tg+el+en").sample(20_000, 1)
    assert all(ends_of_script(string) is None for string in strings)
    counts = Counter("".join(strings))
    assert min(counts[character] for character in charset.characters) >= 5
    together = {frozenset(scripts_in(string)) for string in strings}
    assert {
        frozenset({"Cyrillic"}),
        frozenset({"Greek"}),
        frozenset({"Latin"}),
    } <= together
    assert frozenset({"Cyrillic", "Latin"}) in together, "phrases"


def test_serbian_and_greek_words_are_as_print_has_them():
    ((serbian, _),) = language_words("sr")
    assert {"није", "nije", "људи", "ljudi"} <= set(serbian)
    assert serbian["није"] > serbian["nije"]
    ((greek, _),) = language_words("el")
    assert "της" in greek and not any(word.endswith("σ") for word in greek)
    assert in_capitals("Αθήνα ΰ Straße") == "ΑΘΗΝΑ Ϋ STRASSE"
    for code in ("be", "kk", "ky", "mn", "tg"):
        ((words, _),) = language_words(code)
        assert set("".join(words)) <= set(ALPHABETS[code]), code


def test_words_with_rare_letters_are_drawn_more_often():
    words = ["plain", "ọne", "ẵther"]
    common, usual, rare = favor_rare_letters(words, [0.5, 0.499, 0.001])
    assert common + usual + rare == pytest.approx(1)
    assert rare == pytest.approx(0.004, rel=0.01)
    assert usual / common == pytest.approx(0.998)


def test_languages_without_a_list_have_words_of_their_letters():
    latin = set(charset_of("latin").characters)
    for code in (*syllables(), "pinyin"):
        words = spelled_words(code)
        assert len(words) == 4000
        assert set("".join(words)) <= set(ALPHABETS.get(code, latin)), code
        assert words == spelled_words(code)
    assert set("ǎěǐǒǔǖǘǚǜ") <= set("".join(spelled_words("pinyin")))
    ((words, weight),) = language_words("yo*3")
    assert weight == 3
    assert set("ẹọṣ") <= set("".join(words))


def test_old_and_new_german_spelling():
    assert [*map(with_sharp_s, ("strasse", "grüsse", "wasser", "aussehen", "aussen"))] == [
        "straße", "grüße", "wasser", "aussehen", "außen",
    ]  # fmt: skip
    assert [*map(with_long_s, ("hausmeister", "ist", "das", "wissens", "ausgang"))] == [
        "hausmeiſter", "iſt", "das", "wiſſens", "ausgang",
    ]  # fmt: skip
    ((old, _),) = language_words("de-Latf")
    assert "iſt" in old
    assert "straße" not in old
    assert "ſtraße" in old


@pytest.mark.parametrize("at_once", [1, 2, 7, 1 << 20])
def test_words_of_a_text_are_counted_wherever_it_is_cut(at_once, tmp_path, monkeypatch):
    monkeypatch.setattr(word_lists, "_READ_AT_ONCE", at_once)
    path = tmp_path / "text.txt"
    path.write_text("\ufeffone two  one\n\nthree\tone", encoding="utf-8")
    assert list(count_words(path).items()) == [("one", 3), ("two", 1), ("three", 1)]


@pytest.mark.skipif(os.name != "posix", reason="devices and pipes of POSIX")
def test_a_text_of_words_may_be_a_device_without_an_end(tmp_path):
    with pytest.raises(ValueError, match="/dev/zero: a word of more than 10,000"):
        count_words(Path("/dev/zero"))
    os.mkfifo(tmp_path / "pipe")
    assert not count_words(tmp_path / "pipe")  # nobody writes to it
