"""Strings of one's own to draw: those that a pattern describes, and those of a file."""

import random
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any, Protocol

from vit_str import console
from vit_str.characters.charset import Charset
from vit_str.files import read_text

_TRIES = 200  # for a string of a pattern that is short enough
_MOST_NAMED = 5  # words that cannot be written
_RIGHT_TO_LEFT = ("R", "AL")  # classes of letters in Unicode (UAX 9)


class Texts(Protocol):
    """Draws strings."""

    def sample(self, count: int, seed: int) -> list[str]:
        """Draw ``count`` strings; same seed, same strings."""


@dataclass(frozen=True, slots=True)
class OwnTexts:
    r"""Texts to draw in place of the usual mix; numbers are shares, relative to each other.

    Attributes:
        pattern: a regular expression, such as ``[A-Z]{2}\d{6}``; or several with their shares.
        words: a file with a text a line; or several with their shares. A text that comes twice is
            drawn twice as often.
        usual: share of the usual mix among them.
    """

    pattern: str | dict[str, float] | None = None
    words: Path | dict[str, float] | None = None
    usual: float = 0.0


class OwnStrings:
    """Draws strings of one's own.

    Args:
        own: which.
        charset: the characters that may occur.
        maximum_length: of a string, in characters.
        usual: what draws the usual mix, if that has a share.

    Raises:
        ValueError: nothing to draw, a share below 0, a pattern that cannot be drawn with the
            charset, or a file without a text that can be.
    """

    def __init__(
        self, own: OwnTexts, charset: Charset, maximum_length: int, usual: Texts
    ) -> None:
        self.maximum_length = maximum_length
        drawers: list[tuple[Callable[[random.Random, int], list[str]], float]] = []
        for pattern, share in _shares(own.pattern):
            strings = PatternStrings(pattern, charset, maximum_length)
            drawers.append((strings.draw, share))
        for path, share in _shares(own.words):
            lines = FileStrings(Path(path), charset, maximum_length)
            drawers.append((lines.draw, share))

        def draw_usual(rng: random.Random, count: int) -> list[str]:
            return usual.sample(count, rng.getrandbits(32))

        drawers.append((draw_usual, own.usual))
        shares = [share for _, share in drawers]
        if min(shares) < 0 or not sum(shares) > 0:
            raise ValueError(
                "texts of one's own have shares from 0 on, and one above 0, found "
                f"{', '.join(f'{share:g}' for share in shares)}"
            )
        self._drawers = drawers

    def sample(self, count: int, seed: int) -> list[str]:
        """See `Texts`."""
        rng = random.Random(seed)
        shares = [share for _, share in self._drawers]
        counts = Counter(rng.choices(range(len(shares)), shares, k=count))
        strings: list[str] = []
        for place, times in sorted(counts.items()):
            strings += self._drawers[place][0](rng, times)
        rng.shuffle(strings)
        return strings


class FileStrings:
    """Draws the lines of a file.

    Letters with marks apart (NFD) are composed. What cannot be written is counted and named.

    Raises:
        ValueError: the file cannot be read, or no line of it can be written.
    """

    def __init__(self, path: Path, charset: Charset, maximum_length: int) -> None:
        try:
            text = unicodedata.normalize("NFC", read_text(path))
        except (OSError, UnicodeDecodeError) as error:
            raise ValueError(
                f"cannot read texts from {path}: {error}; give a UTF-8 text file"
            ) from None
        lines = filter(None, map(str.strip, text.splitlines()))
        counts = Counter(map(charset.fold, lines))
        usable = {
            line: count
            for line, count in counts.items()
            if len(line) <= maximum_length and not charset.unknown(line)
        }
        tell_unwritable(path, counts, usable, charset, maximum_length)
        if not usable:
            raise ValueError(
                f"{path} holds no text to draw with the charset in {maximum_length} "
                "characters; give another file or charset"
            )
        self._lines = list(usable)
        self._shares = list(accumulate(usable.values()))

    def draw(self, rng: random.Random, count: int) -> list[str]:
        """Lines, as often as the file has them."""
        return rng.choices(self._lines, cum_weights=self._shares, k=count)


