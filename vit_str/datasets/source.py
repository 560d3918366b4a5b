"""Words of data sets, and the base classes of readers and writers of all formats."""

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO, ClassVar, Self

from vit_str.console import one_line

Boxes = tuple[tuple[float, ...], ...]
"""Left, top, right, bottom of every character, in pixels; empty if they are not known."""

SHARD_SIZE = 10_000
"""Words in each of several archives, unless another number is asked for."""

# What image files of each type begin with.
_SIGNATURES = (
    (b"\xff\xd8\xff", ".jpg"),
    (b"\x89PNG", ".png"),
    (b"GIF8", ".gif"),
    (b"BM", ".bmp"),
    (b"II*\0", ".tif"),
    (b"MM\0*", ".tif"),
    (b"\0\0\0\x0cjP", ".jp2"),
    (b"P1", ".pbm"),
    (b"P4", ".pbm"),
    (b"P2", ".pgm"),
    (b"P5", ".pgm"),
    (b"P3", ".ppm"),
    (b"P6", ".ppm"),
)


@dataclass(frozen=True, slots=True)
class LabeledWord:
    """An image of a word, as the bytes of an image file, and what it says."""

    image: bytes  # an encoded image, such as the bytes of a PNG file
    label: str  # the text
    boxes: Boxes = ()  # of the characters
    # Where it was read: a file, a key, a member of an archive; empty if nowhere
    name: str = ""

    @property
    def suffix(self) -> str:
        """The usual suffix of image files of its type, ``.png`` for an unknown type."""
        start = self.image[:12]
        if start[:4] == b"RIFF" and start[8:] == b"WEBP":
            return ".webp"
        if start[4:12] in (b"ftypavif", b"ftypavis"):
            return ".avif"
        return next(
            (suffix for sign, suffix in _SIGNATURES if start.startswith(sign)), ".png"
        )

    def json_of_boxes(self, **more: str) -> str:
        """One line of JSON: what is in ``more``, the label, and a box for each character."""
        values = {**more, "label": self.label, "boxes": self.boxes}
        return json.dumps(values, ensure_ascii=False, separators=(",", ":"))


