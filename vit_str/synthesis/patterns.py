"""How numbers, prices, dates, codes and the like are written: `texts/patterns.yaml`."""

from collections.abc import Mapping, Sequence
from functools import cache

from vit_str.synthesis.text_files import contents, entries_of

_FILE = "patterns"
_SPACE = "␣"
_CAPITALS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_CODE = _CAPITALS + "0123456789" + "1111"
# Numbers of one digit, every fourth of up to two, every ninth of up to three
_NATURAL = (*range(1, 10), *range(1, 100, 4), *range(1, 1000, 9))


@cache
def patterns() -> Mapping[str, Sequence[str]]:
    """Patterns by ingredient.

    Besides the names of `fields` there are words: ``{word}`` as listed, ``{Word}``, ``{WORD}``,
    and ``{cased}`` in any of these cases.
    """
    listed = contents(_FILE)["words"]
    return {name: entries_of(text, _SPACE) for name, text in listed.items()}


@cache
def fields() -> Mapping[str, Sequence[str]]:
    """Kinds of fields of patterns, besides words."""
    listed = {name: text.split() for name, text in contents(_FILE)["fields"].items()}
    months = [month.upper() for month in listed["Month"]]
    return {**_numbers(), **_letters(), **listed, "MONTH": months}


def _numbers() -> Mapping[str, Sequence[str]]:
    return {
        "digit": "0123456789",
        "two": [f"{number:02}" for number in range(100)],
        "three": [f"{number:03}" for number in range(1000)],
        "natural": [str(number) for number in _NATURAL],
        "year": [str(year) for year in range(1850, 2050)],
        "recent": [str(year) for year in range(2000, 2040)],
        "month": [*_padded(range(1, 13)), *map(str, range(1, 10))],
        "mm": _padded(range(1, 13)),
        "day": [*_padded(range(1, 32)), *map(str, range(1, 10))],
        "hour": [*_padded(range(24)), *map(str, range(10))],
        "minute": [*_padded(range(60)), *["00", "15", "30", "45"] * 5],
        "octet": [str(number) for number in range(256)],
        "hex": [f"{number:02x}" for number in range(256)],
        "HEX": [f"{number:02X}" for number in range(256)],
    }


def _letters() -> Mapping[str, Sequence[str]]:
    return {
        "A": _CAPITALS,
        "a": _CAPITALS.lower(),
        "ALNUM": [a + b for a in _CODE for b in _CODE],
        "alnum": [a + b for a in _CODE.lower() for b in _CODE.lower()],
    }


def _padded(numbers: range) -> list[str]:
    return [f"{number:02}" for number in numbers]
