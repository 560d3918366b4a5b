"""Text for whole lines: running text, and lines of receipts, forms, tables and letters."""

import random
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, islice
from pathlib import Path

from vit_str.runtime.alphabets import ends_of_script, script_of_text, scripts_in
from vit_str.runtime.charset import Charset
from vit_str.synthesis.lexicon import Lexicon
from vit_str.synthesis.line_patterns import (
    BOOK_KINDS,
    DASHES,
    KINDS,
    LEADERS,
    LINES,
    QUOTES,
    TYPESET,
)
from vit_str.synthesis.patterns import FIELDS, PATTERNS
from vit_str.synthesis.spellings import in_capitals
from vit_str.synthesis.word_list_cache import WordList, keep_word_lists
from vit_str.synthesis.word_lists import count_words, favor_rare_letters, language_words

GAP = "\t"
"""Stands for as much space as there is."""
_SILENT = 0xE000
"""Added to the code of a character that is drawn, but is no text (in the private use area)."""
_FLATNESS = 0.75
"""Power of the frequency of a word: below 1, rare words come more often than in books."""
_FREQUENT = 60_000  # words of each language; `Lexicon` draws the rare ones
_SHORT = 10.0  # characters below which a line is mostly one entry of a table or a form
_CUT = 1.25  # times the length asked for, beyond which a line is cut
_ENDS = (".", ".", ".", ".", ".", ".", "?", "!", ":", ";", "...")  # of sentences and clauses
_QUOTED = (0, 0, 0, 1, 2, 4)  # words behind the first between quotation marks
_PROBES = 200  # words that show of which script a language is
_MIXED_SHARE = 0.3  # of the lines with words of another script, if the charset has several
_GUESTS = 0.25  # share of these words in such a line
_NUMBERS = 0.05  # share of numbers, dates and amounts in running text
_IN_CAPITALS = ("prose", "heading", "list")  # kinds of lines that may be all in capitals
_FIELD = re.compile(r"{(\w+)}")


def is_silent(character: str) -> bool:
    """Whether a character is drawn without being text, as in leaders and rules."""
    return ord(character) >= _SILENT


def drawn(text: str) -> str:
    """What is drawn of a line: leaders as the characters that they repeat."""
    return "".join(chr(ord(c) - _SILENT) if is_silent(c) else c for c in text)


def spoken(text: str) -> list[int]:
    """Places of the characters of a line that are its label: one space between words, no leaders.

    The spaces and leaders between two words have the first of their places.
    """
    places: list[int] = []
    blank = True
    for place, character in enumerate(text):
        empty = _is_blank(character)
        if not (empty and blank):
            places.append(place)
        blank = empty
    return places[:-1] if places and blank else places


def label(text: str) -> str:
    """What is read of a line."""
    return "".join(" " if _is_blank(text[place]) else text[place] for place in spoken(text))


def _is_blank(character: str) -> bool:
    return character.isspace() or is_silent(character)


@dataclass(frozen=True)
class LineStyle:
    """How lines are written; shares by eye, from receipts, forms, letters and books.

    Attributes:
        kinds: of lines, as in `line_patterns`, and the share of each.
        capitals: share of words that begin with a capital letter within a sentence.
        in_capitals: share of the lines of running text that are all in capitals.
        typeset: share of the lines with the apostrophes and dots of books.
    """

    kinds: Mapping[str, float] = field(default_factory=lambda: KINDS)
    capitals: float = 0.07
    in_capitals: float = 0.15
    typeset: float = 0.6


BOOKS = LineStyle(kinds=BOOK_KINDS, capitals=0.25, in_capitals=0.0, typeset=0.8)
"""Of books in German, where nouns have a capital letter, and of others."""


