"""How things are written in a language: patterns, what their fields stand for, marks."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vit_str.synthesis.line_patterns import LINES, QUOTES
from vit_str.synthesis.patterns import FIELDS, PATTERNS


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
