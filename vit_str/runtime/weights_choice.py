"""Which weights read a language: those of the package for Latin letters, or for other scripts.

A pair is a reader of words and a reader of lines, which know the same characters. The package has
one for Latin letters, and one for Cyrillic and Greek; a folder with weights of the same names
stands in for it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from vit_str.runtime.alphabets import (
    LATIN,
    SAME_SHAPES,
    WRITTEN_IN_BOTH,
    language_codes,
    script_of_language,
    scripts_in,
)
from vit_str.runtime.opened_once import OpenedOnce
from vit_str.runtime.prior import NO_LANGUAGE, WordPrior
from vit_str.runtime.readings import Reading, per_character
from vit_str.runtime.script_detector import ScriptDetector, detector_for
from vit_str.runtime.weights_contents import BUNDLED, resolve

if TYPE_CHECKING:
    from vit_str.runtime.charset import Charset
    from vit_str.runtime.preprocessing import Preprocessing
    from vit_str.runtime.search import Search

Readers = TypeVar("Readers")

LINES_OF = {"tiny": "line", "cyrillic-greek": "cyrillic-greek-line"}
"""Weights that read words, and those of their pair that read lines, by name."""

OTHER_SCRIPTS = {"tiny": "cyrillic-greek", "line": "cyrillic-greek-line"}
"""Weights for Latin letters, and those that read other scripts in the same way, by name."""

_IN_ASCII = ("en",)  # languages that every pair reads
DOUBTFUL = 0.9
"""Confidence of the characters, as a geometric mean, below which other weights read an image too:
letters of another script are read as a few wrong ones among likely ones."""
SURE = 0.9
"""The same confidence, from which one look of other weights is believed."""
HOPELESS = 0.3
"""The same confidence, below which an image is too bad for any weights."""
CERTAIN = 0.99
"""The same confidence, from which a known word is what an image says."""
POSSIBLE = 0.35
"""Probability of another script, from which other weights look at what is no known word."""
LIKELY = 0.9
"""The same probability, from which other weights look at known words too.

The limits of words were chosen on rendered ones, 300 of each of six languages in other scripts and
1,800 in Latin letters, and on 6,725 photographed words of English."""

MOSTLY = 0.5
"""Share of words that no list holds, above which a text may be of another script."""
UNKNOWN_PART = 0.25
"""The same share, from which a part of a line may be, if the line is not sure."""
SURE_LINE = 0.98
"""Confidence of the characters, as a geometric mean, from which all of a line is.