class LineTexts:
    """Draws lines of text of about a length.

    Args:
        charset: the characters that may occur; it must hold the space.
        lexicon: draws words of all kinds.
        language: of running text, as for `Lexicon`; the words of a line are of one language. With
            a charset of several scripts, some lines have words of another one among them.
        words: a text file of the user's own words instead, as for `Lexicon`.
        style: what kinds of lines there are, and how they are written.
    """

    def __init__(
        self,
        charset: Charset,
        lexicon: Lexicon,
        language: str = "en",
        words: Path | None = None,
        style: "LineStyle | None" = None,
    ) -> None:
        if charset.unknown(" "):
            raise ValueError("lines of words need a charset with the space, for example european")
        self._allowed = frozenset(charset.characters)
        self._has_scripts = len(scripts_in(charset.characters)) > 1
        self._style = style or LineStyle()
        kinds = self._style.kinds
        self.lexicon = lexicon
        if words is not None:
            self._languages = self._frequent_words([(count_words(words), 1.0)])
        else:
            self._languages = keep_word_lists(
                ["running text", language, charset.characters],
                lambda: self._frequent_words(language_words(language)),
            )
        self._weights = list(accumulate(each.weight for each in self._languages))
        self._patterns = {kind: self._writable(LINES.get(kind, ())) for kind in (*kinds, "short")}
        self._kinds = {k: n for k, n in kinds.items() if k not in LINES or self._patterns[k]}
        self._marks = _Marks(
            quotes=self._writable(QUOTES),
            dashes=self._writable(DASHES),
            leaders=self._writable(LEADERS),
            typeset=self._writable([*TYPESET.values()]),
        )

    def _frequent_words(self, words: Iterable[tuple[Mapping[str, float], float]]) -> list[WordList]:
        """Of each weighted list, those that can be written."""
        lists = []
        for counts, weight in words:
            usable = [w for w in islice(counts, _FREQUENT) if self._allowed.issuperset(w)]
            shares = favor_rare_letters(usable, [counts[w] ** _FLATNESS for w in usable])
            lists.append(WordList(usable, list(accumulate(shares)), weight))
        return lists

    def _writable(self, patterns: Sequence[str]) -> Sequence[str]:
        """Those whose signs the charset has, whatever their fields become."""
        signs = (_FIELD.sub("", pattern).replace(GAP, " ") for pattern in patterns)
        pairs = zip(patterns, signs, strict=True)
        return [pattern for pattern, needed in pairs if self._allowed.issuperset(needed)]

    def line(self, rng: random.Random, length: float) -> str:
        """A line of about so many characters, with gaps and silent characters in it."""
        while True:
            (language,) = rng.choices(self._languages, cum_weights=self._weights)
            (kind,) = rng.choices(list(self._kinds), list(self._kinds.values()))
            if length < _SHORT and rng.random() < 0.6:
                kind = "short"
            guest = self._guest(rng, language) if self._has_scripts else None
            text = self._filled(self._writer(rng, language, guest), kind, length)
            if rng.random() < self._style.typeset:
                text = self._typeset(text)
            if kind in _IN_CAPITALS and rng.random() < self._style.in_capitals:
                text = in_capitals(text)
            if self._has_scripts and ends_of_script(text) is not None:
                continue
            if kind == "short" and len(text) > max(1, length * _CUT):
                continue
            text = _cut(text, round(length * _CUT))
            if self._allowed.issuperset(drawn(text.replace(GAP, " "))) and spoken(text):
                return text

    def _writer(self, rng: random.Random, language: WordList, guest: WordList | None) -> "_Writer":
        return _Writer(rng, language, self._marks, self._style.capitals, guest)

    def _guest(self, rng: random.Random, language: WordList) -> WordList | None:
        """Words of another script, for some of the lines."""
        others = [each for each in self._languages if _script(each) != _script(language)]
        if not others or rng.random() >= _MIXED_SHARE:
            return None
        (guest,) = rng.choices(others, [each.weight for each in others])
        return guest

    def _filled(self, writer: "_Writer", kind: str, length: float) -> str:
        """Pieces of one kind until the line is full."""
        make: Callable[[], str] = {
            "prose": lambda: writer.sentence(length),
            "string": lambda: self._string(writer.rng),
        }.get(kind, lambda: writer.fill(writer.rng.choice(self._patterns[kind])))
        text = make()
        while len(text) < 0.6 * length:
            between = " " if kind in ("prose", "string") else writer.rng.choice((GAP, " ", "   "))
            text += between + make()
        return text

    def _typeset(self, text: str) -> str:
        """With the apostrophes and dots of books, as far as the charset has them."""
        for typed, printed in TYPESET.items():
            if printed in self._marks.typeset:
                text = text.replace(typed, printed)
        return text

    def _string(self, rng: random.Random) -> str:
        """Words of every kind, and now and then any characters, which no language helps with."""
        if rng.random() < 0.15:
            return self.lexicon.any_characters(rng, rng.randint(1, 8))
        return " ".join(self.lexicon.sample(rng.randint(1, 4), rng.getrandbits(62)))


