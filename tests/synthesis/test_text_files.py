import hashlib
import json
import random

from vit_str.characters.charset import Charset, charset_of
from vit_str.synthesis.lexicon import Lexicon
from vit_str.synthesis.line_patterns import line_patterns
from vit_str.synthesis.line_texts import LineTexts, book_style
from vit_str.synthesis.patterns import fields
from vit_str.synthesis.spellings import spelled_words
from vit_str.synthesis.text_files import contents, entries_of, lines_of


def digest(texts: list[str]) -> str:
    """Of some texts, one that is the same if all of them are."""
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:16]


def test_entries_and_lines():
    assert entries_of("Phone|No. {number}\n  Fax") == ["Phone No.", "{number}", "Fax"]
    assert entries_of("a␣|b c", "␣") == ["a |b", "c"]
    assert lines_of("{Tag}:\t{value}\n\n  \n- {word}\n") == [
        "{Tag}:\t{value}",
        "- {word}",
    ]
    assert contents("patterns") is contents("patterns"), "read once"


def test_a_hash_in_a_line_is_no_comment():
    """Of YAML: what stands behind it would be missing without a word."""
    source = line_patterns()["source"]
    assert "#include <{word}/{word}.h>" in source
    assert "{word}: {word}_{word}  # {word} {word}" in source
    assert "\t".join(("{Tag}:", "{Tag}:", "{Tag}:")) in line_patterns()["label"]
    assert fields()["MONTH"][4] == "MAY"


def test_a_seed_draws_the_same_texts_always(tmp_path):
    """A run that goes on draws on; whoever edits `texts/` on purpose edits these digests too."""
    words = tmp_path / "words.txt"
    words.write_text("the quick brown fox jumps over a lazy dog Zürich weiß")
    charset = charset_of("latin")
    lexicon = Lexicon(charset, words=words)
    assert digest(Lexicon(Charset(), words=words).sample(2000, 7)) == "09dbf35c895b2732"
    assert digest(lexicon.sample(2000, 7)) == "4c61618d3099f7cb"
    for style, expected in (
        (None, "fed00bd6a1143d64"),
        (book_style(), "7502c4224b841134"),
    ):
        texts = LineTexts(charset, lexicon, words=words, style=style)
        rng = random.Random(3)
        lines = [texts.line(rng, rng.uniform(3, 60)) for _ in range(500)]
        assert digest(lines) == expected
    assert digest(list(spelled_words("yo"))) == "da546eec1a278215"
    assert digest(list(spelled_words("pinyin"))) == "5678b13b8b9f53b1"
