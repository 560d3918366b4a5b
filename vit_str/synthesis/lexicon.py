"""Strings to draw: words in fair shares of case, and everything else that is written on things."""

import random
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import accumulate
from pathlib import Path

from vit_str.characters.alphabets import (
    HANGUL,
    LATIN,
    ends_of_script,
    script_of,
    script_of_text,
)
from vit_str.characters.charset import Charset
from vit_str.synthesis.own_texts import refuse_right_to_left, tell_unwritable
from vit_str.synthesis.patterns import patterns
from vit_str.synthesis.spellings import in_capitals
from vit_str.synthesis.squares import is_square, width_of
from vit_str.synthesis.word_list_cache import (
    KeepWordLists,
    WordList,
    keep_word_lists,
)
from vit_str.synthesis.word_lists import (
    count_words,
    favor_accents,
    favor_rare_letters,
    language_words,
    word_shares,
)
from vit_str.synthesis.wording import Wording, latin_wording
from vit_str.synthesis.wording_choice import wording_of, wording_of_languages

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

CASES: Mapping[str, float] = {
    "listed": 0.27,
    "title": 0.25,
    "upper": 0.45,
    "mixed": 0.03,
}
"""Shares of case among words; by eye.

Listed words are lower case, a user's own are as he wrote them.
"""
_SERIAL_CASES: Mapping[str, float] = {"listed": 0.4, "upper": 0.4, "title": 0.2}
"""The same among random strings."""

_SHORTENING = 0.85  # how much rarer random strings are with each character more
_LEAST_LENGTH_SHARE = 0.02  # that is added for every length
_SHORTEST_LONG = 8  # characters of words that are joined to long ones
_REPEATS = (2, 6)  # how often a character is repeated
_REPEATED_IN_WORD = 0.6  # share of repeated characters within a word
_CAPITAL_SHARP_S = 0.3  # of the words with ß in capitals; the others have SS
_FEWEST_WORDS = 100  # that a charset must write, or the language is left out
_DIGITS_ALONE = 0.5  # of single characters; by photographed words
_PROBES = 20  # strings that show whether a charset can write an ingredient
_FIRST_WORDS = 200  # that show in which script a user's words are
_LEAST_BESIDE = 0.2  # share of ASCII in random strings of a large block
_TWO_SCRIPTS = 0.3  # of the random strings of a charset with Hangul

