"""Tar archives as WebDataset has them: files of one stem that follow each other are a word."""

import bz2
import glob
import gzip
import json
import lzma
import os
import re
import sys
import tarfile
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any, Self

from vit_str.datasets.label_file import LABELS, BadLine, boxes_of, checked_label, text_under
from vit_str.datasets.source import (
    MAX_BYTES,
    IndexedSource,
    LabeledWord,
    Reason,
    Skipped,
    WordSource,
)
from vit_str.datasets.writer import DatasetWriter, GrowingFile, Layout

NUMBER = re.compile(r"%0?\d*d")
"""Where the number of an archive is in a pattern such as ``words-%06d.tar``."""

_SUFFIX = ".tar"
_OPENERS: dict[str, Any] = {
    **dict.fromkeys((".tar.gz", ".tgz"), gzip.open),
    **dict.fromkeys((".tar.bz2", ".tbz2"), bz2.open),
    **dict.fromkeys((".tar.xz", ".txz"), lzma.open),
}
_LABEL, _VALUES = _LABEL_SUFFIXES = ".txt", ".json"

_MAX_HEADER = 1 << 13  # bytes of a long name or of extended values
_EXTENDED = (
    *(tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK),
    *(tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE),
)


def is_pattern(path: Path) -> bool:
    """Whether a path stands for several archives, as ``words-%06d.tar`` does.

    Raises:
        ValueError: it has a percent sign that is no place for one number.
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
    matches = [(re.fullmatch(rf"{before}(\d+){after}", entry.name), entry) for entry in entries]
    return [
        entry for _, entry in sorted((int(match[1]), entry) for match, entry in matches if match)
    ]


class TarReader(IndexedSource):
    """Words in tar archives: an image, and ``.txt`` (or ``.json`` with a label) of its stem.

    The stem of a name is all before its last dot; the files of a word follow each other. A line
    break at the end of a ``.txt`` is no part of the label. Of a damaged archive, the words before
    the damage are read.

    Reading from front to back needs nothing else. The first use of a length or an index reads the
    headers of all files, about a minute for a million words, and keeps 8 bytes for each word.

    Args:
        path: an archive, a folder of archives, a pattern such as ``words-%06d.tar``, or a glob.

    Raises:
        ValueError: there are no such archives.
    """

    format = "tar"

    def __init__(self, path: str | Path) -> None:
        super().__init__(path)
        self._archives = _archives_of(self.path)
        for archive in self._archives:
            if not archive.is_file():
                raise ValueError(f"{archive}: not a file; expected a tar archive")
        self._starts: array[int] | None = None
        self._firsts: list[int] = []

    @staticmethod
    def recognizes(path: Path) -> bool:
        """Whether a path is an archive, a folder with one, or written as several."""
        if path.is_dir():
            return any(each.suffix.lower() == _SUFFIX for each in path.iterdir())
        several = "%" in path.name or glob.has_magic(str(path))
        return path.suffix.lower() == _SUFFIX and (path.is_file() or several)

    @property
    def known_length(self) -> int | None:
        return None

    def __iter__(self) -> Iterator[LabeledWord | Skipped]:
        for archive in self._archives:
            with archive.open("rb") as file:
                yield from _words(file, archive.name)

    def __len__(self) -> int:
        return len(self._index())

    def __getitem__(self, index: int) -> LabeledWord | Skipped:
        starts = self._index()
        if not 0 <= index < len(starts):
            raise IndexError(index)
        archive = self._archives[bisect_right(self._firsts, index) - 1]
        try:
            with archive.open("rb") as file:
                return next(_words(file, archive.name, starts[index]))
        except (OSError, StopIteration) as error:
            why = str(error) or "changed since it was opened"
            return Skipped(f"{archive.name}, byte {starts[index]:,}", Reason.DAMAGED, why)

    def _index(self) -> "array[int]":
        if self._starts is None:
            starts, firsts = array("Q"), []
            for archive in self._archives:
                firsts.append(len(starts))
                with archive.open("rb") as file:
                    starts.extend(group.start for group in _groups(file, 0, with_content=False))
            self._starts, self._firsts = starts, firsts
        return self._starts


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
        if not self.path.name.lower().endswith(tuple(_OPENERS)):
            raise ValueError(f"{path}: expected a name that ends in {', '.join(_OPENERS)}")
        if not self.path.is_file():
            raise ValueError(f"{path}: no such file; check the path")

    @staticmethod
    def recognizes(path: Path) -> bool:
        """Whether a path is a file that is named as a compressed archive."""
        return path.is_file() and path.name.lower().endswith(tuple(_OPENERS))

    def __iter__(self) -> Iterator[LabeledWord | Skipped]:
        name = self.path.name.lower()
        opener = next(opener for suffix, opener in _OPENERS.items() if name.endswith(suffix))
        with opener(self.path) as file:
            yield from _words(file, self.path.name)


class _Header(tarfile.TarInfo):
    """A header that neither leads backwards nor takes long to parse."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        header = super().frombuf(buf, encoding, errors)
        if header.size < 0 or (header.type in _EXTENDED and header.size > _MAX_HEADER):
            raise ValueError(f"a header of {header.size:,} bytes")
        return header


