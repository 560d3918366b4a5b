"""Strings of random characters, as serial numbers are, which no language helps to read."""

import random
import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import accumulate

from vit_str.characters.alphabets import HANGUL, LATIN, script_of
from vit_str.characters.charset import Charset
from vit_str.synthesis.letter_case import set_case
from vit_str.synthesis.writable_words import SIGNS_LIKE_LETTERS

_CASES: Mapping[str, float] = {"listed": 0.4, "upper": 0.4, "title": 0.2}
"""Shares of case, see `letter_case`."""
_SHORTENING = 0.85  # how much rarer they are with each character more
_LEAST_LENGTH_SHARE = 0.02  # that is added for every length
_DIGITS_ALONE = 0.5  # of single characters; by photographed words
_LEAST_BESIDE = 0.2  # share of ASCII in random strings of a large block
_TWO_SCRIPTS = 0.3  # of the random strings of a charset with Hangul
_BLOCK = 128  # characters
# Among random characters they look like others: ‚ like a comma, º like °.
_TOLD_BY_PLACE = frozenset("‚′″ªº·°")


class RandomStrings:
    """Draws strings of random characters.

    Args:
        charset: the characters that may occur.
        maximum_length: of a string, in characters.
    """

    def __init__(self, charset: Charset, maximum_length: int) -> None:
        self.characters = charset.characters.replace(" ", "") or charset.characters
        self._allowed = frozenset(charset.characters)
        self._scripts = sorted(charset.scripts)
        scripts = (None, *self._scripts)
        letters = [each for each in self.characters if script_of(each) in scripts]
        plain = "".join(filter(self._is_plain, letters)) or self.characters
        self._plain = _by_script(plain, self._scripts)
        self._blocks = _blocks(self.characters)
        self._maximum_length = maximum_length
        shares_of_lengths = [
            _SHORTENING**length + _LEAST_LENGTH_SHARE
            for length in range(1, maximum_length + 1)
        ]
        self._lengths = list(accumulate(shares_of_lengths))

    def _is_plain(self, character: str) -> bool:
        """Whether it is a digit, a letter of English or one of another script; Ω is a sign."""
        script = script_of(character)
        is_sign = script is not None and script not in self._scripts
        is_of_other_script = isinstance(_block(character), str) and not is_sign
        return character.isalnum() and (character.isascii() or is_of_other_script)

    def sample(self, rng: random.Random, count: int) -> list[str]:
        """Random strings, half of them from all characters, half from letters and digits.

        Most are in one case, as serial numbers and names are.
        """
        possible = range(1, self._maximum_length + 1)
        lengths = rng.choices(possible, cum_weights=self._lengths, k=count)
        strings = []
        for place, length in enumerate(lengths):
            draw = self.any_characters if place % 2 else self._any_plain
            strings.append(draw(rng, length))
        cases = rng.choices(list(_CASES), list(_CASES.values()), k=count)
        return [
            self._in_case(string, case, rng)
            for string, case in zip(strings, cases, strict=True)
        ]

    def _in_case(self, string: str, case: str, rng: random.Random) -> str:
        """A string in a case; as it is if letters have no such case within the charset."""
        cased = set_case(string, case, rng)
        if self._allowed.issuperset(cased):
            return cased[: self._maximum_length]
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

    def single(self, rng: random.Random, count: int) -> list[str]:
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
    is_sign = not character.isalpha() or character in SIGNS_LIKE_LETTERS
    if is_sign or script == "LATIN":
        return ord(character) // _BLOCK
    return script
