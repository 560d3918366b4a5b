"""Quotation marks that the readers have no signs for: low ones, as German and Polish have them."""

import re
from collections.abc import Sequence
from dataclasses import replace
from math import prod

from vit_str.decoding.boxes import Box
from vit_str.decoding.readings import Character
from vit_str.pages.page import Word

# Readers without the sign take it for one comma or two; no word begins with a comma. Before
# digits it may well be one: 1 ,000.
_OPENING = re.compile(r"\(?(,,?)(?=[^\W\d_])")
_CLOSING = re.compile(r"[^\s\"']([\"'])[^\w\"']*$")
_MOST_WORDS = 60  # of a quotation
_DOUBLE = "„“"
_SINGLE = "‚‘"


def with_low_quotes(words: Sequence[Word]) -> list[Word]:
    """The words of a paragraph with ``,Guten Tag"`` as ``„Guten Tag“``.

    A single comma before a letter is a quotation mark if another mark closes the quotation.
    """
    found = list(words)
    for index, word in enumerate(words):
        opening = _OPENING.match(word.text)
        if not opening:
            continue
        end = _end(words, index)
        marks = _DOUBLE
        if end is not None:
            closing = _CLOSING.search(words[end].text)
            assert closing is not None
            marks = _SINGLE if closing[1] == "'" else _DOUBLE
            found[end] = _with_mark(found[end], closing.span(1), marks[1])
        elif opening[1] == ",":
            continue
        found[index] = _with_mark(found[index], opening.span(1), marks[0])
    return found


def _end(words: Sequence[Word], start: int) -> int | None:
    """Which word closes a quotation, if one does before the next begins."""
    for index in range(start, min(len(words), start + _MOST_WORDS)):
        text = words[index].text
        is_next = index > start
        if is_next and (text.startswith('"') or _OPENING.match(text)):
            return None
        if _CLOSING.search(text):
            return index
    return None


def _with_mark(word: Word, span: tuple[int, int], mark: str) -> Word:
    """A word with a mark in the place of some of its characters."""
    start, end = span
    characters = word.characters
    if len(characters) == len(word.text):
        together = one_character(characters[start:end], mark)
        characters = (*characters[:start], together, *characters[end:])
    text = word.text[:start] + mark + word.text[end:]
    return replace(word, text=text, characters=characters)


def one_character(characters: Sequence[Character], mark: str) -> Character:
    """One character where there were some: as sure as all of them, in the place of all."""
    confidence = prod(character.confidence for character in characters)
    boxes = [character.box for character in characters if character.box]
    if not boxes:
        return Character(mark, confidence)
    left, top, right, bottom = zip(*boxes, strict=True)
    return Character(
        mark, confidence, Box(min(left), min(top), max(right), max(bottom))
    )