@dataclass(slots=True)
class _Group:
    """Files of one stem, or where an archive is damaged.

    Attributes:
        start: offset of the first header.
        stem: of the names.
        files: suffix -> content, or a part of it; None if the archive ends inside or it is too
            large.
        damage: why the archive cannot be read on.
    """

    start: int
    stem: str = ""
    files: dict[str, bytes | None] = field(default_factory=dict)
    damage: str = ""

    @property
    def image(self) -> str | None:
        """The suffix of the image."""
        return next((suffix for suffix in self.files if suffix not in _LABEL_SUFFIXES), None)

    @property
    def is_whole(self) -> bool:
        """Whether there is an image and a label."""
        has_label = _LABEL in self.files or _VALUES in self.files
        return self.image is not None and has_label and None not in self.files.values()


class Damaged(Exception):  # noqa: N818 - it says what the archive is
    """Where an archive cannot be read on, and why."""


def _archives_of(path: Path) -> list[Path]:
    """The archives of a data set, in order.

    Raises:
        ValueError: there are none.
    """
    if path.is_dir():
        found = sorted(each for each in path.iterdir() if each.suffix.lower() == _SUFFIX)
    elif path.exists():
        found = [path]
    elif is_pattern(path):
        found = archives_like(path)
    else:
        found = [Path(each) for each in sorted(glob.glob(str(path), recursive=True))]
    if not found:
        raise ValueError(f"{path}: found no tar archives; check the path")
    return found


def _words(file: Any, archive: str, start: int = 0) -> Iterator[LabeledWord | Skipped]:
    """The words of an archive from an offset on, read from front to back."""
    return (_word(group, archive) for group in _groups(file, start, with_content=True))


def headers(file: Any, offset: int) -> Iterator[tarfile.TarInfo]:
    """Headers of files from an offset on, up to the block that ends an archive.

    Raises:
        Damaged: the archive cannot be read on.
    """
    empty = BytesIO(bytes(tarfile.BLOCKSIZE))
    archive = tarfile.TarFile(fileobj=empty, encoding="utf-8", errors="surrogateescape")
    archive.fileobj, archive.offset = file, offset
    while True:
        offset = archive.offset
        try:
            file.seek(offset)
            header = _Header.fromtarfile(archive)
            if archive.offset <= offset:
                raise ValueError("it leads backwards")
        except tarfile.EOFHeaderError:  # type: ignore[attr-defined]
            return
        except (tarfile.EmptyHeaderError, tarfile.TruncatedHeaderError, EOFError):  # type: ignore[attr-defined]
            raise Damaged(offset, f"cut at byte {offset:,}") from None
        except Exception as error:  # tarfile, gzip, bz2 and lzma raise nearly anything
            raise Damaged(offset, f"damaged from byte {offset:,} on ({error})") from None
        yield header


def _groups(file: Any, start: int, with_content: bool) -> Iterator[_Group]:
    """Files of one stem; of a damaged archive, the last group says where the damage begins."""
    from vit_str.runtime.images import SUFFIXES

    group = _Group(start)
    try:
        for header in headers(file, start):
            stem, suffix = os.path.splitext(header.name)
            if not header.isreg() or header.issparse() or os.path.basename(stem).startswith("."):
                continue  # a folder, a link, or the ._ files that macOS leaves
            if stem != group.stem:
                if group.files:
                    yield group
                group = _Group(header.offset, stem)
            suffix = suffix.lower()
            if suffix in _LABEL_SUFFIXES or (suffix in SUFFIXES and group.image is None):
                group.files[suffix] = _content(file, header, with_content)
    except Damaged as error:
        offset, damage = error.args
        if group.is_whole:
            yield group
        yield _Group(offset if group.is_whole else group.start, damage=damage)
    else:
        if group.files:
            yield group


def _content(file: Any, header: tarfile.TarInfo, whole: bool) -> bytes | None:
    """What a file in an archive holds, or its last byte; None if it is cut or too large."""
    skipped = 0 if whole else max(0, header.size - 1)
    try:
        file.seek(header.offset_data + skipped)
        content: bytes = file.read(header.size - skipped) if header.size <= MAX_BYTES else b""
    except Exception:  # a compressed archive that is cut or damaged
        return None
    return content if len(content) == header.size - skipped else None


def _word(group: _Group, archive: str) -> LabeledWord | Skipped:
    if group.damage:
        return Skipped(f"{archive}, byte {group.start:,}", Reason.DAMAGED, group.damage)
    name = f"{archive}/{group.stem}{group.image or ''}"
    files = {suffix: content for suffix, content in group.files.items() if content is not None}
    if len(files) < len(group.files):
        (suffix, *_) = group.files.keys() - files.keys()
        why = f"the archive ends inside, or more than {MAX_BYTES >> 20} MiB"
        return Skipped(name, Reason.DAMAGED, f"{group.stem}{suffix}: {why}")
    if group.image is None:
        found = ", ".join(files)
        return Skipped(name, Reason.MISSING, f"found {found} and no image of this stem next to it")
    try:
        values = _json(files.get(_VALUES))
        return LabeledWord(files[group.image], _label(files, values), boxes_of(values), name)
    except BadLine as error:
        return Skipped(name, error.reason, error.detail)


