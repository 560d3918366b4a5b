"""Words that a run met and could not use: counted once each, and listed beside its logs."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from lightning.pytorch.utilities import rank_zero_info

from vit_str.datasets import IndexedSource, SkipReport
from vit_str.training.crops import Unusable


class UnusableWords:
    """Keeps account of them; the file is made when there is one.

    Args:
        sources: of the words, in the order of their numbers.
        folder: where to list them.
        rank: number of this process; those after the first list what they meet in files of
            their own.
    """

    def __init__(self, sources: Sequence[IndexedSource], folder: Path, rank: int = 0) -> None:
        self.path = folder / (f"skipped_{rank}.tsv" if rank else "skipped.tsv")
        self._sources = sources
        self._met = [bytearray(len(source)) for source in sources]
        self._report: SkipReport | None = None

    @property
    def total(self) -> int:
        """Number of words that were met."""
        return self._report.total if self._report else 0

    def add(self, unusable: Unusable) -> None:
        """Count and list a word, if it was not met before.

        Raises:
            OSError: the list cannot be written.
        """
        if self._met[unusable.source][unusable.place]:
            return
        self._met[unusable.source][unusable.place] = 1
        skipped = unusable.skipped
        if self._report is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._report = SkipReport(file=self.path)
            detail = f" ({skipped.detail})" if skipped.detail else ""
            rank_zero_info(
                f"left out {skipped.name}: {skipped.reason}{detail}; "
                f"all words that cannot be used are listed in {self.path}"
            )
        source = self._sources[unusable.source].path
        self._report.add(replace(skipped, name=f"{source}: {skipped.name}"))

    def close(self) -> None:
        """Finish the list and say how many words are on it."""
        if self._report is None:
            return
        counts = ", ".join(f"{count:,} {reason}" for reason, count in self._report.counts.items())
        self._report.close()
        rank_zero_info(f"words left out: {counts}; listed in {self.path}")
        self._report = None
