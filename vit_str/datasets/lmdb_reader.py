"""LMDB in the layout that most trainers of word readers share."""

import json
from pathlib import Path

from vit_str.datasets.label_lines import boxes_of
from vit_str.datasets.lmdb_file import DamagedLmdb, LmdbFile
from vit_str.datasets.source import IndexedSource, Reason, Skipped
from vit_str.datasets.word import LabeledWord

_DATA = "data.mdb"
_SUFFIXES = (".mdb", ".lmdb")
_COUNT = b"num-samples"
_LEAST_BYTES = 16


class LmdbReader(IndexedSource):
    """Words under ``image-000000001`` and ``label-000000001``, as many as ``num-samples`` says.

    This is what the scripts of clovaai's benchmark and of PARSeq make, and what `LmdbWriter`
    makes. Needs no other library; a database that is cut or damaged costs the words that are
    lost, not the process. Do not read one while it is written.

    Args:
        path: a folder with ``data.mdb``, or a database in a single file.

    Raises:
        ValueError: no such database, one of another layout, or one that is damaged where it says
            how many words it holds.
    """

    format = "lmdb"

    def __init__(self, path: str | Path) -> None:
        super().__init__(path)
        file = self.path / _DATA if self.path.is_dir() else self.path
        if not file.is_file():
            raise ValueError(f"{self.path}: found no {_DATA} there; check the path")
        self._file = LmdbFile(file)
        self._count = self._number_of_words()
        self._boxes = self._try(b"boxes-%09d" % 1) is not None

    @staticmethod
    def recognizes(path: Path) -> bool:
        """Whether a path is a folder with ``data.mdb``, or a file named as a database."""
        if path.is_file():
            return path.suffix.lower() in _SUFFIXES
        return (path / _DATA).is_file()

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, place: int) -> LabeledWord | Skipped:
        if not 0 <= place < self._count:
            raise IndexError(place)
        name = f"image-{place + 1:09d}"
        try:
            image = self._file.get(name.encode())
            label = self._file.get(b"label-%09d" % (place + 1))
        except (DamagedLmdb, OSError) as error:
            return Skipped(name, Reason.DAMAGED, str(error))
        if image is None:
            return Skipped(name, Reason.MISSING, "no such key")
        if label is None:
            return Skipped(name, Reason.NO_LABEL, f"no key label-{place + 1:09d}")
        try:
            return LabeledWord(image, label.decode(), self._boxes_at(place), name)
        except UnicodeDecodeError as error:
            shown = label.decode("utf-8", "backslashreplace")
            return Skipped(name, Reason.NOT_UTF8, f"{shown!r} at byte {error.start}")

    def _boxes_at(self, place: int) -> tuple[tuple[float, ...], ...]:
        values = self._try(b"boxes-%09d" % (place + 1)) if self._boxes else None
        try:
            return boxes_of(json.loads(values)) if values else ()
        except (ValueError, AttributeError, RecursionError):
            return ()

    def _try(self, key: bytes) -> bytes | None:
        try:
            return self._file.get(key)
        except (DamagedLmdb, OSError):
            return None

    def _number_of_words(self) -> int:
        try:
            value = self._file.get(_COUNT)
        except (DamagedLmdb, OSError) as error:
            raise ValueError(
                f"{self.path}: damaged or cut short ({error}); copy it again"
            ) from None
        if value is None and not self._file.entries:
            return 0
        if value is None:
            raise ValueError(
                f"{self.path}: an LMDB without {_COUNT.decode()}; expected image-000000001, "
                "label-000000001 and so on"
            )
        most = self._file.path.stat().st_size // _LEAST_BYTES
        if not value.isdigit() or int(value[:20]) > most:
            raise ValueError(f"{self.path}: damaged, {_COUNT.decode()} is {value[:20]!r}")
        return int(value)