_BLOCK = 128  # characters
# Lists have them as words too; alone they would be taken for letters
_SIGNS_LIKE_LETTERS = frozenset("ªºµ")
# Among random characters they look like others: ‚ like a comma, º like °.
_TOLD_BY_PLACE = frozenset("‚′″ªº·°")

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

    Raises:
        ValueError: ``maximum_length`` is below 1, or the charset leaves nothing to draw.
    """

    def __init__(
        self,
        charset: Charset,
        language: str = "en",
        words: Path | None = None,
        weights: Mapping[str, float] | None = None,
        maximum_length: int = 25,
        word_lists: KeepWordLists = keep_word_lists,
    ) -> None:
        if maximum_length < 1:
            raise ValueError(
                f"maximum_length must be at least 1, found {maximum_length}"
            )
        refuse_right_to_left(charset)
        self.maximum_length = maximum_length
        self._allowed = frozenset(charset.characters)
        self._characters = charset.characters.replace(" ", "") or charset.characters
        self._scripts = sorted(charset.scripts)
        scripts = (None, *self._scripts)
        letters = [each for each in self._characters if script_of(each) in scripts]
        plain = "".join(filter(self._is_plain, letters)) or self._characters
        self._plain = _by_script(plain, self._scripts)
        self._blocks = _blocks(self._characters)
        shares_of_lengths = [
            _SHORTENING**length + _LEAST_LENGTH_SHARE
            for length in range(1, maximum_length + 1)
        ]
        self._lengths = list(accumulate(shares_of_lengths))
        self._word_lists = word_lists
        self._has_squares = any(map(is_square, charset.characters))
        drawn = (
            self._own_words(words, charset)
            if words
            else self._language_words(language, charset)
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
            fitted = [self._fit(string) for string in draw(rng, shares[name])]
            lost = fitted.count("")
            strings += filter(None, fitted)
            strings += self._contextless(rng, lost)
        rng.shuffle(strings)
        return strings

    def _drawer(self, name: str) -> Drawer:
        if name in patterns():
            return partial(self._fill, self._patterns[name])
        return partial(_FREE_INGREDIENTS[name], self)

    def _is_plain(self, character: str) -> bool:
        """Whether it is a digit, a letter of English or one of another script; Ω is a sign."""
        script = script_of(character)
        is_sign = script is not None and script not in self._scripts
        is_of_other_script = isinstance(_block(character), str) and not is_sign
        return character.isalnum() and (character.isascii() or is_of_other_script)

    def _fit(self, string: str) -> str:
        """The string if the charset can write it, perhaps in another case; else nothing.

        Up to where a word goes on in another script.
        """
        has_scripts = len(self._scripts) > 1
        if has_scripts:
            string = string[: ends_of_script(string)]
        for candidate in (string, string.lower(), string.upper()):
            # The capital of µ, which is no Greek letter, is one.
            is_one = not has_scripts or ends_of_script(candidate) is None
            if is_one and self._allowed.issuperset(candidate):
                return self._cut_to_length(candidate).strip()
        return ""

    def _cut_to_length(self, string: str) -> str:
        if not self._has_squares:
            return string[: self.maximum_length]
        while width_of(string) > self.maximum_length:
            string = string[:-1]
        return string

    def _is_short(self, word: str) -> bool:
        width = width_of(word) if self._has_squares else len(word)
        return width <= self.maximum_length

    def _own_words(self, path: Path, charset: Charset) -> WordList:
        """Words of the user's file that can be written; how many cannot is told."""
        counts = count_words(path)
        usable = self._usable_words([(counts, 1.0)])
        tell_unwritable(path, counts, usable.words, charset, self.maximum_length)
        if not usable.words:
            raise ValueError(
                f"none of the {len(counts)} words in {path} can be written with the "
                f"charset in {self.maximum_length} characters; give another list or "
                "extend the charset"
            )
        return usable

    def _language_words(self, language: str, charset: Charset) -> WordList:
        """Words of the languages that can be written; none if they are stray foreign ones."""
        (usable,) = self._word_lists(
            ["words", language, charset.characters, self.maximum_length],
            lambda: [self._usable_words(language_words(language))],
        )
        return usable if len(usable.words) >= _FEWEST_WORDS else WordList([], [])

    def _usable_words(
        self,
        lists: Sequence[tuple[Mapping[str, float], float]],
    ) -> WordList:
        """Words of several weighted lists that can be written, and their cumulative shares."""
        words: list[str] = []
        shares: list[float] = []
        for counts, weight in lists:
            short = filter(self._is_short, counts)
            usable = [
                word
                for word in short
                if self._fit(word) and word not in _SIGNS_LIKE_LETTERS
            ]
            words += usable
            drawn = word_shares(usable, [counts[word] for word in usable])
            shares += [weight * share for share in favor_accents(usable, drawn)]
        if len(lists) > 1:
            shares = favor_rare_letters(words, shares)
        return WordList(words, list(accumulate(shares)))

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
        return name == "nothing" or self._writable(self._drawer(name))

    def _writable_patterns(self, patterns: Sequence[str]) -> list[str]:
        """Patterns that the charset can write."""
        return [
            pattern
            for pattern in patterns
            if self._writable(partial(self._fill, [pattern]))
        ]

    def _writable(self, draw: Drawer) -> bool:
        """Whether the charset can write at least every second string."""
        probes = draw(random.Random(0), _PROBES)
        written = [probe for probe in probes if self._fit(probe)]
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
            _set_case(word, case, rng) for word, case in zip(words, cases, strict=True)
        ]

    def _cut(self, rng: random.Random, count: int) -> list[str]:
        """The beginning or the end of a word, as at the edge of a picture."""
        strings = []
        for word in self._cased_words(rng, count):
            # A negative one counts from the end.
            share = rng.random() * 2 - 1
            place = round(share * (len(word) - 1))
            cut = word[:place] or word
            strings.append(word if cut in _SIGNS_LIKE_LETTERS else cut)
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
            strings.append(_set_case(string[:length], case, rng))
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
                strings.append(rng.choice(self._characters) * times)
        return strings

    def _single(self, rng: random.Random, count: int) -> list[str]:
        """One letter, or one digit if the charset has any; all letters and digits as likely."""
        plain = "".join(self._plain)
        digits = "".join(filter(str.isdecimal, plain))
        letters = "".join(filter(str.isalpha, plain))
        if not digits or not letters:
            return rng.choices(plain, k=count)
        kinds = rng.choices(
            [digits, letters], [_DIGITS_ALONE, 1 - _DIGITS_ALONE], k=count
        )
        return [rng.choice(kind) for kind in kinds]

    def _contextless(self, rng: random.Random, count: int) -> list[str]:
        """Random strings, half of them from all characters, half from letters and digits.

        Most are in one case, as serial numbers and names are.
        """
        possible = range(1, self.maximum_length + 1)
        lengths = rng.choices(possible, cum_weights=self._lengths, k=count)
        strings = []
        for place, length in enumerate(lengths):
            draw = self.any_characters if place % 2 else self._any_plain
            strings.append(draw(rng, length))
        cases = rng.choices(list(_SERIAL_CASES), list(_SERIAL_CASES.values()), k=count)
        return [
            self._in_case(string, case, rng)
            for string, case in zip(strings, cases, strict=True)
        ]

    def _in_case(self, string: str, case: str, rng: random.Random) -> str:
        """A string in a case; as it is if letters have no such case within the charset."""
        cased = _set_case(string, case, rng)
        if self._allowed.issuperset(cased):
            return cased[: self.maximum_length]
        return string

    def any_characters(self, rng: random.Random, length: int) -> str:
        """Random characters of the charset that fonts have together."""
        (block,) = rng.choices(list(self._blocks), list(self._blocks.values()))
        return "".join(rng.choices(block, k=length))

    def _any_plain(self, rng: random.Random, length: int) -> str:
        plain = self._plain[0] if len(self._plain) == 1 else rng.choice(self._plain)
        string = "".join(rng.choices(plain, k=length))
        if HANGUL in self._scripts and rng.random() < _TWO_SCRIPTS:
            second = "".join(rng.choices(rng.choice(self._plain), k=length))
            place = rng.randrange(length)
            return string[:place] + second[place:]
        return string


