"""LMDB in the layout that most trainers of word readers share."""

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from vit_str.datasets.label_file import DAMAGE, boxes_of
from vit_str.datasets.lmdb_pages import DamagedPage, LmdbPages
from vit_str.datasets.source import (
    DatasetWriter,
    LabeledWord,
    Layout,
    Position,
    Reason,
    Skipped,
    WordSource,
)
from vit_str.machine import install_hint

_DATA = "data.mdb"
_COUNT = b"num-samples"
_FIRST_MAP = 1 << 24  # bytes
_LARGEST_STEP = 1 << 30  # bytes
_WORDS_IN_TRANSACTION = 1024  # written at once
_PROBE = 1 << 20  # bytes, less than fit on a disk that is not full


class LmdbReader(WordSource):
    """Words under ``image-000000001`` and ``label-000000001``, as many as ``num-samples`` says.

    This is what the scripts of clovaai's benchmark and of PARSeq make, and what `LmdbWriter`
    makes: a folder with ``data.mdb``, or a single file. Do not read it while it is written. What is
    damaged costs its words, and needs no library.

    Raises:
        ValueError: there is no LMDB of this form.
    """

    format = "lmdb"

    def __init__(self, path: str | Path) -> None:
        super().__init__(path)
        self._file = self.path / _DATA if self.path.is_dir() else self.path
        if not self._file.is_file():
            raise ValueError(f"{self.path}: found no {_DATA} there; check the path")
        self._pages: LmdbPages | None = None
        count = self._get(_COUNT)
        if count is None:
            raise ValueError(
                f"{self.path}: an LMDB without {_COUNT.decode()}; expected "
                "image-000000001, label-000000001 and so on"
            )
        self._count = self._checked(count)
        self._boxes = self._get(b"boxes-%09d" % 1) is not None

    @staticmethod
    def recognizes(path: Path) -> bool:
        """Whether a path is a folder with ``data.mdb``, or a file named as a database."""
        if path.is_file():
            return path.suffix.lower() in (".mdb", ".lmdb")
        return (path / _DATA).is_file()

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int) -> LabeledWord | Skipped:
        if not 0 <= index < self._count:
            raise IndexError(index)
        name = f"image-{index + 1:09d}"
        try:
            image = self._get(name.encode())
            label = self._get(b"label-%09d" % (index + 1))
            boxes = self._get(b"boxes-%09d" % (index + 1)) if self._boxes else None
        except ValueError as error:
            return Skipped(name, Reason.DAMAGED, str(error))
        if image is None:
            return Skipped(name, Reason.MISSING, "no such key")
        if label is None:
            return Skipped(name, Reason.NO_LABEL, f"no key label-{index + 1:09d}")
        try:
            return LabeledWord(
                image, label.decode(), boxes_of(json.loads(boxes or b"{}")), name
            )
        except UnicodeDecodeError as error:
            shown = label.decode("utf-8", "backslashreplace")
            return Skipped(name, Reason.NOT_UTF8, f"{shown!r} at byte {error.start}")
        except DAMAGE as error:
            return Skipped(name, Reason.DAMAGED, f"its boxes: {error}")

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_pages": None}

    def _get(self, key: bytes) -> bytes | None:
        """The value of a key, None without one."""
        try:
            return self._opened().get(key)
        except DamagedPage as error:
            raise ValueError(f"{self.path}: damaged ({error}); copy it again") from None

    def _opened(self) -> LmdbPages:
        if self._pages is None:
            try:
                self._pages = LmdbPages(self._file)
            except DamagedPage as error:
                raise ValueError(
                    f"{self._file}: damaged or no LMDB ({error}); copy it again"
                ) from None
        return self._pages

    def _checked(self, count: bytes) -> int:
        """The number of words, of which there are no more than entries."""
        entries = self._opened().entries
        digits = count.strip()
        if digits.isdigit() and len(digits) < 19 and int(digits) <= entries:
            return int(digits)
        raise ValueError(
            f"{self.path}: {_COUNT.decode()} is {count[:20]!r} among {entries:,} entries; "
            "make it again"
        )


def library() -> Any:
    """The module lmdb.

    Raises:
        ValueError: if it is not installed.
    """
    try:
        import lmdb
    except ImportError:
        raise ValueError(
            f"this format needs the lmdb library, run: {install_hint('train')}, or "
            "use a folder or a tar archive"
        ) from None
    return lmdb


class LmdbWriter(DatasetWriter):
    """Writes ``image-000000001`` (an image file), ``label-000000001`` (UTF-8), ``num-samples``.

    The keys count from 1, whatever the number of the first word. With boxes, ``boxes-000000001``
    is JSON with label and boxes. The map grows with the data: on some systems the file is as large
    as the map.
    """

    def __init__(
        self,
        path: Path,
        layout: Layout,
        position: Position | None = None,
        done: int = 0,
    ) -> None:
        super().__init__(path, layout, position, done)
        self._lmdb = library()
        self._waiting: list[LabeledWord] = []
        self._stored = done
        path.mkdir(parents=True, exist_ok=True)
        if position:
            _check_count(path, done)
        else:
            # Of a run that ended before it wrote a word
            (path / _DATA).unlink(missing_ok=True)
        try:
            # Without the lock file of the library, which ends the process if the disk is full.
            self._environment = self._lmdb.open(
                str(path),
                map_size=_FIRST_MAP,
                lock=False,
            )
        except self._lmdb.Error as error:
            raise _system_error(path, error) from error

    def add(self, words: Sequence[LabeledWord]) -> None:
        self._waiting += words
        self.done += len(words)
        if len(self._waiting) >= _WORDS_IN_TRANSACTION:
            self._commit()

    def position(self) -> Position | None:
        return None if self._waiting else {"words": self._stored}

    def close(self) -> None:
        try:
            self._commit()
        finally:
            self._environment.close()

    def _commit(self) -> None:
        """Store what waits and the count, in a larger map if it has to be."""
        while self._waiting or not self._stored:
            try:
                with self._environment.begin(write=True) as transaction:
                    for key, value in self._entries():
                        transaction.put(key, value)
            except self._lmdb.MapFullError:
                size = self._environment.info()["map_size"]
                self._environment.set_mapsize(size + min(size, _LARGEST_STEP))
            except self._lmdb.Error as error:
                self._waiting.clear()
                raise _system_error(self.path, error) from error
            else:
                self._stored += len(self._waiting)
                self._waiting.clear()
                return

    def _entries(self) -> Iterator[tuple[bytes, bytes]]:
        for number, word in enumerate(self._waiting, self._stored + 1):
            if self.layout.boxes:
                yield b"boxes-%09d" % number, word.json_of_boxes().encode()
            yield b"image-%09d" % number, word.image
            yield b"label-%09d" % number, word.label.encode()
        yield _COUNT, b"%d" % (self._stored + len(self._waiting))


def _check_count(path: Path, done: int) -> None:
    """Refuse to go on with a database that lacks words which were written."""
    found = len(LmdbReader(path))
    if found < done:
        raise ValueError(
            f"{path}: {found:,} words, but {done:,} were written; remove it and the "
            "file .unfinished beside it"
        )


def _system_error(folder: Path, error: Exception) -> OSError:
    """The error of the system if nothing more can be written, which the library hides."""
    try:
        with TemporaryFile(dir=folder) as file:
            file.write(bytes(_PROBE))
            file.flush()
            os.fsync(file.fileno())
    except OSError as reason:
        return OSError(reason.errno, reason.strerror, str(folder))
    return OSError(str(error))
