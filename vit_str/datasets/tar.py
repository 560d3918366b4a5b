"""Tar archives as WebDataset has them: files of one stem, one after the other, are a word."""

import os
import sys
import tarfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from vit_str.datasets.source import LabeledWord
from vit_str.datasets.tar_reader import NUMBER, Damaged, archives_like, headers, is_pattern
from vit_str.datasets.writer import DatasetWriter, GrowingFile, Layout


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
