"""Articles without their vowel, as in ``l'été``, whose letter readers take for another one."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from vit_str.decoding.boxes import Box
from vit_str.decoding.readings import Character
from vit_str.pages.page import Word

# In many faces a small l looks like a capital I. Before an apostrophe and a vowel it is none: in
# English come m, d, s, ve and ll, which may be read as Il.
_CAPITAL = re.compile(
    r"\W*([Iľ])(?=['’][aàâæeéèêëiîïoôœuùûyhAÀÂEÉÈÊOÔŒUÛH])(?!.[iI]l\b)"
)
# One sign for both. In Slovak, which has no apostrophes, ľ is never before some vowels.
_CARON = re.compile(r"\W*(ľ)(?=[eéèêëiîïœàâ])")
_CARON_BESIDE_OTHERS = re.compile(r"\W*(ľ)(?=[aàâæeéèêëiîïoôœuùûyh])")
_ELISION = re.compile(r"\W*(?:[cdjlmnst]|qu)(['’])\w", re.IGNORECASE)
_LETTER = 0.6  # of the width of both is that of the letter


def with_elisions(words: Sequence[Word]) -> list[Word]:
    """Words of a paragraph with ``I'été`` and ``ľété`` as ``l'été``.

    Where other words have lost a vowel too, so has ``ľarbre``; ``ľad`` may be Slovak elsewhere. The
    apostrophe is that of most of them.
    """
    elisions = [_ELISION.match(word.text) for word in words]
    others = Counter(elision[1] for elision in elisions if elision)
    apostrophe = max(others, key=others.__getitem__, default="'")
    articles = [(_CAPITAL, "l")]
    articles.append((_CARON_BESIDE_OTHERS if others else _CARON, f"l{apostrophe}"))
    return [_with_elision(word, articles) for word in words]


def _with_elision(word: Word, articles: Sequence[tuple[re.Pattern[str], str]]) -> Word:
    for pattern, article in articles:
        if found := pattern.match(word.text):
            return _with_article(word, found.start(1), article)
    return word


def _with_article(word: Word, place: int, article: str) -> Word:
    """A word with the letter of an article, or letter and apostrophe, in place of a character."""
    text = word.text[:place] + article + word.text[place + 1 :]
    characters = word.characters
    if len(characters) == len(word.text):
        parts = _parts(characters[place], article)
        characters = *characters[:place], *parts, *characters[place + 1 :]
    return replace(word, text=text, characters=characters)


def _parts(character: Character, text: str) -> tuple[Character, ...]:
    """A character as another one, or as two beside each other, which share its confidence."""
    if len(text) == 1 or character.box is None:
        return tuple(replace(character, character=each) for each in text)
    left, top, right, bottom = character.box
    middle = left + _LETTER * (right - left)
    boxes = Box(left, top, middle, bottom), Box(middle, top, right, bottom)
    return tuple(
        replace(character, character=each, box=box)
        for each, box in zip(text, boxes, strict=True)
    )
