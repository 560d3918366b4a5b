"""Korean words and lines are as people write them."""

import os
import random
import re
import subprocess
import sys
from collections import Counter

import pytest

from vit_str.characters.charset import Charset, charset_of
from vit_str.synthesis.hangul import is_syllable
from vit_str.synthesis.korean import korean_wording, korean_words, nouns
from vit_str.synthesis.lexicon import Lexicon
from vit_str.synthesis.line_texts import LineTexts, drawn, label
from vit_str.synthesis.patterns import fields
from vit_str.synthesis.squares import width_of
from vit_str.synthesis.word_list_cache import WordList

LANGUAGE = "ko*8+en"


@pytest.fixture(scope="module")
def words() -> dict[str, float]:
    return korean_words()


@pytest.fixture(scope="module")
def lexicon() -> Lexicon:
    return Lexicon(charset_of("korean"), LANGUAGE)


@pytest.fixture(scope="module")
def lines(lexicon) -> list[str]:
    """300 lines of all lengths."""
    texts = LineTexts(charset_of("korean"), lexicon, LANGUAGE)
    rng = random.Random(1)
    return [texts.line(rng, rng.choice((10, 30, 80))) for _ in range(300)]


def _is_korean(text: str) -> bool:
    return sum(map(is_syllable, text)) > len(text) / 2


def test_nouns_are_no_particles_and_no_endings():
    known = nouns()
    assert {"학교", "사람", "서울", "집"} <= set(known)
    assert not {"에서", "습니다", "었다", "는데", "처럼"} & set(known)


def test_words_have_particles_and_endings_and_nouns_stand_alone(words):
    total = sum(words.values())

    def share(pattern: str) -> float:
        found = [words[word] for word in words if re.search(pattern, word)]
        return sum(found) / total

    assert words["학교"] > 0
    assert 0.02 < share("[을를]$") < 0.1
    assert share("(습니다|니다)$") > 0.01
    assert share("^.$") < 0.05, "single syllables are rare"
    with_n = [word for word in words if re.fullmatch("사람(은|는)", word)]
    assert with_n == ["사람은"]


def test_frequent_verbs_are_drawn_more_often(words):
    def count(stem: str) -> float:
        endings = ("고", "지만", "습니다", "았습니다")
        return sum(words.get(stem + ending, 0.0) for ending in endings)

    assert count("않") > 3 * count("앓")
    assert any(word.startswith("앓") for word in words)


def test_every_syllable_is_in_several_words_and_frequent_ones_in_far_more(words):
    having = Counter()
    for word in words:
        having.update(set(word))
    syllables = list(filter(is_syllable, charset_of("korean").characters))
    assert min(having[syllable] for syllable in syllables) >= 5
    assert having["다"] > 100 * having["뷁"]


def test_words_are_the_same_in_every_process(words):
    code = "import sys; from vit_str.synthesis.korean import korean_words as words; "
    code += "sys.stdout.buffer.write(' '.join(words()).encode())"
    environment = os.environ | {"PYTHONHASHSEED": "7"}
    command = [sys.executable, "-c", code]
    other = subprocess.run(command, env=environment, capture_output=True, check=True)
    assert other.stdout.decode().split() == list(words)


def test_drawn_strings_can_be_written_and_read_in_a_crop(lexicon):
    strings = lexicon.sample(3000, seed=1)
    characters = set(charset_of("korean").characters)
    assert characters.issuperset("".join(strings))
    assert max(map(width_of, strings)) <= 25
    squares = [sum(map(is_syllable, string)) for string in strings]
    assert max(squares) <= 10
    assert 0.02 < squares.count(1) / len(strings) < 0.15


def test_hangul_and_latin_letters_stand_in_one_word(lexicon):
    strings = lexicon.sample(5000, seed=2)
    assert any(re.search("[A-Za-z][가-힣]", string) for string in strings)
    assert any(re.search(r"\d(원|년|월|명|층)", string) for string in strings)
    assert not any(re.search("[가-힣]'s", string, re.IGNORECASE) for string in strings)


def test_random_strings_have_rare_syllables_and_ascii(lexicon):
    rng = random.Random(3)
    text = "".join(lexicon.any_characters(rng, 8) for _ in range(4000))
    ascii_share = sum(map(str.isascii, text)) / len(text)
    assert 0.1 < ascii_share < 0.4
    assert len(set(filter(is_syllable, text))) > 2300


def test_all_fields_of_patterns_are_known():
    wording = korean_wording()
    words = {"word", "Word", "WORD", "cased", "sentence", "leader"}
    known = {*wording.fields, *wording.lines, *wording.patterns, *words}
    used = set()
    for patterns in (*wording.patterns.values(), *wording.lines.values()):
        used.update(re.findall(r"{(\w+)}", " ".join(patterns)))
    assert used <= known
    assert {*wording.fields} >= {*fields()}


def test_the_charset_writes_what_is_listed():
    wording = korean_wording()
    korean = charset_of("korean")
    for name in ("surname", "given", "city", "town", "food", "goods", "bullet"):
        assert not korean.unknown("".join(wording.fields[name])), name


def test_lines_are_sentences_forms_and_receipts(lines):
    text = "\n".join(map(label, lines))
    assert re.search(r"(다|요)\.", text)
    assert re.search(r"\d원", text)
    assert re.search("(합계|금액|전화|성명|주소)", text)
    known = charset_of("korean")
    assert not any(known.unknown(drawn(line).replace("\t", " ")) for line in lines)
    # Half as many characters as in Latin lines of that length, for they are twice as wide
    lengths = sorted(map(len, filter(_is_korean, lines)))
    assert lengths[len(lengths) * 9 // 10] <= 80 * 1.25 / 2


def test_own_words_in_hangul_have_korean_patterns(tmp_path):
    (tmp_path / "words.txt").write_text("하늘 바다 구름 " * 5, encoding="utf-8")
    own = Lexicon(charset_of("korean"), words=tmp_path / "words.txt")
    assert any("원" in price for price in own._drawer("prices")(random.Random(1), 50))


def test_a_charset_without_hangul_draws_as_before():
    latin = Lexicon(Charset(), "ko")
    assert not latin._words
    assert latin.sample(20, seed=1) == Lexicon(Charset(), "ko").sample(20, seed=1)


def test_nouns_of_patterns_come_with_the_word_lists_of_a_kit():
    """Machines that train from a kit have no wordfreq."""
    asked = []

    def given(settings, gather):
        asked.append(settings[:2])
        return [
            WordList(["학교", "바다", "하늘"] * 50, list(map(float, range(1, 151))))
        ]

    lexicon = Lexicon(charset_of("korean"), LANGUAGE, word_lists=given)
    LineTexts(charset_of("korean"), lexicon, LANGUAGE, word_lists=given)
    assert asked == [
        ["words", LANGUAGE],
        ["frequent nouns", "ko"],
        ["running text", LANGUAGE],
        ["frequent nouns", "ko"],
    ]
    assert lexicon._draw_field("noun", random.Random(1), 1)[0] in (
        "학교",
        "바다",
        "하늘",
    )
