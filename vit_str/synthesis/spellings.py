"""Words of languages without a list of frequent words, and spellings: `texts/spellings.yaml`.

A reader needs the letters of a language in likely neighborhoods; the words need not exist.
"""

import random
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from types import MappingProxyType

from vit_str.synthesis.text_files import contents

_FILE = "spellings"
_WORDS = 4000  # made of a language
# Syllables of a word, and how often there are so many
_LENGTHS = {1: 2, 2: 5, 3: 3, 4: 1}
_PINYIN_LENGTHS = (1, 2, 2, 2, 3)  # the same, all as likely
_TONELESS = 0.1  # share of the syllables of pinyin


@dataclass(frozen=True, slots=True)
class Syllables:
    """Onsets, vowels and codas of syllables; ``-`` stands for none.

    What is listed twice is drawn twice as often.
    """

    onsets: str
    vowels: str
    codas: str

    def words(self, seed: str) -> dict[str, float]:
        """Words, all as frequent; the same ones for a seed."""
        rng = random.Random(seed)
        onsets = self.onsets.split()
        vowels = self.vowels.split()
        codas = self.codas.split()
        words: dict[str, float] = {}
        while len(words) < _WORDS:
            (count,) = rng.choices(list(_LENGTHS), list(_LENGTHS.values()))
            word = ""
            for _ in range(count):
                word += rng.choice(onsets) + rng.choice(vowels) + rng.choice(codas)
            words[word.replace("-", "")] = 1.0
        return words


@cache
def syllables() -> Mapping[str, Syllables]:
    """Syllables of languages by code, and of their neighbors in spelling."""
    listed = contents(_FILE)["syllables"]
    return {code: Syllables(**parts) for code, parts in listed.items()}


PINYIN = "pinyin"
"""Chinese in Latin letters, with tones."""

_TONES = "\u0304\u0301\u030c\u0300"

_LONG_S = "-Latf"
"""Behind a code: as print of before 1941 has it, with the long s and older spellings."""
# Where parts of words end: no German root has this inside it.
_ROUND_BEFORE = {"de": "bdfghjklmnrvwz"}
_ROUND_BEFORE_ELSEWHERE = "bf"  # in English, French, Italian and Latin


def spelled(code: str) -> bool:
    """Whether there are words of a language here."""
    return code in syllables() or code == PINYIN


def spelled_words(code: str) -> dict[str, float]:
    """Words of a language of which there is no list."""
    return _pinyin() if code == PINYIN else syllables()[code].words(code)


def with_turkish_capitals(word: str) -> str:
    """A Turkish word in capitals, where i keeps its dot."""
    return word.replace("i", "İ").upper()


def with_cedillas(word: str) -> str:
    """A Romanian word as most computers wrote it before 2007."""
    return word.translate(str.maketrans("șț", "şţ"))


def with_final_sigma(word: str) -> str:
    """A Greek word with ς at its end, which lists of words have as σ."""
    return re.sub(r"σ\b", "ς", word)


def in_serbian_cyrillic(word: str) -> str:
    """A Serbian word as in Cyrillic; as it is if letters of other alphabets are in it.

    >>> in_serbian_cyrillic("ljubaznost"), in_serbian_cyrillic("džem"), in_serbian_cyrillic("www")
    ('љубазност', 'џем', 'www')
    """
    for latin, cyrillic in _SERBIAN_PAIRS.items():
        word = word.replace(latin, cyrillic)
    return word.translate(_SERBIAN) if _SERBIAN_WORD.fullmatch(word) else word


def in_capitals(text: str) -> str:
    """A text in capitals, as print has them: Greek without the accent."""
    joined = text.replace("ΐ", "ϊ").replace("ΰ", "ϋ")
    return joined.upper().translate(_WITHOUT_ACCENTS)


