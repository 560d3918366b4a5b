"""Strings to draw: words in fair shares of case, and everything else that is written on things."""

import random
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import accumulate
from pathlib import Path

from vit_str.runtime.alphabets import LATIN, ends_of_script, script_of, scripts_in
from vit_str.runtime.charset import Charset
from vit_str.synthesis.patterns import FIELDS, PATTERNS
from vit_str.synthesis.spellings import in_capitals
from vit_str.synthesis.word_list_cache import WordList, keep_word_lists
from vit_str.synthesis.word_lists import (
    count_words,
    favor_accents,
    favor_rare_letters,
    language_words,
    word_shares,
)

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
    "abbreviations": 0.01,
    "typography": 0.07,
    "currencies": 0.01,
    "contextless": 0.19,
    "nothing": 0.0,
}
"""Every ingredient and its usual share; those that a charset cannot write are left out.

``nothing`` is the empty string: a crop without text."""

CASES: Mapping[str, float] = {"listed": 0.27, "title": 0.25, "upper": 0.45, "mixed": 0.03}
"""Shares of case among words. Listed words are lower case, a user's own are as he wrote them."""

_CAPITAL_SHARP_S = 0.3  # of the words with ß in capitals; the others have SS
_FEWEST_WORDS = 100  # that a charset must write, or the language is left out
_PROBES = 20  # strings that show whether a charset can write an ingredient


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
        maximum_length: of a string, in characters.
    """

    def __init__(
        self,
        charset: Charset,
        language: str = "en",
        words: Path | None = None,
        weights: Mapping[str, float] | None = None,
        maximum_length: int = 25,
    ) -> None:
        if maximum_length < 1:
            raise ValueError(f"maximum_length must be at least 1, found {maximum_length}")
        self.maximum_length = maximum_length
        self._allowed = frozenset(charset.characters)
        self._characters = charset.characters.replace(" ", "") or charset.characters
        self._scripts = sorted(scripts_in(charset.characters))
        plain = "".join(filter(_is_plain, self._characters)) or self._characters
        self._plain = _by_script(plain, self._scripts)
        self._blocks = _blocks(self._characters)
        lengths = range(1, maximum_length + 1)
        self._lengths = list(accumulate(0.85**length + 0.02 for length in lengths))
        drawn = self._own_words(words) if words else self._language_words(language, charset)
        self._words = drawn.words
        self._shares = drawn.shares
        self._patterns = {
            name: [
                pattern for pattern in patterns if self._writable(partial(self._fill, [pattern]))
            ]
            for name, patterns in PATTERNS.items()
        }
        self.ingredients = self._usable_ingredients(WEIGHTS if weights is None else weights)

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
            fitted = [self._fit(string) for string in self._drawer(name)(rng, shares[name])]
            lost = fitted.count("")
            strings += filter(None, fitted)
            strings += self._contextless(rng, lost)
        rng.shuffle(strings)
        return strings

    def _drawer(self, name: str) -> Drawer:
        if name in PATTERNS:
            return partial(self._fill, self._patterns[name])
        return partial(_FREE_INGREDIENTS[name], self)

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
                return candidate[: self.maximum_length].strip()
        return ""

    def _own_words(self, path: Path) -> WordList:
        """Words of the user's file that can be written."""
        counts = count_words(path)
        usable = self._usable_words([(counts, 1.0)])
        if not usable.words:
            raise ValueError(
                f"none of the {len(counts)} words in {path} can be written with the charset "
                f"in {self.maximum_length} characters; give another list or extend the charset"
            )
        return usable

    def _language_words(self, language: str, charset: Charset) -> WordList:
        """Words of the languages that can be written; none if they are stray foreign ones."""
        (usable,) = keep_word_lists(
            ["words", language, charset.characters, self.maximum_length],
            lambda: [self._usable_words(language_words(language))],
        )
        return usable if len(usable.words) >= _FEWEST_WORDS else WordList([], [])

    def _usable_words(self, lists: Sequence[tuple[Mapping[str, float], float]]) -> WordList:
        """Words of several weighted lists that can be written, and their cumulative shares."""
        words: list[str] = []
        shares: list[float] = []
        for counts, weight in lists:
            usable = [w for w in counts if len(w) <= self.maximum_length and self._fit(w)]
            words += usable
            drawn = word_shares(usable, [counts[word] for word in usable])
            shares += [weight * share for share in favor_accents(usable, drawn)]
        if len(lists) > 1:
            shares = favor_rare_letters(words, shares)
        return WordList(words, list(accumulate(shares)))

    def _usable_ingredients(self, weights: Mapping[str, float]) -> dict[str, float]:
        unknown = sorted(set(weights) - set(WEIGHTS))
        if unknown or any(weight < 0 for weight in weights.values()):
            raise ValueError(
                f"weights must be at least 0 and named {', '.join(WEIGHTS)}; found {dict(weights)}"
            )
        used = {name: weight for name, weight in weights.items() if weight}
        usable = {
            name: weight
            for name, weight in used.items()
            if name == "nothing" or self._writable(self._drawer(name))
        }
        return usable or {"contextless": 1.0}

    def _writable(self, draw: Drawer) -> bool:
        """Whether the charset can write at least every second string."""
        probes = draw(random.Random(0), _PROBES)
        return sum(bool(self._fit(probe)) for probe in probes) * 2 >= _PROBES

    def _fill(self, patterns: Sequence[str], rng: random.Random, count: int) -> list[str]:
        strings: list[str] = []
        if not patterns:
            return [""] * count
        for pattern, share in Counter(rng.choices(patterns, k=count)).items():
            fields = re.findall(r"{(\w+)}", pattern)
            if fields:
                columns = [self._draw_field(field, rng, share) for field in fields]
                strings += map(re.sub(r"{\w+}", "{}", pattern).format, *columns)
            else:
                strings += [pattern] * share
        return strings

    def _draw_field(self, field: str, rng: random.Random, count: int) -> Sequence[str]:
        if field in FIELDS:
            return rng.choices(FIELDS[field], k=count)
        if field == "cased":
            return self._cased_words(rng, count)
        words = self._plain_words(rng, count)
        if field == "word":
            return words
        return list(map(str.capitalize if field == "Word" else in_capitals, words))

    def _plain_words(self, rng: random.Random, count: int) -> list[str]:
        if not self._words:
            return [""] * count
        return rng.choices(self._words, cum_weights=self._shares, k=count)

    def _cased_words(self, rng: random.Random, count: int) -> list[str]:
        words = self._plain_words(rng, count)
        cases = rng.choices(list(CASES), list(CASES.values()), k=count)
        return [_set_case(word, case, rng) for word, case in zip(words, cases, strict=True)]

    def _cut(self, rng: random.Random, count: int) -> list[str]:
        """The beginning or the end of a word, as at the edge of a picture."""
        words = self._cased_words(rng, count)
        places = [round((rng.random() * 2 - 1) * (len(word) - 1)) for word in words]
        return [word[:place] or word for word, place in zip(words, places, strict=True)]

    def _long(self, rng: random.Random, count: int) -> list[str]:
        """Words joined to a length between 8 and the longest, all as likely."""
        strings = []
        for case in rng.choices(list(CASES), list(CASES.values()), k=count):
            length = rng.randint(min(8, self.maximum_length), self.maximum_length)
            string = ""
            while len(string) < length and self._words:
                string += rng.choice(self._words)
            strings.append(_set_case(string[:length], case, rng))
        return strings

    def _repeated(self, rng: random.Random, count: int) -> list[str]:
        """One character again and again, alone or within a word."""
        strings = []
        for word in self._cased_words(rng, count):
            times = rng.randint(2, 6)
            if word and rng.random() < 0.6:
                place = rng.randrange(len(word))
                strings.append(word[:place] + word[place] * times + word[place + 1 :])
            else:
                strings.append(rng.choice(self._characters) * times)
        return strings

    def _contextless(self, rng: random.Random, count: int) -> list[str]:
        """Random strings, half of them from all characters, half from letters and digits.

        Most are in one case, as serial numbers and names are.
        """
        longest = range(1, self.maximum_length + 1)
        lengths = rng.choices(longest, cum_weights=self._lengths, k=count)
        strings = [
            self.any_characters(rng, length) if place % 2 else self._any_plain(rng, length)
            for place, length in enumerate(lengths)
        ]
        cases = rng.choices(("listed", "upper", "title"), (0.4, 0.4, 0.2), k=count)
        cased = map(_set_case, strings, cases, [rng] * count)
        # Some letters have no other case within the charset.
        return [
            other[: self.maximum_length] if self._allowed.issuperset(other) else string
            for string, other in zip(strings, cased, strict=True)
        ]

    def any_characters(self, rng: random.Random, length: int) -> str:
        """Random characters of the charset that fonts have together."""
        (block,) = rng.choices(list(self._blocks), list(self._blocks.values()))
        return "".join(rng.choices(block, k=length))

    def _any_plain(self, rng: random.Random, length: int) -> str:
        plain = self._plain[0] if len(self._plain) == 1 else rng.choice(self._plain)
        return "".join(rng.choices(plain, k=length))


