"""Hangul: letters of a syllable, particles behind nouns, and how verbs and adjectives inflect."""

from collections.abc import Mapping
from types import MappingProxyType

_FIRST = 0xAC00  # code of the first syllable, 가
_VOWELS = "ㅏㅐㅑㅒㅓㅔㅕㅖㅗㅘㅙㅚㅛㅜㅝㅞㅟㅠㅡㅢㅣ"
_FINALS = " ㄱㄲㄳㄴㄵㄶㄷㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂㅄㅅㅆㅇㅈㅊㅋㅌㅍㅎ"  # the first: none
_OPENED: Mapping[str, str] = MappingProxyType(
    {
        "ㅏ": "ㅏ",
        "ㅐ": "ㅐ",
        "ㅓ": "ㅓ",
        "ㅔ": "ㅔ",
        "ㅕ": "ㅕ",
        "ㅗ": "ㅘ",
        "ㅚ": "ㅙ",
        "ㅜ": "ㅝ",
        "ㅣ": "ㅕ",
    }
)
"""The vowel at the end of a stem -> that with 아 or 어."""
_OPENED_BEFORE_H = {"ㅏ": "ㅐ", "ㅑ": "ㅒ", "ㅓ": "ㅐ"}  # 파랗, 하얗, 그렇
_BRIGHT = "ㅏㅑㅗ"  # vowels with 아, the others have 어
_WITH_WA = ("돕", "곱")  # stems in ㅂ with 와, the others have 워
_DROPS_L = "ㄴ나네는느니세셨시십실"  # beginnings of endings before which ㄹ goes


def is_syllable(character: str) -> bool:
    """Whether it is a whole syllable of Hangul."""
    return "가" <= character <= "힣"


def _parts(syllable: str) -> tuple[int, str, str]:
    """Number of the first letter, vowel, and last letter, a space if there is none."""
    number = ord(syllable) - _FIRST
    first, rest = divmod(number, len(_VOWELS) * len(_FINALS))
    vowel, final = divmod(rest, len(_FINALS))
    return first, _VOWELS[vowel], _FINALS[final]


def _syllable(first: int, vowel: str, final: str = " ") -> str:
    middle = first * len(_VOWELS) + _VOWELS.index(vowel)
    return chr(_FIRST + middle * len(_FINALS) + _FINALS.index(final))


def final_of(syllable: str) -> str:
    """The consonant at the end of a syllable; a space if there is none."""
    return _parts(syllable)[2]


def with_final(text: str, final: str) -> str:
    """A text whose last syllable ends with this consonant, or with none if it is a space."""
    first, vowel, _ = _parts(text[-1])
    return text[:-1] + _syllable(first, vowel, final)


def with_particle(noun: str, particle: str) -> str:
    """A noun and the form of a particle that its last sound asks for.

    >>> with_particle("책", "을/를"), with_particle("서울", "으로/로")
    ('책을', '서울로')
    """
    after_consonant, after_vowel = particle.split("/")
    final = final_of(noun[-1])
    has_consonant = final != " "
    if after_consonant.startswith("으로") and final == "ㄹ":
        has_consonant = False
    return noun + (after_consonant if has_consonant else after_vowel)


def open_form(stem: str, change: str = "") -> str:
    """A stem with 아 or 어.

    Args:
        stem: as in a dictionary, without 다.
        change: what is irregular: ㅂ, ㄷ, ㅅ, ㅎ, 러 or 우; 으 for a stem in 르 that is regular.

    >>> open_form("가"), open_form("돕", "ㅂ"), open_form("모르"), open_form("예쁘")
    ('가', '도와', '몰라', '예뻐')
    """
    first, vowel, final = _parts(stem[-1])
    if stem[-1] == "하":
        return stem[:-1] + "해"
    if change == "러":
        return stem + "러"
    if change == "우":
        return stem[:-1] + _syllable(first, "ㅓ")
    if change == "ㅂ":
        return with_final(stem, " ") + ("와" if stem in _WITH_WA else "워")
    if change == "ㅎ":
        return stem[:-1] + _syllable(first, _OPENED_BEFORE_H[vowel])
    if change in ("ㄷ", "ㅅ"):
        changed = with_final(stem, "ㄹ" if change == "ㄷ" else " ")
        return changed + _a(vowel)
    if final != " ":
        return stem + _a(vowel)
    if vowel == "ㅡ":
        return _open_without_vowel(stem, change)
    if vowel in _OPENED:
        return stem[:-1] + _syllable(first, _OPENED[vowel])
    return stem + "어"


def _open_without_vowel(stem: str, change: str) -> str:
    """The same for a stem in ㅡ, which goes; one in 르 has ㄹ twice."""
    before = stem[:-1]
    is_bright = bool(before) and _parts(before[-1])[1] in _BRIGHT
    vowel = "ㅏ" if is_bright else "ㅓ"
    opened = _syllable(_parts(stem[-1])[0], vowel)
    if stem[-1] == "르" and change != "으":
        before = with_final(before, "ㄹ")
    return before + opened


def _a(vowel: str) -> str:
    return "아" if vowel in _BRIGHT else "어"


def inflected(stem: str, change: str, kind: str, ending: str) -> str:
    """A verb or an adjective with an ending.

    Args:
        stem: see `open_form`.
        change: see `open_form`.
        kind: what the ending stands on: ``stem``, ``open`` (written with 어) or ``eu`` (written
            without 으).
        ending: its first letter may be a consonant, which joins the last syllable.

    >>> inflected("만들", "", "stem", "는"), inflected("듣", "ㄷ", "eu", "면")
    ('만드는', '들으면')
    >>> inflected("쓰", "", "open", "었다"), inflected("높", "", "eu", "ㄴ")
    ('썼다', '높은')
    """
    if kind == "open":
        opened = open_form(stem, change)
        if ending.startswith("었"):
            return with_final(opened, "ㅆ") + ending[1:]
        return opened + ending[1:]
    final = final_of(stem[-1])
    if kind == "stem":
        if ending == "습니다" and final in " ㄹ":
            return with_final(stem, "ㅂ") + "니다"
        if ending == "는다" and final in " ㄹ":
            return with_final(stem, "ㄴ") + "다"
        base = stem
    else:
        base = _eu_form(stem, change)
    return _joined(base, ending)


def _eu_form(stem: str, change: str) -> str:
    """A stem as endings with 으 need it."""
    if change == "ㅂ":
        return with_final(stem, " ") + "우"
    if change == "ㅎ":
        return with_final(stem, " ")
    if change == "ㅅ":
        return with_final(stem, " ") + "으"
    if change == "ㄷ":
        return with_final(stem, "ㄹ") + "으"
    return stem if final_of(stem[-1]) in " ㄹ" else stem + "으"


def _joined(base: str, ending: str) -> str:
    has_l = final_of(base[-1]) == "ㄹ"
    first = ending[0]
    if has_l and first in _DROPS_L:
        base = with_final(base, " ")
    if is_syllable(first):
        return base + ending
    if has_l and first == "ㅁ":
        return with_final(base, "ㄻ") + ending[1:]
    return with_final(base, first) + ending[1:]
