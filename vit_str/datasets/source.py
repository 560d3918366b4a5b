"""What the readers of all formats have in common: words in order, and what had to be left out."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import ClassVar

from vit_str.datasets.word import LabeledWord


class Reason(StrEnum):
    """Why a word of a data set cannot be used."""

    MISSING = "image missing"
    UNREADABLE = "image cannot be read"
    SMALL = "image too small"
    NO_LABEL = "no label"
    NOT_UTF8 = "label not UTF-8"
    CHARSET = "characters outside the charset"
    LONG = "label too long"
    DAMAGED = "entry damaged"


@dataclass(frozen=True, slots=True)
class Skipped:
    """A word that cannot be used; it is counted and listed, never silently changed.

    Attributes:
        name: which word: a file, a key, a line, a member of an archive.
        reason: of what kind its trouble is.
        detail: what exactly, in one line.
    """

    name: str
    reason: Reason
    detail: str = ""


class WordSource(ABC):
    """Labeled words of a data set on disk, one by one in a fixed order.

    Opening it reads no image. It can be pickled, so that every process of a loader has its own;
    files are opened when they are first needed. The memory that it takes does not grow while it
    is read. Bytes of images are handed out as they are stored and are not looked at.

    Args:
        path: where the data set is.

    Attributes:
        format: name of the format, one of ``FORMATS``.

    Raises:
        ValueError: there is no such data set, or it is not of this format as a whole.
    """

    format: ClassVar[str]

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    @abstractmethod
    def __iter__(self) -> Iterator[LabeledWord | Skipped]:
        """Every word, or why it cannot be handed out."""


class IndexedSource(WordSource):
    """Words that can be had in any order."""

    @abstractmethod
    def __len__(self) -> int:
        """Number of words, those that cannot be used included."""

    @abstractmethod
    def __getitem__(self, place: int) -> LabeledWord | Skipped:
        """The word at a place from 0 on; IndexError outside."""

    def __iter__(self) -> Iterator[LabeledWord | Skipped]:
        return (self[place] for place in range(len(self)))
