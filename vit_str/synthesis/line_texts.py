"""Text for whole lines: running text, and lines of receipts, forms, tables and letters."""

import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, islice, product
from pathlib import Path

from vit_str.characters.alphabets import (
    HANGUL,
    LATIN,
    ends_of_script,
    script_of_text,
    scripts_in,
)
from vit_str.characters.charset import Charset
from vit_str.synthesis.lexicon import Lexicon
from vit_str.synthesis.line_patterns import (
    dashes,
    kinds,
    kinds_of_books,
    leaders,
    typeset,
)
from vit_str.synthesis.random_numbers import SEED_BITS
from vit_str.synthesis.spellings import in_capitals
from vit_str.synthesis.squares import SQUARE
from vit_str.synthesis.word_list_cache import (
    KeepWordLists,
    WordList,
    keep_word_lists,
)
from vit_str.synthesis.word_lists import count_words, favor_rare_letters, language_words
from vit_str.synthesis.wording import Wording
from vit_str.synthesis.wording_choice import wording_of

GAP = "\t"
"""Stands for as much space as there is."""
_SILENT = 0xE000
"""Added to the code of what is drawn, but is no text (in the private use area)."""
_FLATNESS = 0.75
"""Power of the frequency of a word: rare words come more often than in books."""
_FREQUENT = 60_000  # words of each language; `Lexicon` draws the rare ones
_PROBES = 200  # words that show of which script a language is
_WITHOUT_PATTERNS = ("prose", "string")  # kinds of lines
_SQUARE_SPACED = (
    SQUARE * 0.8
)  # letters of Latin that one of Hangul takes, with the spaces
# Kinds of lines that may be all in capitals
_IN_CAPITALS = ("prose", "heading", "list")
# Kinds of lines with the apostrophes and dots of keyboards
_TYPED = ("source", "identifier", "instrument")
_ENDS = (".", ".", ".", ".", ".", ".", "?", "!", ":", ";", "...")
"""Of sentences and clauses; one of these, so that most are dots."""
_QUOTED = (0, 0, 0, 1, 2, 4)
"""Words behind the first between quotation marks; one of these."""
_BETWEEN = (GAP, " ", "   ")  # pieces of a line


@dataclass(frozen=True)
class _Lengths:
    """Lengths of lines, in characters or in lengths that are asked for; by eye."""

    # Characters below which a line is mostly one entry of a table or a form
    short: float = 10.0
    short_share: float = 0.6  # of these lines
    most: float = 1.25  # lengths, beyond which a line is cut
    full: float = 0.6  # lengths, from which on no other piece is added
    sentence: tuple[int, int] = (10, 60)  # characters of running text within a pattern
    leader: tuple[int, int] = (3, 30)  # how often a leader is repeated
    any_characters: tuple[int, int] = (1, 8)
    string: tuple[int, int] = (1, 4)  # words


@dataclass(frozen=True)
class _Text:
    """Shares of words of running text; by eye."""

    begins: float = 0.5  # of the lines, with the beginning of a sentence
    ends: float = 0.07  # with a mark that ends a sentence or clause
    commas: float = 0.07
    dashes: float = 0.02  # before a dash
    hyphen: float = 0.04  # of the lines end within a word
    quoted: float = 0.03
    numbers_quoted: float = 0.2  # of what is quoted or in brackets
    # Times as many marks and dashes behind a bracket, quotation mark or sign as behind a letter:
    # where they are rare, readers leave them out
    marks_behind_signs: float = 2.5
    joined: float = 0.02  # two words with a hyphen
    last: float = 0.7  # of the words that can be last ones end a sentence


@dataclass(frozen=True)
class _Mixture:
    """Shares; by eye."""

    mixed_lines: float = 0.3  # with words of another script, if the charset has several
    guests: float = 0.25  # of the words in such a line
    # Of the lines in other scripts, whose single letters are theirs too
    own_letters: float = 0.6
    any_characters: float = 0.15  # of strings, which no language helps with


_LENGTHS = _Lengths()
_TEXT = _Text()
_MIXTURE = _Mixture()
_FIELD = re.compile(r"{(\w+)}")


def _silent(character: str) -> str:
    """A character that is drawn, but no text; spaces stay."""
    return character if character == " " else chr(ord(character) + _SILENT)


def is_silent(character: str) -> bool:
    """Whether a character is drawn without being text, as in leaders and rules."""
    return ord(character) >= _SILENT


