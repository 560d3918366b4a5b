"""How lines of receipts, forms, letters and signs are written: `texts/line_patterns.yaml`."""

from collections.abc import Mapping, Sequence
from functools import cache

from vit_str.synthesis.text_files import contents, entries_of, lines_of

_FILE = "line_patterns"


def kinds() -> Mapping[str, float]:
    """Kinds of lines, and the share of each."""
    return contents(_FILE)["kinds"]


def kinds_of_books() -> Mapping[str, float]:
    """Kinds of lines in books, and the share of each."""
    return contents(_FILE)["book_kinds"]


@cache
def line_patterns() -> Mapping[str, Sequence[str]]:
    """Patterns of lines by kind, and of their parts by name."""
    data = contents(_FILE)
    whole = {name: lines_of(text) for name, text in data["lines"].items()}
    parts = {name: entries_of(text) for name, text in data["parts"].items()}
    return {**whole, **parts}


def leaders() -> Sequence[str]:
    """Characters that leaders repeat."""
    return contents(_FILE)["leaders"]


def quotes() -> Sequence[str]:
    """Pairs of marks that stand around words."""
    return entries_of(contents(_FILE)["quotes"])


def dashes() -> Sequence[str]:
    """Dashes that stand between spaces within a sentence."""
    return entries_of(contents(_FILE)["dashes"])


def typeset() -> Mapping[str, str]:
    """Typographic signs by the plain ones that typewriters have in their place."""
    return contents(_FILE)["typeset"]
