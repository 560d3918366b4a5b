"""Strings to draw: words in fair shares of case, and everything else that is written on things."""

import random
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from vit_str.characters.alphabets import HANGUL, script_of_text
from vit_str.characters.charset import Charset
from vit_str.synthesis.letter_case import CASES, set_case
from vit_str.synthesis.own_texts import refuse_right_to_left
from vit_str.synthesis.patterns import patterns
from vit_str.synthesis.random_strings import RandomStrings
from vit_str.synthesis.spellings import in_capitals
from vit_str.synthesis.word_list_cache import KeepWordLists, keep_word_lists
from vit_str.synthesis.wording import Wording, latin_wording
from vit_str.synthesis.wording_choice import wording_of, wording_of_languages
from vit_str.synthesis.writable_words import SIGNS_LIKE_LETTERS, WritableWords

WEIGHTS: Mapping[str, float] = {
    "words": 0.50,
    "punctuated": 0.04,
    "possessives": 0.01,
    "hyphenated": 0.02,
    "joined": 0.03,
    "phrases": 0.05,
    "cut": 0.04,
    "long": 0.02,
    "repeated": 0.01,
    "numbers": 0.05,
    "prices": 0.015,
    "dates": 0.01,
    "times": 0.01,
    "phones": 0.01,
    "codes": 0.02,
    "addresses": 0.015,
    "snippets": 0.02,
    "identifiers": 0.014,
    "instruments": 0.03,
    "abbreviations": 0.01,
    "typography": 0.06,
    "currencies": 0.012,
    "contextless": 0.19,
    "single": 0.03,
    "signs": 0.01,
    "nothing": 0.0,
}
"""Every ingredient and its usual share; those that a charset cannot write are left out.

``single`` is one letter or digit, ``signs`` one sign of print, or a word behind a bullet, star or
arrow; ``snippets`` are words of code; ``instruments`` what machines show or print on things, see
`machine_text`; ``nothing`` is the empty string: a crop without text."""

_SHORTEST_LONG = 8  # characters of words that are joined to long ones
_REPEATS = (2, 6)  # how often a character is repeated
_REPEATED_IN_WORD = 0.6  # share of repeated characters within a word
_PROBES = 20  # strings that show whether a charset can write an ingredient
_FIRST_WORDS = 200  # that show in which script a user's words are

Drawer = Callable[[random.Random, int], list[str]]


