"""Evidence in a text of its script: whether another reader is asked, and which is believed.

The limits are those of `vit_str.scripts.thresholds`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from vit_str.characters.alphabets import (
    HANGUL,
    LATIN,
    LIKE_DIGITS,
    SAME_SHAPES,
    script_of,
)
from vit_str.decoding.prior import WordPrior
from vit_str.decoding.readings import Reading, per_character
from vit_str.scripts.thresholds import (
    CERTAIN,
    CHANCE_WORD,
    DOUBTFUL,
    HOPELESS,
    LEGIBLE,
    LIKELIER,
    LIKELY,
    LIKELY_TEXT,
    MOSTLY,
    POSSIBLE,
    SURE,
    SURE_LINE,
    UNKNOWN_PART,
)

if TYPE_CHECKING:
    from vit_str.characters.charset import Charset

_LEAST = 1e-4  # probability of a script that is told, as no detector is surer
_DIGIT_AND_LETTER = 2  # characters of a text that may be one, such as a size
_ROUNDS = 10  # in which lines vouch for each other


def is_doubtful(reading: Reading) -> bool:
    """Whether a reading may be of another script than its reader knows."""
    return _sureness([reading]) < DOUBTFUL


def may_be_of_other_script(
    reading: Reading, words: WordPrior | None, probability: float | None
) -> bool:
    """Whether a reader of other scripts is to look at an image.

    Letters of another script are read as others that look like them: surely or not, but mostly as
    no word. Where a detector has seen the image, it has to find another script possible too; where
    it finds one likely, a known word that is not certain is looked at as well. Without lists of
    words, doubts tell.

    Args:
        reading: of the first reader.
        words: of its languages; None if it has no lists of them.
        probability: that the image is of the scripts of the other reader; None if nothing tells.
    """
    if words is None:
        return is_doubtful(reading)
    sureness = _sureness([reading])
    if sureness <= HOPELESS or not any(map(str.isalpha, reading.text)):
        return False
    unknown = _share_of_unknown(reading.text.split(), words)
    if probability is None:
        return unknown > MOSTLY
    if probability < POSSIBLE:
        return False
    if probability >= LIKELY and sureness < CERTAIN:
        return True
    return unknown > 0


def may_be_line_of_other_script(reading: Reading, words: WordPrior | None) -> bool:
    """Whether readers of other scripts are to look at a line, which no detector sees.

    A part of it may be of another script. Syllables of Hangul are read as signs and digits, too, or
    as two letters that are a word by chance; so a line without a longer word has to be certain.

    Args:
        reading: of the first reader.
        words: of its languages; None if it has no lists of them.
    """
    if words is None or is_doubtful(reading):
        return is_doubtful(reading)
    texts = reading.text.split()
    if reading.confidence < LIKELY_TEXT and not _holds_long_word(texts, words):
        return True
    unknown = _share_of_unknown(texts, words)
    is_partly_unknown = unknown >= UNKNOWN_PART and _sureness([reading]) < SURE_LINE
    return is_partly_unknown or unknown > MOSTLY


def _holds_long_word(texts: Sequence[str], words: WordPrior) -> bool:
    """Whether a list has one of some texts that are no words by chance."""
    long = (text for text in texts if sum(map(str.isalpha, text)) > CHANCE_WORD)
    return any(map(words.holds, long))


def is_likelier(own: Reading, other: Reading, known: Charset) -> bool:
    """Whether another reader finds its text of a line far more probable than the first one its own.

    These are the probabilities of whole texts, of which that with letters of another script is the
    rarer one before an image is seen. It has to show letters that look like none of the first
    reader's, and these legibly.

    Args:
        own: what the first reader reads.
        other: what the other one reads.
        known: the characters of the first reader.
    """
    if not _telling([other], known) or not _tells_more([own], [other], known):
        return False
    if _is_number([own], [other]):
        return False
    if _sureness([other]) < LEGIBLE:
        return False
    return other.confidence >= LIKELIER * own.confidence


def sees_other_script(
    own: Sequence[Reading], other: Sequence[Reading], known: Charset
) -> bool:
    """Whether a reader of other scripts is sure, and sees letters that look like none of the first.

    Where these are no more than the letters with accents that the first reader sees, as in
    ``росесіта`` for ``počecima``, it has to be surer than the first reader.

    Args:
        own: the words, or the whole, as the first reader reads it.
        other: the same of the other reader.
        known: the characters of the first reader.
    """
    telling = _telling(other, known)
    if _is_number(own, other):
        return False
    if not telling or _sureness(other) < SURE or not _tells_more(own, other, known):
        return False
    is_more = _weight(telling) > len(_accented(own))
    return is_more or _sureness(other) > _sureness(own)


def log_odds_of_others(readings: Sequence[Reading]) -> tuple[float, ...]:
    """For each other reader, how images of words of one line speak for its scripts.

    Args:
        readings: of the first reader, whose detector has seen the images.

    Returns:
        Sums over the words of the logarithm of the probability of these scripts over that of the
        first reader's; nothing if no detector has seen one.
    """
    told = [reading for reading in readings if reading.of_others]
    if not told:
        return ()
    of_others = np.log([np.maximum(each.of_others, _LEAST) for each in told])
    own = [max(_LEAST, 1 - (each.other_script or 0.0)) for each in told]
    return tuple((of_others - np.log(own)[:, None]).sum(0).tolist())


def probably_of_other(log_odds: Sequence[float], others: int) -> list[int]:
    """The places of lines of a page that are probably of another script than it was read in.

    Lines vouch for each other: how likely another script is before a line is seen is how many of
    the lines of the page are of it, as far as they tell (expectation maximization), beside one of
    it for every `LIKELIER` of the first script that any page is taken to have.

    Args:
        log_odds: of each line of which a part is in doubt, what that speaks for the other script.
        others: how many lines of the first script leave no doubt.
    """
    evidence = np.array(log_odds)
    of_other = 0.0
    places: list[int] = []
    for _ in range(_ROUNDS):
        own = LIKELIER + others + len(evidence) - of_other
        posterior = evidence + math.log((1 + of_other) / own)
        of_other = float(np.exp(-np.logaddexp(0, -posterior)).sum())
        places = np.flatnonzero(posterior > 0).tolist()
    return places


def is_unread(reading: Reading, words: WordPrior | None) -> bool:
    """Whether a reading is no text, but letters of a script that no reader here knows.

    Args:
        reading: of the first reader, which no other one has replaced.
        words: of its languages; None without lists.
    """
    if not reading.may_be_unread:
        return False
    is_word = words is not None and words.holds(reading.text)
    has_letters = any(map(str.isalpha, reading.text))
    return has_letters and not is_word and _sureness([reading]) < SURE


def are_mostly_unknown(readings: Sequence[Reading], words: WordPrior | None) -> bool:
    """Whether the lists of languages hold less than half of the words that were read."""
    texts = [reading.text for reading in readings]
    return words is not None and _share_of_unknown(texts, words) > MOSTLY


def _share_of_unknown(texts: Sequence[str], words: WordPrior) -> float:
    """How many of some words no list holds, 0 to 1; those without letters do not count.

    Single letters, which are words by chance, count if there is nothing else.
    """
    written = [text for text in texts if any(map(str.isalpha, text))]
    longer = [text for text in written if sum(map(str.isalpha, text)) > 1]
    counted = longer or written
    known = sum(map(words.holds, counted))
    return 1 - known / len(counted) if counted else 0.0


def is_of_other_script(
    own: Reading,
    other: Reading,
    known: Charset,
    own_words: WordPrior | None,
    other_words: WordPrior | None,
) -> bool:
    """Whether what another reader sees at one look is to be believed.

    It has to be sure, and to see letters that the first reader does not know. Where they all look
    like letters of the first, which writes ``KAPBEPE`` for ``карьере``, words decide. A text that
    is no word, such as ``Взу`` for ``Bay``, needs a reader that is surer than the first.

    Args:
        own: what the first reader reads.
        other: what the other one reads.
        known: the characters of the first reader.
        own_words: of the languages of the first reader; None without lists.
        other_words: of the languages of the other reader; None without lists.
    """
    if _sureness([other]) < SURE or not has_own_letters([other], known):
        return False
    if _is_number([own], [other]):
        return False
    is_own_word = own_words is not None and own_words.holds(own.text)
    is_other_word = other_words is not None and other_words.holds(other.text)
    if sees_other_script([own], [other], known):
        return is_other_word or _sureness([other]) > _sureness([own])
    return is_other_word and not is_own_word


def is_surer(own: Sequence[Reading], other: Sequence[Reading], known: Charset) -> bool:
    """Whether a reader of other scripts is surer of a line, and reads letters that it alone knows.

    Args:
        own: the words, or the whole, as the first reader reads it.
        other: the same of the other reader.
        known: the characters of the first reader.
    """
    if not has_own_letters(other, known) or _sureness(other) <= _sureness(own):
        return False
    if _is_number(own, other):
        return False
    return _tells_more(own, other, known)


def has_own_letters(readings: Sequence[Reading], known: Charset) -> bool:
    """Whether there are letters in what was read that another reader does not know."""
    return bool(_own_letters(readings, known))


def surest(
    own: Sequence[Reading], others: Sequence[Sequence[Reading] | None]
) -> int | None:
    """The place of the surest of several other readings; None if none is to be believed.

    Args:
        own: the words, or the whole, as the first reader reads it.
        others: the same of other readers; None of those that are not believed.
    """
    believed = [place for place, other in enumerate(others) if other is not None]
    return max(
        believed, key=lambda place: _sureness(others[place] or own), default=None
    )


def _own_letters(readings: Sequence[Reading], known: Charset) -> list[str]:
    """Letters in what was read that another reader does not know.

    Not letters of Hangul alone and Chinese characters, which look like Latin letters and signs.
    """
    return [
        letter
        for letter in known.unknown(_text_of(readings))
        if script_of(letter) is not None and not "\u3131" <= letter <= "\u318e"
    ]


def _telling(readings: Sequence[Reading], known: Charset) -> list[str]:
    """Letters in what was read that look like none that another reader knows."""
    letters = _own_letters(readings, known)
    return [each for each in letters if each not in SAME_SHAPES[LATIN]]


def _weight(letters: Sequence[str]) -> int:
    """How many letters these are as Latin ones: a syllable of Hangul is read as about two."""
    return len(letters) + sum(script_of(letter) == HANGUL for letter in letters)


def _tells_more(
    own: Sequence[Reading], other: Sequence[Reading], known: Charset
) -> bool:
    """Whether at least as many letters tell of the other scripts as of the first reader's.

    All readers know ASCII: letters with accents tell of the first, such as those of Vietnamese,
    which the other one leaves out, and is sure.
    """
    return _weight(_own_letters(other, known)) >= len(_accented(own))


def _is_number(own: Sequence[Reading], other: Sequence[Reading]) -> bool:
    """Whether another reader takes digits for letters: ``64`` for ``БЧ``, ``3A`` for ``ЗА``."""
    number = _text_of(own)
    letters = "".join(filter(str.isalpha, _text_of(other)))
    if number.isdecimal():
        return LIKE_DIGITS.issuperset(letters)
    is_short = len(number) == _DIGIT_AND_LETTER and any(map(str.isdecimal, number))
    return is_short and all(
        letter in LIKE_DIGITS or letter in SAME_SHAPES[LATIN] for letter in letters
    )


def _accented(readings: Sequence[Reading]) -> list[str]:
    """The letters that ASCII lacks, of which Latin alphabets have some each."""
    letters = filter(str.isalpha, _text_of(readings))
    return [letter for letter in letters if not letter.isascii()]


def _text_of(readings: Sequence[Reading]) -> str:
    return "".join(reading.text for reading in readings)


def _sureness(readings: Sequence[Reading]) -> float:
    """The geometric mean of the confidences of characters; that of nothing, if there are none."""
    if len(readings) == 1 and not readings[0].text:
        return readings[0].confidence
    return per_character(readings)