_SERBIAN_PAIRS = {"lj": "љ", "nj": "њ", "dž": "џ"}
_SERBIAN = str.maketrans("abcčćdđefghijklmnoprsštuvzž", "абцчћдђефгхијклмнопрсштувзж")
_SERBIAN_WORD = re.compile("[abcčćdđefghijklmnoprsštuvzžљњџ' -]+")
_WITHOUT_ACCENTS = str.maketrans("ΆΈΉΊΌΎΏ", "ΑΕΗΙΟΥΩ")

SERBIAN = "sr"
"""Serbian in Cyrillic, and some of it in Latin letters, as in Serbia; ``sh`` has these only."""

OTHER_SPELLINGS: Mapping[str, Callable[[str], str]] = MappingProxyType(
    {"tr": with_turkish_capitals, "az": with_turkish_capitals, "ro": with_cedillas}
)
"""How else words of a language are written."""


def with_sharp_s(word: str) -> str:
    """A German word with ß where it belongs.

    >>> with_sharp_s("strasse"), with_sharp_s("grosse"), with_sharp_s("masse")
    ('straße', 'große', 'masse')
    """
    return _sharp_stems().sub(lambda match: match[0].replace("ss", "ß"), word)


def without_long_s(code: str) -> tuple[str, bool]:
    """The code of a language, and whether its words are to have the long s, as in ``de-Latf``."""
    return code.removesuffix(_LONG_S), code.endswith(_LONG_S)


def with_long_s(word: str, code: str = "de") -> str:
    """A word as Fraktur and early print spell it: ſ within a part of it, s at its end.

    >>> with_long_s("hausmeister"), with_long_s("wissens"), with_long_s("schloss")
    ('hausmeiſter', 'wiſſens', 'ſchloſs')
    >>> with_long_s("baptism", "en")
    'baptiſm'
    """
    round_before = _ROUND_BEFORE.get(code, _ROUND_BEFORE_ELSEWHERE)
    return re.sub(rf"s(?=\w)(?![{round_before}])", "ſ", word)


def in_old_spelling(word: str, code: str) -> str:
    """A word as books of before about 1880 spell it; of German only.

    >>> [in_old_spelling(word, "de") for word in ("sein", "teil", "not", "kommission", "akten")]
    ['seyn', 'theil', 'noth', 'commission', 'acten']
    """
    if code == "de":
        for pattern, old in _old_german():
            word = pattern.sub(old, word)
    return word


@cache
def _sharp_stems() -> re.Pattern[str]:
    return re.compile("|".join(contents(_FILE)["sharp_stems"]))


@cache
def _old_german() -> Sequence[tuple[re.Pattern[str], str]]:
    """Patterns of letters, and how they were spelled until about 1880."""
    return [(re.compile(today), old) for today, old in contents(_FILE)["old_german"]]


def _pinyin() -> dict[str, float]:
    rng = random.Random(PINYIN)
    known = []
    for initials, finals in contents(_FILE)[PINYIN].items():
        for initial, final in product(initials.split(), finals.split()):
            known.append(initial.replace("-", "") + final)
    words: dict[str, float] = {}
    while len(words) < _WORDS:
        word = ""
        for _ in range(rng.choice(_PINYIN_LENGTHS)):
            word += _toned(rng.choice(known), rng)
        words[word] = 1.0
    return words


def _toned(syllable: str, rng: random.Random) -> str:
    """A syllable with the mark of one of four tones on the vowel that bears it, or of none."""
    if rng.random() < _TONELESS:
        return syllable
    place = _place_of_tone(syllable)
    vowel = unicodedata.normalize("NFC", syllable[place] + rng.choice(_TONES))
    return syllable[:place] + vowel + syllable[place + 1 :]


def _place_of_tone(syllable: str) -> int:
    """On a or e if there is one, on the o of ou, else on the last vowel."""
    for letters in ("a", "e", "ou"):
        if letters in syllable:
            return syllable.index(letters)
    return max(syllable.rfind(vowel) for vowel in "iouü")