def drawn(text: str) -> str:
    """The text of a line as it is drawn: leaders as the characters that they repeat."""
    return "".join(map(_drawn, text))


def _drawn(character: str) -> str:
    return chr(ord(character) - _SILENT) if is_silent(character) else character


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
    """The text that is read of a line."""
    characters = [text[place] for place in spoken(text)]
    return "".join(
        " " if _is_blank(character) else character for character in characters
    )


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

    kinds: Mapping[str, float] = field(default_factory=kinds)
    capitals: float = 0.07
    in_capitals: float = 0.15
    typeset: float = 0.6


def book_style() -> LineStyle:
    """The style of books in German, where nouns have a capital letter, and of others."""
    return LineStyle(
        kinds=kinds_of_books(), capitals=0.25, in_capitals=0.0, typeset=0.8
    )


class LineTexts:
    """Draws lines of text of about a length.

    Args:
        charset: the characters that may occur; it must hold the space.
        lexicon: draws words of all kinds.
        language: of running text, as for `Lexicon`; the words of a line are of one language. With
            a charset of several scripts, some lines have words of another one among them.
        words: a text file of the user's own words instead, as for `Lexicon`.
        style: what kinds of lines there are, and how they are written.
        word_lists: where the lists of languages come from, see `Materials`.

    Raises:
        ValueError: the charset has no space.
    """

    def __init__(
        self,
        charset: Charset,
        lexicon: Lexicon,
        language: str = "en",
        words: Path | None = None,
        style: "LineStyle | None" = None,
        word_lists: KeepWordLists = keep_word_lists,
    ) -> None:
        if charset.unknown(" "):
            raise ValueError(
                "lines of words need a charset with the space, for example european"
            )
        self._allowed = frozenset(charset.characters)
        self._has_scripts = len(charset.scripts) > 1
        self._style = style or LineStyle()
        self.lexicon = lexicon
        if words is not None:
            self._languages = self._frequent_words([(count_words(words), 1.0)])
        else:
            self._languages = word_lists(
                ["running text", language, charset.characters],
                lambda: self._frequent_words(language_words(language)),
            )
        self._weights = list(accumulate(each.weight for each in self._languages))
        self._scripts = list(map(_script, self._languages))
        self._wordings = {
            script: wording_of(script, word_lists) for script in set(self._scripts)
        }
        shares = self._style.kinds
        self._patterns = {}
        for kind, script in product((*shares, "short"), set(self._scripts)):
            self._patterns[kind, script] = self._patterns_of(kind, script)
        self._kinds = {}
        for kind, share in shares.items():
            patterns = [self._patterns[kind, script] for script in self._scripts]
            if kind in _WITHOUT_PATTERNS or all(patterns):
                self._kinds[kind] = share
        self._marks = _Marks(
            dashes=self._writable(dashes()),
            leaders=self._writable(leaders()),
            typeset=self._writable(list(typeset().values())),
        )
        self._quotes = {
            script: self._writable(wording.quotes)
            for script, wording in self._wordings.items()
        }
        self._inserts = {
            script: self._writable(wording.inserts)
            for script, wording in self._wordings.items()
        }

    def _frequent_words(
        self,
        words: Iterable[tuple[Mapping[str, float], float]],
    ) -> list[WordList]:
        """The frequent words of each weighted list that can be written."""
        lists = []
        for counts, weight in words:
            frequent = islice(counts, _FREQUENT)
            usable = [word for word in frequent if self._allowed.issuperset(word)]
            shares = [counts[word] ** _FLATNESS for word in usable]
            shares = favor_rare_letters(usable, shares)
            lists.append(WordList(usable, list(accumulate(shares)), weight))
        return lists

    def _writable(self, patterns: Sequence[str]) -> Sequence[str]:
        """Patterns whose signs the charset has, whatever their fields become."""
        writable = []
        for pattern in patterns:
            signs = _FIELD.sub("", pattern).replace(GAP, " ")
            if self._allowed.issuperset(signs):
                writable.append(pattern)
        return writable

    def _patterns_of(self, kind: str, script: str | None) -> Sequence[str]:
        """Patterns whose words are of a script, or Latin as on forms everywhere."""
        writable = self._writable(self._wordings[script].lines.get(kind, ()))
        known = {LATIN, script}
        return [each for each in writable if scripts_in(_FIELD.sub("", each)) <= known]

    def line(self, rng: random.Random, length: float) -> str:
        """A line of about so many characters, with gaps and silent characters in it."""
        while True:
            text = self._attempt(rng, length)
            if text:
                return text

    def _attempt(self, rng: random.Random, length: float) -> str:
        """A line, or nothing where what was drawn cannot be written or is too long."""
        places = range(len(self._languages))
        (place,) = rng.choices(places, cum_weights=self._weights)
        if self._scripts[place] == HANGUL:
            length /= _SQUARE_SPACED
        kind = self._kind(rng, length)
        text = self._filled(self._writer(rng, place), kind, length)
        text = self._styled(rng, text, kind)
        if self._has_scripts and ends_of_script(text) is not None:
            return ""
        longest = length * _LENGTHS.most
        if kind == "short" and len(text) > max(1, longest):
            return ""
        text = _cut(text, round(longest))
        shown = drawn(text.replace(GAP, " "))
        return text if self._allowed.issuperset(shown) and spoken(text) else ""

    def _kind(self, rng: random.Random, length: float) -> str:
        """The kind of a line; short ones are mostly of a kind of their own."""
        (kind,) = rng.choices(list(self._kinds), list(self._kinds.values()))
        is_short = length < _LENGTHS.short and rng.random() < _LENGTHS.short_share
        return "short" if is_short else kind

    def _writer(self, rng: random.Random, place: int) -> "_Writer":
        """A writer that fills patterns with words of one of the languages."""
        script = self._scripts[place]
        guest = self._guest(rng, script) if self._has_scripts else None
        has_own_letters = self._has_scripts and rng.random() < _MIXTURE.own_letters
        if script == HANGUL:
            has_own_letters = False
        return _Writer(
            rng,
            self._languages[place],
            self._marks,
            wording=self._wordings[script],
            quotes=self._quotes[script],
            inserts=self._inserts[script],
            script=script,
            capitals=self._style.capitals,
            guest=guest,
            has_own_letters=has_own_letters,
        )

    def _styled(self, rng: random.Random, text: str, kind: str) -> str:
        """A text as books typeset it, or in capitals, for some of the lines."""
        if rng.random() < self._style.typeset and kind not in _TYPED:
            text = self._typeset(text)
        if kind in _IN_CAPITALS and rng.random() < self._style.in_capitals:
            text = in_capitals(text)
        return text

    def _guest(self, rng: random.Random, script: str | None) -> WordList | None:
        """Words of another script, for some of the lines."""
        languages = zip(self._languages, self._scripts, strict=True)
        others = [each for each, of_other in languages if of_other != script]
        if not others or rng.random() >= _MIXTURE.mixed_lines:
            return None
        (guest,) = rng.choices(others, [each.weight for each in others])
        return guest

    def _filled(self, writer: "_Writer", kind: str, length: float) -> str:
        """Pieces of one kind until the line is full."""
        text = self._piece(writer, kind, length)
        while len(text) < _LENGTHS.full * length:
            has_spaces = kind in ("prose", "string")
            text += " " if has_spaces else writer.rng.choice(_BETWEEN)
            text += self._piece(writer, kind, length)
        return text

    def _piece(self, writer: "_Writer", kind: str, length: float) -> str:
        if kind == "prose":
            return writer.sentence(length)
        if kind == "string":
            return self._string(writer.rng)
        pattern = writer.rng.choice(self._patterns[kind, writer.script])
        return writer.fill(pattern)

    def _typeset(self, text: str) -> str:
        """A text with the apostrophes and dots of books, as far as the charset has them."""
        for typed, printed in typeset().items():
            if printed in self._marks.typeset:
                text = text.replace(typed, printed)
        return text

    def _string(self, rng: random.Random) -> str:
        """Words of every kind, and now and then any characters, which no language helps with."""
        if rng.random() < _MIXTURE.any_characters:
            return self.lexicon.any_characters(
                rng, rng.randint(*_LENGTHS.any_characters)
            )
        count = rng.randint(*_LENGTHS.string)
        return " ".join(self.lexicon.sample(count, rng.getrandbits(SEED_BITS)))


