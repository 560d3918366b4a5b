"""What was left out of a data set: counted, and listed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Self, TextIO

from vit_str.datasets.source import Reason, Skipped
from vit_str.files import one_line

_COLUMNS = "name\treason\tdetail\n"
_KEPT = 1000


class SkipReport:
    """Counts words that cannot be used, by reason, and lists them.

    Counts are exact. The first words of every reason are kept, so that the memory stays small
    whatever is left out; with a ``file``, every word is written there when it is added.

    Args:
        kept: most words of a reason to keep.
        file: where to write all words, tab-separated, with a line of titles; replaced if it is
            there. Close the report then, or use it in a ``with``.

    Attributes:
        counts: reason -> number of words, in the order in which reasons appeared.
    """

    def __init__(self, kept: int = _KEPT, file: str | Path | None = None) -> None:
        self.kept = kept
        self.counts: dict[Reason, int] = {}
        self._words: dict[Reason, list[Skipped]] = {}
        self._file = None if file is None else _begin(Path(file))

    @property
    def total(self) -> int:
        """Number of words left out."""
        return sum(self.counts.values())

    def words(self, reason: Reason | None = None) -> Iterator[Skipped]:
        """The words that are kept, of one reason or of all."""
        for each in [reason] if reason else list(self._words):
            yield from self._words.get(each, ())

    def add(self, skipped: Skipped) -> None:
        """Count and list a word.

        Raises:
            OSError: the file cannot be written.
        """
        self.counts[skipped.reason] = self.counts.get(skipped.reason, 0) + 1
        words = self._words.setdefault(skipped.reason, [])
        if len(words) < self.kept:
            words.append(skipped)
        if self._file:
            self._file.write(_row(skipped))

    def lines(self) -> Iterator[str]:
        """A line for every word that is kept, and one for how many more there are of a reason."""
        for reason, number in self.counts.items():
            kept = self._words.get(reason, [])
            yield from map(_line, kept)
            if number > len(kept):
                yield f"{number - len(kept):,} more: {reason}"

    def table(self) -> str:
        """Number of words by reason, most first, each with an example; empty without any."""
        ranked = sorted(self.counts, key=lambda reason: -self.counts[reason])
        numbers = [f"{self.counts[reason]:,}" for reason in ranked]
        width, longest = max(map(len, numbers), default=0), max(map(len, ranked), default=0)
        rows = []
        for reason, number in zip(ranked, numbers, strict=True):
            first = next(iter(self._words.get(reason, ())), None)
            example = one_line(f"{first.name} {first.detail}") if first else ""
            rows.append(f"{number:>{width}}  {reason:{longest}}  {example}".rstrip())
        return "\n".join(rows)

    def close(self) -> None:
        """Finish the file."""
        if self._file:
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _begin(path: Path) -> TextIO:
    # Names of files may hold bytes that are not UTF-8, and labels what no encoding has.
    file = path.open("w", buffering=1, encoding="utf-8", errors="backslashreplace", newline="\n")
    file.write(_COLUMNS)
    return file


def _row(skipped: Skipped) -> str:
    cells = (skipped.name, str(skipped.reason), skipped.detail)
    return "\t".join(map(one_line, cells)) + "\n"


def _line(skipped: Skipped) -> str:
    detail = f" ({skipped.detail})" if skipped.detail else ""
    return one_line(f"{skipped.name}: {skipped.reason}{detail}")
