"""Words of lines that are sure enough to be text."""

import math
from collections.abc import Sequence
from dataclasses import replace

from vit_str.decoding.prior import WordPrior
from vit_str.decoding.readings import Reading, per_character
from vit_str.pages.read.lines import Line, is_print

MINIMUM_CONFIDENCE = 0.8
"""Geometric mean of the characters of a word: long words have more places to be wrong in."""
_SENTENCE = 3  # words of a line of print from which on they are judged together
# Words, and the confidence of their characters below which all of them may be no text
_FEWEST_UNREADABLE = 12
_UNREADABLE = 0.7
_SHORT_WORD = 2  # characters of a word, up to which it may be in a list by chance
_DASHES = ("-", "–", "—")


def is_unreadable(lines: Sequence[Line], minimum: float) -> bool:
    """Whether many words are read, nearly all in doubt, and the others are in no list.

    A script that nobody here reads looks so; print that is hard to read has known words, and
    signs in photographs have numbers.

    Args:
        lines: of a page.
        minimum: confidence of a word that is sure, 0 to 1.
    """
    readings = [each for line in lines for each in line.readings if each.text]
    least = min(_UNREADABLE, minimum)
    if len(readings) < _FEWEST_UNREADABLE or per_character(readings) >= least:
        return False
    known = 0
    sure = 0
    for line in lines:
        words = line.readers.lines.known_words
        for reading in line.readings:
            is_sure = per_character([reading]) >= minimum
            if is_sure and len(reading.text) > _SHORT_WORD:
                sure += 1
                known += words is None or _is_known(reading.text, words)
    return known <= sure / 2


def _is_known(text: str, words: WordPrior) -> bool:
    """Whether a text is a word of a list, or holds no letters but digits, which no list has."""
    is_number = any(map(str.isdigit, text)) and not any(map(str.isalpha, text))
    return is_number or words.holds(text)


def with_sure_words(lines: Sequence[Line], minimum: float) -> list[Line]:
    """Lines with the words that are sure enough.

    A word is worth the confidence of its characters; a code or number the mean of that and the
    one of the surest word of its line: beside sure words it is text, if a doubtful one. Where
    there are many words, three and more of a line are judged together: in print, short words
    and marks are as right as their neighbors; photographs hold much that is no text, and
    strokes are no dashes there. Between two sure words a mark is text.

    Args:
        lines: of a page.
        minimum: confidence of a word that is sure, 0 to 1.
    """
    are_of_print = is_print(lines)
    sure = []
    for line in lines:
        least = minimum
        together = are_of_print and len(line.words) >= _SENTENCE
        if together and line.confidence >= least:
            least = 0.0
        is_stroke = not are_of_print and line.whole.text.strip() in _DASHES
        worth = [0.0 if is_stroke else each for each in _worth(line.readings)]
        is_sure = [
            bool(reading.text) and each >= least
            for reading, each in zip(line.readings, worth, strict=True)
        ]
        words = []
        for place, (piece, reading) in enumerate(line.words):
            if is_sure[place] or _is_mark_between(reading, is_sure, place):
                words.append((piece, reading))
        sure.append(replace(line, words=tuple(words)))
    return sure


def _worth(readings: Sequence[Reading]) -> list[float]:
    """Worth of each word of a line, 0 to 1: its confidence, and for codes that of its line.

    What holds digits is text beside a sure word, and no list of words makes it surer.
    """
    own = [per_character([reading]) for reading in readings]
    surest = max(own, default=0.0)
    worth = []
    for each, reading in zip(own, readings, strict=True):
        is_code = any(map(str.isdigit, reading.text))
        worth.append(math.sqrt(each * surest) if is_code else each)
    return worth


def _is_mark_between(reading: Reading, is_sure: Sequence[bool], place: int) -> bool:
    """Whether a reading has no letters or digits, and stands between two sure words."""
    if not reading.text or any(map(str.isalnum, reading.text)):
        return False
    return 0 < place < len(is_sure) - 1 and is_sure[place - 1] and is_sure[place + 1]