class PatternStrings:
    """Draws strings that match a regular expression as a whole.

    Branches, counts and characters of a set are all as likely; sets and ``.`` hold the characters
    of the charset.

    Raises:
        ValueError: for what is no regular expression, one that looks around or refers back, and one
            that the charset cannot write in so many characters.
    """

    def __init__(self, pattern: str, charset: Charset, maximum_length: int) -> None:
        self.pattern = pattern
        self._characters = charset.characters
        self._longest = maximum_length
        self._sets: dict[tuple[str, Any], Sequence[str]] = {}
        try:
            self._matches = re.compile(pattern).fullmatch
            self._parsed = list(re._parser.parse(pattern))  # type: ignore[attr-defined]
        except (re.error, RecursionError, OverflowError) as error:
            raise ValueError(f"pattern {pattern!r}: {error}; mend it") from None
        self._one(random.Random(0))  # a mistake is told at once

    def draw(self, rng: random.Random, count: int) -> list[str]:
        """So many strings."""
        return [self._one(rng) for _ in range(count)]

    def _one(self, rng: random.Random) -> str:
        for _ in range(_TRIES):
            text = self._text(self._parsed, rng)
            is_fitting = 0 < len(text) <= self._longest and text == text.strip()
            if is_fitting and self._matches(text):
                return text
        raise ValueError(
            f"pattern {self.pattern!r}: hardly a text of it has 1 to {self._longest} "
            "characters; make it shorter"
        )

    def _text(self, parts: Sequence[tuple[Any, Any]], rng: random.Random) -> str:
        return "".join(self._part(*part, rng) for part in parts)

    def _part(self, kind: Any, value: Any, rng: random.Random) -> str:
        """A text of one part of the expression, as Python's parser names them."""
        name = str(kind)
        if name in ("LITERAL", "NOT_LITERAL", "ANY", "IN"):
            return rng.choice(self._set_of(name, value))
        if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            least, most, inner = value
            times = rng.randint(least, max(least, min(int(most), self._longest)))
            return "".join(self._text(inner, rng) for _ in range(times))
        if name == "SUBPATTERN":
            return self._text(value[-1], rng)
        if name == "ATOMIC_GROUP":
            return self._text(value, rng)
        if name == "BRANCH":
            return self._text(rng.choice(value[1]), rng)
        if name == "AT":  # ^ and $, which a whole text has anyway
            return ""
        raise ValueError(
            f"pattern {self.pattern!r}: what looks around or refers back cannot be "
            "drawn; write it out"
        )

    def _set_of(self, name: str, value: Any) -> Sequence[str]:
        """The characters of the charset that a part stands for."""
        key = (name, id(value) if name == "IN" else value)
        if key not in self._sets:
            found = [each for each in self._characters if _is_in(each, name, value)]
            if not found:
                needed = repr(chr(value)) if name == "LITERAL" else "character"
                raise ValueError(
                    f"pattern {self.pattern!r}: the charset has no {needed} that it "
                    "needs; give --charset"
                )
            self._sets[key] = found
        return self._sets[key]


def _is_in(character: str, name: str, value: Any) -> bool:
    """Whether a part of an expression, a set or one of its items, holds a character."""
    code = ord(character)
    if name == "LITERAL":
        return bool(code == value)
    if name == "NOT_LITERAL":
        return bool(code != value)
    if name == "ANY":
        return True
    if name == "RANGE":
        return bool(value[0] <= code <= value[1])
    if name == "CATEGORY":
        return _is_of_category(character, str(value))
    negated = str(value[0][0]) == "NEGATE"
    items = value[1:] if negated else value
    return any(_is_in(character, str(kind), item) for kind, item in items) != negated


def _is_of_category(character: str, name: str) -> bool:
    r"""Whether ``\d``, ``\s``, ``\w`` or one of their opposites matches a character."""
    kind = name.rpartition("_")[2][0].lower()
    letter = kind.upper() if "_NOT_" in name else kind
    return re.fullmatch(f"\\{letter}", character) is not None


def tell_unwritable(
    path: Path,
    counts: Mapping[str, float],
    usable: Mapping[str, float] | Sequence[str],
    charset: Charset,
    maximum_length: int,
) -> None:
    """Say how many texts of a file cannot be written, with the first of them and why."""
    known = set(usable)
    lost = [text for text in counts if text not in known]
    if not lost:
        return
    named = ", ".join(f"{text[:40]!r}" for text in lost[:_MOST_NAMED])
    missing = "".join(dict.fromkeys(charset.unknown("".join(lost))))
    reasons = [f"longer than {maximum_length} characters"]
    if missing:
        reasons.insert(0, f"characters that the charset lacks, {missing[:40]!r}")
    console.warn(
        f"{path}: {len(lost):,} of {len(counts):,} texts are not drawn ({named}"
        f"{', ...' if len(lost) > _MOST_NAMED else ''}): {' or '.join(reasons)}"
    )


def refuse_right_to_left(charset: Charset) -> None:
    """Refuse letters that run from right to left and join, which would be drawn wrong.

    Raises:
        ValueError: the charset has some; names their scripts.
    """
    letters = (
        each
        for each in charset.characters
        if unicodedata.bidirectional(each) in _RIGHT_TO_LEFT
    )
    scripts = sorted({unicodedata.name(each).split()[0].title() for each in letters})
    if scripts:
        raise ValueError(
            f"{' and '.join(scripts)} letters run from right to left, and cannot be "
            "drawn yet; leave them out of the charset"
        )


def _shares(given: str | Path | Mapping[str, float] | None) -> list[tuple[str, float]]:
    """Patterns or files with their shares: one alone has 1."""
    if given is None:
        return []
    if isinstance(given, Mapping):
        return list(given.items())
    return [(str(given), 1.0)]
