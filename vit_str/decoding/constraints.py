"""Constraints on texts: words of a list, texts of a pattern, characters of an alphabet."""

from __future__ import annotations

import time
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from vit_str.characters.charset import PADDING, Charset
from vit_str.files import read_text

if TYPE_CHECKING:
    from jaxtyping import Bool

_SECONDS = 1.0
_LEXICON_SECONDS = 30.0
_LONGEST_LINE = 5000  # characters, of a word with its count
_KNOWN_STATES = 1 << 14  # masks kept, the oldest dropped first


class Constraint(Protocol):
    """Which characters may follow a prefix; a state stands for the prefix."""

    start: Any

    def allowed(self, state: Any) -> Bool[np.ndarray, " symbol"]:
        """Which symbols may come next, the end last."""

    def advance(self, state: Any, symbol: int) -> Any:
        """The state after one more character."""


class Alphabet:
    """Characters of a set, in any order.

    Raises:
        ValueError: it is empty.
    """

    start = None

    def __init__(self, characters: str, charset: Charset) -> None:
        if not characters:
            raise ValueError(
                "the alphabet is empty: give the characters that may be read"
            )
        _check_known(f"alphabet {characters!r}", characters, charset)
        self._mask = np.zeros(len(charset) + 1, dtype=bool)
        self._mask[[*charset.encode(characters), len(charset)]] = True

    def allowed(self, state: None) -> Bool[np.ndarray, " symbol"]:
        """See `Constraint`."""
        return self._mask

    def advance(self, state: None, symbol: int) -> None:
        """See `Constraint`."""


class Lexicon:
    """Words of a list: a trie, whose nodes are ranges of the sorted list.

    Raises:
        ValueError: it is empty, or holds a word that is too long for the model.
    """

    def __init__(self, words: Iterable[str], charset: Charset, longest: int) -> None:
        ordered = sorted({word for word in words if word})
        if not ordered:
            raise ValueError("the lexicon is empty: give one word or more")
        _check_known("the lexicon", "".join(ordered), charset)
        most = max(ordered, key=len)
        if len(most) > longest:
            raise ValueError(
                f"the lexicon holds {most!r}, this model reads up to {longest} "
                "characters: drop longer words"
            )
        labels = charset.encode_array(ordered).astype(np.int32)
        self._labels = np.pad(labels, ((0, 0), (0, 1)), constant_values=PADDING)
        self._symbols = len(charset) + 1
        self.start = (0, len(ordered), 0)
        self._children = lru_cache(_KNOWN_STATES)(self._find_children)

    def allowed(self, state: tuple[int, int, int]) -> Bool[np.ndarray, " symbol"]:
        """See `Constraint`."""
        mask = np.zeros(self._symbols, dtype=bool)
        # The padding after a word is the last: the end
        mask[list(self._children(state))] = True
        return mask

    def advance(self, state: tuple[int, int, int], symbol: int) -> tuple[int, int, int]:
        """See `Constraint`."""
        return self._children(state)[symbol]

    def _find_children(
        self,
        state: tuple[int, int, int],
    ) -> dict[int, tuple[int, int, int]]:
        """The next character -> the range of the words that continue with it."""
        first, last, depth = state
        column = self._labels[first:last, depth]
        changes = np.flatnonzero(np.diff(column)) + 1
        starts = [0, *changes.tolist(), len(column)]
        children = {}
        for start, stop in pairwise(starts):
            symbol = int(column[start])
            children[symbol] = (first + start, first + stop, depth + 1)
        return children


class PatternTooSlow(ValueError):  # noqa: N818 - it says what the pattern is
    """Matching takes too long, or too much memory."""