_FREE_INGREDIENTS: Mapping[str, Callable[[Lexicon, random.Random, int], list[str]]] = {
    "words": Lexicon._cased_words,
    "cut": Lexicon._cut,
    "long": Lexicon._long,
    "repeated": Lexicon._repeated,
    "contextless": Lexicon._contextless,
    "single": Lexicon._single,
}


def _blocks(characters: str) -> dict[str, int]:
    """Alphabets of random strings with their shares: printable ASCII and one block.

    A font has most of a block of Unicode (here of 128 characters, or one script) or nothing, and
    hardly one has all blocks. At least half of each string is of its block. Cyrillic and Greek
    stand without Latin letters, which look the same.
    """
    told = [character for character in characters if character not in _TOLD_BY_PLACE]
    blocks: defaultdict[str | int, str] = defaultdict(str)
    for character in told or characters:
        blocks[_block(character)] += character
    common = blocks.pop(0, "")
    mixed = {}
    if common:
        mixed[common] = len(common)
    for block in blocks.values():
        beside = _beside(block, common)
        times = max(1, round(len(beside) / len(block)))
        least = _LEAST_BESIDE / (1 - _LEAST_BESIDE) * len(block)
        times_beside = max(1, round(least / max(1, len(beside))))
        mixed[block * times + beside * times_beside] = len(block)
    return mixed


def _beside(block: str, common: str) -> str:
    """The printable ASCII in strings of a block: no letters of another script."""
    if script_of(block[0]) in (None, LATIN, HANGUL):
        return common
    signs = [character for character in common if not character.isalpha()]
    return "".join(signs) or common


def _by_script(characters: str, scripts: Sequence[str]) -> list[str]:
    """Letters of each script, with all that is of none; all together if there is one script."""
    if len(scripts) < 2:
        return [characters]
    parts = []
    for script in scripts:
        fitting = [each for each in characters if script_of(each) in (None, script)]
        parts.append("".join(fitting))
    return parts


def _block(character: str) -> str | int:
    """The name of a script, or the number of a block of Latin letters or signs."""
    script = unicodedata.name(character, "").partition(" ")[0]
    is_sign = not character.isalpha() or character in _SIGNS_LIKE_LETTERS
    if is_sign or script == "LATIN":
        return ord(character) // _BLOCK
    return script


def _set_case(word: str, case: str, rng: random.Random) -> str:
    if case == "listed":
        return word
    if case == "title":
        return word.capitalize()
    if case == "upper":
        sharp = "ẞ" if "ß" in word and rng.random() < _CAPITAL_SHARP_S else "ß"
        return in_capitals(word.replace("ß", sharp))
    bits = rng.getrandbits(len(word) + 1)
    return "".join(
        character.upper() if bits >> place & 1 else character.lower()
        for place, character in enumerate(word)
    )