The limits of lines were chosen on printed ones of eight languages."""


class WeightsChoice(NamedTuple):
    """Weights for what a user asks for."""

    first: str | Path
    # For what may be of their scripts; None if nothing else reads
    other: Path | None = None

    def detector(self) -> ScriptDetector | None:
        """What tells the scripts of the others in drafts of the first; None without such."""
        if self.other is None:
            return None
        return detector_for(resolve(self.first), self.other)


def choose_weights(
    name_or_path: str | Path,
    search: Search | None = None,
) -> WeightsChoice:
    """The weights that read what a user asks for.

    Names that the package has, and folders that have weights of the same names, stand for weights
    of all scripts: a language, or the letters that a lexicon, pattern or alphabet holds, say which
    are meant. Without a language, weights of other scripts look at what may be of theirs.
    All other weights stand for themselves, and ``none`` for the first ones alone.

    Args:
        name_or_path: see `resolve`; or a folder with weights of these names.
        search: what is to be read.

    Raises:
        ValueError: no weights here read a language that is asked for.
    """
    first = _first_of_folder(name_or_path)
    name = Path(first).stem
    if name not in OTHER_SCRIPTS or not _is_of_registry(name_or_path):
        return WeightsChoice(first)
    other = _folder_of(name_or_path) / f"{OTHER_SCRIPTS[name]}.safetensors"
    wanted = _wanted(search)
    if wanted == {LATIN}:
        return WeightsChoice(first)
    if wanted and not other.is_file():
        scripts = " and ".join(sorted(wanted - {LATIN}))
        raise ValueError(
            f"{_asked(search)} needs weights that read {scripts}, and this "
            "installation has none: train configs/vit_tiny_cyrillic_greek.yaml, and "
            "give the file as model"
        )
    if wanted and LATIN not in wanted:
        return WeightsChoice(other)
    return WeightsChoice(first, other if other.is_file() else None)


def lines_of(words: str | Path) -> str | Path:
    """The weights that read lines beside some that read words: of their pair, or of the package.

    Raises:
        ValueError: weights of a pair whose reader of lines is missing.
    """
    name = LINES_OF.get(Path(words).stem)
    if name is None:
        return "line"
    path = resolve(words)
    beside = path.parent / f"{name}.safetensors"
    if beside.is_file():
        return beside
    if name != "line":
        raise ValueError(f"{path} reads words, and pages need {beside.name} beside it")
    return name


def is_doubtful(reading: Reading) -> bool:
    """Whether a reading may be of another script than its reader knows."""
    return _sureness([reading]) < DOUBTFUL


def may_be_of_other_script(reading: Reading, words: WordPrior | None) -> bool:
    """Whether a reader of other scripts is to look at an image.

    Letters of another script are read as others that look like them: surely or not, but mostly as
    no word. Where a detector has seen the image, it has to find another script possible too; where
    it finds one likely, a known word that is not certain is looked at as well. Of lines, which no
    detector sees, a part may be of another script. Without lists of words, doubts tell.

    Args:
        reading: of the first reader.
        words: of its languages; None if it has no lists of them.
    """
    if words is None:
        return is_doubtful(reading)
    sureness = _sureness([reading])
    if sureness <= HOPELESS or not any(map(str.isalpha, reading.text)):
        return False
    unknown = _share_of_unknown(reading.text.split(), words)
    probability = reading.other_script
    if probability is None:
        is_partly_unknown = unknown >= UNKNOWN_PART and sureness < SURE_LINE
        return is_partly_unknown or unknown > MOSTLY
    if probability < POSSIBLE:
        return False
    if probability >= LIKELY and sureness < CERTAIN:
        return True
    return unknown > 0


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
    letters = filter(str.isalpha, _text_of(other))
    unlike = "".join(each for each in letters if each not in SAME_SHAPES[LATIN])
    telling = known.unknown(unlike)
    if not telling or _sureness(other) < SURE or not _tells_more(own, other, known):
        return False
    return len(telling) > len(_accented(own)) or _sureness(other) > _sureness(own)


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
    return _tells_more(own, other, known)


def has_own_letters(readings: Sequence[Reading], known: Charset) -> bool:
    """Whether there are letters in what was read that another reader does not know."""
    return any(map(str.isalpha, known.unknown(_text_of(readings))))


def _tells_more(
    own: Sequence[Reading], other: Sequence[Reading], known: Charset
) -> bool:
    """Whether at least as many letters tell of the other scripts as of the first reader's.

    All readers know ASCII: letters with accents tell of the first, such as those of Vietnamese,
    which the other one leaves out, and is sure.
    """
    of_other = list(filter(str.isalpha, known.unknown(_text_of(other))))
    return len(of_other) >= len(_accented(own))


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


def check_same_images(first: Preprocessing, other: Preprocessing) -> None:
    """Refuse readers that do not see images in the same size.

    Raises:
        ValueError: for other heights or widths, or tall images that are turned otherwise.
    """
    alike = replace(
        other,
        mean=first.mean,
        std=first.std,
        reread_below=first.reread_below,
    )
    if alike != first:
        raise ValueError(
            "weights of several scripts read together if they see images in the same "
            f"size, found {first.height} x {first.width} and {other.height} x "
            f"{other.width}"
        )


def once(open_readers: Callable[[], Readers]) -> Callable[[], Readers]:
    """What opens readers at the first call, of whatever thread, and returns the same at each."""
    return OpenedOnce(open_readers)


def _first_of_folder(name_or_path: str | Path) -> str | Path:
    """The weights for Latin letters of a folder of weights, or of the package if it has none."""
    path = Path(name_or_path)
    for name, other in OTHER_SCRIPTS.items():
        if (path / f"{other}.safetensors").is_file():
            own = path / f"{name}.safetensors"
            return own if own.is_file() else name
    return name_or_path


def _is_folder_of_pairs(name_or_path: str | Path) -> bool:
    path = Path(name_or_path)
    files = (path / f"{name}.safetensors" for name in OTHER_SCRIPTS.values())
    return any(file.is_file() for file in files)


def _is_of_registry(name_or_path: str | Path) -> bool:
    """Whether it stands for weights of all scripts, not for one file."""
    return os.fspath(name_or_path) in OTHER_SCRIPTS or _is_folder_of_pairs(name_or_path)


def _folder_of(name_or_path: str | Path) -> Path:
    return Path(name_or_path) if _is_folder_of_pairs(name_or_path) else BUNDLED


def _wanted(search: Search | None) -> set[str]:
    """The scripts that are asked for; none if nothing says which."""
    if search is None:
        return set()
    if search.is_constrained:
        words = search.lexicon if isinstance(search.lexicon, Collection) else ()
        texts = [search.pattern or "", search.alphabet or "", *words]
        others = scripts_in("".join(texts)) - {LATIN}
        return others or {LATIN}
    if search.language == NO_LANGUAGE:
        return {LATIN}
    codes = [code for code in language_codes(search.language) if code not in _IN_ASCII]
    wanted = {script_of_language(code) for code in codes}
    if set(codes) & set(WRITTEN_IN_BOTH):
        wanted.add(LATIN)
    return wanted or ({LATIN} if search.language else set())


def _asked(search: Search | None) -> str:
    assert search is not None
    return f"language {search.language!r}" if search.language else "what may be read"
