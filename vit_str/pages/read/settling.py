"""Marks and capitals of a word that two readers read otherwise: the page and the line settle them.

A crop of one word does not show how high its letters are beside others, so that ``so`` and ``SO``
look alike, nor whether a document has typographic marks or those of typewriters.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from vit_str.decoding.readings import Character, Reading
from vit_str.pages.read.quotes import one_character

_ELLIPSIS = "…"
_DOTS = "..."
_BULLETS = frozenset("▪■•")  # which no word has, and a dash in one may look like
_STRAIGHT = {"’": "'", "‘": "'", "“": '"', "”": '"'}
_APOSTROPHE = re.compile(r"(?<=[^\W\d_])['’](?=[^\W\d_])")
# Of the apostrophes of a page, from which on the others were misread
_NEARLY_ALL = 0.75
_FEWEST = 3
_FEWEST_TOLD = 2  # marks of one shape that tell how a page writes them
_UNITS = re.compile(r"\.\.\.|.", re.DOTALL)
# Letters of which the capital is the small letter, only larger
_SAME_IN_CAPITALS = frozenset("ckosuvwxzвгджзийклмнопстхцчшщъыьэюяіїєґκοπρτφχψω")


@dataclass(frozen=True, slots=True)
class MarkStyle:
    """How a document writes marks that have two shapes.

    Attributes:
        typographic: with curly quotation marks and apostrophes, or straight ones; None if nothing
            tells.
        ellipsis: with a sign of its own for three dots, or with dots; None if nothing tells.
        apostrophe: the sign within nearly all words that have one; None if they are few or mixed.
    """

    typographic: bool | None = None
    ellipsis: bool | None = None
    apostrophe: str | None = None

    @classmethod
    def of(cls, readings: Iterable[Reading]) -> "MarkStyle":
        """The style of most marks of a page, as its lines were read."""
        text = " ".join(reading.text for reading in readings)
        curly = sum(map(text.count, _STRAIGHT))
        straight = sum(map(text.count, set(_STRAIGHT.values())))
        return cls(
            typographic=_most(curly, straight),
            ellipsis=_most(text.count(_ELLIPSIS), text.count(_DOTS)),
            apostrophe=_nearly_all(_APOSTROPHE.findall(text)),
        )

    def wants(self, mark: str) -> bool | None:
        """Whether a mark is of this style; None if nothing tells.

        Nobody sees an ellipsis by chance: where nothing tells, it is one.
        """
        if mark in (_ELLIPSIS, _DOTS):
            has_sign = self.ellipsis is not False
            return has_sign == (mark == _ELLIPSIS)
        if self.typographic is None:
            return None
        return self.typographic == (mark in _STRAIGHT)


def settled(chosen: Reading, line: Reading, word: Reading, style: MarkStyle) -> Reading:
    """The surer of two readings of a word, with the marks of its page and the case of its line.

    Args:
        chosen: one of the two.
        line: the word as a part of its line.
        word: the word by itself.
        style: of marks on the page; where it does not tell, the line does.
    """
    own = _UNITS.findall(chosen.text)
    others = _UNITS.findall(word.text if chosen is line else line.text)
    own_shapes = list(map(_shape, own))
    other_shapes = list(map(_shape, others))
    is_same_word = own_shapes == other_shapes

    def better(mine: str, other: str) -> str:
        if mine.isalpha() and not is_same_word:
            return mine
        is_wanted = None if mine.isalpha() else style.wants(mine)
        if mine in _BULLETS or other in _BULLETS:
            is_wanted = (mine in _BULLETS) == (len(own) == 1)
        if is_wanted is None:
            is_wanted = chosen is line
        return mine if is_wanted else other

    wanted = list(own)
    matcher = SequenceMatcher(None, own_shapes, other_shapes, autojunk=False)
    for place, other_place, length in matcher.get_matching_blocks():
        for offset in range(length):
            mine = own[place + offset]
            other = others[other_place + offset]
            if mine != other:
                wanted[place + offset] = better(mine, other)
    return _rewritten(chosen, own, wanted)


def with_apostrophes(reading: Reading, style: MarkStyle) -> Reading:
    """A reading whose apostrophes between letters are those of its page."""
    if style.apostrophe is None:
        return reading
    own = list(reading.text)
    wanted = list(_APOSTROPHE.sub(style.apostrophe, reading.text))
    return _rewritten(reading, own, wanted)


def _nearly_all(signs: Sequence[str]) -> str | None:
    """The sign that nearly all are, if there are enough."""
    for sign, times in Counter(signs).items():
        if times >= max(_FEWEST, _NEARLY_ALL * len(signs)):
            return sign
    return None


def _most(first: int, second: int) -> bool | None:
    """Whether there are more of the first; None if as many, or of a single mark."""
    if first == second or max(first, second) < _FEWEST_TOLD:
        return None
    return first > second


def _shape(unit: str) -> str:
    """A key that units which look alike share."""
    if unit == _ELLIPSIS:
        return _DOTS
    if unit in _BULLETS:
        return "-"
    small = unit.lower()
    base = unicodedata.normalize("NFD", small)[0]
    if small in _SAME_IN_CAPITALS or base in _SAME_IN_CAPITALS:
        return small
    return _STRAIGHT.get(unit, unit)


def _rewritten(reading: Reading, own: Sequence[str], wanted: Sequence[str]) -> Reading:
    """A reading with other units in the places of its own."""
    if list(own) == list(wanted):
        return reading
    characters: list[Character] = []
    start = 0
    for old, new in zip(own, wanted, strict=True):
        before = reading.characters[start : start + len(old)]
        start += len(old)
        characters += _characters(before, new) if old != new else before
    is_known = len(reading.characters) == len(reading.text)
    return replace(
        reading,
        text="".join(wanted),
        characters=tuple(characters) if is_known else reading.characters,
    )


def _characters(before: Sequence[Character], text: str) -> list[Character]:
    """Characters of a text where there were others; several that were one share its place."""
    if not before:
        return []
    first = one_character(before, text[0])
    rest = [replace(first, character=each, confidence=1.0) for each in text[1:]]
    return [first, *rest]
