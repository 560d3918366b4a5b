"""LMDB in the layout that most trainers of word readers share."""

import errno
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from vit_str.datasets.lmdb_reader import library, open_read_only
from vit_str.datasets.source import LabeledWord
from vit_str.datasets.writer import DatasetWriter, Layout

_FIRST_MAP, _LARGEST_STEP = 1 << 24, 1 << 30
_WORDS_IN_TRANSACTION = 1024
_COUNT = b"num-samples"
_NO_ROOM = 1 << 20
"""Bytes; with fewer of them free, a disk is full for a transaction."""


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
