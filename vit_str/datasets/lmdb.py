"""LMDB in the layout that most trainers of word readers share."""

import errno
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from vit_str.datasets.label_file import boxes_of
from vit_str.datasets.source import MAX_BYTES, Boxes, IndexedSource, LabeledWord, Reason, Skipped
from vit_str.datasets.writer import DatasetWriter, Layout

_DATA = "data.mdb"
_SUFFIXES = (".mdb", ".lmdb")
_COUNT = b"num-samples"
_MIN_BYTES = 16  # of a word in the file
_FIRST_MAP, _LARGEST_STEP = 1 << 24, 1 << 30  # bytes
_WORDS_IN_TRANSACTION = 1024
_NO_ROOM = 1 << 20
"""Bytes; with fewer of them free, a disk is full for a transaction."""

# The library opens a file once per process; readers of one file share the environment.
_environments: WeakValueDictionary[str, Any] = WeakValueDictionary()


class LmdbReader(IndexedSource):
    """Words under ``image-000000001`` and ``label-000000001``, as many as ``num-samples`` says.

    This is what the scripts of clovaai's benchmark and of PARSeq make, and what `LmdbWriter`
    makes. A file that was cut short is refused as a whole; one in which bytes have changed can end
    the process. Do not read a database while it is written.

    Args:
        path: a folder with ``data.mdb``, or a database in a single file.

    Raises:
        ValueError: no such database, one of another layout, or a damaged one.
    """

    format = "lmdb"

    def __init__(self, path: str | Path) -> None:
        super().__init__(path)
        self._file = self.path / _DATA if self.path.is_dir() else self.path
        if not self._file.is_file():
            raise ValueError(f"{self.path}: found no {_DATA} there; check the path")
        self._environment: Any = None
        self._count = self._number_of_words()
        self._boxes = bool(self._count) and self._get(b"boxes-%09d" % 1) is not None

    @staticmethod
    def recognizes(path: Path) -> bool:
        """Whether a path is a folder with ``data.mdb``, or a file named as a database."""
        if path.is_file():
            return path.suffix.lower() in _SUFFIXES
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
        except Exception as error:  # lmdb.Error and more, from damaged pages
            return Skipped(name, Reason.DAMAGED, str(error))
        if image is None:
            return Skipped(name, Reason.MISSING, "no such key")
        if label is None:
            return Skipped(name, Reason.NO_LABEL, f"no key label-{index + 1:09d}")
        try:
            return LabeledWord(image, label.decode(), _boxes_in(boxes), name)
        except UnicodeDecodeError as error:
            shown = label.decode("utf-8", "backslashreplace")
            return Skipped(name, Reason.NOT_UTF8, f"{shown!r} at byte {error.start}")

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_environment": None}

    def _get(self, key: bytes) -> bytes | None:
        """The value of a key, None without one; a damaged size is not believed."""
        if self._environment is None:
            name = os.path.realpath(self._file)
            self._environment = _environments.get(name) or open_read_only(self._file)
            _environments[name] = self._environment
        with self._environment.begin(buffers=True) as transaction:
            value = transaction.get(key)
            if value is not None and len(value) > MAX_BYTES:
                raise ValueError(f"{key.decode()} has {len(value):,} bytes")
            return None if value is None else bytes(value)

    def _number_of_words(self) -> int:
        try:
            value = self._get(_COUNT)
            is_empty = value is None and not self._environment.stat()["entries"]
        except (OSError, library().Error) as error:
            raise ValueError(f"{self.path}: damaged or no LMDB ({error}); copy it again") from None
        if is_empty:
            return 0
        if value is None:
            raise ValueError(
                f"{self.path}: an LMDB without {_COUNT.decode()}; expected image-000000001, "
                "label-000000001 and so on"
            )
        if not value.isdigit() or int(value[:20]) > self._file.stat().st_size // _MIN_BYTES:
            raise ValueError(f"{self.path}: damaged, {_COUNT.decode()} is {value[:20]!r}")
        return int(value)


