"""How things are written in a language: patterns, what their fields stand for, marks."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vit_str.runtime.alphabets import HANGUL, language_codes, script_of_language
from vit_str.synthesis.line_patterns import LINES, QUOTES
from vit_str.synthesis.patterns import FIELDS, PATTERNS
from vit_str.synthesis.word_list_cache import KeepWordLists, keep_word_lists


@dataclass(frozen=True)
class Wording:
    """The texts of a language besides its words.

    Attributes:
        patterns: of words, by ingredient, see `patterns.PATTERNS`.
        fields: what stands for a field of a pattern, see `patterns.FIELDS`.
        lines: patterns of lines and their parts by name, see `line_patterns.LINES`.
        quotes: pairs of marks around words.
        inserts: patterns among running text.
        inserted: share of the words of running text that such a pattern is in place of.
        last_words: what words at the ends of sentences look like; None if any word can be last.
        breaks_words: whether a hyphen parts words at the ends of lines.
    """

    patterns: Mapping[str, Sequence[str]]
    fields: Mapping[str, Sequence[str]]
    lines: Mapping[str, Sequence[str]]
    quotes: Sequence[str]
    inserts: Sequence[str]
    inserted: float = 0.05
    last_words: re.Pattern[str] | None = None
    breaks_words: bool = True


LATIN_WORDING = Wording(
    patterns=PATTERNS,
    fields=FIELDS,
    lines=LINES,
    quotes=QUOTES,
    inserts=("{number}", "{date}", "{amount}", "{natural}%", "{two} %"),
)
"""Of English, and of all languages without one of their own."""


def wording_of(
    script: str | None, word_lists: KeepWordLists = keep_word_lists
) -> Wording:
    """The wording of the languages of a script; its words are from these lists."""
    if script == HANGUL:
        from vit_str.synthesis.korean import korean_wording  # reads a file

        return korean_wording(word_lists)
    return LATIN_WORDING


def wording_of_languages(
    language: str, word_lists: KeepWordLists = keep_word_lists
) -> Wording:
    """The wording of the first of several languages, as in ``ko*8+en``."""
    codes = language_codes(language)
    script = script_of_language(codes[0]) if codes else None
    return wording_of(script, word_lists)
