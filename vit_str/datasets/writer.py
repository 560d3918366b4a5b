"""What the writers of all formats have in common."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
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
    """Writes a new data set.

    Attributes:
        done: number of words that are written.

    Raises:
        ValueError: something is at ``path``.
        OSError: it cannot be written.
    """

    def __init__(self, path: Path, layout: Layout) -> None:
        self.path = path
        self.layout = layout
        self.done = 0
        self.refuse_existing(path)

    @classmethod
    def refuse_existing(cls, path: Path) -> None:
        """Raise a ValueError if something is where a new data set should go."""
        found = cls.existing(path)
        if found:
            raise ValueError(f"{found} is there already; remove it or give another name")

    @staticmethod
    def existing(path: Path) -> Path | None:
        """What is at ``path``; None if nothing is, or an empty folder."""
        if path.is_dir():
            return next((entry for entry in path.iterdir() if not entry.name.startswith(".")), None)
        return path if path.exists() else None

    @abstractmethod
    def add(self, words: Sequence[LabeledWord]) -> None:
        """Append words, in order; their labels hold no line breaks."""

    @abstractmethod
    def close(self) -> None:
        """Write what is left."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