def library() -> Any:
    """The module lmdb.

    Raises:
        ValueError: it is not installed.
    """
    try:
        import lmdb
    except ImportError:
        raise ValueError(
            "this format needs the lmdb library: pip install 'vit-str[train]', or use a folder "
            "or a tar archive"
        ) from None
    return lmdb


def open_read_only(path: Path) -> Any:
    """The environment of a database in a file.

    Raises:
        ValueError: it is damaged or no LMDB, or cut short: touching what is not there would end
            the process.
    """
    options = {"subdir": False, "readonly": True, "lock": False, "readahead": False}
    size = path.stat().st_size
    try:
        environment = library().open(str(path), **options)
    except library().Error as error:
        raise ValueError(f"{path}: damaged or no LMDB ({error}); copy it again") from None
    needed = (environment.info()["last_pgno"] + 1) * environment.stat()["psize"]
    if size < needed:
        environment.close()
        raise ValueError(f"{path}: cut short, {size:,} of {needed:,} bytes; copy it again")
    return environment


def _boxes_in(values: bytes | None) -> Boxes:
    try:
        return boxes_of(json.loads(values)) if values else ()
    except (ValueError, AttributeError, RecursionError):
        return ()


class LmdbWriter(DatasetWriter):
    """Writes ``image-000000001`` (an image file), ``label-000000001`` (UTF-8), ``num-samples``.

    The keys count from 1, whatever the number of the first word. With boxes, ``boxes-000000001``
    is JSON with label and boxes. The count is stored with the words that it counts, in one
    transaction. The map grows with the data: on some systems the file is as large as the map.
    """

    def __init__(self, path: Path, layout: Layout) -> None:
        super().__init__(path, layout)
        self._lmdb = library()
        self._waiting: list[LabeledWord] = []
        path.mkdir(parents=True, exist_ok=True)
        try:
            if (path / "data.mdb").exists():
                open_read_only(path / "data.mdb").close()
            self._environment = self._lmdb.open(str(path), map_size=_FIRST_MAP)
            with self._environment.begin() as transaction:
                self._stored = int(transaction.get(_COUNT) or 0)
        except (self._lmdb.InvalidError, self._lmdb.CorruptedError, ValueError) as error:
            raise ValueError(f"{error}; or write to another folder") from error
        except self._lmdb.Error as error:
            raise OSError(str(error)) from error
        self.done = self._stored

    def add(self, words: Sequence[LabeledWord]) -> None:
        self._waiting += words
        self.done += len(words)
        if len(self._waiting) >= _WORDS_IN_TRANSACTION:
            self._commit()

    def close(self) -> None:
        try:
            self._commit()
        finally:
            self._environment.close()

    def _commit(self) -> None:
        """Store what waits, in a larger map if it has to be."""
        while self._waiting:
            try:
                with self._environment.begin(write=True) as transaction:
                    for key, value in self._entries():
                        transaction.put(key, value)
            except self._lmdb.MapFullError:
                size = self._environment.info()["map_size"]
                self._environment.set_mapsize(size + min(size, _LARGEST_STEP))
            except self._lmdb.Error as error:
                self._waiting = []
                raise self._system_error(error) from error
            else:
                self._stored += len(self._waiting)
                self._waiting = []

    def _system_error(self, error: Exception) -> OSError:
        """A full disk makes LMDB say "Input/output error", as it writes less than it should."""
        if shutil.disk_usage(self.path).free < _NO_ROOM:
            return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))
        return OSError(str(error))

    def _entries(self) -> Iterator[tuple[bytes, bytes]]:
        for number, word in enumerate(self._waiting, self._stored + 1):
            if self.layout.boxes:
                yield b"boxes-%09d" % number, word.json_of_boxes().encode()
            yield b"image-%09d" % number, word.image
            yield b"label-%09d" % number, word.label.encode()
        yield _COUNT, b"%d" % (self._stored + len(self._waiting))