@dataclass(frozen=True)
class _Marks:
    """Marks of print that a charset has."""

    quotes: Sequence[str]
    dashes: Sequence[str]
    leaders: Sequence[str]
    typeset: Sequence[str]


@dataclass(frozen=True)
class _Writer:
    """Fills patterns with words of one language."""

    rng: random.Random
    language: WordList
    marks: _Marks
    capitals: float  # share of words in running text that begin with one
    guest: WordList | None = None  # words of another script, which some are taken from

    def fill(self, pattern: str) -> str:
        """The pattern with all of its fields filled."""
        return _FIELD.sub(lambda match: self._field(match[1]), pattern)

    def sentence(self, length: float) -> str:
        """Running text with punctuation: whole sentences, or a part of one."""
        rng = self.rng
        parts: list[str] = []
        begins = rng.random() < 0.5
        count = 0
        while count < length:
            word = self._word_of_text()
            if begins:
                word = word[:1].upper() + word[1:]
            mark = rng.random()
            begins = mark < 0.07
            word += rng.choice(_ENDS) if begins else "," if mark < 0.14 else ""
            parts.append(word)
            if 0.14 < mark < 0.16:
                parts.append(rng.choice(self.marks.dashes))
            count += len(word) + 1
        text = " ".join(parts)
        return text + "-" if rng.random() < 0.04 and text[-1].isalpha() else text

    def _word_of_text(self) -> str:
        kind = self.rng.random()
        if kind < _NUMBERS:
            return self.fill(self.rng.choice(("{number}", "{date}", "{amount}", "{natural}%")))
        word = self._field("Word" if kind < _NUMBERS + self.capitals else "word")
        if kind > 0.97:
            words = " ".join(
                [word, *(self._field("word") for _ in range(self.rng.choice(_QUOTED)))]
            )
            quotes = self.rng.choice(self.marks.quotes)
            return quotes[0] + words + quotes[1]
        return f"{word}-{self._field('word')}" if kind > 0.95 else word

    def _field(self, name: str) -> str:
        rng = self.rng
        if name in LINES:
            return self.fill(rng.choice(LINES[name]))
        if name in FIELDS:
            return rng.choice(FIELDS[name])
        if name in PATTERNS:
            return self.fill(rng.choice(PATTERNS[name]))
        if name == "sentence":
            return self.sentence(rng.randint(10, 60))
        if name == "leader":
            pattern = rng.choice(self.marks.leaders) * rng.randint(3, 30)
            return "".join(chr(ord(c) + _SILENT) if c != " " else c for c in pattern).strip()
        words = self.language
        if self.guest and rng.random() < _GUESTS:
            words = self.guest
        (word,) = rng.choices(words.words, cum_weights=words.shares)
        return {"Word": word.capitalize(), "WORD": in_capitals(word)}.get(name, word)


def _script(language: WordList) -> str | None:
    """The script of most of the frequent words of a language."""
    return script_of_text("".join(language.words[:_PROBES]))


def _cut(text: str, most: int) -> str:
    """The words of a line that fit."""
    if len(text) <= most:
        return text
    shorter = text[: most + 1]
    end = max(shorter.rfind(" "), shorter.rfind(GAP))
    return (shorter[:end] if end > 0 else shorter[:most]).strip()