class Pattern:
    """Texts that a regular expression matches as a whole.

    Args:
        pattern: as the ``regex`` package takes it; it may take a second for each character that
            is written.
        charset: of the model.
        characters: those that may be written.

    Raises:
        ValueError: it is no regular expression, or matches nothing that the model can write.
    """

    start = ""

    def __init__(self, pattern: str, charset: Charset, characters: str) -> None:
        self._expression = _compiled(pattern)
        self._charset = charset
        self._characters = characters
        self._masks = lru_cache(_KNOWN_STATES)(self._find_mask)
        if not self._masks("").any():
            raise ValueError(
                "nothing that this model can write begins a match of the pattern "
                f"{pattern!r}"
            )

    def allowed(self, state: str) -> Bool[np.ndarray, " symbol"]:
        """See `Constraint`."""
        return self._masks(state)

    def advance(self, state: str, symbol: int) -> str:
        """See `Constraint`."""
        return state + self._charset.characters[symbol]

    def _find_mask(self, text: str) -> Bool[np.ndarray, " symbol"]:
        end = time.monotonic() + _SECONDS
        mask = np.zeros(len(self._charset) + 1, dtype=bool)
        following = [
            character
            for character in self._characters
            if _matches(self._expression, text + character, end, partial=True)
        ]
        mask[self._charset.encode("".join(following))] = True
        mask[-1] = _matches(self._expression, text, end)
        return mask


def _compiled(pattern: str) -> Any:
    import regex

    try:
        return regex.compile(pattern)
    except (regex.error, RecursionError) as error:
        raise ValueError(f"the pattern {pattern!r} does not parse: {error}") from None


def _matches(expression: Any, text: str, end: float, partial: bool = False) -> bool:
    """Whether it matches a text as a whole, or with ``partial`` a longer one that begins like it.

    Until ``end`` on the monotonic clock, then it is given up.
    """
    try:
        left = max(end - time.monotonic(), 1e-3)
        found = expression.fullmatch(
            text,
            partial=partial,
            timeout=left,
            concurrent=True,
        )
    except (TimeoutError, MemoryError):
        raise PatternTooSlow(
            f"matching the pattern {expression.pattern!r} takes too long; make it "
            "simpler"
        ) from None
    return found is not None


def constraint_of(
    charset: Charset,
    longest: int,
    lexicon: Iterable[str] | None = None,
    pattern: str | None = None,
    alphabet: str | None = None,
) -> Constraint | None:
    """A constraint to the texts that all arguments allow; None without any.

    Args:
        charset: of the model.
        longest: most characters that the model writes.
        lexicon: the texts that are allowed.
        pattern: a regular expression that the whole text matches.
        alphabet: the characters that are allowed.

    Raises:
        ValueError: if nothing that the model can write is allowed, or the pattern is not
            understood.
    """
    letters = None if alphabet is None else Alphabet(alphabet, charset)
    if lexicon is not None:
        words = Lexicon(lexicon, charset, longest)
        if pattern is None and alphabet is None:
            return words
        expression = _compiled(pattern or ".*")
        end = time.monotonic() + _LEXICON_SECONDS
        known = set(charset.characters if alphabet is None else alphabet)
        fitting = (word for word in set(lexicon) if set(word) <= known)
        left = [word for word in fitting if _matches(expression, word, end)]
        if not left:
            raise ValueError("no word of the lexicon fits the pattern and the alphabet")
        return Lexicon(left, charset, longest)
    if pattern is not None:
        characters = charset.characters if alphabet is None else alphabet
        return Pattern(pattern, charset, characters)
    return letters


def read_lexicon(path: str | Path, kind: str = "lexicon") -> list[str]:
    """The words of a text file, one a line.

    Raises:
        ValueError: for a file that cannot be read, is not UTF-8, or holds no word or an endless
            line.
    """
    try:
        words = read_text(path).splitlines()
    except OSError as error:
        raise ValueError(f"{kind} {path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise ValueError(f"{kind} {path}: not UTF-8 text; save it as UTF-8") from None
    found = [word.strip() for word in words if word.strip()]
    if not found:
        raise ValueError(f"{kind} {path}: holds no word; write one a line")
    if len(max(found, key=len)) > _LONGEST_LINE:
        most = f"a line of more than {_LONGEST_LINE:,} characters"
        raise ValueError(f"{kind} {path}: holds {most}; write one word a line")
    return found


def _check_known(name: str, text: str, charset: Charset) -> None:
    unknown = "".join(dict.fromkeys(charset.unknown(text)))
    if unknown:
        raise ValueError(
            f"{name} holds {unknown[:10]!r}, which the {len(charset)} characters of "
            "the model lack: leave that out"
        )
