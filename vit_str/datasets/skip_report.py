"""What was left out of a data set: counted, and listed."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Self, TextIO

from vit_str.console import one_line
from vit_str.datasets.source import Reason, Skipped

_KEPT = 1000


class SkipReport:
    """Counts words that cannot be used, by reason, and lists them.

    Counts are exact. The first words of every reason are kept, so that the memory stays small
    whatever is left out; with a ``file``, every word is written there when it is added.

    Args:
        file: where to write all words, tab-separated, with a line of titles; replaced if it is
            there. Close the report then, or use it in a ``with``.

    Attributes:
        counts: reason -> number of words, in the order in which reasons appeared.
        words: reason -> the words that are kept.
    """

    def __init__(self, file: str | Path | None = None) -> None:
        self.counts: Counter[Reason] = Counter()
        self.words: defaultdict[Reason, list[Skipped]] = defaultdict(list)
        self._file: TextIO | None = None
        if file is not None:
            # Names of files may hold bytes that are not UTF-8, and labels what no encoding has.
            self._file = open(file, "w", 1, "utf-8", "backslashreplace", "\n")  # noqa: SIM115
            self._file.write("name\treason\tdetail\n")

    @property
    def total(self) -> int:
        """Number of words left out."""
        return self.counts.total()

    @property
    def first(self) -> Skipped | None:
        """The first word that was left out."""
        return next((word for words in self.words.values() for word in words), None)

    def add(self, skipped: Skipped) -> None:
        """Count and list a word.

        Raises:
            OSError: the file cannot be written.
        """
        self.counts[skipped.reason] += 1
        if len(self.words[skipped.reason]) < _KEPT:
            self.words[skipped.reason].append(skipped)
        if self._file:
            cells = (skipped.name, skipped.reason, skipped.detail)
            self._file.write("\t".join(map(one_line, cells)) + "\n")

    def table(self) -> Iterator[str]:
        """Number of words by reason, most first, each with an example."""
        width = max((len(f"{count:,}") for count in self.counts.values()), default=0)
        longest = max(map(len, self.counts), default=0)
        for reason, count in self.counts.most_common():
            first = next(iter(self.words[reason]), None)
            example = one_line(f"{first.name} {first.detail}") if first else ""
            yield f"{count:>{width},}  {reason:{longest}}  {example}".rstrip()

    def close(self) -> None:
        """Finish the file."""
        if self._file:
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
