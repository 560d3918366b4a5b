"""Word lists of users: composed, with what cannot be written named, from left to right."""

import unicodedata
from pathlib import Path

import pytest

from vit_str.characters.charset import charset_of
from vit_str.synthesis.lexicon import Lexicon
from vit_str.synthesis.word_lists import count_words


def write(path: Path, words: list[str]) -> Path:
    path.write_text("\n".join(words), encoding="utf-8")
    return path


def test_decomposed_words_are_those_that_are_composed(tmp_path, capsys):
    words = ["été", "naïve", "café"]
    apart = [unicodedata.normalize("NFD", word) for word in words]
    path = write(tmp_path / "words.txt", apart)
    assert list(count_words(path)) == words
    Lexicon(charset_of("latin"), words=path)
    assert capsys.readouterr().err == ""


def test_words_that_cannot_be_written_are_named_and_counted(tmp_path, capsys):
    path = write(tmp_path / "words.txt", ["one", "two", "привет", "мир", "three"])
    Lexicon(charset_of("latin"), words=path)
    said = capsys.readouterr().err
    assert "2 of 5 texts are not drawn" in said and "привет" in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "script"), [(["שלום"], "Hebrew"), (["سلام"], "Arabic")]
)
def test_words_from_right_to_left_are_refused_by_name(words, script, tmp_path):
    path = write(tmp_path / "words.txt", words)
    letters = "".join(dict.fromkeys("".join(words)))
    with pytest.raises(ValueError, match=f"{script} letters run from right to left"):
        Lexicon(charset_of(letters), words=path)
