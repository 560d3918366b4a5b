"""Tar archives as WebDataset has them, where files of one stem are a word, and that of MJSynth."""

import glob
import gzip
import json
import lzma
import os
import re
import sys
import tarfile
import zlib
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from io import BytesIO
from itertools import groupby
from pathlib import Path
from typing import Any, BinaryIO, Self

from vit_str.console import reason_of
from vit_str.datasets.label_file import DAMAGE, LABELS, boxes_of, text_under
from vit_str.datasets.mjsynth import is_list, label_of_member
from vit_str.datasets.source import (
    DatasetWriter,
    LabeledWord,
    Layout,
    Position,
    Reason,
    Skipped,
    WordSource,
    WordStream,
    continued,
    too_many_bytes,
)

NUMBER = re.compile(r"%0?\d*d")
"""Where the number of an archive is in a pattern such as ``words-%06d.tar``."""

_SUFFIX = ".tar"
_COMPRESSED = (".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")


def is_pattern(path: Path) -> bool:
    """Whether a path stands for several archives, as ``words-%06d.tar`` does.

    Raises:
        ValueError: for a name with several places for a number.
    """
    if "%" not in path.name:
        return False
    if len(NUMBER.findall(path.name)) != 1 or path.name.count("%") != 1:
        raise ValueError(
            f"expected one place for the number of the archive, as in words-%06d.tar, "
            f"found {path.name}"
        )
    return True


def archives_like(path: Path) -> list[Path]:
    """The archives that a path such as ``words-%06d.tar`` stands for, by number."""
    before, after = map(re.escape, NUMBER.split(path.name))
    entries = path.parent.iterdir() if path.parent.is_dir() else ()
    pattern = re.compile(rf"{before}(\d+){after}")
    numbered = []
    for entry in entries:
        match = pattern.fullmatch(entry.name)
        if match:
            numbered.append((int(match[1]), entry))
    return [entry for _, entry in sorted(numbered)]


class TarReader(WordSource):
    """Words in tar archives: an image, and ``.txt`` (or ``.json`` with a label) of its stem.

    The stem of a name is all before its last dot; the files of a word follow each other. A line
    break at the end of a ``.txt`` is no part of the label. Images of MJSynth, such as
    ``2425/1/115_Lube_45484.jpg``, have their labels in their names; its lists are not looked at.

    The first use of a length or an index reads the headers of all files, about a minute for a
    million words, and keeps 8 bytes for each word.

    Args:
        path: an archive, a folder of archives, a pattern such as ``words-%06d.tar``, or a glob.

    Raises:
        ValueError: there are no such archives; when first read, one is damaged or cut short.
    """

    format = "tar"

    def __init__(self, path: str | Path) -> None:
        super().__init__(path)
        self._archives = _archives_of(self.path)

    @staticmethod
    def recognizes(path: Path) -> bool:
        """Whether a path is an archive, a folder with one, or written as several."""
        if path.is_dir():
            return any(entry.suffix.lower() == _SUFFIX for entry in path.iterdir())
        several = "%" in path.name or glob.has_magic(str(path))
        return path.suffix.lower() == _SUFFIX and (path.is_file() or several)

    def __len__(self) -> int:
        return len(self._index[1])

    def __getitem__(self, index: int) -> LabeledWord | Skipped:
        firsts, starts = self._index
        if not 0 <= index < len(starts):
            raise IndexError(index)
        archive = self._archives[bisect_right(firsts, index) - 1]
        for files in _words(archive, starts[index]):
            return _word(archive.name, files)
        return Skipped(archive.name, Reason.DAMAGED, "changed since it was opened")

    @cached_property
    def _index(self) -> "tuple[list[int], array[int]]":
        """The number of the first word of every archive, and where every word starts in its own."""
        firsts = []
        starts = array("Q")
        for archive in self._archives:
            firsts.append(len(starts))
            try:
                starts.extend(files[0][0].offset for files in _words(archive, 0, False))
            except (tarfile.TarError, EOFError) as error:
                raise ValueError(
                    f"{archive}: no tar archive, or cut short or damaged ({error}); "
                    "make it again"
                ) from None
        return firsts, starts


