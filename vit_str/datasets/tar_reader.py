"""Tar archives as WebDataset has them: files of one stem that follow each other are a word."""

import glob
import json
import os
import re
import tarfile
from array import array
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import IO, Any, NamedTuple, Self

from vit_str.datasets.label_file import LABELS, BadLine, boxes_of, checked_label, text_under
from vit_str.datasets.source import (
    MAX_BYTES,
    IndexedSource,
    LabeledWord,
    Reason,
    Skipped,
    WordSource,
)
from vit_str.datasets.tar import NUMBER, is_pattern

_SUFFIX = ".tar"
_COMPRESSED = (".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")
_LABEL, _VALUES, _CLASS = _LABEL_SUFFIXES = ".txt", ".json", ".cls"
_RANGE = re.compile(r"\{(\d+)\.\.(\d+)\}")
_MAX_ARCHIVES = 1_000_000
_MAX_HEADER = 1 << 13  # bytes of a long name or of extended values
_EXTENDED = (
    *(tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK),
    *(tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE),
)


class TarReader(IndexedSource):
    """Words in tar archives: an image, and ``.txt`` (or ``.json`` with a label) of its stem.

    The stem of a name is all before its last dot; the files of a word follow each other. A line
    break at the end of a ``.txt`` is no part of the label. Of a damaged archive, the words before
    the damage are read.

    Reading from front to back needs nothing else. The first use of a length or an index reads the
    headers of all files, about a minute for a million words, and keeps 8 bytes for each word.

    Args:
        path: an archive, a folder of archives, a pattern such as ``words-%06d.tar``, a range such
            as ``words-{000000..000009}.tar``, or a glob.

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
        if path.suffix.lower() != _SUFFIX:
            return False
        several = _RANGE.search(str(path)) or NUMBER.search(path.name) or glob.has_magic(str(path))
        return path.is_file() or bool(several)

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
        number = bisect_right(self._firsts, index) - 1
        archive = self._archives[number]
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
        if not self.path.name.lower().endswith(_COMPRESSED):
            raise ValueError(f"{path}: expected a name that ends in {', '.join(_COMPRESSED)}")
        if not self.path.is_file():
            raise ValueError(f"{path}: no such file; check the path")

    @staticmethod
    def recognizes(path: Path) -> bool:
        """Whether a path is a file that is named as a compressed archive."""
        return path.is_file() and path.name.lower().endswith(_COMPRESSED)

    def __iter__(self) -> Iterator[LabeledWord | Skipped]:
        suffix = self.path.suffix.lower()
        with _opener(suffix)(self.path) as file:
            yield from _words(_Decompressed(file), self.path.name)


class _Decompressed:
    """A compressed file whose damage looks like its end."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._is_damaged = file, False

    def read(self, size: int) -> bytes:
        try:
            return b"" if self._is_damaged else self._file.read(size)
        except Exception:  # gzip, bz2 and lzma raise what they like: zlib.error, EOFError, ...
            self._is_damaged = True
            return b""

    def seek(self, offset: int) -> None:
        """Go forward, reading; a decompressed file has no other way."""
        while (missing := offset - self._file.tell()) > 0 and self.read(min(missing, 1 << 20)):
            pass

    def tell(self) -> int:
        return self._file.tell()