@dataclass(frozen=True)
class _Marks:
    """Marks of print that a charset has."""

    dashes: Sequence[str]
    leaders: Sequence[str]
    typeset: Sequence[str]


@dataclass(frozen=True)
class _Writer:
    """Fills patterns with words of one language."""

    rng: random.Random
    language: WordList
    marks: _Marks
    wording: Wording
    quotes: Sequence[str]  # around words, of those that can be written
    inserts: Sequence[str]  # patterns among running text, likewise
    script: str | None  # of the words
    capitals: float  # share of words in running text that begin with one
    guest: WordList | None = None  # words of another script, which some are taken from
    # Single letters, as of names and codes, not those of ASCII
    has_own_letters: bool = False

    def fill(self, pattern: str) -> str:
        """The pattern with all of its fields filled."""
        return _FIELD.sub(lambda match: self._field(match[1]), pattern)

    def sentence(self, length: float) -> str:
        """Running text with punctuation: whole sentences, or a part of one."""
        rng = self.rng
        parts: list[str] = []
        begins = rng.random() < _TEXT.begins
        before_dashes = _TEXT.ends + _TEXT.commas
        count = 0
        while count < length:
            word = self._word_of_text()
            if begins:
                word = word[:1].upper() + word[1:]
            mark = rng.random()
            if not word[-1].isalnum():
                mark /= _TEXT.marks_behind_signs
            begins = self._ends_sentence(word, mark)
            if begins:
                word += rng.choice(_ENDS)
            elif mark < before_dashes:
                word += ","
            parts.append(word)
            if before_dashes < mark < before_dashes + _TEXT.dashes:
                parts.append(rng.choice(self.marks.dashes))
            count += len(word) + 1
        text = " ".join(parts)
        is_cut = rng.random() < _TEXT.hyphen and text[-1].isalpha()
        return text + "-" if is_cut and self.wording.breaks_words else text

    def _ends_sentence(self, word: str, mark: float) -> bool:
        """Whether a sentence ends behind a word.

        Args:
            word: the word.
            mark: a number from 0 to 1, drawn for what stands behind it.
        """
        last_words = self.wording.last_words
        if last_words is None:
            return mark < _TEXT.ends
        return mark < _TEXT.last and last_words.search(word) is not None

    def _word_of_text(self) -> str:
        rng = self.rng
        kind = rng.random()
        inserted = self.wording.inserted
        if kind < inserted:
            return self.fill(rng.choice(self.inserts))
        is_capital = kind < inserted + self.capitals
        word = self._field("Word" if is_capital else "word")
        if kind > 1 - _TEXT.quoted:
            return self._quoted(word)
        if kind > 1 - _TEXT.quoted - _TEXT.joined:
            return f"{word}-{self._field('word')}"
        return word

    def _quoted(self, word: str) -> str:
        """Some words or a number, between quotation marks or in brackets."""
        rng = self.rng
        more = rng.choice(_QUOTED)
        text = " ".join([word, *(self._field("word") for _ in range(more))])
        if rng.random() < _TEXT.numbers_quoted:
            text = self.fill(rng.choice(self.inserts))
        quotes = rng.choice(self.quotes)
        return quotes[0] + text + quotes[1]

    def _field(self, name: str) -> str:
        """The text of a field of a pattern."""
        rng = self.rng
        wording = self.wording
        if name in wording.lines:
            return self.fill(rng.choice(wording.lines[name]))
        if name in ("A", "a") and self.has_own_letters:
            letter = self._word(self.language)[0]
            return in_capitals(letter) if name == "A" else letter.lower()
        if name in wording.fields:
            return rng.choice(wording.fields[name])
        if name in wording.patterns:
            filled = self.fill(rng.choice(wording.patterns[name]))
            return filled.replace("{{", "{").replace("}}", "}")
        if name == "sentence":
            return self.sentence(rng.randint(*_LENGTHS.sentence))
        if name == "leader":
            return self._leader()
        words = self.language
        if self.guest and rng.random() < _MIXTURE.guests:
            words = self.guest
        word = self._word(words)
        if name == "Word":
            return word.capitalize()
        if name == "WORD":
            return in_capitals(word)
        return word

    def _word(self, words: WordList) -> str:
        (word,) = self.rng.choices(words.words, cum_weights=words.shares)
        return word

    def _leader(self) -> str:
        """Dots or a rule, as silent characters."""
        pattern = self.rng.choice(self.marks.leaders)
        leader = (pattern * self.rng.randint(*_LENGTHS.leader)).strip()
        return "".join(map(_silent, leader))


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
