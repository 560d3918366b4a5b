"""Lists of words to draw, and how often each is drawn."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TextIO
from unicodedata import normalize

from vit_str.characters.alphabets import HANGUL, script_of
from vit_str.files import open_at_once
from vit_str.machine import install_hint
from vit_str.synthesis.korean import KOREAN, korean_words
from vit_str.synthesis.spellings import (
    OTHER_SPELLINGS,
    PINYIN,
    SERBIAN,
    in_old_spelling,
    in_serbian_cyrillic,
    spelled,
    spelled_words,
    syllables,
    with_final_sigma,
    with_long_s,
    with_sharp_s,
    without_long_s,
)

_OTHERWISE = 0.2  # share of another spelling beside the usual one
_READ_AT_ONCE = 1 << 20  # characters
_LONGEST_WORD = 10_000  # characters; none that is drawn is nearly as long
_LIST_SIZE = 200_000  # most frequent words of a language
_LEAST_SHARE = 0.008  # of the words with letters that ASCII lacks, with each of these
_LEAST_SYLLABLE_SHARE = 0.00005
"""The same of words with each syllable of Hangul: there are thousands of them."""
_SPELLINGS = {"de": with_sharp_s, "el": with_final_sigma}
"""Characters that wordfreq writes otherwise than print."""
_MOST_FAVOR = 30.0
"""Times; a letter of a few stray words does not fill the images with them."""
_FAVOR_OF_ACCENTS = 4.0
"""Times; then one in six Italian words has an accent, one in three German ones."""


def count_words(path: Path) -> Mapping[str, float]:
    """Words of a text file and how often each occurs, in order of appearance.

    Letters with marks apart (NFD), as file names of macOS have them, are composed.

    Raises:
        ValueError: for a file that cannot be read or is not UTF-8.
    """
    counts: Counter[str] = Counter()
    try:
        with open(path, encoding="utf-8-sig", opener=open_at_once) as file:
            for words in _words_in(file):
                counts.update(normalize("NFC", word) for word in words)
        return counts
    except (OSError, UnicodeDecodeError) as error:
        message = f"cannot read words from {path}: {error}; give a UTF-8 text file"
        raise ValueError(message) from None


def _words_in(file: TextIO) -> Iterator[list[str]]:
    """The words of a text, some at a time: it may be one line of gigabytes."""
    rest = ""
    while part := file.read(_READ_AT_ONCE):
        text = rest + part
        words = text.split()
        rest = "" if text[-1].isspace() else words.pop()
        if len(rest) > _LONGEST_WORD:
            raise OSError(f"a word of more than {_LONGEST_WORD:,} characters")
        yield words
    yield rest.split()


def language_words(language: str) -> list[tuple[Mapping[str, float], float]]:
    """The most frequent words of each language and its weight.

    Without those in which digits stand for any digit. Of languages without a list there are words
    made of their syllables, see `spellings`.

    Raises:
        ValueError: for an unknown language, and without the wordfreq library.
    """
    try:
        import wordfreq
    except ImportError:
        raise ValueError(
            "words of a language need the wordfreq library, run: "
            f"{install_hint('train')}, or give a word list of your own"
        ) from None
    known = wordfreq.available_languages("best")
    lists: list[tuple[Mapping[str, float], float]] = []
    for part in language.split("+"):
        code, star, weight = part.partition("*")
        modern, has_long_s = without_long_s(code)
        is_known = modern in (*known, SERBIAN) or spelled(code)
        is_weighted = re.fullmatch(r"[1-9]\d{0,3}", weight) is not None
        if not is_known or (star and not is_weighted):
            codes = ", ".join(sorted([*known, *syllables(), PINYIN, SERBIAN]))
            raise ValueError(
                f"language must be one of {codes}, or several as in en*8+de, "
                f"found {language!r}; give a word list for any other"
            )
        words = spelled_words(code) if spelled(code) else _frequent_words(modern)
        words = _with_other_spelling(words, code)
        if has_long_s:
            words = _in_old_print(words, modern)
        lists.append((words, float(weight or 1)))
    return lists


def _with_other_spelling(words: dict[str, float], code: str) -> dict[str, float]:
    """The words, and before them those that are spelled otherwise too."""
    spelling = OTHER_SPELLINGS.get(code)
    if spelling is None:
        return words
    others = {spelling(word): share * _OTHERWISE for word, share in words.items()}
    return others | words


def _in_old_print(words: dict[str, float], code: str) -> dict[str, float]:
    """The words and their older spellings, all with the long s."""
    old = {in_old_spelling(word, code): share for word, share in words.items()}
    both = words | old
    return {with_long_s(word, code): share for word, share in both.items()}


def _frequent_words(code: str) -> dict[str, float]:
    """The most frequent words of a language that wordfreq knows, and their shares."""
    import wordfreq

    if code == KOREAN:
        return korean_words()
    if code == SERBIAN:
        latin = _frequent_words("sh")
        both = {word: share * _OTHERWISE for word, share in latin.items()}
        for word, share in latin.items():
            both[in_serbian_cyrillic(word)] = share
        return both
    frequencies = wordfreq.get_frequency_dict(code, wordlist="best")
    top = islice(frequencies.items(), _LIST_SIZE)
    words = {word: share for word, share in top if not re.search(r"\d", word)}
    spelling = _SPELLINGS.get(code)
    if spelling is None:
        return words
    return {spelling(word): share for word, share in words.items()}


def word_shares(words: Sequence[str], counts: Sequence[float]) -> list[float]:
    """How often each word is drawn; all together 1.

    Half of the shares follows the square root of the frequency, half is the same for all, so that
    names and rare words occur. As rare words are long and what hangs over a shop door is short,
    lengths are half-way between those of such a list and those of running text.
    """
    roots = list(map(math.sqrt, counts))
    flat = sum(roots) / max(1, len(roots))
    shares = [root + flat for root in roots]
    listed = _shares_of_lengths(words, shares)
    running = _shares_of_lengths(words, counts)
    favor = {length: math.sqrt(running[length] / listed[length]) for length in listed}
    pairs = zip(words, shares, strict=True)
    favored = [share * favor[len(word)] for word, share in pairs]
    return _normalized(favored)


def favor_accents(words: Sequence[str], shares: Sequence[float]) -> list[float]:
    """Draw words with letters that ASCII lacks four times as often; all together 1.

    An accent is a pixel or two of the image, and one in twenty Italian words has one: a model that
    sees so few overlooks them.
    """
    favored = [
        share if word.isascii() else share * _FAVOR_OF_ACCENTS
        for word, share in zip(words, shares, strict=True)
    ]
    return _normalized(favored)


def favor_rare_letters(words: Sequence[str], shares: Sequence[float]) -> list[float]:
    """Draw words with letters that hardly any other has more often; all together 1.

    Of the words that ASCII cannot write, each of their letters is in eight of a thousand then, if
    there are enough: a list in which Vietnamese is one of many languages hardly has ẵ. Syllables of
    Hangul are many, and frequent ones stay frequent: the others are in 5 of 100,000 words.
    """
    numbered = enumerate(words)
    other = [(place, set(word)) for place, word in numbered if not word.isascii()]
    total = sum(shares[place] for place, _ in other)
    seen: defaultdict[str, float] = defaultdict(float)
    for place, letters in other:
        for letter in letters:
            seen[letter] += shares[place]
    favor = {
        letter: min(_MOST_FAVOR, max(1.0, _least_share(letter) * total / share))
        for letter, share in seen.items()
        if not letter.isascii()
    }
    favored = list(shares)
    for place, letters in other:
        favored[place] *= max(favor.get(letter, 1.0) for letter in letters)
    return _normalized(favored)


def _least_share(letter: str) -> float:
    is_syllable = script_of(letter) == HANGUL
    return _LEAST_SYLLABLE_SHARE if is_syllable else _LEAST_SHARE


def _normalized(shares: Sequence[float]) -> list[float]:
    """All together 1."""
    total = sum(shares)
    return [share / total for share in shares]


def _shares_of_lengths(
    words: Sequence[str],
    weights: Sequence[float],
) -> Mapping[int, float]:
    """How much of all weight the words of each length have."""
    shares: defaultdict[int, float] = defaultdict(float)
    total = sum(weights)
    for word, weight in zip(words, weights, strict=True):
        shares[len(word)] += weight / total
    return shares
