"""LMDB in the layout that most trainers of word readers share."""

import json
import os
import re
import struct
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from vit_str.datasets.label_file import boxes_of
from vit_str.datasets.source import MAX_BYTES, Boxes, IndexedSource, LabeledWord, Reason, Skipped

_DATA = "data.mdb"
_SUFFIXES = (".mdb", ".lmdb")
_COUNT = b"num-samples"
_MIN_BYTES = 16  # of a word in the file

# The library opens a file once per process; readers of one file share the environment.
_environments: WeakValueDictionary[str, Any] = WeakValueDictionary()
_MAX_SCANNED = 1 << 30  # bytes of a file that is looked through: a second
_LARGE_VALUE = re.compile(rb"\x01\0(?:\x0f\0(?:image|label|boxes)-\d{9}|\x0b\0num-samples)")


class LmdbReader(IndexedSource):
    """Words under ``image-000000001`` and ``label-000000001``, as many as ``num-samples`` says.

    This is what the scripts of clovaai's benchmark and of PARSeq make, and what `LmdbWriter`
    makes. A file that was cut short is refused as a whole, and so is one of up to 1 GiB with values
    that reach beyond its end: in a larger one, those end the process. Do not read a database while
    it is written.

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
    try:
        if size < needed:
            raise ValueError(f"{path}: cut short, {size:,} of {needed:,} bytes; copy it again")
        if size <= _MAX_SCANNED:
            _check_values(path)
    except ValueError:
        environment.close()
        raise
    return environment


def _check_values(path: Path) -> None:
    """Refuse values that say they are larger than the file, which the library would believe.

    A key that is stored apart from its value follows the size of the value, the flag 1 and its
    own size (``mdb.c``, MDB_node). Pages that an interrupted writer has left are looked at too.
    """
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as data:
        for match in _LARGE_VALUE.finditer(data):
            (size,) = struct.unpack_from("<I", data, match.start() - 4)
            if size > len(data):
                raise ValueError(f"{path}: damaged, a value has {size:,} bytes; copy it again")


def _boxes_in(values: bytes | None) -> Boxes:
    try:
        return boxes_of(json.loads(values)) if values else ()
    except (ValueError, AttributeError, RecursionError):
        return ()
