"""Tar archives as WebDataset has them: files of one stem that follow each other are a word."""

import glob
import json
import os
import re
import sys
import tarfile
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from io import BytesIO
from itertools import groupby
from pathlib import Path
from typing import Any

from vit_str.datasets.label_file import LABELS, boxes_of, text_under
from vit_str.datasets.source import DatasetWriter, LabeledWord, Layout, Reason, Skipped, WordSource

NUMBER = re.compile(r"%0?\d*d")
"""Where the number of an archive is in a pattern such as ``words-%06d.tar``."""

_SUFFIX = ".tar"


def is_pattern(path: Path) -> bool:
    """Whether a path stands for several archives, as ``words-%06d.tar`` does."""
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
    matches = [(re.fullmatch(rf"{before}(\d+){after}", entry.name), entry) for entry in entries]
    return [
        entry for _, entry in sorted((int(match[1]), entry) for match, entry in matches if match)
    ]


class TarReader(WordSource):
    """Words in tar archives: an image, and ``.txt`` (or ``.json`` with a label) of its stem.

    The stem of a name is all before its last dot; the files of a word follow each other. A line
    break at the end of a ``.txt`` is no part of the label.

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
                    f"{archive}: no tar archive, or cut short or damaged ({error}); make it again"
                ) from None
        return firsts, starts


File = tuple[tarfile.TarInfo, bytes]
"""A member of an archive and what it holds."""


def _archives_of(path: Path) -> list[Path]:
    """The archives of a data set, in order."""
    if path.is_dir():
        archives = sorted(entry for entry in path.iterdir() if entry.suffix.lower() == _SUFFIX)
    elif path.exists():
        archives = [path]
    elif is_pattern(path):
        archives = archives_like(path)
    else:
        archives = list(map(Path, sorted(glob.glob(str(path), recursive=True))))
    if not archives:
        raise ValueError(f"{path}: found no tar archives; check the path")
    return archives


def members(file: Any) -> Iterator[tuple[tarfile.TarFile, tarfile.TarInfo]]:
    """The files in an uncompressed archive, without those that macOS hides in it."""
    with tarfile.open(fileobj=file, mode="r:") as archive:
        for member in iter(archive.next, None):
            archive.members.clear()  # type: ignore[attr-defined]  # else all are kept
            if member.isfile() and not os.path.basename(member.name).startswith("."):
                yield archive, member
        file.seek(archive.offset)
        if file.read(tarfile.BLOCKSIZE) != bytes(tarfile.BLOCKSIZE):  # the library ends silently
            raise tarfile.ReadError(f"at byte {archive.offset:,}")


def _words(archive: Path, start: int, with_content: bool = True) -> Iterator[list[File]]:
    """Files of one stem that belong to a word, from an offset on."""
    from vit_str.runtime.images import SUFFIXES

    with archive.open("rb") as file:
        file.seek(start)
        for _, group in groupby(members(file), lambda pair: os.path.splitext(pair[1].name)[0]):
            files = [
                (member, tar.extractfile(member).read() if with_content else b"")  # type: ignore[union-attr]
                for tar, member in group
                if member.name.lower().endswith((*SUFFIXES, ".txt", ".json"))
            ]
            if files:
                yield files


def _word(archive: str, files: list[File]) -> LabeledWord | Skipped:
    contents = {os.path.splitext(member.name)[1].lower(): data for member, data in files}
    stem = os.path.splitext(files[0][0].name)[0]
    text = contents.pop(".txt", None)
    values = contents.pop(".json", b"{}")
    if not contents:
        return Skipped(
            f"{archive}/{stem}", Reason.MISSING, "no image of this stem beside its label"
        )
    suffix, image = next(iter(contents.items()))
    name = f"{archive}/{stem}{suffix}"
    try:
        described = json.loads(values)
        label = text_under(described, LABELS) if text is None else _line(text)
        boxes = boxes_of(described)
    except UnicodeDecodeError as error:
        return Skipped(name, Reason.NOT_UTF8, str(error))
    except (ValueError, TypeError, AttributeError) as error:
        return Skipped(name, Reason.DAMAGED, f"its .json: {error}")
    if label is None:
        return Skipped(name, Reason.NO_LABEL, "no .txt of this stem, nor .json with a label")
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

    def __init__(self, path: Path, layout: Layout) -> None:
        super().__init__(path, layout)
        self._several = is_pattern(path)
        self._size = layout.shard_size if self._several else sys.maxsize
        path.parent.mkdir(parents=True, exist_ok=True)
        self._number = -1
        self._archive: tarfile.TarFile | None = None

    @staticmethod
    def existing(path: Path) -> Path | None:
        if is_pattern(path):
            return next(iter(archives_like(path)), None)
        return path if path.exists() else None

    def add(self, words: Sequence[LabeledWord]) -> None:
        for word in words:
            number = self.layout.start + self.done
            archive = self._open(number // self._size)
            files = {self.layout.suffix or word.suffix: word.image, ".txt": word.label.encode()}
            if self.layout.boxes:
                files[".json"] = word.json_of_boxes().encode()
            for suffix, data in files.items():
                info = tarfile.TarInfo(f"{number:09d}{suffix}")
                info.size = len(data)
                archive.addfile(info, BytesIO(data))
            archive.members.clear()  # type: ignore[attr-defined]  # else all are kept
            self.done += 1

    def close(self) -> None:
        if self._archive:
            self._archive.close()

    def _open(self, number: int) -> tarfile.TarFile:
        """The archive of a number; the one before is closed."""
        if self._archive is None or number != self._number:
            self.close()
            path = self.path.with_name(self.path.name % number) if self._several else self.path
            self._archive = tarfile.open(path, "w", format=tarfile.USTAR_FORMAT)  # noqa: SIM115
            self._number = number
        return self._archive
