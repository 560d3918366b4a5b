"""Tar archives as WebDataset has them, any word by its place."""

from array import array
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path

from vit_str.datasets.random_file import RandomFile
from vit_str.datasets.source import IndexedSource, Reason, Skipped
from vit_str.datasets.tar_paths import archives_of, stands_for_archives
from vit_str.datasets.tar_words import starts_of, words_of
from vit_str.datasets.word import LabeledWord

_OPEN = 32


class TarReader(IndexedSource):
    """Words in tar archives: an image, and ``.txt`` (or ``.json`` with a label) of its stem.

    The stem of a name is all before its last dot; the files of a word follow each other. A line
    break at the end of a ``.txt`` is no part of the label. Of a damaged archive, the words that
    are whole are read.

    Reading from front to back needs nothing else. The first use of a length or a place reads the
    headers of all files: some 20 seconds for a million words where the disk is fast, and 8 bytes
    of memory for each word.

    Args:
        path: an archive, a folder of archives, a pattern such as ``words-%06d.tar``, a range such
            as ``words-{000000..000009}.tar``, or a glob.

    Raises:
        ValueError: there are no such archives.
    """

    format = "tar"

    def __init__(self, path: str | Path) -> None:
        super().__init__(path)
        self._archives = archives_of(self.path)
        for archive in self._archives:
            if not archive.is_file():
                raise ValueError(f"{archive}: not a file; expected a tar archive")
        self._files: OrderedDict[int, RandomFile] = OrderedDict()
        self._starts: array[int] | None = None
        self._firsts: list[int] = []

    @staticmethod
    def recognizes(path: Path) -> bool:
        """Whether a path is an archive, a folder with one, or written as several."""
        return stands_for_archives(path)

    def __iter__(self) -> Iterator[LabeledWord | Skipped]:
        for archive in self._archives:
            yield from words_of(RandomFile(archive), archive.name)

    def __len__(self) -> int:
        return len(self._index())

    def __getitem__(self, place: int) -> LabeledWord | Skipped:
        starts = self._index()
        if not 0 <= place < len(starts):
            raise IndexError(place)
        number = bisect_right(self._firsts, place) - 1
        archive = self._archives[number].name
        try:
            return next(words_of(self._file(number), archive, starts[place]))
        except (OSError, StopIteration) as error:
            why = str(error) or "changed since it was opened"
            return Skipped(f"{archive}, byte {starts[place]:,}", Reason.DAMAGED, why)

    def _index(self) -> "array[int]":
        if self._starts is None:
            starts = array("Q")
            firsts = []
            for archive in self._archives:
                firsts.append(len(starts))
                starts.extend(starts_of(RandomFile(archive)))
            self._starts, self._firsts = starts, firsts
        return self._starts

    def _file(self, number: int) -> RandomFile:
        """An archive, one of those that were used last or opened now."""
        file = self._files.pop(number, None)
        if file is None:
            file = RandomFile(self._archives[number])
        self._files[number] = file
        if len(self._files) > _OPEN:
            self._files.popitem(last=False)
        return file
