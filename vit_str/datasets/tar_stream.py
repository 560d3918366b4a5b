"""Compressed tar archives, which can only be read from front to back."""

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from vit_str.datasets.source import Skipped, WordSource
from vit_str.datasets.tar_words import words_of
from vit_str.datasets.word import LabeledWord

_OPENERS: dict[str, Callable[..., Any]] = {
    ".gz": gzip.open,
    ".tgz": gzip.open,
    ".bz2": bz2.open,
    ".tbz2": bz2.open,
    ".xz": lzma.open,
    ".txz": lzma.open,
}


class TarStream(WordSource):
    """Words in one compressed tar archive; see `TarReader` for what it holds.

    Args:
        path: an archive that ends in ``.tar.gz``, ``.tgz``, ``.tar.bz2`` or ``.tar.xz``.

    Raises:
        ValueError: there is no such archive.
    """

    format = "tar.gz"

    def __init__(self, path: str | Path) -> None:
        super().__init__(path)
        if self.path.suffix.lower() not in _OPENERS:
            raise ValueError(f"{path}: expected a name that ends in {', '.join(_OPENERS)}")
        if not self.path.is_file():
            raise ValueError(f"{path}: no such file; check the path")

    @staticmethod
    def recognizes(path: Path) -> bool:
        """Whether a path is a file that is named as a compressed archive."""
        name = path.name.lower()
        endings = tuple(each if each[1] == "t" else f".tar{each}" for each in _OPENERS)
        return path.is_file() and name.endswith(endings)

    def __iter__(self) -> Iterator[LabeledWord | Skipped]:
        with _OPENERS[self.path.suffix.lower()](self.path) as file:
            yield from words_of(_Forward(file), self.path.name)


class _Forward:
    """A compressed file, read at places that only grow; damage ends it."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._ended = False

    def read(self, start: int, size: int) -> bytes:
        if self._ended:
            return b""
        try:
            self._file.seek(start)
            return self._file.read(size)
        except (OSError, EOFError, zlib.error, lzma.LZMAError):
            self._ended = True
            return b""
