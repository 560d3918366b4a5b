"""What the writers of all formats have in common."""

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from vit_str.datasets.source import LabeledWord

SHARD_SIZE = 10_000
"""Words in each of several archives, unless another number is asked for."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How the words of a data set are stored.

    Attributes:
        start: number of the first word; names in folders and archives count from it, so that
            parts of one stream that several machines write go together.
        suffix: of the image files, such as ``.png``; if empty, what the bytes of each are.
        boxes: whether to store the boxes of the characters.
        shard_size: words in an archive, if the data set has several.
    """

    start: int = 0
    suffix: str = ".png"
    boxes: bool = False
    shard_size: int = SHARD_SIZE


class DatasetWriter(ABC):
    """Appends words to a data set, and resumes where a writer was stopped, even by a kill.

    The data set itself says how many words it holds, so there is no second truth to lose. A word
    that is there in part is cut off when the data set is opened.

    Args:
        path: where the data set is, or will be.
        layout: how it stores words; the same every time.

    Attributes:
        done: number of words that are there.

    Raises:
        ValueError: what is there is not as this writer leaves it.
        OSError: it cannot be read or written.
    """

    done: int

    def __init__(self, path: Path, layout: Layout) -> None:
        self.path, self.layout = path, layout

    @staticmethod
    def record_path(path: Path) -> Path:
        """Where the description of the data set at ``path`` is kept."""
        return path / "render.json"

    @staticmethod
    def in_the_way(path: Path) -> Path | None:
        """What is at ``path`` already, where a new data set should go; None if nothing."""
        if not path.is_dir():
            return path if path.exists() else None
        return next((entry for entry in path.iterdir() if not entry.name.startswith(".")), None)

    @abstractmethod
    def add(self, words: Sequence[LabeledWord]) -> None:
        """Append words, in order; their labels hold no line breaks."""

    @abstractmethod
    def close(self) -> None:
        """Write what is left; words can still be added when the data set is opened again."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error_type: type[BaseException] | None, *_: object) -> None:
        if error_type is None or issubclass(error_type, KeyboardInterrupt):
            self.close()
        else:
            with suppress(OSError):  # the first error is the one to report
                self.close()


class GrowingFile:
    """Appends to a file after what is known to be whole, and is never left with a part of a piece.

    Nothing is buffered: what has been appended survives however the process ends.

    Args:
        path: the file; made if it is not there.
        end: where its whole part ends, in bytes; what follows is cut off.
    """

    def __init__(self, path: Path, end: int) -> None:
        path.touch()
        self._file = path.open("r+b", buffering=0)
        self.end = end
        self._cut()

    def append(self, data: bytes) -> None:
        """Write a piece."""
        self._write(data)
        self.end += len(data)

    def close(self, tail: bytes = b"") -> None:
        """Cut off a piece that was not written whole, and write the ``tail`` of the file."""
        try:
            self._cut()
            self._write(tail)
        finally:
            self._file.close()

    def _cut(self) -> None:
        if self._file.seek(0, os.SEEK_END) > self.end:
            self._file.truncate(self.end)
        self._file.seek(self.end)

    def _write(self, data: bytes) -> None:
        left = memoryview(data)
        while left:
            left = left[self._file.write(left) :]