def _label(contents: dict[str, bytes], values: dict[str, Any]) -> str:
    """From ``.txt``, or else from ``.json``; one end of line is no part of it."""
    if _LABEL in contents:
        line = contents[_LABEL].decode("utf-8", "surrogateescape")
        return checked_label(line[:-1].removesuffix("\r") if line.endswith("\n") else line)
    text = text_under(values, LABELS)
    if text is None:
        none = f"no text under {', '.join(LABELS)} in its .json"
        absent = "no .txt or .json of this stem next to it"
        raise BadLine(Reason.NO_LABEL, none if _VALUES in contents else absent)
    return checked_label(text)


def _json(content: bytes | None) -> dict[str, Any]:
    try:
        values = json.loads(content.decode("utf-8-sig")) if content is not None else {}
    except (ValueError, RecursionError) as error:
        raise BadLine(Reason.DAMAGED, f"its .json: {error}") from None
    return values if isinstance(values, dict) else {}


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
        self._file: GrowingFile | None = None
        self._archive = self._last_archive()
        words, end = self._whole_words(self._archive_path(self._archive))
        self.done = self._first(self._archive) - layout.start + words
        self._end = end
        if words and self._archive_path(self._archive).stat().st_size != end + len(_tail(end)):
            self._open(self._archive)  # closing it writes what it lacks

    @staticmethod
    def record_path(path: Path) -> Path:
        stem = NUMBER.sub("all", path.name).removesuffix(".tar")
        return path.with_name(f"{stem}.render.json")

    @staticmethod
    def in_the_way(path: Path) -> Path | None:
        if not is_pattern(path):
            return path if path.exists() else None
        return next(iter(archives_like(path)), None)

    def add(self, words: Sequence[LabeledWord]) -> None:
        while words:
            number = self.layout.start + self.done
            file = self._open(number // self._size)
            room = self._size - number % self._size
            members = (self._members(number + i, word) for i, word in enumerate(words[:room]))
            file.append(b"".join(members))
            self.done += len(words[:room])
            words = words[room:]

    def close(self) -> None:
        if self._file is None:
            return
        file, self._file = self._file, None
        self._end = file.end
        file.close(_tail(file.end))

    def _open(self, archive: int) -> GrowingFile:
        """The file to append to; the one before is closed."""
        if archive != self._archive:
            self.close()
            self._archive, self._end = archive, 0
        if self._file is None:
            self._file = GrowingFile(self._archive_path(archive), self._end)
        return self._file

    def _members(self, number: int, word: LabeledWord) -> bytes:
        files = {self.layout.suffix or word.suffix: word.image, ".txt": word.label.encode()}
        if self.layout.boxes:
            files[".json"] = word.json_of_boxes().encode()
        return b"".join(_member(f"{number:09d}{suffix}", data) for suffix, data in files.items())

    def _archive_path(self, archive: int) -> Path:
        return self.path.with_name(self.path.name % archive) if self._several else self.path

    def _first(self, archive: int) -> int:
        """Number of the first word that belongs into an archive."""
        return max(self.layout.start, archive * self._size)

    def _last_archive(self) -> int:
        """The last archive of those that follow each other; a new one if there is none."""
        archive = self.layout.start // self._size
        while self._several and self._archive_path(archive + 1).exists():
            archive += 1
        return archive

    def _whole_words(self, path: Path) -> tuple[int, int]:
        """Number of words that are whole in an archive, and where the last of them ends."""
        expected = [self.layout.suffix, ".txt", *([".json"] if self.layout.boxes else [])]
        words = end = 0
        first = self._first(self._archive)
        for place, (name, position) in enumerate(_names(path)):
            word, part = divmod(place, len(expected))
            stem, suffix = os.path.splitext(name)
            if stem != f"{first + word:09d}" or suffix != (expected[part] or suffix):
                raise ValueError(
                    f"{path} has been changed since it was written: it holds {name} after "
                    f"{words} words; write to a new file"
                )
            if part == len(expected) - 1:
                words, end = word + 1, position
        return words, end


def _member(name: str, data: bytes) -> bytes:
    """A file in an archive. ``TarFile`` would keep a list of all of them in memory."""
    info = tarfile.TarInfo(name)
    info.size = len(data)
    return info.tobuf(tarfile.USTAR_FORMAT) + data + bytes(-len(data) % tarfile.BLOCKSIZE)


def _tail(end: int) -> bytes:
    """What closes an archive: empty blocks up to a whole record."""
    size = 2 * tarfile.BLOCKSIZE
    return bytes(size + -(end + size) % tarfile.RECORDSIZE)


def _names(path: Path) -> Iterator[tuple[str, int]]:
    """Names of the members that are whole, and where each ends."""
    if not path.exists():
        return
    with path.open("rb") as file, suppress(Damaged):
        for header in headers(file, 0):
            end = header.offset_data + header.size + -header.size % tarfile.BLOCKSIZE
            if end > path.stat().st_size:
                return
            yield header.name, end