class _Header(tarfile.TarInfo):
    """A header that neither leads backwards nor takes long to parse."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        header = super().frombuf(buf, encoding, errors)
        if header.size < 0 or (header.type in _EXTENDED and header.size > _MAX_HEADER):
            raise ValueError(f"a header of {header.size:,} bytes")
        return header


class _Damage(NamedTuple):
    """Where an archive cannot be read on, and why."""

    offset: int
    reason: str


@dataclass(slots=True)
class _Group:
    """Files of one stem: suffix -> header, and what they hold once it is read."""

    stem: str
    start: int
    files: dict[str, tarfile.TarInfo] = field(default_factory=dict)
    contents: dict[str, bytes] = field(default_factory=dict)
    damage: str = ""

    def image(self) -> str | None:
        """The suffix of the image."""
        return next((suffix for suffix in self.files if suffix not in _LABEL_SUFFIXES), None)

    def is_whole(self, file: Any) -> bool:
        """Whether there is an image and a label, and the archive does not end inside."""
        suffix, header = list(self.files.items())[-1]
        if header.size > MAX_BYTES:
            return False
        if suffix in self.contents:
            is_cut = len(self.contents[suffix]) < header.size
        else:
            file.seek(header.offset_data + max(0, header.size - 1))
            is_cut = header.size > 0 and not file.read(1)
        has_label = not self.files.keys().isdisjoint({_LABEL, _VALUES})
        return self.image() is not None and has_label and not is_cut


def _opener(suffix: str) -> Any:
    import bz2
    import gzip
    import lzma

    openers = {".gz": gzip.open, ".tgz": gzip.open, ".bz2": bz2.open, ".tbz2": bz2.open}
    return openers.get(suffix, lzma.open)


def _archives_of(path: Path) -> list[Path]:
    """The archives of a data set, in order.

    Raises:
        ValueError: there are none, or one of a range is missing.
    """
    if path.is_dir():
        found = sorted(each for each in path.iterdir() if each.suffix.lower() == _SUFFIX)
    elif path.exists():
        found = [path]
    elif _RANGE.search(str(path)):
        found = [Path(each) for each in _ranges(str(path))]
        missing = next((each for each in found if not each.is_file()), None)
        if missing:
            raise ValueError(f"{missing}, one of {path}: no such file; check the range")
    elif is_pattern(path):
        before, after = map(re.escape, NUMBER.split(path.name))
        entries = path.parent.iterdir() if path.parent.is_dir() else ()
        matches = [(re.fullmatch(rf"{before}(\d+){after}", each.name), each) for each in entries]
        numbered = sorted((int(match[1]), each) for match, each in matches if match)
        found = [each for _, each in numbered]
    else:
        found = [Path(each) for each in sorted(glob.glob(str(path), recursive=True))]
    if not found:
        raise ValueError(f"{path}: found no tar archives; check the path")
    return found


def _ranges(text: str) -> list[str]:
    """All that ``{first..last}`` stands for, with as many digits as the first number has."""
    match = _RANGE.search(text)
    if not match:
        return [text]
    first, last = match.groups()
    if not 0 <= int(last) - int(first) < _MAX_ARCHIVES:
        raise ValueError(f"expected a range from the lower number to the higher, found {match[0]}")
    names = (
        f"{text[: match.start()]}{number:0{len(first)}d}{text[match.end() :]}"
        for number in range(int(first), int(last) + 1)
    )
    return [each for name in names for each in _ranges(name)]


def _words(file: Any, archive: str, start: int = 0) -> Iterator[LabeledWord | Skipped]:
    """The words of an archive from an offset on, read from front to back."""
    return (_word(group, archive) for group in _groups(file, start, with_content=True))


def _headers(file: Any, start: int) -> Iterator[tarfile.TarInfo | _Damage]:
    """Headers from an offset on, and why they end if not with the block that ends an archive."""
    empty = BytesIO(bytes(tarfile.BLOCKSIZE))
    archive = tarfile.TarFile(fileobj=empty, encoding="utf-8", errors="surrogateescape")
    archive.fileobj, archive.offset = file, start
    while True:
        offset = archive.offset
        try:
            file.seek(offset)
            header = _Header.fromtarfile(archive)
            if archive.offset <= offset or header.size < 0:
                raise ValueError("it leads backwards")
        except tarfile.EOFHeaderError:  # type: ignore[attr-defined]
            return
        except (tarfile.EmptyHeaderError, tarfile.TruncatedHeaderError):  # type: ignore[attr-defined]
            yield _Damage(offset, f"cut at byte {offset:,}")
            return
        except (tarfile.HeaderError, ValueError, LookupError, RecursionError, OSError) as error:
            yield _Damage(offset, f"damaged from byte {offset:,} on ({error})")
            return
        yield header


def _groups(file: Any, start: int, with_content: bool) -> Iterator[_Group]:
    from vit_str.images import SUFFIXES

    known = frozenset((*SUFFIXES, *_LABEL_SUFFIXES))
    group = None
    for header in _headers(file, start):
        if isinstance(header, _Damage):
            if group and group.files and group.is_whole(file):
                yield group
                group = None
            yield _Group("", group.start if group else header.offset, damage=header.reason)
            return
        stem, suffix = os.path.splitext(header.name)
        if not header.isreg() or header.issparse() or os.path.basename(stem).startswith("."):
            continue  # a folder, a link, or the ._ files that macOS leaves
        if group is None or stem != group.stem:
            if group and group.files:
                yield group
            group = _Group(stem, header.offset)
        suffix = suffix.lower()
        if suffix in known and (suffix in _LABEL_SUFFIXES or group.image() is None):
            group.files[suffix] = header
            if with_content and suffix != _CLASS:
                file.seek(header.offset_data)
                group.contents[suffix] = file.read(min(header.size, MAX_BYTES))
    if group and group.files:
        yield group


def _word(group: _Group, archive: str) -> LabeledWord | Skipped:
    if group.damage:
        return Skipped(f"{archive}, byte {group.start:,}", Reason.DAMAGED, group.damage)
    image = group.image()
    name = f"{archive}/{group.stem}{image or ''}"
    for suffix, header in group.files.items():
        if len(group.contents.get(suffix, b"")) < header.size and suffix != _CLASS:
            why = "too large" if header.size > MAX_BYTES else "the archive ends inside"
            return Skipped(name, Reason.DAMAGED, f"{header.name}: {why}")
    if image is None:
        found = ", ".join(group.files)
        return Skipped(name, Reason.MISSING, f"found {found} and no image of this stem next to it")
    try:
        values = _json(group.contents.get(_VALUES))
        label = _label(group, values)
    except BadLine as error:
        return Skipped(name, error.reason, error.detail)
    return LabeledWord(group.contents[image], label, boxes_of(values), name)


def _label(group: _Group, values: dict[str, Any]) -> str:
    """From ``.txt``, or else from ``.json``; one end of line is no part of it."""
    if _LABEL in group.contents:
        line = group.contents[_LABEL].decode("utf-8", "surrogateescape")
        return checked_label(line[:-1].removesuffix("\r") if line.endswith("\n") else line)
    text = text_under(values, LABELS)
    if text is not None:
        return checked_label(text)
    if _VALUES in group.contents:
        raise BadLine(Reason.NO_LABEL, f"no text under {', '.join(LABELS)} in its .json")
    if _CLASS in group.files:
        raise BadLine(Reason.NO_LABEL, "a .cls holds the number of a class; give a .txt")
    raise BadLine(Reason.NO_LABEL, "no .txt or .json of this stem next to it")


def _json(content: bytes | None) -> dict[str, Any]:
    if content is None:
        return {}
    try:
        values = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise BadLine(Reason.DAMAGED, f"its .json: {error}") from None
    return values if isinstance(values, dict) else {}