_FREE_INGREDIENTS: Mapping[str, Callable[[Lexicon, random.Random, int], list[str]]] = {
    "words": Lexicon._cased_words,
    "cut": Lexicon._cut,
    "long": Lexicon._long,
    "repeated": Lexicon._repeated,
    "contextless": Lexicon._contextless,
}


def _blocks(characters: str) -> dict[str, int]:
    """What random strings are made of, and how often each is: printable ASCII and one block.

    A font has most of a block of Unicode (here of 128 characters, or one script) or nothing, and
    hardly one has all blocks. At least half of each string is of its block. Cyrillic and Greek
    stand without Latin letters, which look the same.
    """
    told = "".join(c for c in characters if c not in _TOLD_BY_PLACE) or characters
    blocks: defaultdict[str | int, str] = defaultdict(str)
    for character in told:
        blocks[_block(character)] += character
    common = blocks.pop(0, "")
    mixed = {}
    for block in blocks.values():
        beside = _beside(block, common)
        mixed[block * max(1, round(len(beside) / len(block))) + beside] = len(block)
    return ({common: len(common)} if common else {}) | mixed


def _beside(block: str, common: str) -> str:
    """What of printable ASCII stands in strings of a block: no letters of another script."""
    if script_of(block[0]) in (None, LATIN):
        return common
    return "".join(character for character in common if not character.isalpha()) or common


def _by_script(characters: str, scripts: Sequence[str]) -> list[str]:
    """Letters of each script, with all that is of none; all together if there is one script."""
    if len(scripts) < 2:
        return [characters]
    return ["".join(c for c in characters if script_of(c) in (None, script)) for script in scripts]


def _block(character: str) -> str | int:
    """The name of a script, or the number of a block of Latin letters or signs."""
    script = unicodedata.name(character, "").partition(" ")[0]
    is_sign = not character.isalpha() or character in "ªºµ"
    return ord(character) // 128 if is_sign or script == "LATIN" else script


def _is_plain(character: str) -> bool:
    """Whether it is a digit, a letter of English or one of another script."""
    return character.isalnum() and (character.isascii() or isinstance(_block(character), str))


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
