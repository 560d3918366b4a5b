"""Scripts of letters, alphabets that are not Latin, and letters that look alike in several."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

LATIN = "Latin"
CYRILLIC = "Cyrillic"
GREEK = "Greek"
HANGUL = "Hangul"

_OTHER_LANGUAGES = {"ko": HANGUL}  # that are written in no alphabet of `ALPHABETS`
_RUSSIAN = "абвгдеёжзийклмнопрстуфхцчшщъыьэюя"

ALPHABETS: Mapping[str, str] = MappingProxyType(
    {
        "ru": _RUSSIAN,
        "uk": "абвгґдеєжзиіїйклмнопрстуфхцчшщьюя",
        "be": "абвгдеёжзійклмнопрстуўфхцчшыьэюя",
        "bg": "абвгдежзийклмнопрстуфхцчшщъьюяѝ",
        "sr": "абвгдђежзијклљмнњопрстћуфхцчџш",
        "mk": "абвгдѓежзѕијклљмнњопрстќуфхцчџшѐѝ",
        "kk": _RUSSIAN + "әғқңөұүһі",
        "ky": _RUSSIAN + "ңөү",
        "tg": "абвгғдеёжзиӣйкқлмнопрстуӯфхҳчҷшъэюя",
        "mn": _RUSSIAN + "өү",
        "el": "αβγδεζηθικλμνξοπρσςτυφχψωάέήίόύώϊϋΐΰ",
    }
)
"""Small letters of languages by code; Serbian is written in Latin letters as well."""

NOT_LATIN: tuple[str, ...] = (*ALPHABETS, *_OTHER_LANGUAGES)
"""Languages that are written in other scripts than Latin, by code."""

WRITTEN_IN_BOTH = ("sr",)
"""Languages of `ALPHABETS` that are written in Latin letters too."""

# One letter a column, as print shows it in each script; a dot where a script has none.
_LOOK_ALIKES = (
    (LATIN, "ABEHIJKMOPSTXYZNCacehijopsvxyËëÈèÏïó...."),
    (CYRILLIC, "АВЕНІЈКМОРЅТХҮ..Сасеһіјорѕ.хуЁёЀѐЇї.ГЛПФ"),
    (GREEK, "ΑΒΕΗΙ.ΚΜΟΡ.ΤΧΥΖΝ.......ο..ν......Ϊ.όΓΛΠΦ"),
)
# Letters that differ a little: of another script than the rest of a word, they belong to the rest.
_SIMILAR = (
    (LATIN, "Ykmtuaiwpxyn"),
    (CYRILLIC, "Укмти......."),
    (GREEK, "Υκ.τυαιωρχγη"),
)


@lru_cache(maxsize=1 << 12)  # characters
def script_of(character: str) -> str | None:
    """The script of a letter: Latin, Cyrillic, Greek or Hangul; None for all others and signs."""
    code = ord(character)
    if not character.isalpha() or character in "ªºµ":
        return None
    if code < 0x2B0 or 0x1E00 <= code < 0x1F00:
        return LATIN
    if 0x370 <= code < 0x400 or 0x1F00 <= code < 0x2000:
        return GREEK
    if 0xAC00 <= code < 0xD7A4 or 0x3131 <= code < 0x318F or 0x1100 <= code < 0x1200:
        return HANGUL
    return CYRILLIC if 0x400 <= code < 0x530 else None


def scripts_in(text: str) -> set[str]:
    """The scripts of the letters of a text."""
    return {script for script in map(script_of, text) if script}


def script_of_text(text: str) -> str | None:
    """The script of most of its letters; None without any."""
    counts = Counter(script for script in map(script_of, text) if script)
    return max(counts, key=counts.__getitem__, default=None)


def ends_of_script(text: str) -> int | None:
    """The place where a word of a text goes on in another script; None if none does.

    Hangul, which looks like no other script, stands beside all of them, as in ``API를``.

    >>> ends_of_script("Привет world"), ends_of_script("ПриветWorld")
    (None, 6)
    """
    if text.isascii():
        return None  # all of its letters are Latin
    before = None
    for place, character in enumerate(text):
        script = script_of(character)
        if script and before and script != before and HANGUL not in (script, before):
            return place
        before = script
    return None


def script_of_language(code: str) -> str:
    """The script in which a language is written first; Latin for those that have no alphabet here.

    >>> script_of_language("uk"), script_of_language("ko"), script_of_language("de")
    ('Cyrillic', 'Hangul', 'Latin')
    """
    if code in _OTHER_LANGUAGES:
        return _OTHER_LANGUAGES[code]
    return script_of(ALPHABETS[code][0]) or LATIN if code in ALPHABETS else LATIN


def language_codes(language: str | None) -> list[str]:
    """The codes of ``ru``, ``ru+en`` or ``ru*3+en``, in this order; none of other texts."""
    parts = (language or "").split("+")
    matches = [re.fullmatch(r"([a-z]{2,3})(?:\*\d+)?", part) for part in parts]
    return [match[1] for match in matches if match]


def _table(rows: tuple[tuple[str, str], ...], into: str) -> dict[str, str]:
    """A translation table from the letters of all scripts to those of one."""
    wanted = dict(rows)[into]
    table: dict[str, str] = {}
    for _, letters in rows:
        pairs = zip(letters, wanted, strict=True)
        table |= {letter: same for letter, same in pairs if "." not in (letter, same)}
    return table


SAME_SHAPES: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        script: MappingProxyType(_table(_LOOK_ALIKES, script))
        for script, _ in _LOOK_ALIKES
    }
)
"""By script: letters that print shows as a letter of it -> this letter."""

SIMILAR_SHAPES: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        script: MappingProxyType(
            _table(_SIMILAR, script) | _table(_LOOK_ALIKES, script)
        )
        for script, _ in _LOOK_ALIKES
    }
)
"""`SAME_SHAPES` and letters that are a little different."""

LIKE_DIGITS = frozenset("ОоЗзБбЧчВІΟοΘΒΙ")
"""Cyrillic and Greek letters that are much like digits, in segments above all."""