class Reason(StrEnum):
    """Why a word of a data set cannot be used."""

    MISSING = "image missing"
    OUTSIDE = "image outside the folder"
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

    As text, it is one line.
    """

    name: str  # which word: a file, a key, a line, a member of an archive
    reason: Reason  # why
    detail: str = ""  # what exactly, in one line

    def __str__(self) -> str:
        detail = f" ({self.detail})" if self.detail else ""
        return one_line(f"{self.name}: {self.reason}{detail}")


def too_many_bytes(name: str) -> Skipped:
    """Why a word is skipped whose image, or label, has more bytes than any image."""
    from vit_str.images.refusals import MAX_BYTES

    most = f"larger than {MAX_BYTES // 1_000_000} million bytes"
    return Skipped(name, Reason.UNREADABLE, most)


def read_image_file(path: Path, name: str) -> bytes | Skipped:
    """The bytes of an image file, or why there are none.

    Args:
        path: of the file.
        name: what the word is called.
    """
    from vit_str.images.refusals import MAX_BYTES  # and numpy

    try:
        if path.stat().st_size > MAX_BYTES:
            return too_many_bytes(name)
        return path.read_bytes()
    except OSError as error:
        return Skipped(name, Reason.UNREADABLE, error.strerror or str(error))


class WordStream(ABC):
    """Labeled words of a data set on disk, in a fixed order, from front to back.

    Opening it reads no image. Bytes of images are returned as they are stored, without a look at
    them.

    Raises:
        ValueError: there is no such data set, or it is not of this format as a whole.
    """

    format: ClassVar[str]

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.resolve().name

    @property
    def known_length(self) -> int | None:
        """Number of words, those that cannot be used included; None if all must be read for it."""
        return None

    @property
    def share_read(self) -> float:
        """How much of the files has been read, if the number of words is not known."""
        return 0.0

    @abstractmethod
    def __iter__(self) -> Iterator[LabeledWord | Skipped]:
        """Every word, or why it cannot be used."""


class WordSource(WordStream):
    """Labeled words, any of them by its index.

    It can be pickled, so that every process of a loader has its own; files are opened when they are
    first needed.
    """

    @property
    def known_length(self) -> int:
        return len(self)

    @abstractmethod
    def __len__(self) -> int:
        """Number of words, those that cannot be used included."""

    @abstractmethod
    def __getitem__(self, index: int) -> LabeledWord | Skipped:
        """The word at an index from 0 on, or why it cannot be used; IndexError outside."""

    def __iter__(self) -> Iterator[LabeledWord | Skipped]:
        return (self[index] for index in range(len(self)))


def words_from(
    sources: Sequence[WordStream],
    start: int,
) -> Iterator[LabeledWord | Skipped]:
    """The words of data sets one after the other, without the first ``start`` of all."""
    for source in sources:
        count = 0
        if isinstance(source, WordSource):
            count = len(source)
            yield from (source[index] for index in range(start, count))
        else:
            for word in source:
                count += 1
                if count > start:
                    yield word
        start = max(0, start - count)


@dataclass(frozen=True, slots=True)
class Layout:
    """How the words of a data set are stored."""

    # Number of the first word; names in folders and archives count from it, so that parts of one
    # stream that several machines write go together
    start: int = 0
    # Of the image files, such as `.png`; if empty, what the bytes of each are
    suffix: str = ".png"
    boxes: bool = False  # whether to store the boxes of the characters
    shard_size: int = SHARD_SIZE  # words in an archive, if the data set has several


Position = Mapping[str, int]
"""Where the files of a data set end that holds a certain number of words: name -> number."""


class DatasetWriter(ABC):
    """Writes a new data set, or goes on with one that was stopped.

    What `add` has written stays however the process ends.

    Args:
        path: of the data set.
        layout: how it stores words.
        position: what `position` was when the writer before had written ``done`` words; all that
            was written after is written again. None for a new data set.
        done: words that are there.

    Raises:
        ValueError: something is at ``path`` that no position is known of, or less than there was.
        OSError: it cannot be written.
    """

    def __init__(
        self,
        path: Path,
        layout: Layout,
        position: Position | None = None,
        done: int = 0,
    ) -> None:
        self.path = path
        self.layout = layout
        self.done = done
        if position is None:
            self.refuse_existing(path)

    @abstractmethod
    def position(self) -> Position | None:
        """Where the files end; None while words wait to be written."""

    @classmethod
    def refuse_existing(cls, path: Path) -> None:
        """Raise a ValueError if something is where a new data set should go."""
        found = cls.existing(path)
        if found:
            raise ValueError(
                f"{found} is there already; remove it or give another name"
            )

    @staticmethod
    def existing(path: Path) -> Path | None:
        """The data set at ``path``; None if nothing is there, or an empty folder."""
        if path.is_dir():
            entries = (
                entry for entry in path.iterdir() if not entry.name.startswith(".")
            )
            return next(entries, None)
        return path if path.exists() else None

    @abstractmethod
    def add(self, words: Sequence[LabeledWord]) -> None:
        """Append words, in order; their labels hold no line breaks."""

    @abstractmethod
    def close(self) -> None:
        """Write what is left."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error_type: type[BaseException] | None, *_: object) -> None:
        if error_type is None:
            self.close()
        else:
            with suppress(OSError):  # the first error is the one to report
                self.close()


def continued(path: Path, end: int) -> BinaryIO:
    """A file to append to after its first ``end`` bytes; what follows them is cut off.

    Raises:
        ValueError: it has fewer bytes.
    """
    path.touch()
    file = path.open("r+b")
    found = file.seek(0, os.SEEK_END)
    if found < end:
        file.close()
        raise ValueError(
            f"{path}: {found:,} bytes, but {end:,} were written; remove what was "
            "begun, and its file .unfinished"
        )
    file.truncate(end)
    file.seek(end)
    return file