class Lexicon:
    """Draws strings of many kinds, all of them within a charset.

    Args:
        charset: the characters that may occur. Spaces occur only if it holds the space.
        language: whose words, a language code of the ``wordfreq`` library, or several with their
            weights, as in ``ko+en`` or ``en*8+de+fr``.
        words: a text file of the user's own words, separated by white space, instead of the
            words of ``language``; words that occur more often in it are drawn more often.
        weights: ingredients to use and their shares, instead of ``WEIGHTS``.
        maximum_length: of a string, in characters; square ones, such as syllables of Hangul, count
            as several (see `squares`).
        word_lists: where the lists of languages come from, see `Materials`.
        any_direction: take letters that run from right to left too, drawn from left to right and
            apart: to tell scripts from each other, not to read.

    Raises:
        ValueError: ``maximum_length`` is below 1, or the charset has letters that run from right to
            left, or it leaves nothing to draw.
    """

    def __init__(
        self,
        charset: Charset,
        language: str = "en",
        words: Path | None = None,
        weights: Mapping[str, float] | None = None,
        maximum_length: int = 25,
        word_lists: KeepWordLists = keep_word_lists,
        any_direction: bool = False,
    ) -> None:
        if maximum_length < 1:
            raise ValueError(
                f"maximum_length must be at least 1, found {maximum_length}"
            )
        if not any_direction:
            refuse_right_to_left(charset)
        self.maximum_length = maximum_length
        self._scripts = charset.scripts
        self._word_lists = word_lists
        self._writable = WritableWords(charset, maximum_length)
        self._random_strings = RandomStrings(charset, maximum_length)
        drawn = (
            self._writable.of_file(words)
            if words
            else self._writable.of_language(language, word_lists)
        )
        self._words = drawn.words
        self._shares = drawn.shares
        self._wording = self._chosen_wording(language, words)
        self._patterns = {
            name: self._writable_patterns(patterns)
            for name, patterns in self._wording.patterns.items()
        }
        if weights is None:
            weights = WEIGHTS
        self.ingredients = self._usable_ingredients(weights)

    def _chosen_wording(self, language: str, words: Path | None) -> Wording:
        """Patterns of the languages, or of the script of the user's own words."""
        if HANGUL not in self._scripts:
            return latin_wording()
        if words is None:
            return wording_of_languages(language, self._word_lists)
        script = script_of_text("".join(self._words[:_FIRST_WORDS]))
        return wording_of(script, self._word_lists)

    def sample(self, count: int, seed: int) -> list[str]:
        """Draw ``count`` strings of up to ``maximum_length`` characters; same seed, same strings.

        Only the ingredient ``nothing`` gives empty ones.
        """
        rng = random.Random(seed)
        names = list(self.ingredients)
        weights = list(self.ingredients.values())
        shares = Counter(rng.choices(names, weights, k=count))
        strings = [""] * shares.pop("nothing", 0)
        for name in shares:
            draw = self._drawer(name)
            fitted = [self._writable.fit(string) for string in draw(rng, shares[name])]
            lost = fitted.count("")
            strings += filter(None, fitted)
            strings += self._random_strings.sample(rng, lost)
        rng.shuffle(strings)
        return strings

    def _drawer(self, name: str) -> Drawer:
        if name in patterns():
            return partial(self._fill, self._patterns[name])
        if name == "contextless":
            return self._random_strings.sample
        if name == "single":
            return self._random_strings.single
        return partial(_OF_WORDS[name], self)

    def _usable_ingredients(self, weights: Mapping[str, float]) -> dict[str, float]:
        """Types of text that are asked for and that the charset can write."""
        has_unknown = not set(weights) <= set(WEIGHTS)
        if has_unknown or any(weight < 0 for weight in weights.values()):
            known = ", ".join(WEIGHTS)
            raise ValueError(
                f"weights must be at least 0 and named {known}; found {dict(weights)}"
            )
        wanted = [name for name, weight in weights.items() if weight]
        usable = {name: weights[name] for name in wanted if self._can_draw(name)}
        return usable or {"contextless": 1.0}

    def _can_draw(self, name: str) -> bool:
        return name == "nothing" or self._can_write(self._drawer(name))

    def _writable_patterns(self, patterns: Sequence[str]) -> list[str]:
        """Patterns that the charset can write."""
        return [
            pattern
            for pattern in patterns
            if self._can_write(partial(self._fill, [pattern]))
        ]

    def _can_write(self, draw: Drawer) -> bool:
        """Whether the charset can write at least every second string."""
        probes = draw(random.Random(0), _PROBES)
        written = [probe for probe in probes if self._writable.fit(probe)]
        return len(written) * 2 >= _PROBES

    def _fill(
        self,
        patterns: Sequence[str],
        rng: random.Random,
        count: int,
    ) -> list[str]:
        """Strings of patterns, all as likely, whose fields are filled."""
        if not patterns:
            return [""] * count
        strings: list[str] = []
        for pattern, times in Counter(rng.choices(patterns, k=count)).items():
            fields = re.findall(r"{(\w+)}", pattern)
            if fields:
                columns = [self._draw_field(field, rng, times) for field in fields]
                template = re.sub(r"{\w+}", "{}", pattern)
                strings += map(template.format, *columns)
            else:
                strings += [pattern.format()] * times
        return strings

    def _draw_field(self, field: str, rng: random.Random, count: int) -> Sequence[str]:
        fields = self._wording.fields
        if field in fields:
            return rng.choices(fields[field], k=count)
        if field == "cased":
            return self._cased_words(rng, count)
        words = self._plain_words(rng, count)
        if field == "Word":
            return [word.capitalize() for word in words]
        if field == "WORD":
            return [in_capitals(word) for word in words]
        return words

    def _plain_words(self, rng: random.Random, count: int) -> list[str]:
        if not self._words:
            return [""] * count
        return rng.choices(self._words, cum_weights=self._shares, k=count)

    def _cased_words(self, rng: random.Random, count: int) -> list[str]:
        words = self._plain_words(rng, count)
        cases = rng.choices(list(CASES), list(CASES.values()), k=count)
        return [
            set_case(word, case, rng) for word, case in zip(words, cases, strict=True)
        ]

    def _cut(self, rng: random.Random, count: int) -> list[str]:
        """The beginning or the end of a word, as at the edge of a picture."""
        strings = []
        for word in self._cased_words(rng, count):
            # A negative one counts from the end.
            share = rng.random() * 2 - 1
            place = round(share * (len(word) - 1))
            cut = word[:place] or word
            strings.append(word if cut in SIGNS_LIKE_LETTERS else cut)
        return strings

    def _long(self, rng: random.Random, count: int) -> list[str]:
        """Words joined to a length between 8 and the longest, all as likely."""
        strings = []
        shortest = min(_SHORTEST_LONG, self.maximum_length)
        for case in rng.choices(list(CASES), list(CASES.values()), k=count):
            length = rng.randint(shortest, self.maximum_length)
            string = ""
            while len(string) < length and self._words:
                string += rng.choice(self._words)
            strings.append(set_case(string[:length], case, rng))
        return strings

    def _repeated(self, rng: random.Random, count: int) -> list[str]:
        """One character again and again, alone or within a word."""
        strings = []
        for word in self._cased_words(rng, count):
            times = rng.randint(*_REPEATS)
            if word and rng.random() < _REPEATED_IN_WORD:
                place = rng.randrange(len(word))
                repeated = word[place] * times
                strings.append(word[:place] + repeated + word[place + 1 :])
            else:
                strings.append(rng.choice(self._random_strings.characters) * times)
        return strings

    def any_characters(self, rng: random.Random, length: int) -> str:
        """Random characters of the charset that fonts have together."""
        return self._random_strings.any_characters(rng, length)


_OF_WORDS: Mapping[str, Callable[[Lexicon, random.Random, int], list[str]]] = {
    "words": Lexicon._cased_words,
    "cut": Lexicon._cut,
    "long": Lexicon._long,
    "repeated": Lexicon._repeated,
}
