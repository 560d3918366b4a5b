"""One word has one script: letters that look alike follow the others of the word, then the line.

Print shows ``А``, ``A`` and ``Α`` alike, so a reader of several scripts tells them by what stands
around them; these functions do the same for what it got wrong.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby
from typing import TYPE_CHECKING

from vit_str.characters.alphabets import (
    ALPHABETS,
    CYRILLIC,
    GREEK,
    LATIN,
    SAME_SHAPES,
    SIMILAR_SHAPES,
    language_codes,
    script_of,
    script_of_language,
    scripts_in,
)

if TYPE_CHECKING:
    from vit_str.characters.charset import Charset
    from vit_str.decoding.readings import Reading

_LETTERS = re.compile(r"[^\W\d_]+")
_NUMERAL = re.compile(r"(?=..)X{0,3}(IX|I{0,3})")  # those with a V are Latin anyway
# A ten by itself is no initial, which has a period, and no word of any language.
_LATIN_SIGNS = re.compile(
    r"[^\w.]*X([^\w.]+[XI]+)?[^\w.]*|\W*C(\+\+|#)\W*|[\W\d]*°C\W*"
)
_UNIT = re.compile(r"[kкκMМΜmмGnp]?Ω|[μµ][A-ZΑ-ΩА-Я][^\W\d_]?")  # kΩ, μA, μPa
_LETTER_THREE = "З"  # which is Cyrillic, and looks like the digit
_ORDINAL = re.compile(_LETTER_THREE + r"-[^\W\d_]{1,3}")  # 3-й, 3-го
# Small letters that are words there and hardly anywhere else, as Latin ones
_WORDS_OF_ONE_LETTER = {CYRILLIC: "coy", GREEK: "o"}
_ALIKE = frozenset().union(*SAME_SHAPES.values())
_SIMILAR = frozenset().union(*SIMILAR_SHAPES.values())


def one_script(line: str, language: str | None = None, page: str | None = None) -> str:
    """A line of text, of which every word has the letters of one script.

    Letters that look alike follow the others of their word. A word of nothing else follows the
    other parts of a word with hyphens; a single small letter is a word of the script that has it;
    others follow the words before and after it if these are of one script, then the line, then the
    page, then the language, and else stays of the script that most of its letters have. It becomes
    Cyrillic or Greek only if the languages that have the other letters of the line have these too:
    Russian has no twin of the I in ``IT``.
    Roman numerals and units such as ``kΩ`` are Latin. A Cyrillic ``З`` is the digit where no letter
    can stand: among digits, in ordinals, or alone behind a word in small letters. Capitals among
    digits, as in ``X5``, stay of the script that most of them have in a line that is not Latin.

    >>> one_script("Mocквa"), one_script("COP на TOM"), one_script("Кока-COLA")
    ('Москва', 'СОР на ТОМ', 'Кока-COLA')

    Args:
        line: what was read; characters are replaced, none is added or left out.
        language: codes as in ``ru`` or ``ru+en``, the first of which decides what nothing else
            does; None, ``none`` and names of files say nothing.
        page: the script of its page, see `script_of_lines`; None if that is not known.
    """
    parts = [_Part.of(match) for match in _LETTERS.finditer(line)]
    codes = language_codes(language)
    of_line = _winner(_votes(parts))
    of_language = script_of_language(codes[0]) if codes else None
    languages = _languages(parts, codes)
    words = line.split(" ")
    for place, group in groupby(parts, lambda part: line.count(" ", 0, part.start)):
        of_word = list(group)
        wanted = (
            _of_word(of_word, words[place], of_line)
            or _of_small_letter(of_word, parts, line)
            or _of_neighbors(of_word, parts)
            or of_line
            or page
            or of_language
        )
        for part in of_word:
            if part.script is None and scripts_in(part.text):
                part.text = _decided(part.text, wanted, languages)
    characters = list(line)
    for part in parts:
        characters[part.start : part.start + len(part.text)] = part.text
    return _with_threes("".join(characters))


def has_look_alikes(charset: Charset) -> bool:
    """Whether a charset has several scripts whose letters look alike."""
    return len(charset.scripts & SAME_SHAPES.keys()) > 1


def script_of_lines(lines: Iterable[str]) -> str | None:
    """The script of most letters of a page that only one has; None if there are none.

    >>> script_of_lines(["COP", "на доме", "TOM"])
    'Cyrillic'
    """
    votes: Counter[str | None] = Counter()
    for line in lines:
        votes += _votes([_Part.of(match) for match in _LETTERS.finditer(line)])
    return _winner(votes)


def with_one_script(
    readings: Sequence[Reading],
    charset: Charset,
    language: str | None = None,
    page: str | None = None,
) -> list[Reading]:
    """Readings of the words of one line, or of a whole line, as `one_script` writes them.

    Args:
        readings: in the order of the line.
        charset: of what has read them, the only characters that they get.
        language: see `one_script`.
        page: see `one_script`.
    """
    line = " ".join(reading.text for reading in readings)
    if not has_look_alikes(charset) or not scripts_in(line):
        return list(readings)
    wanted = one_script(line, language, page)
    start = 0
    changed = []
    for reading in readings:
        text = wanted[start : start + len(reading.text)]
        start += len(reading.text) + 1
        changed.append(reading if charset.unknown(text) else _with_text(reading, text))
    return changed


def reading_in_one_script(
    reading: Reading, charset: Charset, language: str | None = None
) -> Reading:
    """A reading, and its alternatives, each as `one_script` writes it.

    Args:
        reading: of a word or line.
        charset: of what has read it.
        language: see `one_script`.
    """
    if not has_look_alikes(charset):
        return reading
    (spelled,) = with_one_script([reading], charset, language)
    alternatives = [
        reading_in_one_script(each, charset, language) for each in reading.alternatives
    ]
    return replace(spelled, alternatives=tuple(alternatives))


def _with_threes(line: str) -> str:
    """A line with digits where a letter that looks like one cannot stand."""
    words = line.split(" ")
    for place, word in enumerate(words):
        before = words[place - 1].rstrip(",") if place else ""
        if _LETTER_THREE in word and _is_number(word, before):
            words[place] = word.replace(_LETTER_THREE, "3")
    return " ".join(words)


def _is_number(word: str, before: str) -> bool:
    """Whether a word with a Ze is a number: it has no other letters, or is an ordinal.

    Args:
        word: what stands between spaces.
        before: the word before it; nothing at the beginning of a line.
    """
    if _ORDINAL.fullmatch(word):
        return True
    if set(filter(str.isalpha, word)) != {_LETTER_THREE}:
        return False
    if any(map(str.isdecimal, word)):
        return True
    is_alone = word.startswith(_LETTER_THREE) and word.count(_LETTER_THREE) == 1
    is_initial = word.startswith(f"{_LETTER_THREE}.")
    return is_alone and not is_initial and before[-1:].islower()


@dataclass(slots=True)
class _Part:
    """Letters without anything between them."""

    start: int  # in the line
    text: str
    script: str | None  # if a letter tells

    @classmethod
    def of(cls, match: re.Match[str]) -> _Part:
        """Letters that look alike follow those that tell; a unit says nothing of its line."""
        text = match[0]
        if _UNIT.fullmatch(text):
            return cls(match.start(), _written(text, SIMILAR_SHAPES[LATIN]), None)
        script = _script_that_shows(text)
        if script is not None:
            text = _written(text, SIMILAR_SHAPES[script])
        return cls(match.start(), text, script)


def _script_that_shows(text: str) -> str | None:
    """The script of most of the letters that no other script has, or else of similar ones."""
    for alike in (_SIMILAR, _ALIKE):
        telling = (character for character in text if character not in alike)
        scripts = [each for each in map(script_of, telling) if each in SAME_SHAPES]
        winner = _winner(Counter(scripts))
        if winner:
            return winner
    possible = _possible(text)
    return possible[0] if len(possible) == 1 else None


def _possible(text: str) -> list[str]:
    """The scripts that have all letters of a text that look like them."""
    letters = set(text)
    return [
        script for script, shapes in SAME_SHAPES.items() if letters <= shapes.keys()
    ]


def _written(text: str, shapes: Mapping[str, str]) -> str:
    return "".join(shapes.get(character, character) for character in text)


def _of_word(parts: Sequence[_Part], word: str, of_line: str | None) -> str | None:
    """The script of the letters of a word, as far as the word itself tells."""
    script = _winner(_votes(parts))
    if script is not None:
        return script
    if _LATIN_SIGNS.fullmatch(_written(word, SAME_SHAPES[LATIN])):
        return LATIN
    letters = "".join(part.text for part in parts)
    is_code = letters.isupper() and any(map(str.isdecimal, word))
    if is_code and of_line not in (None, LATIN):
        return _winner(Counter(filter(None, map(script_of, letters))))
    return None


def _of_small_letter(
    of_word: Sequence[_Part], parts: Sequence[_Part], line: str
) -> str | None:
    """The script of one small letter between spaces, if that is a word.

    Russian has с, о and у, Greek has ο. English has a, which stands before an English word; the
    Russian а does so behind a comma.
    """
    (part, *others) = of_word
    end = part.start + len(part.text)
    letter = _written(part.text, SAME_SHAPES[LATIN])
    is_alone = not others and len(letter) == 1 and letter.islower()
    if not is_alone or line[max(0, part.start - 1) : end + 1].strip() != part.text:
        return None
    telling = _telling(parts)
    scripts = {each.script for each in telling}
    for script, letters in _WORDS_OF_ONE_LETTER.items():
        if letter in letters and script in scripts:
            return script
    after = [each.script for each in telling if each.start >= end]
    is_behind_comma = line[: part.start].rstrip().endswith(",")
    is_article = letter == "a" and after[:1] == [LATIN] and not is_behind_comma
    return LATIN if is_article else None


def _of_neighbors(of_word: Sequence[_Part], parts: Sequence[_Part]) -> str | None:
    """The script of the nearest words of a line before and after a word, if it is the same."""
    telling = _telling(parts)
    before = [part.script for part in telling if part.start < of_word[0].start]
    after = [part.script for part in telling if part.start > of_word[-1].start]
    agree = before and after and before[-1] == after[0]
    return before[-1] if agree else None


def _telling(parts: Sequence[_Part]) -> list[_Part]:
    """Parts whose script is known.

    A Greek letter by itself may be a sign, as in ``π r``: it tells if no other letters do.
    """
    telling = [part for part in parts if part.script is not None]
    words = [part for part in telling if part.script != GREEK or len(part.text) > 1]
    return words or telling


def _votes(parts: Sequence[_Part]) -> Counter[str | None]:
    """Letters by script, where the script is known."""
    votes: Counter[str | None] = Counter()
    for part in _telling(parts):
        votes[part.script] += len(part.text)
    return votes


def _winner(votes: Counter[str | None]) -> str | None:
    """The script with most votes; the first of two with as many."""
    return max(votes, key=votes.__getitem__, default=None)


def _languages(parts: Sequence[_Part], codes: Sequence[str]) -> list[str]:
    """Languages that are not Latin and may be those of a line: they have the letters that tell."""
    languages = [code for code in ALPHABETS if code in codes]
    for script in SAME_SHAPES:
        of_script = [code for code in ALPHABETS if script_of_language(code) == script]
        if not set(of_script) & set(languages):
            languages += of_script
    for script in SAME_SHAPES:
        texts = (part.text.lower() for part in parts if part.script == script)
        letters = set(chain.from_iterable(texts))
        having = [
            code
            for code in languages
            if script_of_language(code) != script or letters <= set(ALPHABETS[code])
        ]
        if any(script_of_language(code) == script for code in having):
            languages = having
    return languages


def _decided(text: str, wanted: str | None, languages: Sequence[str]) -> str:
    """Letters that look alike, in the script that is wanted, if languages have them there."""
    if text.isupper() and _NUMERAL.fullmatch(_written(text, SAME_SHAPES[LATIN])):
        wanted = LATIN
    if wanted is not None and wanted != LATIN:
        letters = set(_written(text, SAME_SHAPES[wanted]).lower())
        having = [
            letters <= set(ALPHABETS[code])
            for code in languages
            if script_of_language(code) == wanted
        ]
        if not any(having):
            wanted = LATIN
        elif not all(having):
            # Only some of the languages have them: it stays as it was read
            wanted = None
    possible = _possible(text)
    if wanted not in possible:
        read = Counter(map(script_of, text))
        wanted = max(possible, key=read.__getitem__, default=None)
    return text if wanted is None else _written(text, SAME_SHAPES[wanted])


def _with_text(reading: Reading, text: str) -> Reading:
    if text == reading.text:
        return reading
    pairs = zip(reading.characters, text, strict=False)
    characters = tuple(replace(old, character=new) for old, new in pairs)
    return replace(reading, text=text, characters=characters)
