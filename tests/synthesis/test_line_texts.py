"""Texts of lines: what is drawn, and what of it is read."""

import random
import re

import pytest

from vit_str.characters.alphabets import ends_of_script, scripts_in
from vit_str.characters.charset import PRINTABLE_ASCII, Charset, charset_of
from vit_str.synthesis.lexicon import Lexicon
from vit_str.synthesis.line_texts import (
    GAP,
    LineStyle,
    LineTexts,
    drawn,
    is_silent,
    label,
    spoken,
)


@pytest.fixture(scope="module")
def texts() -> LineTexts:
    charset = charset_of("european")
    return LineTexts(charset, Lexicon(charset, "en"), "en*3+de")


def silent(text: str) -> str:
    return "".join(chr(ord(character) + 0xE000) for character in text)


@pytest.mark.parametrize(
    ("text", "seen", "read"),
    [
        ("two words", "two words", "two words"),
        (f"TOTAL{GAP}9.50", f"TOTAL{GAP}9.50", "TOTAL 9.50"),
        ("wide   gap ", "wide   gap ", "wide gap"),
        (f"Name {silent('....')} 12", "Name .... 12", "Name 12"),
        (f"{silent('---')} end", "--- end", "end"),
        (silent("***"), "***", ""),
    ],
)
def test_gaps_are_one_space_and_leaders_nothing(text, seen, read):
    assert drawn(text) == seen
    assert label(text) == read
    assert len(spoken(text)) == len(read)


def test_lines_are_of_the_charset_and_about_as_long_as_asked(texts):
    allowed = {*charset_of("european").characters, GAP}
    rng = random.Random(3)
    for length in (6, 20, 60, 100):
        lines = [texts.line(rng, length) for _ in range(60)]
        assert all(allowed.issuperset(drawn(line)) for line in lines)
        assert all(label(line).strip() == label(line) != "" for line in lines)
        assert max(map(len, lines)) <= 1.25 * length + 1
        assert sum(len(line) > length / 2 for line in lines) > 40


def test_there_are_gaps_leaders_and_running_text(texts):
    rng = random.Random(5)
    lines = [texts.line(rng, 40) for _ in range(300)]
    assert sum(GAP in line for line in lines) > 60
    assert sum(any(map(is_silent, line)) for line in lines) > 8
    assert sum(label(line).count(" ") > 4 for line in lines) > 80


def test_a_charset_without_the_space_has_no_lines():
    charset = Charset(PRINTABLE_ASCII)
    with pytest.raises(ValueError, match="charset with the space"):
        LineTexts(charset, Lexicon(charset), "en")


def test_lines_have_the_marks_of_print_that_the_charset_has():
    charset = charset_of("latin")
    latin = LineTexts(charset, Lexicon(charset, "en"), "en")
    rng = random.Random(7)
    lines = [label(latin.line(rng, 40)) for _ in range(1500)]
    for mark in ("“", "’", "…", " – ", "•", "§ ", "№ ", "°", "€ "):
        assert sum(mark in line for line in lines) >= 3, mark
    plain = Charset(PRINTABLE_ASCII + " ")
    typed = LineTexts(plain, Lexicon(plain, "en"), "en")
    assert all(label(typed.line(rng, 40)).isascii() for _ in range(300))


def test_marks_follow_brackets_and_signs_more_often_than_letters():
    """Readers of lines left out the full stop behind `)` and `%`."""
    charset = charset_of("latin")
    style = LineStyle(kinds={"prose": 1.0}, in_capitals=0.0, typeset=0.0)
    prose = LineTexts(charset, Lexicon(charset, "en"), "en", style=style)
    rng = random.Random(17)
    text = " ".join(prose.line(rng, 100) for _ in range(1500))
    behind_letters = re.findall(r"[a-z]([.,]?) ", text)
    behind_signs = re.findall(r"[)%]([.,]?) ", text)
    assert len(behind_signs) > 200
    share = sum(map(bool, behind_letters)) / len(behind_letters)
    assert sum(map(bool, behind_signs)) / len(behind_signs) > 1.5 * share
    brackets = re.findall(r"\(([^()]*)\)", text)
    numbers = [inside for inside in brackets if inside[0].isdecimal()]
    assert 0.1 < len(numbers) / len(brackets) < 0.3
    assert re.search(r"\d\d %[.,] ", text)


def test_lines_of_a_file_have_its_words(tmp_path):
    """Of a script without a list, whose words a user gives; as `docs/your-script.md` says."""
    file = tmp_path / "words.txt"
    file.write_text("საქართველო თბილისი მთა ზღვა და არის", encoding="utf-8")
    charset = Charset(PRINTABLE_ASCII + " " + "".join(map(chr, range(0x10D0, 0x10F1))))
    texts = LineTexts(charset, Lexicon(charset, words=file), words=file)
    rng = random.Random(13)
    words = " ".join(label(texts.line(rng, 40)) for _ in range(100)).split()
    assert words.count("თბილისი") > 20
    assert "the" not in words


def test_lines_mix_scripts_and_words_do_not():
    charset = charset_of("cyrillic-greek")
    languages = "ru+en+el"
    texts = LineTexts(charset, Lexicon(charset, languages), languages)
    rng = random.Random(11)
    lines = [label(texts.line(rng, 40)) for _ in range(400)]
    assert all(ends_of_script(line) is None for line in lines)
    scripts = [frozenset(scripts_in(line)) for line in lines]
    assert scripts.count(frozenset({"Latin", "Cyrillic"})) > 20
    assert scripts.count(frozenset({"Cyrillic"})) > 20
    assert any("Greek" in each for each in scripts)
    assert any("ИТОГО" in line or " г." in line or "ΣΥΝΟΛΟ" in line for line in lines)


def test_forms_and_initials_are_in_the_script_of_a_line(tmp_path):
    charset = charset_of("cyrillic-greek")
    words = tmp_path / "words.txt"
    words.write_text(
        "город улица пальто жизнь щука яблоко эхо фонарь", encoding="utf-8"
    )
    texts = LineTexts(charset, Lexicon(charset, words=words), words=words)
    rng = random.Random(5)
    lines = [label(texts.line(rng, 30)) for _ in range(3000)]
    text = "\n".join(lines)
    assert all(ends_of_script(line) is None for line in lines)
    assert not re.search("ΣΥΝΟΛΟ|Όνομα|Οδός|Μαρτίου", text)
    for seen in ("Дата: ", "ИНН ", " января ", "Глава "):
        assert seen in text, seen
    initials = [texts._writer(rng, 0).fill("{A}. {A}.") for _ in range(60)]
    scripts = {frozenset(scripts_in(pair)) for pair in initials}
    assert scripts == {frozenset({"Latin"}), frozenset({"Cyrillic"})}