class TarStream(WordStream):
    """Words in one compressed tar archive, from front to back; see `TarReader` for what it holds.

    Raises:
        ValueError: there is no such archive; while it is read, that it is damaged or cut short.
    """

    format = "tar.gz"

    def __init__(self, path: str | Path) -> None:
        super().__init__(path)
        if not self.recognizes(self.path):
            endings = ", ".join(_COMPRESSED)
            raise ValueError(
                f"{path}: found no file there that ends in {endings}; check the path"
            )
        self._bytes_read = 0

    @staticmethod
    def recognizes(path: Path) -> bool:
        """Whether a path is a file that is named as a compressed archive."""
        return path.is_file() and path.name.lower().endswith(_COMPRESSED)

    @property
    def share_read(self) -> float:
        return self._bytes_read / max(1, self.path.stat().st_size)

    def __iter__(self) -> Iterator[LabeledWord | Skipped]:
        count = 0
        try:
            with (
                self.path.open("rb") as file,
                # It finds out what the archive is compressed with.
                tarfile.open(fileobj=file, mode="r:*", tarinfo=_Header) as archive,
            ):
                for files in _grouped(archive):
                    count += 1
                    self._bytes_read = file.tell()
                    yield _word(self.path.name, files)
        except (
            tarfile.TarError,
            EOFError,
            zlib.error,
            lzma.LZMAError,
            gzip.BadGzipFile,
        ) as error:
            raise ValueError(
                f"{self.path}: damaged or cut short after {count:,} words "
                f"({reason_of(error)}); download or make it again"
            ) from None


File = tuple[tarfile.TarInfo, bytes]
"""A member of an archive and what it holds."""


def _archives_of(path: Path) -> list[Path]:
    """The archives of a data set, in order."""
    if path.is_dir():
        archives = sorted(
            entry for entry in path.iterdir() if entry.suffix.lower() == _SUFFIX
        )
    elif path.exists():
        archives = [path]
    elif is_pattern(path):
        archives = archives_like(path)
    else:
        archives = list(map(Path, sorted(glob.glob(str(path), recursive=True))))
    if not archives:
        raise ValueError(f"{path}: found no tar archives; check the path")
    return archives


