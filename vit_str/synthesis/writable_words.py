"""The words of a language or a file that a charset can write, and how often each is drawn."""

from collections.abc import Mapping, Sequence
from itertools import accumulate
from pathlib import Path

from vit_str.characters.alphabets import ends_of_script
from vit_str.characters.charset import Charset
from vit_str.synthesis.own_texts import tell_unwritable
from vit_str.synthesis.squares import is_square, width_of
from vit_str.synthesis.word_list_cache import KeepWordLists, WordList
from vit_str.synthesis.word_lists import (
    count_words,
    favor_accents,
    favor_rare_letters,
    language_words,
    word_shares,
)

SIGNS_LIKE_LETTERS = frozenset("ªºµ")
"""Lists have them as words too; alone they would be taken for letters."""
_FEWEST_WORDS = 100  # that a charset must write, or the language is left out


class WritableWords:
    """What can be written with a charset in so many characters.

    Args:
        charset: the characters that may occur.
        maximum_length: of a string, in characters; square ones count as several, see `squares`.
    """

    def __init__(self, charset: Charset, maximum_length: int) -> None:
        self.charset = charset
        self.maximum_length = maximum_length
        self._allowed = frozenset(charset.characters)
        self._has_scripts = len(charset.scripts) > 1
        self._has_squares = any(map(is_square, charset.characters))

    def fit(self, string: str) -> str:
        """The string if the charset can write it, perhaps in another case; else nothing.

        Up to where a word goes on in another script.
        """
        if self._has_scripts:
            string = string[: ends_of_script(string)]
        for candidate in (string, string.lower(), string.upper()):
            # The capital of µ, which is no Greek letter, is one.
            is_one = not self._has_scripts or ends_of_script(candidate) is None
            if is_one and self._allowed.issuperset(candidate):
                return self._cut_to_length(candidate).strip()
        return ""

    def _cut_to_length(self, string: str) -> str:
        if not self._has_squares:
            return string[: self.maximum_length]
        while width_of(string) > self.maximum_length:
            string = string[:-1]
        return string

    def of_file(self, path: Path) -> WordList:
        """Words of the user's file; how many cannot be written is told.

        Raises:
            ValueError: none can.
        """
        counts = count_words(path)
        usable = self._usable([(counts, 1.0)])
        tell_unwritable(path, counts, usable.words, self.charset, self.maximum_length)
        if not usable.words:
            raise ValueError(
                f"none of the {len(counts)} words in {path} can be written with the "
                f"charset in {self.maximum_length} characters; give another list or "
                "extend the charset"
            )
        return usable

    def of_language(self, language: str, word_lists: KeepWordLists) -> WordList:
        """Words of one or more languages; none if only stray foreign ones can be written.

        Args:
            language: or several with their weights, see `Lexicon`.
            word_lists: where the lists come from.
        """
        (usable,) = word_lists(
            ["words", language, self.charset.characters, self.maximum_length],
            lambda: [self._usable(language_words(language))],
        )
        return usable if len(usable.words) >= _FEWEST_WORDS else WordList([], [])

    def _usable(self, lists: Sequence[tuple[Mapping[str, float], float]]) -> WordList:
        """Words of several weighted lists that can be written, and their cumulative shares."""
        words: list[str] = []
        shares: list[float] = []
        for counts, weight in lists:
            short = filter(self._is_short, counts)
            usable = [
                word
                for word in short
                if self.fit(word) and word not in SIGNS_LIKE_LETTERS
            ]
            words += usable
            drawn = word_shares(usable, [counts[word] for word in usable])
            shares += [weight * share for share in favor_accents(usable, drawn)]
        if len(lists) > 1:
            shares = favor_rare_letters(words, shares)
        return WordList(words, list(accumulate(shares)))

    def _is_short(self, word: str) -> bool:
        width = width_of(word) if self._has_squares else len(word)
        return width <= self.maximum_length
