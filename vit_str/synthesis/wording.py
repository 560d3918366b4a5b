"""How things are written in a language: patterns, what their fields stand for, marks."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from vit_str.synthesis.line_patterns import line_patterns, quotes
from vit_str.synthesis.patterns import fields, patterns


@dataclass(frozen=True)
class Wording:
    """The texts of a language besides its words.

    Attributes:
        patterns: of words, by ingredient, see `patterns.patterns`.
        fields: what stands for a field of a pattern, see `patterns.fields`.
        lines: patterns of lines and their parts by name, see `line_patterns.line_patterns`.
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


@cache
def latin_wording() -> Wording:
    """The wording of English, and of all languages without one of their own."""
    return Wording(
        patterns=patterns(),
        fields=fields(),
        lines=line_patterns(),
        quotes=quotes(),
        inserts=("{number}", "{date}", "{amount}", "{natural}%", "{two} %"),
    )