class _Header(tarfile.TarInfo):
    """A header that says so if it is damaged; the library takes it for the end of the archive."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        try:
            return super().frombuf(buf, encoding, errors)
        except tarfile.HeaderError as error:
            if buf == bytes(tarfile.BLOCKSIZE):  # which does end an archive
                raise
            raise tarfile.ReadError(str(error)) from None


def members(file: Any) -> Iterator[tuple[tarfile.TarFile, tarfile.TarInfo]]:
    """The files in an uncompressed archive, without those that macOS hides in it.

    Raises:
        tarfile.TarError: it is damaged or cut short.
    """
    with tarfile.open(fileobj=file, mode="r:", tarinfo=_Header) as archive:
        yield from ((archive, member) for member in _members_of(archive))


def _members_of(archive: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    for member in iter(archive.next, None):
        archive.members.clear()  # type: ignore[attr-defined]  # else all are kept
        if member.isfile() and not os.path.basename(member.name).startswith("."):
            yield member


def _words(
    archive: Path, start: int, with_content: bool = True
) -> Iterator[list[File]]:
    """Files of one stem that belong to a word, from an offset on."""
    with archive.open("rb") as file:
        file.seek(start)
        with tarfile.open(fileobj=file, mode="r:", tarinfo=_Header) as tar:
            yield from _grouped(tar, with_content)


def _grouped(
    archive: tarfile.TarFile,
    with_content: bool = True,
) -> Iterator[list[File]]:
    """Files of one stem that belong to a word."""
    for _, group in groupby(_members_of(archive), _stem):
        files = []
        for member in group:
            if _belongs_to_word(member.name):
                # A sparse file may say that it is larger than any memory
                wanted = with_content and not _is_too_large(member)
                content = archive.extractfile(member) if wanted else None
                files.append((member, content.read() if content else b""))
        if files:
            yield files


def _stem(member: tarfile.TarInfo) -> str:
    stem, _ = os.path.splitext(member.name)
    return stem


def _belongs_to_word(name: str) -> bool:
    from vit_str.images.loading import SUFFIXES

    return name.lower().endswith((*SUFFIXES, ".txt", ".json")) and not is_list(name)


def _is_too_large(member: tarfile.TarInfo) -> bool:
    from vit_str.images.refusals import MAX_BYTES

    return member.size > MAX_BYTES


def _word(archive: str, files: list[File]) -> LabeledWord | Skipped:
    contents = {
        os.path.splitext(member.name)[1].lower(): data for member, data in files
    }
    stem = os.path.splitext(files[0][0].name)[0]
    if any(_is_too_large(member) for member, _ in files):
        return too_many_bytes(f"{archive}/{stem}")
    text = contents.pop(".txt", None)
    values = contents.pop(".json", b"{}")
    if not contents:
        return Skipped(
            f"{archive}/{stem}",
            Reason.MISSING,
            "no image of this stem beside its label",
        )
    suffix, image = next(iter(contents.items()))
    name = f"{archive}/{stem}{suffix}"
    try:
        described = json.loads(values)
        label = text_under(described, LABELS) if text is None else _line(text)
        boxes = boxes_of(described)
    except UnicodeDecodeError as error:
        return Skipped(name, Reason.NOT_UTF8, str(error))
    except DAMAGE as error:
        return Skipped(name, Reason.DAMAGED, f"its .json: {error}")
    if label is None:
        label = label_of_member(f"{stem}{suffix}")
    if label is None:
        return Skipped(
            name, Reason.NO_LABEL, "no .txt of this stem, nor .json with a label"
        )
    return LabeledWord(image, label, boxes, name)


def _line(text: bytes) -> str:
    """The text of a file; one end of line is no part of it."""
    line = text.decode()
    return line[:-1].removesuffix("\r") if line.endswith("\n") else line


class TarWriter(DatasetWriter):
    """Writes ``000000000.png``, ``000000000.txt`` (the label) and, with boxes, ``.json``.

    A path such as ``words-%06d.tar`` makes several archives. The number of a word decides which
    it is in, so archives that several machines write are those that one machine would write, if
    each starts at a multiple of their size.
    """

    def __init__(
        self,
        path: Path,
        layout: Layout,
        position: Position | None = None,
        done: int = 0,
    ) -> None:
        super().__init__(path, layout, position, done)
        self._several = is_pattern(path)
        self._size = layout.shard_size if self._several else sys.maxsize
        path.parent.mkdir(parents=True, exist_ok=True)
        self._number = -1
        self._archive: tarfile.TarFile | None = None
        self._file: BinaryIO | None = None
        if position:
            self._open(position["archive"], position["bytes"])

    def position(self) -> Position:
        if self._archive is None:
            return {}
        return {"archive": self._number, "bytes": self._archive.offset}

    @staticmethod
    def existing(path: Path) -> Path | None:
        if is_pattern(path):
            return next(iter(archives_like(path)), None)
        return path if path.exists() else None

    def add(self, words: Sequence[LabeledWord]) -> None:
        for word in words:
            number = self.layout.start + self.done
            archive = self._archive_of(number // self._size)
            files = {
                self.layout.suffix or word.suffix: word.image,
                ".txt": word.label.encode(),
            }
            if self.layout.boxes:
                files[".json"] = word.json_of_boxes().encode()
            for suffix, data in files.items():
                info = tarfile.TarInfo(f"{number:09d}{suffix}")
                info.size = len(data)
                archive.addfile(info, BytesIO(data))
            archive.members.clear()  # type: ignore[attr-defined]  # else all are kept
            self.done += 1
        if self._file:
            self._file.flush()

    def close(self) -> None:
        if self._archive and self._file:
            self._archive.close()
            self._file.close()

    def _archive_of(self, number: int) -> tarfile.TarFile:
        """The archive of a number; the one before is closed."""
        if self._archive is None or number != self._number:
            self.close()
            return self._open(number, 0)
        return self._archive

    def _open(self, number: int, end: int) -> tarfile.TarFile:
        """The archive of a number, to append to after its first ``end`` bytes."""
        path = self.path
        if self._several:
            path = path.with_name(path.name % number)
        self._number = number
        self._file = continued(path, end)
        self._archive = tarfile.TarFile(
            fileobj=self._file,
            mode="w",
            format=tarfile.USTAR_FORMAT,
        )
        return self._archive
