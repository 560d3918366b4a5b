"""How frequent words are: what decides between texts that an image makes about equally likely."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property, lru_cache, partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from vit_str.characters.alphabets import NOT_LATIN

if TYPE_CHECKING:
    from jaxtyping import Float, UInt8, UInt32

TABLE = Path(__file__).with_name("words.safetensors")
"""Zipf frequencies of words, by language; ``data/make_word_frequencies.py`` writes it."""

NO_LANGUAGE = "none"

_BILLION = 1e9  # words, among which 10 to the power of its Zipf frequency are this one
_STEPS = 25  # of the table for one of the Zipf frequency
# The weight of the prior beside the model, and Zipf frequencies; chosen on real words and on
# rendered strings that no list holds.
_WEIGHT = 0.4 * math.log(10)
_UNKNOWN = 0.0  # of a word that no list holds
_NO_WORD = 2.5  # of what holds digits or signs between letters
_SIGNS = 0.0  # of signs without a letter or digit: crops of letters look like them
_JOINED = 1.0  # what several words together lose beside the rarest of them
# At most this and one for each letter: short strings are words by chance
_SHORTEST = 1.0
_MOST_OFTEN = 1e15  # the count of a word; higher ones would leave nothing to the others
_OTHERS = 2.0  # of the texts that no beam found, together

_GREEK = str.maketrans("άέήίόύώΐΰ", "αεηιουωϊϋ")

LOG_WEIGHT_OF_OTHERS = _WEIGHT * _OTHERS
"""Added to the log-probability of all texts that no beam found, together."""


class WordFrequencies:
    """Hashes of words and how frequent they are, in one language.

    Args:
        hashes: CRC-32 of each word in small letters, in UTF-8; sorted.
        zipf: Zipf frequency of each: the decimal logarithm of its occurrences in a billion words
            (van Heuven et al. 2014).
        share: of the language in what is read.
    """

    def __init__(
        self,
        hashes: UInt32[np.ndarray, " word"],
        zipf: Float[np.ndarray, " word"],
        share: float,
    ) -> None:
        self._hashes = hashes
        self._zipf = zipf
        self._share = share

    def lookup(
        self, hashes: UInt32[np.ndarray, " query"]
    ) -> Float[np.ndarray, " query"]:
        """Occurrences in a billion words, times the share; 0 for unknown words."""
        places = np.minimum(
            np.searchsorted(self._hashes, hashes), len(self._hashes) - 1
        )
        frequencies = self._share * 10.0 ** self._zipf[places]
        return np.where(self._hashes[places] == hashes, frequencies, 0.0)


class WordPrior:
    """Prior probability of texts: how frequent their words are.

    No text is excluded: what no list holds counts as a rare word.

    Args:
        load: gives word lists, with shares that add up to 1; called when the first text is weighed.
    """

    def __init__(self, load: Callable[[], Sequence[WordFrequencies]]) -> None:
        self._load = load

    @cached_property
    def _languages(self) -> Sequence[WordFrequencies]:
        return self._load()

    def holds(self, text: str) -> bool:
        """Whether a list has a text, with any capitals and signs at its ends."""
        whole, *_ = _words(text)
        hashes = np.array([crc32(whole.encode())], dtype=np.uint32)
        return any(language.lookup(hashes)[0] > 0 for language in self._languages)

    def log_weights(self, texts: Sequence[str]) -> Float[np.ndarray, " text"]:
        """Log-weights to add to the log-probability that the model gives each text."""
        parts = [_words(text) for text in texts]
        words = list(dict.fromkeys(chain.from_iterable(parts)))
        hashes = np.array([crc32(word.encode()) for word in words], dtype=np.uint32)
        frequencies = sum(language.lookup(hashes) for language in self._languages)
        lengths = np.array(list(map(len, words)))
        zipf = np.log10(np.maximum(frequencies, 10**_UNKNOWN))
        limited = np.minimum(zipf, _SHORTEST + lengths).tolist()
        known = dict(zip(words, limited, strict=True))
        frequent = [
            _SIGNS if _is_of_signs(text) else _zipf(of_text, known)
            for text, of_text in zip(texts, parts, strict=True)
        ]
        return _WEIGHT * np.array(frequent)


def prior_of(language: str | None, trained_on: str | None) -> WordPrior | None:
    """The prior that a user asks for.

    Args:
        language: codes as in ``en``, ``en+fr`` or ``en*8+de``; a text file with a word a line,
            perhaps with a count behind a tab; ``none`` for no prior; None for ``trained_on``.
        trained_on: languages of the model, in the same form; None if it does not say.

    Raises:
        ValueError: for an unknown language that is no file of words either.
    """
    if language == NO_LANGUAGE:
        return None
    parts = _parsed(trained_on or "" if language is None else language)
    known = tuple(part for part in parts if part[0] in languages())
    if language is None or all(code in (*languages(), *NOT_LATIN) for code, _ in parts):
        return _bundled(known) if known else None
    if Path(language).is_file() or language.endswith(".txt"):
        own = _own_words(Path(language))
        return WordPrior(lambda: [own])
    raise ValueError(
        f"language must be {NO_LANGUAGE}, of {', '.join(known_languages())}, several "
        f"as in en+fr, or a file of words, found {language!r}"
    )


@lru_cache(1)
def languages() -> tuple[str, ...]:
    """Codes of the languages that the package has words of."""
    from safetensors import safe_open

    with safe_open(TABLE, "numpy") as table:
        names = {name.partition(".")[0] for name in table.keys()}  # noqa: SIM118 - no mapping
    return tuple(sorted(names))


def known_languages() -> tuple[str, ...]:
    """Codes of the languages that can be asked for: of those without words, the letters tell."""
    return tuple(sorted({*languages(), *NOT_LATIN}))


@lru_cache(4)
def _bundled(parts: tuple[tuple[str, float], ...]) -> WordPrior:
    """The prior of languages with weights, of the table of the package."""
    return WordPrior(partial(_read_table, parts))


def _read_table(parts: Sequence[tuple[str, float]]) -> list[WordFrequencies]:
    """The lists of languages with weights; one that is named twice counts twice."""
    weights: defaultdict[str, float] = defaultdict(float)
    for code, weight in parts:
        weights[code] += weight
    total = sum(weights.values())
    return [
        WordFrequencies(*_list_of(code), weight / total)
        for code, weight in weights.items()
    ]


@cache  # as many as there are languages; requests mix them in any number of ways
def _list_of(
    code: str,
) -> tuple[UInt32[np.ndarray, " word"], Float[np.ndarray, " word"]]:
    """Hashes of the words of a language, and how frequent they are."""
    from safetensors import safe_open

    with safe_open(TABLE, "numpy") as table:
        hashes = _hashes(table.get_tensor(f"{code}.hashes"))
        return hashes, table.get_tensor(f"{code}.zipf") / _STEPS


def _hashes(planes: UInt8[np.ndarray, "4 word"]) -> UInt32[np.ndarray, " word"]:
    return np.ascontiguousarray(planes.T).view(">u4")[:, 0].astype(np.uint32)


def _parsed(languages: str) -> list[tuple[str, float]]:
    """Codes and weights of ``en*8+de``; what has another form stays whole, and is no code."""
    parts = []
    for part in languages.split("+"):
        match = re.fullmatch(r"(\w+)(?:\*([0-9]{1,4}))?", part)
        share = int(match[2] or 1) if match else 1
        if not share:
            raise ValueError(
                f"a language has a share of 1 or more, such as en*8+de, found {part!r}"
            )
        parts.append((match[1] if match else part, float(share)))
    return parts


def _own_words(path: Path) -> WordFrequencies:
    """The words of a file: one a line, perhaps with a count behind a tab."""
    from vit_str.decoding.constraints import read_lexicon

    counts: defaultdict[int, float] = defaultdict(float)
    for line in read_lexicon(path, "word list"):
        word, _, count = line.partition("\t")
        often = float(count) if count.strip().isdecimal() else 1.0
        counts[crc32(_folded(word).encode())] += min(max(1.0, often), _MOST_OFTEN)
    hashes = np.array(sorted(counts), dtype=np.uint32)
    occurrences = np.array([counts[hash_] for hash_ in hashes.tolist()], dtype=float)
    zipf = np.log10(occurrences / occurrences.sum() * _BILLION)
    return WordFrequencies(hashes, zipf, 1.0)


def without_accents(word: str) -> str:
    """A Greek word in small letters, as its capitals have it; other words as they are."""
    return word.translate(_GREEK)


def _folded(text: str) -> str:
    """A text in small letters, without signs at its ends."""
    text = unicodedata.normalize("NFC", text)
    text = text.replace("İ", "i").replace("’", "'").casefold()
    text = without_accents(unicodedata.normalize("NFC", text))
    return re.sub(r"^[\W_]+|[\W_]+$", "", text)


def _is_of_signs(text: str) -> bool:
    """Whether a text has signs alone; raised letters such as ª count as signs."""
    return bool(text) and re.search(r"[^\W_ªº]", text) is None


def _words(text: str) -> list[str]:
    """The words to look up for a text: the whole, and if it has parts, each of them."""
    word = _folded(text)
    parts = [part for part in re.split(r"[\W_]+", word) if part]
    return [word, *parts] if len(parts) > 1 else [word]


def _zipf(words: Sequence[str], known: Mapping[str, float]) -> float:
    """The Zipf frequency of a text, from those of `_words`."""
    word, *parts = words
    if known[word] > _UNKNOWN:
        return known[word]
    if not all(part.isalpha() for part in parts or [word]):
        return _NO_WORD
    if not parts:
        return _UNKNOWN
    rarest = min(known[part] for part in parts)
    return max(_UNKNOWN, rarest - _JOINED)
