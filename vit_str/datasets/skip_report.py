"""What was left out of a data set: counted, and listed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self, TextIO

from vit_str.datasets.source import Reason, Skipped

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
        self._count(skipped.reason, 1)
        self._keep(skipped)
        if self._file:
            self._file.write(_row(skipped))

    def merge(self, other: SkipReport) -> None:
        """Count and list what another report has; its file stays its own."""
        for reason, number in other.counts.items():
            self._count(reason, number)
        for skipped in other.words():
            self._keep(skipped)

    def _count(self, reason: Reason, number: int) -> None:
        self.counts[reason] = self.counts.get(reason, 0) + number

    def _keep(self, skipped: Skipped) -> None:
        words = self._words.setdefault(skipped.reason, [])
        if len(words) < self.kept:
            words.append(skipped)

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
            example = _escaped(f"{first.name} {first.detail}") if first else ""
            rows.append(f"{number:>{width}}  {reason:{longest}}  {example}".rstrip())
        return "\n".join(rows)

    def save(self, path: str | Path) -> None:
        """Write the words that are kept, tab-separated, under a line of titles.

        Raises:
            OSError: it cannot be written.
        """
        with _begin(Path(path)) as file:
            file.writelines(map(_row, self.words()))

    def close(self) -> None:
        """Finish the file."""
        if self._file:
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def _begin(path: Path) -> TextIO:
    # Names of files may hold bytes that are not UTF-8, and labels what no encoding has.
    file = path.open("w", buffering=1, encoding="utf-8", errors="backslashreplace", newline="\n")
    file.write(_COLUMNS)
    return file


def _row(skipped: Skipped) -> str:
    cells = (skipped.name, str(skipped.reason), skipped.detail)
    return "\t".join(map(_escaped, cells)) + "\n"


def _line(skipped: Skipped) -> str:
    detail = f" ({skipped.detail})" if skipped.detail else ""
    return _escaped(f"{skipped.name}: {skipped.reason}{detail}")


def _escaped(text: str) -> str:
    """Without line breaks, tabs and other control characters."""
    from vit_str.images import one_line

    return one_line(text)
